// SPDX-License-Identifier: MIT OR Apache-2.0
// What progress looks like: exact text in a pipe, one redrawn line and no traces on a terminal.
#include "sinter/train/plain_renderer.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iterator>

#include "sinter/train/json_logger.hpp"
#include "sinter/train/learner_fixture_test.hpp"

namespace sinter::train {
namespace {

using fixture::TemporaryFolder;

/// loss = mean(x) * w with w = 6 at first and data of ones: each step with rate 1 takes 1 from it.
struct Weight {
  nn::Param<1> w;
};

struct FixedRun {
  Device device = Device::portable().autodiff();
  data::DataLoader<data::ColumnDataset> train{ones(6), {.batch_size = 2}};
  data::DataLoader<data::ColumnDataset> valid{ones(2), {.batch_size = 2}};
  Learner<Weight, optim::Sgd> learner;

  static data::ColumnDataset ones(std::int64_t n) {
    HostData data(Shape{n, 1}, DType::f32);
    for (float& x : data.as<float>()) {
      x = 1;
    }
    return data::ColumnDataset({data});
  }
  static double ticks() {
    static double now = 0;
    return now += 0.5;
  }
  explicit FixedRun(std::string checkpoints = "")
      : learner(Weight{nn::Param<1>(Tensor<1>::full({1}, 6, Device::portable().autodiff()))},
                optim::Sgd(),
                {.device = Device::portable().autodiff(),
                 .epochs = 2,
                 .schedule = 1,
                 .checkpoints = std::move(checkpoints),
                 .clock = &ticks}) {}
  FitResult fit() {
    return learner.fit(
        train, valid, [](const Weight& model, const data::Sample& batch, const Device& device) {
          const auto x = Tensor<2>::from_data(batch[0], device);
          return StepOutput{.loss = (x * model.w.tensor()).mean(), .items = x.size(0)};
        });
  }
};

std::string read_all(std::FILE* file) {
  std::string text(1 << 16, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

TEST(Cases, TRN_06_log_of_two_epochs_of_three_steps) {
  TemporaryFolder folder("log");
  std::FILE* out = std::tmpfile();
  FixedRun run(folder.path("run"));
  run.learner.attach(std::make_shared<PlainRenderer>(out));
  run.fit();
  std::string text = read_all(out);
  std::fclose(out);
  for (std::size_t at; (at = text.find(folder.path())) != std::string::npos;) {
    text.replace(at, folder.path().size(), "FOLDER");
  }
  EXPECT_EQ(text,
            "training on autodiff(portable): 2 epochs of 3 steps, 6 training and 2 validation "
            "items, 1 parameters\n"
            "epoch 1/2, step 1/3: loss 6.0000, lr 1, 4.0 items/s\n"
            "epoch 1/2, step 2/3: loss 5.5000, lr 1, 4.0 items/s, 0:02 left\n"
            "epoch 1/2, step 3/3: loss 5.0000, lr 1, 4.0 items/s, 0:02 left\n"
            "epoch 1/2, train: loss 5.0000, 0:02, 3.0 items/s\n"
            "epoch 1/2, valid: loss 3.0000, 0:01, 2.0 items/s\n"
            "saved FOLDER/run/step-00000003.safetensors\n"
            "epoch 2/2, step 1/3: loss 3.0000, lr 1, 4.0 items/s, 0:02 left\n"
            "epoch 2/2, step 2/3: loss 2.5000, lr 1, 4.0 items/s, 0:02 left\n"
            "epoch 2/2, step 3/3: loss 2.0000, lr 1, 4.0 items/s, 0:01 left\n"
            "epoch 2/2, train: loss 2.0000, 0:02, 3.0 items/s\n"
            "epoch 2/2, valid: loss 0.0000, 0:01, 2.0 items/s\n"
            "saved FOLDER/run/step-00000006.safetensors\n"
            "finished after 2 epochs and 6 steps, 0:09\n"
            "\n"
            "split  metric   first    last    best  epoch\n"
            "train  loss    5.0000  2.0000  2.0000      2\n"
            "valid  loss    3.0000  0.0000  0.0000      2\n");
}

/// A terminal that keeps what is written to it.
class Terminal {
 public:
  Terminal() {
    winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(openpty(&master_, &slave_, nullptr, nullptr, &size), 0);
    out = fdopen(dup(slave_), "w");
    tcgetattr(slave_, &before_);
  }
  ~Terminal() {
    std::fclose(out);
    close(slave_);
    close(master_);
  }
  std::string text() {
    std::fflush(out);
    std::string all;
    char buffer[4096];
    fd_set set;
    timeval wait{.tv_sec = 0, .tv_usec = 50'000};
    FD_ZERO(&set);
    FD_SET(master_, &set);
    while (select(master_ + 1, &set, nullptr, nullptr, &wait) > 0) {
      const ssize_t got = read(master_, buffer, sizeof buffer);
      if (got <= 0) {
        break;
      }
      all.append(buffer, static_cast<std::size_t>(got));
    }
    return all;
  }
  bool settings_unchanged() const {
    termios now{};
    tcgetattr(slave_, &now);
    return now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag &&
           now.c_cflag == before_.c_cflag && now.c_lflag == before_.c_lflag &&
           std::equal(std::begin(now.c_cc), std::end(now.c_cc), std::begin(before_.c_cc));
  }
  std::FILE* out = nullptr;

 private:
  int master_ = -1, slave_ = -1;
  termios before_{};
};

/// What the screen shows: lines after carriage returns and erasures.
std::string screen(const std::string& text) {
  std::string shown, line;
  std::size_t column = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      shown += line + '\n';
      line.clear();
      column = 0;
    } else if (text[i] == '\r') {
      column = 0;
    } else if (text.compare(i, 3, "\x1b[K") == 0) {
      line.resize(std::min(line.size(), column));
      i += 2;
    } else {
      EXPECT_NE(text[i], '\x1b') << "an escape that the renderer must not use";
      line.resize(std::max(line.size(), column + 1));
      line[column++] = text[i];
    }
  }
  return shown + line;
}

TEST(Cases, TRN_05_terminal_is_left_as_it_was) {
  const PlainOptions redrawn{.style = PlainOptions::Style::redrawn, .width = 60};
  {
    Terminal terminal;
    FixedRun run;
    run.learner.attach(std::make_shared<PlainRenderer>(terminal.out, redrawn));
    run.fit();
    const std::string text = terminal.text();
    EXPECT_NE(text.find("\repoch 1/2 train [========>               ]  33 %"), std::string::npos)
        << text;
    const std::string shown = screen(text);
    EXPECT_EQ(shown.find('['), std::string::npos) << "bars are gone at the end:\n" << shown;
    EXPECT_NE(shown.find("epoch 2/2, valid: loss 0.0000"), std::string::npos);
    EXPECT_TRUE(terminal.settings_unchanged());
  }
  {
    Terminal terminal;
    FixedRun run;
    run.learner.attach(std::make_shared<PlainRenderer>(terminal.out, redrawn));
    int calls = 0;
    EXPECT_THROW(run.learner.fit(run.train,
                                 [&](const Weight& model, const data::Sample&, const Device&) {
                                   if (++calls == 3) {
                                     throw std::runtime_error("broken");
                                   }
                                   return StepOutput{.loss = model.w.tensor().mean(), .items = 2};
                                 }),
                 std::runtime_error);
    std::fputs("error: broken\n", terminal.out);
    const std::string text = terminal.text();
    EXPECT_NE(screen(text).find("\nerror: broken\n"), std::string::npos)
        << "the message stands on a line of its own:\n"
        << text;
    EXPECT_TRUE(terminal.settings_unchanged());
  }
  {
    Terminal terminal;
    FixedRun run;
    run.learner.attach(std::make_shared<PlainRenderer>(terminal.out, redrawn));
    const FitResult result =
        run.learner.fit(run.train, [&](const Weight& model, const data::Sample&, const Device&) {
          std::raise(SIGINT);
          return StepOutput{.loss = model.w.tensor().mean(), .items = 2};
        });
    EXPECT_EQ(result.reason, StopReason::interrupted);
    EXPECT_NE(screen(terminal.text()).find("interrupted after 0 epochs and 1 step"),
              std::string::npos);
    EXPECT_TRUE(terminal.settings_unchanged());
  }
}

TEST(PlainRenderer, redrawn_lines_never_wrap) {
  Terminal terminal;
  PlainRenderer renderer(terminal.out, {.style = PlainOptions::Style::redrawn, .width = 40});
  const MetricInfo metrics[] = {{.name = "loss"}, {.name = "accuracy"}};
  const double values[] = {1, 2};
  renderer.step({.epochs = 1,
                 .items = 1,
                 .total_items = 2,
                 .metrics = metrics,
                 .batch_values = values,
                 .values = values});
  EXPECT_LE(screen(terminal.text()).size(), 39u);
}

TEST(PlainRenderer, clock) {
  EXPECT_EQ(clock_text(0.4), "0:00");
  EXPECT_EQ(clock_text(65), "1:05");
  EXPECT_EQ(clock_text(3661), "1:01:01");
  EXPECT_EQ(clock_text(-1), "0:00");
}

TEST(Cases, TRN_09_json_lines) {
  TemporaryFolder folder("json");
  const std::string path = folder.path("log.jsonl");
  FixedRun run;
  run.learner.attach(std::make_shared<JsonLogger>(path));
  run.fit();
  std::string text = os::read_file(path);
  const auto cut = text.find(",\"items_per_second\"", text.find("\"event\":\"step\""));
  EXPECT_EQ(
      text.substr(0, cut),
      "{\"event\":\"run\",\"device\":\"autodiff(portable)\",\"seed\":0,\"epochs\":2,"
      "\"steps_per_epoch\":3,\"train_items\":6,\"valid_items\":2,\"num_params\":1,"
      "\"resumed_step\":0}\n"
      "{\"event\":\"step\",\"split\":\"train\",\"epoch\":1,\"step\":1,\"batch\":1,\"items\":2,"
      "\"loss\":6,\"lr\":1");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * (3 + 1 + 1 + 1) + 1);

  JsonLogger logger(path);
  logger.message("a \"quoted\"\nline");
  const MetricInfo metrics[] = {{.name = "loss"}};
  const double values[] = {std::nan("")};
  logger.split_end({.metrics = metrics, .values = values});
  text = os::read_file(path).substr(text.size());
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "{\"event\":\"message\",\"text\":\"a \\\"quoted\\\"\\u000aline\"}");
  EXPECT_NE(text.find("\"loss\":null"), std::string::npos);
}

}  // namespace
}  // namespace sinter::train
