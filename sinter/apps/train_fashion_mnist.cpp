// SPDX-License-Identifier: MIT OR Apache-2.0
// `sinter train fashion-mnist`: trains the network and shows what it sees.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "sinter/apps/commands.hpp"
#include "sinter/apps/fashion_mnist_model.hpp"
#include "sinter/apps/predictions.hpp"
#include "sinter/base/config.hpp"
#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/data/fashion_mnist.hpp"
#include "sinter/data/loader.hpp"
#include "sinter/nn/loss.hpp"
#include "sinter/optim/optim.hpp"
#include "sinter/train/json_logger.hpp"
#include "sinter/train/learner.hpp"
#include "sinter/train/plain_renderer.hpp"

namespace sinter::apps {

namespace {

constexpr std::int64_t test_batch = 500;
constexpr int shown_images = 6;
// What a shell reports for a program ended by Ctrl-C.
constexpr int interrupted_status = 130;

using Images = data::SubsetDataset<data::ImageDataset>;

train::StepOutput classify(const FashionMnistModel& model, const data::ImageBatch& batch,
                           const Device& device) {
  const auto labels = Tensor<1, Int>::from_data(batch.labels, device);
  const auto logits = model.forward(Tensor<4>::from_data(batch.images, device));
  return {.loss = nn::CrossEntropyLoss().forward(logits, labels),
          .output = logits,
          .targets = labels,
          .items = batch.size()};
}

Device training_device(const std::string& name) {
  const Device device = name.empty() ? Device::best() : Device::by_name(name);
  return device.is_autodiff() ? device : device.autodiff();
}

/// Up to `peak` in the first tenth of the steps, then down along half a cosine.
optim::Scheduler one_cycle(double peak, std::int64_t steps) {
  const std::int64_t warmup = std::max<std::int64_t>(steps / 10, 1);
  return optim::Scheduler::sequential(
      {optim::LinearLr{.initial = peak / 10, .final = peak, .steps = warmup},
       optim::CosineLr{
           .initial = peak, .min = 0, .steps = std::max<std::int64_t>(steps - warmup, 1)}},
      {warmup});
}

std::string run_folder(int number) {
  return os::join_path("checkpoints", fmt::format("fashion-mnist-{}", number));
}

/// Sets where checkpoints go to, and what the run resumes from ("" for a new one).
void place_checkpoints(const TrainOptions& options, train::LearnerConfig& config) {
  int next = 1;
  while (os::path_exists(run_folder(next))) {
    ++next;
  }
  if (options.resume) {
    config.resume = *options.resume;
    if (config.resume.empty()) {
      config.resume = options.checkpoints.empty() ? run_folder(next - 1) : options.checkpoints;
      if (next == 1 && options.checkpoints.empty()) {
        throw ArgumentError(
            "there is no earlier run below ./checkpoints to resume; give the folder: --resume DIR");
      }
    }
  }
  config.checkpoints = options.checkpoints;
  if (config.checkpoints.empty()) {
    config.checkpoints = os::is_directory(config.resume) ? config.resume : run_folder(next);
  }
}

void set_threads(int threads) {
  if (threads > 0) {
    config::set("threads", std::to_string(threads));
    ThreadPool::global().set_num_threads(threads);
  }
}

/// The first images of the test set with what the model takes them for.
void show_predictions(const FashionMnistModel& trained, const Device& device,
                      const data::ImageDataset& test) {
  const auto count = static_cast<std::size_t>(std::min<std::int64_t>(shown_images, test.size()));
  std::vector<std::int64_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) {
    indices[i] = static_cast<std::int64_t>(i);
  }
  const data::ImageBatch batch = test.batch(indices);
  const FashionMnistModel model = nn::valid(trained);
  const auto logits = model.forward(Tensor<4>::from_data(batch.images, device.inner()));
  const std::vector<Prediction> predictions =
      predictions_of(logits.to_data(), batch.labels, data::fashion_mnist_classes());
  fmt::print("\nthe first {} test images, and what the network takes them for:\n\n{}", count,
             side_by_side(test.pixels(), predictions));
}

}  // namespace

int train_fashion_mnist(const TrainOptions& options) {
  set_threads(options.threads);
  const Device device = training_device(options.device);
  device.seed(options.seed);
  const data::ImageDataset all = data::fashion_mnist(data::Split::train, options.data);
  const data::ImageDataset test = data::fashion_mnist(data::Split::test, options.data);
  const std::int64_t used = options.limit > 0 ? std::min(options.limit, all.size()) : all.size();

  data::DataLoader train_loader(data::partial(all, 0, used),
                                {.batch_size = options.batch_size,
                                 .drop_last = used > options.batch_size,
                                 .order = data::Order::shuffled,
                                 .seed = options.seed,
                                 .num_workers = options.workers});
  data::DataLoader test_loader(
      data::partial(test, 0, options.limit > 0 ? std::min(used, test.size()) : test.size()),
      {.batch_size = test_batch, .num_workers = options.workers});

  train::LearnerConfig config{
      .device = device,
      .epochs = options.epochs,
      .seed = options.seed,
      .schedule = one_cycle(options.learning_rate, options.epochs * train_loader.num_batches()),
      .checkpoint_every = options.checkpoint_every,
      .keep_last = options.keep,
      .best = {.metric = "accuracy"},
  };
  place_checkpoints(options, config);
  if (options.patience > 0) {
    config.early_stopping = train::EarlyStopping{.patience = options.patience};
  }
  const std::string checkpoints = config.checkpoints;
  train::Learner learner(FashionMnistModel::make(device), optim::AdamW(), std::move(config));
  learner.add_metric<train::Accuracy>();
  learner.attach(std::make_shared<train::PlainRenderer>(stdout));
  if (!options.log.empty()) {
    learner.attach(std::make_shared<train::JsonLogger>(options.log));
  }

  fmt::print("{}\n\n", nn::str(learner.module()));
  std::fflush(stdout);
  const train::FitResult result = learner.fit(train_loader, test_loader, classify);
  if (result.reason == train::StopReason::interrupted) {
    fmt::print("go on with: sinter train fashion-mnist --resume {}\n", checkpoints);
    return interrupted_status;
  }
  show_predictions(learner.module(), device, test);
  if (!result.history.epochs.empty()) {
    const auto accuracy = result.history.values(train::Split::valid, "accuracy").back();
    fmt::print("test accuracy {:.2f} % after {} epoch{}\n", accuracy, result.history.epochs.size(),
               result.history.epochs.size() == 1 ? "" : "s");
  }
  return 0;
}

}  // namespace sinter::apps
