// SPDX-License-Identifier: MIT OR Apache-2.0
// Cases of dtypes, constants, sizes and memory through tensors, with the values they must give.
#include <cstdint>
#include <cstring>
#include <memory>

#include "sinter/base/half.hpp"
#include "sinter/graph/generator.hpp"
#include "sinter/tensor/cases_test.hpp"
#include "sinter/tensor/functional.hpp"

namespace sinter::testing {
namespace {

using F1 = Tensor<1>;
using F2 = Tensor<2>;
using I1 = Tensor<1, Int>;

std::uint32_t bits(float x) {
  std::uint32_t out = 0;
  std::memcpy(&out, &x, sizeof out);
  return out;
}

TEST(Cases, DTY_09_constants) {
  on_each_device([] {
    const float constants[] = {
        0.1f,        1e-8f,  3.4028235e38f, -0.0f, static_cast<float>(inf), static_cast<float>(nan),
        16777215.0f, 1e-45f, -0.1f};
    const std::vector<float> x = {0.0f, -0.0f, 1.0f, -1.0f, 0.1f, 3e38f, 1e-8f, 16777216.0f, 7.0f};
    for (const float c : constants) {
      const std::vector<float> sums = (F1::from_span(x, {9}) + c).to_vector<float>();
      const std::vector<float> filled = F1::full({3}, c).to_vector<float>();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float expected = x[i] + c;
        EXPECT_TRUE(bits(sums[i]) == bits(expected) || (std::isnan(sums[i]) && std::isnan(c)))
            << x[i] << " + " << c << " gave " << sums[i];
      }
      EXPECT_TRUE(bits(filled[2]) == bits(c) || std::isnan(c)) << c;
    }
  });
}

TEST(Cases, DTY_10_half_at_every_length) {
  on_each_device([] {
    for (std::int64_t n = 1; n <= 17; ++n) {
      const auto x = F1::arange(0, n).cast(DType::f16);
      const F1 y = x * 2 + 1;
      EXPECT_EQ(y.dtype(), DType::f16);
      const F1 mixed = x * F1::full({n}, 0.1) + 1;  // f16 beside f32 gives f32
      EXPECT_EQ(mixed.dtype(), DType::f32);
      const auto twice = y.to_vector<double>(), sum = mixed.to_vector<double>();
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(twice[at], static_cast<double>(2 * i + 1)) << n;
        EXPECT_EQ(sum[at], static_cast<double>(static_cast<float>(i) * 0.1f + 1.0f)) << n;
      }
    }
  });
}

TEST(Cases, DTY_14_fp8) {
  on_each_device([] {
    for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
      SCOPED_TRACE(name_of(dtype));
      HostData codes({256}, dtype);
      for (int i = 0; i < 256; ++i) {
        codes.bytes()[static_cast<std::size_t>(i)] = static_cast<std::byte>(i);
      }
      const F1 wide = F1::from_data(codes).cast(DType::f32);
      const HostData back = wide.cast(dtype).to_data();
      double most = 0;
      for (std::int64_t i = 0; i < 256; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double value = wide.to_data().at(i);
        if (!std::isnan(value)) {
          EXPECT_EQ(back.bytes()[at], codes.bytes()[at]) << i << " is " << value;
          most = std::isinf(value) ? most : std::max(most, value);
        }
      }
      EXPECT_EQ(most, dtype == DType::f8e4m3 ? 448 : 57344);
    }
  });
}

// Windows of 2^32 - 2 elements can't be held, but their number can be asked.
TEST(Cases, DTY_18_sizes_and_counters) {
  const DefaultDeviceScope scope(Device::null());
  const std::int64_t many = 4294967294;
  const auto x = F1::zeros({1}).expand<3>({1, 1, many});
  EXPECT_EQ(x.num_elements(), many);
  const auto pooled = functional::max_pool(F1::zeros({1}).expand<3>({1, 1, 2147483646}),
                                           {.kernel = {2}, .ceil_mode = true});
  EXPECT_EQ(pooled.shape(), (Shape{1, 1, 1073741823}));
  EXPECT_EQ(F1::zeros({1}).expand({many}).reshape<2>({2, -1}).shape(), (Shape{2, many / 2}));
  EXPECT_EQ(F1::zeros({1}).expand({many + 2}).repeat({3}).shape(), (Shape{12884901888}));
}

// The numbers that a stream gives across position 2^32 are those that two draws give.
TEST(Cases, DTY_18_random_positions_beyond_32_bits) {
  on_each_device([] {
    const std::uint64_t start = 4294967294;  // 2^32 - 2
    const auto draw = [](std::uint64_t offset, std::int64_t count) {
      Generator generator(7);
      generator.restore({7, offset});
      const GeneratorScope scope(generator);
      return F1::random({count}).to_vector<float>();
    };
    const std::vector<float> whole = draw(start, 64);
    EXPECT_NE(whole, draw(start & 1, 64));
    EXPECT_NE(draw(start + 64, 64), draw(62, 64)) << "the counter wrapped";
    EXPECT_EQ(whole, draw(start, 64));
    for (const float x : whole) {
      EXPECT_TRUE(x >= 0 && x < 1);
    }
  });
}

TEST(Cases, SER_16_host_memory_may_go_at_once) {
  on_each_device([] {
    auto numbers = std::make_unique<std::vector<float>>(1000, 3.0f);
    const F1 x = F1::from_span(*numbers, {1000});
    std::fill(numbers->begin(), numbers->end(), -1.0f);
    numbers.reset();
    EXPECT_EQ(x.sum().item(), 3000);
    F1 from_host;
    {
      HostData data({4}, DType::f32);
      data.as<float>()[2] = 5;
      from_host = F1::from_data(data);
      data.as<float>()[2] = 9;
    }
    expect_values(from_host, {0, 0, 5, 0});
    const HostData read = from_host.to_data();
    expect_values(std::move(from_host) + 1, {1, 1, 6, 1});
    EXPECT_EQ(read.at(2), 5) << "what was read stays";
  });
}

TEST(Cases, MEM_14_odd_sizes_of_small_elements) {
  on_each_device([] {
    for (const std::int64_t n : {1, 2, 3, 5, 7}) {
      EXPECT_EQ(I1::full({n}, 3, {}, DType::u8).sum().item(), static_cast<double>(3 * n));
      EXPECT_EQ(F1::ones({n}, {}, DType::f16).sum().item(), static_cast<double>(n));
      const auto x = F1::random({n}, Distribution::uniform(2, 5), {}, DType::f16);
      const auto y = I1::random({n}, Distribution::randint(0, 3), {}, DType::u8);
      EXPECT_GE(x.min().item(), 2);
      EXPECT_LE(x.max().item(), 5);
      EXPECT_LT(y.max().item(), 3);
      EXPECT_EQ((x.to_int().sum() - x.to_int().sum()).item(), 0);
    }
  });
}

}  // namespace
}  // namespace sinter::testing
