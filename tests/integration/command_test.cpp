// SPDX-License-Identifier: MIT OR Apache-2.0
// The `sinter` command as its users see it: output, errors in one sentence, exit status.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/store/record.hpp"

extern char** environ;

namespace sinter {
namespace {

struct Result {
  int status = 0;
  std::string out;
  std::string err;
};

class Command : public ::testing::Test {
 protected:
  Command()
      : folder_(os::join_path(os::temporary_directory(),
                              "sinter_command_" + std::to_string(os::process_id()))) {
    os::remove_tree(folder_);
    os::create_directories(folder_);
  }
  ~Command() override { os::remove_tree(folder_); }

  std::string path(const std::string& name) const { return os::join_path(folder_, name); }

  /// Runs the command in the test's folder.
  Result run(const std::string& arguments) const {
    const std::string line = line_of(arguments) + " 2>'" + path("stderr") + "'";
    std::FILE* pipe = popen(line.c_str(), "r");
    Result result;
    std::array<char, 4096> buffer;
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      result.out.append(buffer.data(), got);
    }
    const int status = pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.err = os::read_file(path("stderr"));
    return result;
  }

  /// Starts the command and sends it a signal once `file` exists; returns its status as of waitpid.
  int run_until(const std::string& file, int signal, const std::string& arguments) const {
    std::string shell = "/bin/sh", option = "-c";
    std::string line = line_of(arguments) + " >'" + path("stdout") + "' 2>&1";
    char* words[] = {shell.data(), option.data(), line.data(), nullptr};
    pid_t child = 0;
    int status = 0;
    EXPECT_EQ(posix_spawn(&child, shell.c_str(), nullptr, nullptr, words, environ), 0);
    while (!os::path_exists(path(file))) {
      if (waitpid(child, &status, WNOHANG) == child) {
        ADD_FAILURE() << "it ended by itself: " << os::read_file(path("stdout"));
        return status;
      }
      os::sleep_seconds(0.002);
    }
    kill(child, signal);
    waitpid(child, &status, 0);
    return status;
  }

  /// One line on stderr that begins with the command's name and holds `text`; nothing on stdout.
  static void expect_error(const Result& result, int status, const std::string& text) {
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(result.err.rfind("sinter: ", 0), 0u) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }

 private:
  std::string line_of(const std::string& arguments) const {
    return "cd '" + folder_ + "' && exec " SINTER_COMMAND " " + arguments;
  }
  std::string folder_;
};

TEST_F(Command, wrong_usage_is_status_2) {
  expect_error(run(""), 2, "subcommand");
  expect_error(run("dance"), 2, "dance");
  expect_error(run("inspect"), 2, "file");
  expect_error(run("train fashion-mnist --epochs many"), 2, "--epochs");
  expect_error(run("train fashion-mnist --batch-size 0"), 2, "--batch-size");
  expect_error(run("train fashion-mnist --lr -1"), 2, "--lr");
}

TEST_F(Command, help_is_no_error) {
  const Result result = run("train fashion-mnist --help");
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("--checkpoints"), std::string::npos);
  EXPECT_EQ(result.err, "");
}

TEST_F(Command, devices) {
  const Result result = run("devices");
  EXPECT_EQ(result.status, 0);
  for (const char* name : {"portable", "reference", "null", "default", "processor: "}) {
    EXPECT_NE(result.out.find(name), std::string::npos) << result.out;
  }
}

TEST_F(Command, ops) {
  const Result result = run("ops");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out.rfind("op ", 0), 0u);
  EXPECT_NE(result.out.find("\nmatmul"), std::string::npos);
  EXPECT_NE(result.out.find("\nconv "), std::string::npos);
  const Result markdown = run("ops --markdown");
  EXPECT_EQ(markdown.status, 0);
  EXPECT_NE(markdown.out.find("\n| op "), std::string::npos);
  // A row for each op under either form.
  const auto lines = [](const std::string& text, const std::string& start) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(start, at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(lines(markdown.out, "\n| ") - 1, lines(result.out, "\n") - 1);
}

// Committed, so that it can be read without a build.
TEST_F(Command, the_page_of_ops_is_current) {
  const Result made = run("ops --markdown");
  EXPECT_EQ(made.status, 0);
  EXPECT_TRUE(made.out == os::read_file(SINTER_SOURCE_DIR "/docs/ops.md"))
      << "docs/ops.md differs from the code; run ./dev doc";
}

TEST_F(Command, inspect) {
  store::Record record;
  record.add("layer.weight", HostData(Shape{3, 4}, DType::f32));
  record.add("layer.\x1b[2Jbias", HostData(Shape{4}, DType::bf16));
  record.metadata()["made by"] = "a\ntest";
  record.save(path("model.safetensors"));
  const Result result = run("inspect model.safetensors");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("layer.weight"), std::string::npos);
  EXPECT_NE(result.out.find("[3, 4]"), std::string::npos);
  EXPECT_NE(result.out.find("made by: a\\x0atest"), std::string::npos);
  EXPECT_NE(result.out.find("2 tensors, 16 elements"), std::string::npos);
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << "a file can't steer the terminal";
}

TEST_F(Command, bad_files_are_one_sentence_and_status_1) {
  expect_error(run("inspect missing.safetensors"), 1, "missing.safetensors");
  os::write_file_atomic(path("noise.safetensors"), "this is no record, whatever its name says");
  expect_error(run("inspect noise.safetensors"), 1, "noise.safetensors");
  store::Record record;
  record.add("weight", HostData(Shape{64, 64}, DType::f32));
  record.save(path("whole.safetensors"));
  const std::string bytes = os::read_file(path("whole.safetensors"));
  os::write_file_atomic(path("cut.safetensors"), bytes.substr(0, bytes.size() / 2));
  expect_error(run("inspect cut.safetensors"), 1, "cut.safetensors");
  expect_error(run("inspect ."), 1, "");
}

TEST_F(Command, training_errors_are_one_sentence) {
  expect_error(run("train fashion-mnist --device warp"), 1, "warp");
  expect_error(run("train fashion-mnist --data nowhere"), 1, "nowhere");
  os::create_directories(path("data"));
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    os::write_file_atomic(path(std::string("data/") + name), std::string("\0\0\x08\x03", 4));
  }
  expect_error(run("train fashion-mnist --data data"), 1, "data");
}

TEST_F(Command, resume_of_nothing_is_told) {
  expect_error(run("train fashion-mnist --resume"), 1, "--resume DIR");
}

TEST_F(Command, trains_saves_resumes_and_shows_predictions) {
  const std::string small = "train fashion-mnist --limit 256 --batch-size 32 --seed 3 ";
  const Result whole = run(small + "--epochs 2 --checkpoints whole --log whole.jsonl");
  ASSERT_EQ(whole.status, 0) << whole.err;
  for (const char* text : {"FashionMnistModel", "epoch 2/2, valid: loss", "saved whole/step-",
                           "model: ", "truth: Ankle boot", "test accuracy"}) {
    EXPECT_NE(whole.out.find(text), std::string::npos) << whole.out;
  }
  EXPECT_EQ(whole.out.find('\x1b'), std::string::npos) << "plain lines in a pipe";

  // Ended by an interrupt, then by a kill, it arrives at the same numbers.
  const std::string parts =
      small + "--epochs 2 --checkpoints parts --checkpoint-every 1 --keep 99 ";
  const int interrupted = run_until("parts/step-00000003.safetensors", SIGINT, parts);
  EXPECT_TRUE(WIFEXITED(interrupted) && WEXITSTATUS(interrupted) == 130) << interrupted;
  EXPECT_NE(os::read_file(path("stdout")).find("--resume parts"), std::string::npos);
  const int killed = run_until("parts/step-00000010.safetensors", SIGKILL, parts + "--resume");
  EXPECT_TRUE(WIFSIGNALED(killed)) << killed;
  const Result last = run(parts + "--resume");
  ASSERT_EQ(last.status, 0) << last.err;
  const auto table = [](const Result& result) {
    const std::size_t at = result.out.find("\nsplit ");
    return at == std::string::npos ? "no table" : result.out.substr(at);
  };
  EXPECT_EQ(table(last), table(whole));
  EXPECT_EQ(run("inspect parts/step-00000016.safetensors").status, 0);
}

}  // namespace
}  // namespace sinter
