// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules: parameters, copies, forks, records, printing, threads.
#include "sinter/nn/module.hpp"

#include <unistd.h>

#include <thread>

#include "sinter/base/error.hpp"
#include "sinter/nn/golden_test.hpp"
#include "sinter/store/record.hpp"

namespace sinter::nn {

// As the design page has it: a plain struct.
struct Feed {
  Linear linear_inner, linear_outer;
  Dropout dropout;
  Gelu gelu;

  template <int D>
  Tensor<D> forward(const Tensor<D>& input) const {
    auto x = gelu.forward(linear_inner.forward(input));
    return linear_outer.forward(dropout.forward(x));
  }
};

struct Tied {
  Embedding encoder;
  Param<2> decoder;
  Buffer<1> seen;
  std::optional<Linear> extra;
};

// Layers that can't be copied.
struct OnlyMoves {
  std::unique_ptr<Linear> inner;
  template <int D>
  Tensor<D> forward(const Tensor<D>& x, double factor = 2) const {
    return inner->forward(x) * factor;
  }
};

namespace {

using namespace sinter::testing;

Feed make_feed(const Device& device, double prob = 0) {
  return {Linear{{.in = 4, .out = 8}, device}, Linear{{.in = 8, .out = 4}, device},
          Dropout{{.prob = prob}}, Gelu{}};
}
Tied make_tied(const Device& device) {
  Tied m;
  m.encoder = Embedding{{.n_embedding = 3, .d_model = 2}, device};
  m.decoder = m.encoder.weight;
  m.seen = Buffer<1>({.shape = {2}}, device);
  return m;
}
std::vector<double> values(const ParamBase& param) {
  return sinter::detail::read(param.value()).to_doubles();
}
std::string temporary(const char* name) {
  return ::testing::TempDir() + "/" + std::to_string(::getpid()) + name;
}

TEST(Module, a_plain_struct_is_a_module) {
  const Feed feed = make_feed(train_device(), 0.1);
  const auto x = Tensor<3>(wave({2, 3, 4}, 0.1));
  EXPECT_EQ(feed.forward(x).shape(), (Shape{2, 3, 4}));
  const std::vector<NamedParam> params = parameters(feed);
  ASSERT_EQ(params.size(), 4u);
  EXPECT_EQ(params[0].name, "linear_inner.weight");
  EXPECT_EQ(params[3].name, "linear_outer.bias");
  EXPECT_EQ(num_params(feed), 4 * 8 + 8 + 8 * 4 + 4);
  EXPECT_EQ(str(feed),
            "Feed  76 params\n"
            "  linear_inner: Linear  40 params\n"
            "    weight: [4, 8] f32\n"
            "    bias: [8] f32\n"
            "  linear_outer: Linear  36 params\n"
            "    weight: [8, 4] f32\n"
            "    bias: [4] f32\n"
            "  dropout: Dropout {prob=0.1}\n"
            "  gelu: Gelu\n");
}

TEST(Module, copies_share_and_forks_do_not) {
  Feed feed = make_feed(train_device());
  const Feed copy = feed;
  Feed forked = fork(feed);
  EXPECT_EQ(copy.linear_inner.weight.id(), feed.linear_inner.weight.id());
  EXPECT_NE(forked.linear_inner.weight.id(), feed.linear_inner.weight.id());
  const std::vector<double> before = values(forked.linear_inner.weight);
  EXPECT_EQ(before, values(feed.linear_inner.weight));
  feed.linear_inner.weight.set(Tensor<2>::ones({4, 8}, train_device()));
  EXPECT_EQ(values(copy.linear_inner.weight), std::vector<double>(32, 1));
  EXPECT_EQ(values(forked.linear_inner.weight), before);
}

TEST(Cases, SER_13_a_fork_before_first_use_draws_equal_values) {
  train_device().seed(5);
  const Feed feed = make_feed(train_device());
  const Feed forked = fork(feed);
  ASSERT_FALSE(feed.linear_outer.weight.initialized());
  (void)Tensor<1>::random({100}, {}, train_device());  // the stream moves on
  EXPECT_EQ(values(forked.linear_outer.weight), values(feed.linear_outer.weight));
  EXPECT_NE(values(feed.linear_inner.bias), values(feed.linear_outer.bias));
  EXPECT_FALSE(forked.linear_outer.weight.value() == feed.linear_outer.weight.value());
}

TEST(Module, the_order_of_first_use_changes_no_value) {
  train_device().seed(6);
  const Feed a = make_feed(train_device());
  train_device().seed(6);
  const Feed b = make_feed(train_device());
  (void)b.linear_outer.bias.value();
  EXPECT_EQ(values(a.linear_inner.weight), values(b.linear_inner.weight));
  EXPECT_EQ(values(a.linear_outer.bias), values(b.linear_outer.bias));
}

TEST(Cases, GRD_13_a_parameter_that_was_rebuilt_is_a_leaf) {
  Linear layer{{.in = 2, .out = 2, .bias = false}, train_device()};
  layer.weight.set(layer.weight.tensor().slice_assign(Tensor<2>::zeros({1, 2}, train_device()),
                                                      range(0, 1), all));
  EXPECT_TRUE(autodiff::is_leaf(layer.weight.value()));
  const auto y = layer.forward(Tensor<2>(wave({1, 2}, 0.1)));
  EXPECT_TRUE(layer.weight.grad(y.sum().backward()));
  EXPECT_THROW(layer.weight.set(Tensor<2>::zeros({3, 2}, train_device())), ShapeError);
}

TEST(Module, frozen_parameters_have_no_gradient) {
  Feed feed = make_feed(train_device());
  freeze(feed, [](const NamedParam& p) { return p.name.starts_with("linear_inner"); });
  const auto x = Tensor<2>(wave({2, 4}, 0.1));
  const Gradients gradients = feed.forward(x).sum().backward();
  EXPECT_FALSE(feed.linear_inner.weight.grad(gradients));
  EXPECT_TRUE(feed.linear_outer.weight.grad(gradients));
  unfreeze(feed);
  EXPECT_TRUE(feed.linear_inner.weight.grad(feed.forward(x).sum().backward()));
  EXPECT_FALSE(no_grad(feed).forward(x).is_require_grad());
  EXPECT_TRUE(feed.forward(x).is_require_grad());
}

TEST(Module, valid_and_to_device_keep_ids_and_values) {
  const Feed feed = make_feed(train_device(), 0.5);
  const Feed evaluated = valid(feed);
  EXPECT_EQ(evaluated.linear_inner.weight.device(), plain_device());
  EXPECT_EQ(evaluated.linear_inner.weight.id(), feed.linear_inner.weight.id());
  EXPECT_EQ(values(evaluated.linear_inner.weight), values(feed.linear_inner.weight));
  const auto x = Tensor<2>(wave({2, 4}, 0.1));
  const Feed moved = to_device(feed, Device::reference());
  expect_near(moved.forward(x.inner().to_device(Device::reference())),
              evaluated.forward(x.inner()).to_vector<double>());
}

TEST(Module, map_and_to_dtype) {
  const Feed feed = make_feed(train_device());
  const Feed doubled = map(feed, [](const std::string&, const DynTensor& x) { return x * 2; });
  EXPECT_EQ(values(doubled.linear_inner.bias)[3], 2 * values(feed.linear_inner.bias)[3]);
  EXPECT_TRUE(autodiff::is_leaf(doubled.linear_inner.bias.value()));
  EXPECT_EQ(to_dtype(feed, DType::f64).linear_inner.bias.value().dtype(), DType::f64);
  EXPECT_EQ(feed.linear_inner.bias.value().dtype(), DType::f32);
}

TEST(Record, a_module_comes_back) {
  const std::string path = temporary("feed.safetensors");
  Feed feed = make_feed(train_device());
  save(feed, path);
  Feed other = make_feed(plain_device());
  EXPECT_NE(values(other.linear_inner.weight), values(feed.linear_inner.weight));
  const LoadReport report = load(other, path);
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.loaded.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(values(parameters(other)[i].param), values(parameters(feed)[i].param));
  }
}

TEST(Record, what_does_not_fit_is_reported_and_nothing_is_half_loaded) {
  Feed feed = make_feed(train_device());
  store::Record record = state(feed);
  Feed wider = make_feed(train_device());
  wider.linear_outer = Linear{{.in = 8, .out = 5}, train_device()};
  record.add("spare", HostData({1}, DType::f32));
  const std::vector<double> before = values(wider.linear_inner.weight);
  EXPECT_THROW(load_state(wider, record), FormatError);
  EXPECT_EQ(values(wider.linear_inner.weight), before);
  const LoadReport report = load_state(wider, record, {.strict = false});
  EXPECT_EQ(report.loaded.size(), 2u);
  EXPECT_EQ(report.wrong_shape.size(), 2u);
  EXPECT_EQ(report.unused, std::vector<std::string>{"spare"});
  EXPECT_EQ(values(wider.linear_inner.weight), values(feed.linear_inner.weight));
  EXPECT_TRUE(load_state(wider, store::Record(), {.strict = false}).missing.size() == 4);
}

TEST(Cases, SER_02_both_layouts_of_a_weight_reload) {
  const auto x = Tensor<2>(wave({2, 3}, 0.1));
  for (const LinearLayout from : {LinearLayout::row, LinearLayout::column}) {
    const Linear saved{{.in = 3, .out = 5, .layout = from}, train_device()};
    const store::Record record = state(saved);
    EXPECT_EQ(record.at("weight").shape(), (Shape{5, 3}));
    for (const LinearLayout to : {LinearLayout::row, LinearLayout::column}) {
      Linear loaded{{.in = 3, .out = 5, .layout = to}, train_device()};
      load_state(loaded, record);
      expect_near(loaded.forward(x), saved.forward(x).to_vector<double>());
    }
  }
}

TEST(Cases, SER_12_views_and_tied_tensors) {
  Tied m = make_tied(train_device());
  const auto base = Tensor<2>(wave({2, 5}, 0.3));
  m.decoder.set(base.t().slice(range(0, 3), all));  // a strided view of shared storage
  const store::Record record = state(m);
  EXPECT_TRUE(record.tied("encoder.weight", "decoder"));
  EXPECT_EQ(num_params(m), 6);

  const std::string path = temporary("tied.safetensors");
  save(m, path);
  Tied loaded = make_tied(train_device());
  load(loaded, path);
  EXPECT_EQ(values(loaded.decoder), base.t().slice(range(0, 3), all).to_vector<double>());
  EXPECT_EQ(loaded.decoder.id(), loaded.encoder.weight.id());
  loaded.decoder.set(Tensor<2>::zeros({3, 2}, train_device()));
  EXPECT_EQ(values(loaded.encoder.weight), std::vector<double>(6, 0));
  const Tied forked = fork(loaded);
  EXPECT_EQ(forked.decoder.id(), forked.encoder.weight.id());
  EXPECT_NE(forked.decoder.id(), loaded.decoder.id());
}

TEST(Cases, BLD_13_sequential) {
  Sequential net{
      OnlyMoves{std::make_unique<Linear>(LinearConfig{.in = 4, .out = 3}, train_device())}, Relu{},
      Linear{{.in = 3, .out = 2}, train_device()}};
  const auto x = Tensor<2>(wave({2, 4}, 0.1));
  const auto y = net.forward(x);
  static_assert(std::is_same_v<decltype(y), const Tensor<2>>);
  const auto expected =
      net.get<2>().forward((net.get<0>().inner->forward(x) * 2).relu()).to_vector<double>();
  expect_near(y, expected, 0);
  EXPECT_EQ(parameters(net)[0].name, "0.inner.weight");
  EXPECT_EQ(parameters(net)[2].name, "2.weight");

  const Sequential plain{Linear{{.in = 4, .out = 3}, train_device()}, Relu{}};
  const auto deep = fork(plain);
  EXPECT_EQ(values(deep.get<0>().weight), values(plain.get<0>().weight));
  EXPECT_NE(deep.get<0>().weight.id(), plain.get<0>().weight.id());
  const auto moved = std::move(net);
  expect_near(moved.forward(x), expected, 0);
}

TEST(Buffer, follows_program_order_across_copies) {
  const Buffer<1> cell({.shape = {1}}, train_device());
  const Buffer<1> copy = cell;
  cell.update([](const Tensor<1>& x) { return x + 1; });
  copy.update([](const Tensor<1>& x) { return x * 3; });
  EXPECT_EQ(values(cell), std::vector<double>{3});
  EXPECT_FALSE(cell.tensor().is_require_grad());
}

// N threads with a fork each: their gradients, summed here, are those of the whole batch.
TEST(Thread, gradients_of_forks_sum_to_the_serial_ones) {
  const Feed feed = make_feed(train_device());
  const auto x = Tensor<2>(wave({8, 4}, 0.1));
  const ModuleGradients serial = gradients_of(feed, square_backward(feed.forward(x)));
  constexpr int threads = 4;
  std::vector<ModuleGradients> parts(threads);
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&, t, forked = fork(feed)] {
      const auto part = x.narrow(0, 2 * t, 2);
      parts[static_cast<std::size_t>(t)] =
          gradients_of(forked, square_backward(forked.forward(part)));
    });
  }
  for (std::thread& thread : pool) {
    thread.join();
  }
  ModuleGradients sum;
  for (const ModuleGradients& part : parts) {
    sum.accumulate(part);
  }
  ASSERT_EQ(sum.entries().size(), 4u);
  for (const auto& [name, gradient] : serial.entries()) {
    expect_near(sinter::detail::read(sum.get(name)), sinter::detail::read(gradient).to_doubles());
  }
}

TEST(Thread, first_use_of_one_module_from_many_threads) {
  const Feed feed = make_feed(train_device());
  const BatchNorm norm{{.features = 4}, train_device()};
  std::vector<std::thread> pool;
  std::vector<std::vector<double>> results(4);
  for (std::size_t t = 0; t < results.size(); ++t) {
    pool.emplace_back([&, t] {
      const auto x = Tensor<2>(wave({2, 4}, 0.1));
      results[t] = feed.forward(norm.forward(x)).to_vector<double>();
    });
  }
  for (std::thread& thread : pool) {
    thread.join();
  }
  EXPECT_EQ(results[0], results[3]);
  // Four equal updates, in whatever order: 1 - 0.9^4 of the way.
  const double mean = Tensor<2>(wave({2, 4}, 0.1)).mean(0).slice(0).item();
  EXPECT_NEAR(values(norm.running_mean)[0], mean * (1 - std::pow(0.9, 4)), 1e-5);
}

TEST(Config, layers_configs_are_json) {
  const Conv2dConfig config{.in = 1, .out = 8, .kernel = {5, 5}, .padding = Padding2d::same()};
  Initializer read = config.init;
  EXPECT_EQ(read.kind, Initializer::Kind::kaiming_uniform);
  static_assert(Reflectable<Conv2dConfig> && Reflectable<LinearConfig> &&
                Reflectable<TransformerEncoderConfig>);
}

}  // namespace
}  // namespace sinter::nn
