// SPDX-License-Identifier: MIT OR Apache-2.0
// The `sinter` command: its arguments, and errors as one sentence.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "sinter/apps/commands.hpp"

namespace {

using sinter::apps::TrainOptions;

constexpr int failed = 1;
constexpr int wrong_usage = 2;

/// One line on stderr, whatever the message holds.
int fail(std::string message, int status) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fflush(stdout);
  std::fprintf(stderr, "sinter: %s\n", message.c_str());
  return status;
}

void add_train_options(CLI::App& app, TrainOptions& options, std::string& resume) {
  app.add_option("--device", options.device, "Device to train on, as `sinter devices` lists them");
  app.add_option("--epochs", options.epochs, "Passes over the training images")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "Images in a step")
      ->check(CLI::Range(1, 60'000))
      ->capture_default_str();
  app.add_option("--lr", options.learning_rate, "Highest learning rate of the schedule")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of weights, order and dropout")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads that compute; 0: all processors")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--workers", options.workers, "Threads that prepare batches")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  app.add_option("--data", options.data, "Folder of the data set's four files");
  app.add_option("--checkpoints", options.checkpoints,
                 "Folder of the checkpoints; by default a new one below ./checkpoints");
  app.add_option("--resume", resume,
                 "Go on from the latest checkpoint of this folder, or from this file; by default "
                 "from the latest run")
      ->expected(0, 1);
  app.add_option("--keep", options.keep, "Checkpoints that are kept beside the best")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--checkpoint-every", options.checkpoint_every,
                 "Steps between checkpoints; 0: after each epoch")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--limit", options.limit,
                 "Training images to use (and at most as many test images); 0: all")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  app.add_option("--patience", options.patience,
                 "Epochs without a better test loss before an early stop; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--log", options.log, "File that gets every step as a line of JSON");
}

int run(int argc, char** argv) {
  CLI::App app("Sinter: deep learning in C++.", "sinter");
  app.require_subcommand(1);

  TrainOptions train_options;
  std::string resume;
  CLI::App& train = *app.add_subcommand("train", "Train a network");
  train.require_subcommand(1);
  CLI::App& fashion_mnist =
      *train.add_subcommand("fashion-mnist", "A convolutional network on 60 000 images of clothes");
  add_train_options(fashion_mnist, train_options, resume);

  CLI::App& devices = *app.add_subcommand("devices", "List the devices of this machine");

  bool markdown = false;
  CLI::App& ops = *app.add_subcommand("ops", "List the ops and which backends compute them");
  ops.add_flag("--markdown", markdown, "As a page of documentation");

  std::string path;
  CLI::App& inspect = *app.add_subcommand("inspect", "Show the tensors of a record file");
  inspect.add_option("file", path, "A safetensors file")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);  // help
    }
    const std::vector<std::string> rest = app.remaining(true);
    const std::string what =
        rest.empty() ? error.what() : "there is no command or argument `" + rest.front() + "`";
    return fail(what + "; see `sinter --help`", wrong_usage);
  }
  if (fashion_mnist.parsed()) {
    if (fashion_mnist.count("--resume") > 0) {
      train_options.resume = resume;
    }
    return sinter::apps::train_fashion_mnist(train_options);
  }
  if (devices.parsed()) {
    return sinter::apps::list_devices();
  }
  if (ops.parsed()) {
    return sinter::apps::list_ops(markdown);
  }
  return inspect.parsed() ? sinter::apps::inspect_record(path) : failed;
}

}  // namespace

int main(int argc, char** argv) {
  int status = failed;
  try {
    status = run(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; try a smaller --batch-size", failed);
  } catch (const std::exception& error) {
    return fail(error.what(), failed);
  }
  if (std::fflush(stdout) != 0) {
    return fail("can't write to standard output", failed);
  }
  return status;
}
