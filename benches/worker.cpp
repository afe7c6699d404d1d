// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes through fork and pipes; processor times from /proc.
#include "benches/worker.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "sinter/base/os/clock.hpp"

extern char** environ;

namespace sinter::bench {
namespace {

struct Child {
  pid_t process = 0;
  int to = -1;
  int from = -1;
};

/// Everything that allocates happens before the fork.
Child start(const std::vector<std::string>& command, const Environment& extra) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!extra.count(text.substr(0, text.find('=')))) {
      variables.push_back(text);
    }
  }
  for (const auto& [name, value] : extra) {
    variables.push_back(name + "=" + value);
  }
  const auto pointers = [](const std::vector<std::string>& strings) {
    std::vector<char*> out;
    for (const std::string& s : strings) {
      out.push_back(const_cast<char*>(s.c_str()));
    }
    out.push_back(nullptr);
    return out;
  };
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> environment = pointers(variables);

  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  }
  const pid_t process = fork();
  if (process < 0) {
    throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  }
  if (process == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execvpe(arguments[0], arguments.data(), environment.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  return {process, in[1], out[0]};
}

}  // namespace

Worker::Worker(const std::vector<std::string>& command, const Environment& environment) {
  const Child child = start(command, environment);
  process_id_ = child.process;
  to_ = child.to;
  from_ = child.from;
}

Worker::~Worker() {
  close(to_);
  close(from_);
  waitpid(static_cast<pid_t>(process_id_), nullptr, 0);
}

std::string Worker::read_line() {
  for (;;) {
    const auto end = buffer_.find('\n');
    if (end != std::string::npos) {
      const std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    char chunk[4096];
    const ssize_t got = read(from_, chunk, sizeof(chunk));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      throw std::runtime_error("the peer ended");
    }
    buffer_.append(chunk, static_cast<std::size_t>(got));
  }
}

std::string Worker::ask(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t put = write(to_, text.data() + sent, text.size() - sent);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      throw std::runtime_error("the peer ended");
    }
    sent += static_cast<std::size_t>(put);
  }
  const std::string answer = read_line();
  if (answer.starts_with("ok")) {
    return answer.size() > 3 ? answer.substr(3) : "";
  }
  throw std::runtime_error(answer.starts_with("no ") ? answer.substr(3) : answer);
}

Finished run_program(const std::vector<std::string>& command, const Environment& environment) {
  Finished finished;
  const double begin = os::monotonic_seconds();
  const Child child = start(command, environment);
  close(child.to);
  char chunk[4096];
  for (;;) {
    const ssize_t got = read(child.from, chunk, sizeof(chunk));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    finished.output.append(chunk, static_cast<std::size_t>(got));
    if (finished.first_line == 0 && finished.output.find('\n') != std::string::npos) {
      finished.first_line = os::monotonic_seconds() - begin;
    }
  }
  close(child.from);
  int status = 0;
  rusage usage{};
  wait4(child.process, &status, 0, &usage);
  finished.seconds = os::monotonic_seconds() - begin;
  finished.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

double machine_cpu_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  double user = 0;
  double nice = 0;
  double system = 0;
  file >> user >> nice >> system;
  return (user + nice + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double cpu_seconds_of(long process_id) {
  std::ifstream file("/proc/" + std::to_string(process_id) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) {
    return 0;
  }
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) {
    fields >> skipped;
  }
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace sinter::bench
