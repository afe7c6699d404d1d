// SPDX-License-Identifier: MIT OR Apache-2.0
// Drawing of first values.
#include "sinter/nn/initializer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/random/random.hpp"

namespace sinter::nn {
namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }

// The x with normal_cdf(x) = p: bisection is slow and exact, and parameters are drawn once.
double normal_quantile(double p) {
  double low = -9;
  double high = 9;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::vector<double> draw_on_host(const ops::Distribution& distribution, const Shape& shape,
                                 RandomKey key, const Device& device) {
  const Value drawn = ops::random(device.backend(), shape, distribution, DType::f32, key);
  return device.backend().read(drawn).to_doubles();
}

Value from_host(const std::vector<double>& values, const Shape& shape, const Device& device,
                DType dtype) {
  return device.backend().from_data(HostData(shape, std::span<const double>(values)).cast(dtype));
}

Value truncated_normal(const Initializer& init, const Shape& shape, RandomKey key,
                       const Device& device, DType dtype) {
  if (!(init.b > 0) || !(init.low < init.high)) {
    throw ArgumentError(fmt::format(
        "truncated_normal: expected a deviation above 0 and low < high, got {} and [{}, {}]",
        init.b, init.low, init.high));
  }
  const double from = normal_cdf((init.low - init.a) / init.b);
  const double to = normal_cdf((init.high - init.a) / init.b);
  std::vector<double> values = draw_on_host(ops::Distribution::uniform(), shape, key, device);
  for (double& value : values) {
    value = init.a + init.b * normal_quantile(from + value * (to - from));
    value = std::min(std::max(value, init.low), init.high);
  }
  return from_host(values, shape, device, dtype);
}

// Makes `count` rows of `length` orthonormal (Gram and Schmidt, twice for accuracy).
void orthonormalise(std::vector<double>& rows, std::size_t count, std::size_t length) {
  for (std::size_t i = 0; i < count; ++i) {
    double* row = rows.data() + i * length;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double* other = rows.data() + j * length;
        double dot = 0;
        for (std::size_t k = 0; k < length; ++k) {
          dot += row[k] * other[k];
        }
        for (std::size_t k = 0; k < length; ++k) {
          row[k] -= dot * other[k];
        }
      }
    }
    double norm = 0;
    for (std::size_t k = 0; k < length; ++k) {
      norm += row[k] * row[k];
    }
    norm = std::sqrt(norm);
    for (std::size_t k = 0; k < length; ++k) {
      row[k] /= norm;
    }
  }
}

Value orthogonal(double gain, const Shape& shape, RandomKey key, const Device& device,
                 DType dtype) {
  if (shape.rank() < 2) {
    throw ShapeError(
        fmt::format("orthogonal: expected a weight of rank 2 or more, got {}", shape.str()));
  }
  const auto rows = static_cast<std::size_t>(shape[0]);
  const std::size_t elements = static_cast<std::size_t>(num_elements(shape));
  const std::size_t columns = rows ? elements / rows : 0;
  std::vector<double> drawn = draw_on_host(ops::Distribution::normal(), shape, key, device);
  const bool wide = rows <= columns;
  orthonormalise(drawn, wide ? rows : columns, wide ? columns : rows);
  std::vector<double> values(elements);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      values[i * columns + j] = gain * drawn[wide ? i * columns + j : j * rows + i];
    }
  }
  return from_host(values, shape, device, dtype);
}

double fan_of(const Initializer& init, const Fans& fans) {
  return static_cast<double>(std::max<std::int64_t>(init.fan_out ? fans.out : fans.in, 1));
}

// The plain distribution that a scaled one comes down to.
ops::Distribution resolved(const Initializer& init, const Fans& fans) {
  using Kind = Initializer::Kind;
  const double both = static_cast<double>(std::max<std::int64_t>(fans.in + fans.out, 1));
  switch (init.kind) {
    case Kind::uniform:
      return ops::Distribution::uniform(init.a, init.b);
    case Kind::xavier_uniform: {
      const double bound = init.a * std::sqrt(6 / both);
      return ops::Distribution::uniform(-bound, bound);
    }
    case Kind::kaiming_uniform: {
      const double bound = init.a * std::sqrt(3 / fan_of(init, fans));
      return ops::Distribution::uniform(-bound, bound);
    }
    case Kind::xavier_normal:
      return ops::Distribution::normal(0, init.a * std::sqrt(2 / both));
    case Kind::kaiming_normal:
      return ops::Distribution::normal(0, init.a / std::sqrt(fan_of(init, fans)));
    default:
      return ops::Distribution::normal(init.a, init.b);
  }
}

}  // namespace

Fans linear_fans(const Shape& weight) {
  if (weight.rank() != 2) {
    throw ShapeError(fmt::format("linear_fans: expected a matrix [in, out], got {}", weight.str()));
  }
  return {weight[0], weight[1]};
}

Fans conv_fans(const Shape& weight) {
  if (weight.rank() < 2) {
    throw ShapeError(
        fmt::format("conv_fans: expected a weight [out, in, kernel…], got {}", weight.str()));
  }
  std::int64_t kernel = 1;
  for (int i = 2; i < weight.rank(); ++i) {
    kernel *= weight[i];
  }
  return {weight[1] * kernel, weight[0] * kernel};
}

std::uint64_t random_count(const Initializer& initializer, const Shape& shape) {
  return initializer.kind == Initializer::Kind::constant
             ? 0
             : static_cast<std::uint64_t>(num_elements(shape));
}

Value initialize(const Initializer& initializer, const Shape& shape, const Fans& fans,
                 RandomKey key, const Device& device, DType dtype) {
  using Kind = Initializer::Kind;
  Backend& backend = device.backend();
  switch (initializer.kind) {
    case Kind::constant:
      return ops::full(backend, shape, initializer.a, dtype);
    case Kind::truncated_normal:
      return truncated_normal(initializer, shape, key, device, dtype);
    case Kind::orthogonal:
      return orthogonal(initializer.a, shape, key, device, dtype);
    default:
      return ops::random(backend, shape, resolved(initializer, fans), dtype, key);
  }
}

}  // namespace sinter::nn
