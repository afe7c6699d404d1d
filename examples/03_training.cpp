// SPDX-License-Identifier: MIT OR Apache-2.0
// Training: a module, a data set, an optimizer and a loop that shows how it goes.
#include <cstdio>
#include <sinter/train.hpp>

using namespace sinter;

// A module is a struct; its parameters are found by reflection.
struct Classifier {
  nn::Linear hidden;
  nn::Linear output;
  Tensor<2> forward(const Tensor<2>& x) const { return output.forward(hidden.forward(x).relu()); }
};

// Points in the plane; the class tells whether x and y have the same sign.
data::ColumnDataset points(std::int64_t count) {
  const auto at = Tensor<2>::random({count, 2}, Distribution::uniform(-1, 1));
  const Tensor<1> product = at.slice(all, 0) * at.slice(all, 1);
  return data::ColumnDataset({at.to_data(), (product > 0).to_int().to_data()});
}

int main() {
  const Device device = Device::best().autodiff();
  Device::best().seed(1);
  device.seed(1);

  data::DataLoader train_data(points(2000), {.batch_size = 50, .order = data::Order::shuffled});
  data::DataLoader test_data(points(500), {.batch_size = 100});

  Classifier model{.hidden = nn::Linear{{.in = 2, .out = 32}, device},
                   .output = nn::Linear{{.in = 32, .out = 2}, device}};
  std::printf("%s\n", nn::str(model).c_str());

  // `.checkpoints` names a folder to save to, `.resume` one to go on from.
  train::Learner learner(
      std::move(model), optim::AdamW(),
      {.device = device, .epochs = 8, .schedule = optim::CosineLr{.initial = 0.02, .steps = 320}});
  learner.add_metric<train::Accuracy>();
  learner.attach(std::make_shared<train::PlainRenderer>(stdout));

  const auto step = [](const auto& net, const std::vector<HostData>& batch, const Device& on) {
    const auto labels = Tensor<1, Int>::from_data(batch[1], on);
    const auto logits = net.forward(Tensor<2>::from_data(batch[0], on));
    return train::StepOutput{.loss = nn::CrossEntropyLoss().forward(logits, labels),
                             .output = logits,
                             .targets = labels,
                             .items = batch[1].num_elements()};
  };
  const train::FitResult result = learner.fit(train_data, test_data, step);

  const double accuracy = result.history.values(train::Split::valid, "accuracy").back();
  std::printf("%lld steps, accuracy %.1f %%\n", static_cast<long long>(result.step), accuracy);
  return accuracy > 90 ? 0 : 1;
}
