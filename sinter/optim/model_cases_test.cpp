// SPDX-License-Identifier: MIT OR Apache-2.0
// Cases of whole models: whose memory a parameter is, which device tensors are on, what a step
// costs in memory, and what a record's loading tells.
#include "sinter/base/error.hpp"
#include "sinter/nn/golden_test.hpp"
#include "sinter/nn/nn.hpp"
#include "sinter/nn/record.hpp"
#include "sinter/optim/optimizer.hpp"
#include "sinter/store/record.hpp"

namespace sinter::optim {

struct Flags {
  nn::Linear linear;
  nn::Buffer<1, Bool> mask;
};
struct Wide {
  nn::Linear a, b, c;
  static Wide make(const Device& device) {
    const nn::LinearConfig square{.in = 1024, .out = 1024, .bias = false};
    return {nn::Linear(square, device), nn::Linear(square, device), nn::Linear(square, device)};
  }
  Tensor<2> forward(const Tensor<2>& x) const {
    return c.forward(b.forward(a.forward(x).relu()).relu());
  }
};

namespace {

using namespace sinter::testing;

TEST(Cases, IDX_28_a_parameter_of_a_parameters_values) {
  nn::Linear layer{{.in = 2, .out = 2}, train_device()};
  const nn::Linear tied = layer;
  nn::Linear other = layer;
  other.weight = nn::Param<2>(layer.weight.tensor());
  const std::vector<double> before = layer.weight.tensor().to_vector<double>();
  Sgd optim;
  const auto x = Tensor<2>::ones({1, 2}, train_device());
  optim.step(0.1, other, other.forward(x).sum().backward());
  EXPECT_NE(other.weight.tensor().to_vector<double>(), before);
  EXPECT_EQ(layer.weight.tensor().to_vector<double>(), before);
  EXPECT_EQ(tied.weight.tensor().to_vector<double>(), before);
  // And the other way round.
  const std::vector<double> moved = other.weight.tensor().to_vector<double>();
  optim.step(0.1, layer, layer.forward(x).sum().backward());
  EXPECT_NE(layer.weight.tensor().to_vector<double>(), before);
  EXPECT_EQ(other.weight.tensor().to_vector<double>(), moved);
}

TEST(Cases, DTY_04_bool_constants_load_on_every_device) {
  const auto make = [](const Device& device, bool first) {
    return Flags{nn::Linear{{.in = 2, .out = 2}, device},
                 nn::Buffer<1, Bool>(Tensor<1, Bool>::from({first, false, true}, device))};
  };
  const std::vector<std::byte> saved = nn::state(make(Device::portable(), true)).to_bytes();
  for (const Device& device : {Device::portable(), Device::reference(),
                               Device::portable().autodiff(), Device::portable().validate()}) {
    Flags loaded = make(device, false);
    (void)nn::load_state(loaded, store::Record::from_bytes(saved));
    EXPECT_EQ(loaded.mask.dtype(), DType::boolean) << device.name();
    EXPECT_EQ(loaded.mask.tensor().to_vector<int>(), (std::vector<int>{1, 0, 1})) << device.name();
    EXPECT_EQ(loaded.mask.tensor().sum().item(), 2);
  }
}

TEST(Cases, SER_14_what_loading_reports) {
  nn::Linear layer{{.in = 2, .out = 3}, train_device()};
  store::Record record;
  record.add("weight", HostData(Shape{2, 3}, DType::f32));
  record.add("gamma", HostData(Shape{3}, DType::f32));
  const nn::LoadReport report = nn::load_state(layer, record, {.strict = false});
  EXPECT_TRUE(report.loaded.empty());
  EXPECT_EQ(report.missing, std::vector<std::string>{"bias"});
  EXPECT_EQ(report.unused, std::vector<std::string>{"gamma"});
  ASSERT_EQ(report.wrong_shape.size(), 1u);
  EXPECT_NE(report.wrong_shape[0].find("the module has [3, 2]"), std::string::npos)
      << report.wrong_shape[0];
  EXPECT_THROW((void)nn::check_state(layer, record), FormatError);
  EXPECT_THROW((void)nn::load_state(layer, record), FormatError);
}

// The moments turn with the weight: a square one shows it best, as no shape is wrong.
TEST(Cases, SER_02_moments_follow_the_layout_of_their_weight) {
  const Device device = train_device();
  const auto x = Tensor<2>::from({{1, 2}, {3, -1}}, device);
  const auto y = Tensor<2>::from({{1, 0}, {0, 5}}, device);
  const auto make = [&](nn::LinearLayout layout) {
    return nn::Linear{{.in = 2, .out = 2, .layout = layout}, device};
  };
  const auto step = [&](nn::Linear& layer, AdamW& optim) {
    optim.step(0.1, layer, nn::mse_loss(layer.forward(x), y).backward());
  };
  nn::Linear layer = make(nn::LinearLayout::row);
  AdamW optim;
  step(layer, optim);
  step(layer, optim);
  nn::Linear other = make(nn::LinearLayout::column);
  AdamW resumed;
  nn::load_state(other, nn::state(layer));
  resumed.load_state(other, optim.state(layer));
  step(layer, optim);
  step(other, resumed);
  const std::vector<double> wanted = nn::state(layer).at("weight").to_doubles();
  const std::vector<double> got = nn::state(other).at("weight").to_doubles();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(got[i], wanted[i], 1e-6);
  }
}

TEST(Cases, THR_08_another_default_device) {
  const Device device = Device::portable().autodiff();
  const DefaultDeviceScope elsewhere(Device::null());
  nn::Linear layer{{.in = 2, .out = 2}, device};
  AdamW optim({.clipping = {.norm = 1.0}});
  const auto x = Tensor<2>::from({{1, 2}}, device);
  for (int i = 0; i < 2; ++i) {
    const Gradients grads = nn::mse_loss(layer.forward(x), x).backward();
    EXPECT_EQ(layer.weight.grad(grads)->device(), device.inner());
    optim.step(0.1, layer, grads);
  }
  const store::Record state = optim.state(layer), weights = nn::state(layer);
  EXPECT_NE(state.at("weight.first").at(0), 0) << "the null device computes nothing";
  nn::Linear again{{.in = 2, .out = 2}, device};
  (void)nn::load_state(again, weights);
  optim.load_state(again, state);
  EXPECT_EQ(again.weight.device(), device);
  const nn::Linear valid = nn::valid(again);
  EXPECT_EQ(valid.weight.device(), device.inner());
  EXPECT_EQ(valid.forward(x.inner()).device(), device.inner());
  optim.step(0.1, again, nn::mse_loss(again.forward(x), x).backward());
}

TEST(Cases, MEM_04_a_training_steps_memory) {
  const Device device = train_device();
  Wide model = Wide::make(device);
  AdamW optim;
  const auto x = Tensor<2>(wave({1024, 1024}, 0.1, 1, 0, device));
  const auto y = Tensor<2>(wave({1024, 1024}, 0.3, 1, 0, device));
  const std::size_t before = device.memory().in_use;
  const auto step = [&] { optim.step(1e-3, model, nn::mse_loss(model.forward(x), y).backward()); };
  step();
  const MemoryStats first = device.memory();
  step();
  const MemoryStats second = device.memory();
  // All tensors have 4 MiB: three weights, their gradients and two moments each; the inputs of the
  // three layers, two of them relu's results, the output and its error.
  const double matrix = 4 << 20;
  const double at_hand = static_cast<double>(before) + matrix * (3 + 3 + 6 + 5);
  EXPECT_LE(static_cast<double>(second.peak), 1.3 * at_hand);
  EXPECT_LE(second.in_use, first.in_use + (std::size_t{1} << 20));
}

TEST(Cases, MEM_05_sessions_leave_nothing) {
  const Device device = train_device();
  std::size_t settled = 0;
  for (int session = 0; session < 100; ++session) {
    nn::Linear model{{.in = 64, .out = 64}, device};
    AdamW optim;
    for (const std::int64_t batch : {4, 200, 30}) {
      const auto x = Tensor<2>::ones({batch, 64}, device);
      optim.step(1e-3, model, nn::mse_loss(model.forward(x), x).backward());
      (void)optim.state(model);
    }
    if (session == 10) {
      settled = device.memory().in_use;
    }
  }
  EXPECT_LE(device.memory().in_use, settled + (std::size_t{256} << 10));
}

}  // namespace
}  // namespace sinter::optim
