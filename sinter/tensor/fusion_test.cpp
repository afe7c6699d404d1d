// SPDX-License-Identifier: MIT OR Apache-2.0
// Fused operations: which kernels run, and that nothing else changes.
#include <cmath>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "sinter/backend/registry.hpp"
#include "sinter/base/config.hpp"
#include "sinter/base/error.hpp"
#include "sinter/decorators/fusion/fusion.hpp"
#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/functional.hpp"
#include "sinter/tensor/tensor.hpp"

namespace sinter {
namespace {

class Fused : public ::testing::Test {
 protected:
  void SetUp() override {
    if (backend::find("jit-cpu").device_count() == 0) {
      GTEST_SKIP() << "[SKIP] the LLVM plug-in isn't there";
    }
  }
  const config::Scoped at_once_{"fusion", "2"};
  Device device_ = Device::cpu();
};

template <int D>
Tensor<D> uniform(const Shape& shape, const Device& device, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<float> draw(-2, 2);
  std::vector<float> values(static_cast<std::size_t>(num_elements(shape)));
  for (float& value : values) {
    value = draw(generator);
  }
  return Tensor<D>::from_data(HostData(shape, std::span<const float>(values)), device);
}

template <int D>
void expect_near(const Tensor<D>& found, const Tensor<D>& expected, double tolerance) {
  const std::vector<double> a = found.to_data().to_doubles();
  const std::vector<double> b = expected.to_data().to_doubles();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      ASSERT_TRUE(std::isnan(a[i])) << i;
    } else {
      ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << i;
    }
  }
}

template <int D>
Tensor<D> gelu_custom(Tensor<D> x) {
  return x * ((x / std::sqrt(2.0f)).erf() + 1) / 2;
}

TEST_F(Fused, a_formula_of_the_users_is_one_kernel) {
  const auto x = uniform<2>({64, 512}, device_, 1);
  const FusionInspector inspector;
  const auto y = gelu_custom(x);
  EXPECT_TRUE(inspector.events().empty());
  const HostData data = y.to_data();
  ASSERT_EQ(inspector.events().size(), 1u);
  EXPECT_EQ(inspector.events()[0].ops,
            (std::vector<std::string>{"div", "erf", "add", "mul", "div"}));
  EXPECT_EQ(inspector.events()[0].results, 1);
  EXPECT_EQ(inspector.events()[0].reason, "a value was read");
  expect_near(y, gelu_custom(x.to_device(Device::reference())), 1e-6);
}

TEST_F(Fused, one_switch_turns_it_off) {
  const auto x = uniform<2>({64, 512}, device_, 2);
  const config::Scoped off("fusion", "0");
  const FusionInspector inspector;
  expect_near(gelu_custom(x), gelu_custom(x.to_device(Device::portable())), 1e-6);
  EXPECT_TRUE(inspector.events().empty());
}

TEST_F(Fused, rows_columns_scalars_and_views_are_walked_in_place) {
  const auto check = [&](auto formula) {
    const FusionInspector inspector;
    const auto fused = formula(device_);
    fused.to_data();
    EXPECT_EQ(inspector.events().size(), 1u);
    expect_near(fused, formula(Device::reference()), 1e-6);
  };
  check([](const Device& d) {  // a row, a column and a scalar
    return (uniform<2>({96, 100}, d, 1) + uniform<1>({100}, d, 2)) * uniform<2>({96, 1}, d, 3) - 1;
  });
  check([](const Device& d) {  // a slice with gaps, and a transposed matrix
    return uniform<2>({128, 128}, d, 1).slice(range(0, 96), range(3, 99)) *
               uniform<2>({96, 96}, d, 2).transpose(0, 1) +
           1;
  });
  check([](const Device& d) {  // repeated in the middle
    return (uniform<4>({4, 1, 16, 32}, d, 1) + uniform<4>({4, 8, 1, 32}, d, 2)).relu() * 2;
  });
  check([](const Device& d) {  // walked backwards
    return uniform<2>({64, 128}, d, 1).flip({1}).exp() + 1;
  });
}

TEST_F(Fused, dtypes_meet_inside_a_kernel) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f64}) {
    const auto x = uniform<2>({64, 128}, Device::portable(), 4).cast(dtype);
    const auto formula = [](const Tensor<2>& v) { return (v * 1.5f).exp() - v; };
    const double tolerance = dtype == DType::f64 ? 1e-12 : dtype == DType::f16 ? 3e-3 : 3e-2;
    const auto fused = formula(x.to_device(device_));
    EXPECT_EQ(fused.dtype(), dtype);
    expect_near(fused, formula(x), tolerance);
  }
}

TEST_F(Fused, values_that_nobody_holds_are_not_stored) {
  const auto x = uniform<1>({100000}, device_, 5);
  device_.sync();
  const FusionInspector inspector;
  auto y = x + 1;
  {
    const auto dead = y * 3;
    auto also_dead = dead.exp();
  }
  const auto kept = y * 2;
  auto z = y.sqrt();
  y = Tensor<1>();
  z.to_data();
  ASSERT_EQ(inspector.events().size(), 1u);
  EXPECT_EQ(inspector.events()[0].ops, (std::vector<std::string>{"add", "mul", "sqrt"}));
  EXPECT_EQ(inspector.events()[0].results, 2);
  expect_near(kept, (x.to_device(Device::reference()) + 1) * 2, 1e-6);
}

TEST_F(Fused, an_input_given_up_is_overwritten_and_a_held_one_never) {
  auto x = uniform<1>({1 << 20}, device_, 6);
  const auto held = x;
  const HostData before = held.to_data();
  auto y = x * 2 + 1;
  y.to_data();
  EXPECT_EQ(held.to_data(), before);
  device_.trim();
  const std::size_t in_use = device_.memory().in_use;
  for (int i = 0; i < 3; ++i) {
    y = std::move(y) * 0.5f + 1;
    device_.sync();
    EXPECT_LE(device_.memory().in_use, in_use + 4096);
  }
}

TEST_F(Fused, other_operations_close_the_queue_and_shapes_form_groups) {
  const auto a = uniform<2>({80, 80}, device_, 7);
  const FusionInspector inspector;
  const auto scaled = a * 2 + 1;                                // group 1
  const auto other = uniform<1>({5000}, device_, 8).exp() * 3;  // group 2, another shape
  const auto again = scaled.tanh();                             // joins group 1
  const auto product = again.matmul(a);                         // closes
  ASSERT_EQ(inspector.events().size(), 2u);
  EXPECT_EQ(inspector.events()[0].ops, (std::vector<std::string>{"mul", "add", "tanh"}));
  EXPECT_EQ(inspector.events()[0].reason, "matmul");
  EXPECT_EQ(inspector.events()[1].ops, (std::vector<std::string>{"exp", "mul"}));
  const auto r = a.to_device(Device::reference());
  expect_near(product, (r * 2 + 1).tanh().matmul(r), 1e-5);
}

TEST_F(Fused, a_value_may_be_read_by_another_thread_and_outlive_its_own) {
  Tensor<1> made;
  std::thread([&] { made = uniform<1>({9000}, device_, 9).exp() + 1; }).join();
  const auto here = uniform<1>({9000}, device_, 10) * 2 + 1;
  std::vector<std::thread> readers;
  std::vector<HostData> found(4, HostData(Shape{}, DType::f32));
  for (std::size_t i = 0; i < found.size(); ++i) {
    readers.emplace_back([&, i] { found[i] = (here + made).to_data(); });
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
  const auto expected = uniform<1>({9000}, Device::reference(), 9).exp() + 1 +
                        (uniform<1>({9000}, Device::reference(), 10) * 2 + 1);
  for (const HostData& data : found) {
    expect_near(Tensor<1>::from_data(data, Device::reference()), expected, 1e-6);
  }
}

TEST_F(Fused, gradients_agree_with_unfused_ones) {
  const auto run = [](const Device& device) {
    const auto x = uniform<2>({64, 96}, device.autodiff(), 11).require_grad();
    const auto w = uniform<2>({96, 64}, device.autodiff(), 12).require_grad();
    auto loss = (gelu_custom(x.matmul(w)) * 0.1f).tanh().mean();
    const Gradients grads = loss.backward();
    return std::pair{*x.grad(grads), *w.grad(grads)};
  };
  const auto [dx, dw] = run(device_);
  const auto [rx, rw] = run(Device::reference());
  expect_near(dx, rx, 1e-5);
  expect_near(dw, rw, 1e-5);
}

// Random programs of elementwise ops, casts, reductions, views and products; what is read and when
// is random too. A seed reproduces a failure.
TEST_F(Fused, random_graphs_agree_with_the_reference) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const auto program = [&](const Device& device) {
      std::mt19937_64 random(seed);
      std::vector<Tensor<2>> values = {uniform<2>({72, 72}, device, seed),
                                       uniform<2>({72, 72}, device, seed + 1)};
      std::vector<Tensor<2>> wanted;
      for (int step = 0; step < 24; ++step) {
        const Tensor<2> a = values[random() % values.size()];
        const Tensor<2> b = values[random() % values.size()];
        switch (random() % 14) {
          case 0:
            values.push_back(a + b);
            break;
          case 1:
            values.push_back(a * b * 0.3f);
            break;
          case 2:
            values.push_back(a - b);
            break;
          case 3:
            values.push_back(a.tanh());
            break;
          case 4:
            values.push_back(a.sigmoid() * b);
            break;
          case 5:
            values.push_back(a.transpose(0, 1) + 1);
            break;
          case 6:
            values.push_back(a.sum(1, keep_dim) * 0.02f + b);
            break;
          case 7:
            values.push_back((a * 0.1f).matmul(b * 0.1f));
            break;
          case 8:
            values.push_back(where(a.greater(b), a, b * 0.5f));
            break;
          case 9:
            values.push_back((a * 0.25f).exp().clamp(0.1f, 4.0f));
            break;
          case 10:
            values.push_back(a.slice(range(0, 1)).relu() + b.erf());
            break;
          case 11:
            wanted.push_back(values.back());
            break;
          case 12:
            values.back().to_data();
            break;
          default:
            values.erase(values.begin() + static_cast<long>(random() % values.size()));
        }
        if (values.empty()) {
          values.push_back(a);
        }
      }
      wanted.push_back(values.back());
      return wanted;
    };
    const auto found = program(device_);
    const auto expected = program(Device::reference());
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      expect_near(found[i], expected[i], 1e-4);
    }
  }
}

}  // namespace
}  // namespace sinter
