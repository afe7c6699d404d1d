// SPDX-License-Identifier: MIT OR Apache-2.0
// sinter/optim: optimizers, parameter groups, clipping and schedules.
#include "expect.hpp"

#include <sinter/sinter.hpp>
#include <sinter/store/record.hpp>

using namespace sinter;
using F1 = Tensor<1>;

struct Line {
  nn::Param<1> slope;
  nn::Param<1> bias;
};

static Line make_line() {
  const DefaultDeviceScope scope(Device().autodiff());
  return {.slope = nn::Param<1>(F1::ones({1})), .bias = nn::Param<1>(F1::ones({1}))};
}
// The gradient of each parameter is 2.
static Gradients twos(const Line& line) {
  return ((line.slope.tensor() + line.bias.tensor()) * 2).sum().backward();
}

static void optimizers() {
  Line line = make_line();
  optim::Sgd sgd({.momentum = 0.9});
  sgd.step(0.1, line, twos(line));
  EXPECT(near(line.slope.tensor().item(), 0.8) && sgd.config().momentum == 0.9);
  optim::Adam adam;
  adam.step(0.1, line, twos(line));
  EXPECT(near(line.slope.tensor().item(), 0.7) && adam.config().beta_2 == 0.999);
  optim::AdamW adamw({.weight_decay = 0});
  adamw.step(0.1, line, nn::gradients_of(line, twos(line)));
  EXPECT(near(line.slope.tensor().item(), 0.6));
  optim::AdamW restored({.weight_decay = 0});
  restored.load_state(line, adamw.state(line));
  EXPECT(restored.state(line).size() == 6);
}

static void groups() {
  const auto choose = [](optim::ParamPredicate match) {
    Line line = make_line();
    optim::Sgd sgd;
    sgd.add_group(match, {.lr_scale = 0});
    sgd.step(0.1, line, twos(line));
    return line.bias.tensor().item() == 1 && near(line.slope.tensor().item(), 0.8);
  };
  EXPECT(choose(optim::name_contains("bias")));
  EXPECT(choose(optim::not_of(optim::name_contains("slope"))));
  EXPECT(choose(optim::any_of(optim::name_contains("bias"), optim::rank_at_most(0))));
}

static void clipping() {
  const Line line = make_line();
  nn::ModuleGradients gradients = nn::gradients_of(line, twos(line));
  optim::clip_by_value(gradients, 1);
  EXPECT(F1(gradients.get("bias")).item() == 1);
  EXPECT(near(optim::clip_by_global_norm(gradients, 0.1), 1.414214));
  std::vector<Value> values{F1::from({3, 4}).value()};
  EXPECT(near(Tensor<0>(optim::clip(values, {.norm = 1})).item(), 5));
  EXPECT(holds(F1(values[0]), {0.6, 0.8}));
}

static void schedules() {
  using optim::Scheduler;
  EXPECT(Scheduler(0.5).at(7) == 0.5 && Scheduler(optim::ConstantLr{0.5}).at(0) == 0.5);
  EXPECT(near(Scheduler(optim::LinearLr{1, 0, 4}).at(1), 0.75));
  EXPECT(near(Scheduler(optim::CosineLr{1, 0, 4}).at(2), 0.5));
  EXPECT(near(Scheduler(optim::StepLr{1, 10, 0.1}).at(20), 0.01));
  EXPECT(near(Scheduler(optim::ExponentialLr{1, 0.5}).at(2), 0.25));
  EXPECT(Scheduler(optim::NoamLr{}).at(10) > 0);
  Scheduler both = Scheduler::sequential({optim::LinearLr{0, 1, 4}, 0.5}, {4});
  EXPECT(near(both.next(), 0) && near(both.next(), 0.25) && near(both.at(9), 0.5));
  both.load_state(4);
  EXPECT(both.state() == 4 && near(both.next(), 0.5));
  EXPECT(near(Scheduler::composed({0.5, optim::ExponentialLr{1, 0.5}}).at(1), 0.25));
}

int main() {
  optimizers();
  groups();
  clipping();
  schedules();
  return wrong == 0 ? 0 : 1;
}
