// SPDX-License-Identifier: MIT OR Apache-2.0
// libtorch as a peer for what an operation costs the host, without Python in the way. It speaks the
// protocol of torch_worker.py. Built at bench time by build_libtorch_worker.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/variable.h>

#include <time.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Row {
  std::function<void()> step;
  std::function<at::Tensor()> output;
};

at::Tensor load(const std::string& folder, const std::string& name) {
  at::Tensor values = at::empty({4});
  std::ifstream file(folder + "/" + name + ".f32", std::ios::binary);
  file.read(static_cast<char*>(values.data_ptr()), 4 * sizeof(float));
  return values;
}

Row make_add(const std::string& folder) {
  const at::Tensor a = load(folder, "a");
  const at::Tensor b = load(folder, "b");
  const auto add = [a, b] {
    at::NoGradGuard no_grad;
    return a + b;
  };
  return {[add] { add(); }, add};
}

Row make_backward(const std::string& folder) {
  at::Tensor w = load(folder, "w").requires_grad_();
  const at::Tensor b = load(folder, "b");
  const std::function<void()> step = [w, b]() mutable {
    w.mutable_grad() = at::Tensor();
    (w * b).sum().backward();
  };
  return {step, [step, w] {
            step();
            return w.grad();
          }};
}

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string answer(const std::string& line, Row& row) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  if (command == "hello") {
    return "";
  }
  if (command == "prepare") {
    std::string name;
    std::string folder;
    words >> name >> folder;
    if (name != "add4" && name != "mulsumbwd") {
      throw std::runtime_error("has no such row");
    }
    row = name == "add4" ? make_add(folder) : make_backward(folder);
    return "";
  }
  if (command == "outputs") {
    std::string folder;
    words >> folder;
    const at::Tensor output = row.output().contiguous();
    std::ofstream file(folder + "/output.0.f32", std::ios::binary);
    file.write(static_cast<const char*>(output.data_ptr()), 4 * output.numel());
    return "1";
  }
  if (command == "time" || command == "cpu_time") {
    long iterations = 0;
    words >> iterations;
    const clockid_t clock = command == "time" ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    const double begin = seconds_of(clock);
    for (long i = 0; i < iterations; ++i) {
      row.step();
    }
    char text[40];
    std::snprintf(text, sizeof(text), "%.9g", seconds_of(clock) - begin);
    return text;
  }
  row = {};
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(argc > 1 ? std::stoi(argv[1]) : 1);
  Row row;
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      std::cout << "ok " << answer(line, row) << std::endl;
    } catch (const std::exception& error) {
      const std::string reason = error.what();
      std::cout << "no " << reason.substr(0, reason.find('\n')) << std::endl;
    }
  }
}
