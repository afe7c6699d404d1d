// SPDX-License-Identifier: MIT OR Apache-2.0
// Making inputs, laying them out, and comparing results.
#include "inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sinter/ops/functions.hpp"

namespace sinter::conformance {
namespace {

class Collector final : public SampleSink {
 public:
  Collector(const OpDef& def, std::vector<Case>& cases) : def_(def), cases_(cases) {}
  void add(const void* attributes, std::span<const SampleInput> inputs) override {
    Case c;
    c.def = &def_;
    c.attributes = OwnedAttributes(def_, attributes);
    c.inputs.assign(inputs.begin(), inputs.end());
    c.number = static_cast<int>(cases_.size());
    cases_.push_back(std::move(c));
  }

 private:
  const OpDef& def_;
  std::vector<Case>& cases_;
};

// Different elements differ by at least a tenth, so that a small step changes no order.
std::vector<double> distinct_values(std::int64_t count, const SampleInput& sample,
                                    std::mt19937_64& random) {
  std::vector<double> values(static_cast<std::size_t>(count));
  const double step =
      (sample.high - sample.low) / static_cast<double>(std::max<std::int64_t>(count, 1));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = sample.low + step * (static_cast<double>(i) + 0.37);
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

// The view of a larger tensor, filled elsewhere with a value that would be noticed.
Value view_of_larger(Backend& backend, const HostData& data, const Dims& starts, const Dims& steps,
                     const Shape& outer) {
  const Value base = ops::cast(ops::full(backend, outer, 77, DType::f32), data.dtype());
  const Value filled =
      ops::slice_assign(base, backend.from_data(data), starts, data.shape(), steps, false);
  return ops::slice(filled, starts, data.shape(), steps);
}

}  // namespace

std::string name_of(LayoutKind kind) {
  const char* names[] = {"contiguous", "transposed",  "offset", "stepped",
                         "flipped",    "padded rows", "prefix"};
  return names[static_cast<int>(kind)];
}

std::vector<Case> cases_of(const OpDef& def) {
  std::vector<Case> cases;
  if (def.samples) {
    Collector collector(def, cases);
    def.samples(collector);
  }
  return cases;
}

DType input_dtype(const SampleInput& sample, DType dtype) {
  switch (sample.role) {
    case SampleInput::Role::index:
      return DType::i64;
    case SampleInput::Role::mask:
      return DType::boolean;
    default:
      return dtype;
  }
}

HostData make_data(const SampleInput& sample, DType dtype, std::mt19937_64& random) {
  const std::int64_t count = num_elements(sample.shape);
  HostData wide(sample.shape, DType::f64);
  auto elements = wide.as<double>();
  if (sample.role == SampleInput::Role::distinct) {
    const std::vector<double> values = distinct_values(count, sample, random);
    std::copy(values.begin(), values.end(), elements.begin());
  } else {
    const bool coin = sample.role == SampleInput::Role::mask || dtype == DType::boolean;
    std::uniform_real_distribution<double> draw(sample.low, sample.high);
    for (double& x : elements) {
      x = coin ? static_cast<double>(random() & 1) : draw(random);
    }
  }
  const DType own = input_dtype(sample, dtype);
  if (is_integer(own)) {
    for (double& x : elements) {
      x = is_unsigned(own) ? std::floor(std::fabs(x)) : std::floor(x);
    }
  }
  return wide.cast(own);
}

void put_special_values(HostData& data, std::mt19937_64& random, bool huge) {
  if (data.num_elements() == 0 || data.dtype() == DType::boolean) {
    return;
  }
  const double largest = data.dtype() == DType::f16    ? 65504
                         : data.dtype() == DType::bf16 ? 3.38e38
                         : data.dtype() == DType::f32  ? 3.4028234663852886e38
                                                       : std::numeric_limits<double>::max();
  const double floats[] = {
      NAN,   INFINITY, -INFINITY, -0.0, 0.0, huge ? largest : 2.0, huge ? -largest : -2.0,
      1e-40, -1e-40,   1.0};
  const std::int64_t integers[] = {std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max(),
                                   0,
                                   -1,
                                   1,
                                   -128,
                                   127};
  const auto size = size_of(data.dtype());
  for (std::int64_t i = 0; i < data.num_elements(); ++i) {
    if (random() % 3 != 0) {
      continue;
    }
    std::byte* element = data.bytes().data() + static_cast<std::size_t>(i) * size;
    if (is_floating(data.dtype())) {
      const double x = floats[random() % std::size(floats)];
      convert_elements(&x, DType::f64, element, data.dtype(), 1);
    } else {
      const std::int64_t x = integers[random() % std::size(integers)];
      convert_elements(&x, DType::i64, element, data.dtype(), 1);
    }
  }
}

Value place(Backend& backend, const HostData& data, LayoutKind kind) {
  const Shape& shape = data.shape();
  const int rank = shape.rank();
  if (rank == 0 || kind == LayoutKind::contiguous) {
    return backend.from_data(data);
  }
  Dims ones = Dims::filled(rank, 1);
  Dims zeros = Dims::filled(rank, 0);
  switch (kind) {
    case LayoutKind::transposed: {
      Dims reversed;
      for (int i = rank - 1; i >= 0; --i) {
        reversed.push_back(i);
      }
      return ops::permute(ops::contiguous(ops::permute(backend.from_data(data), reversed)),
                          reversed);
    }
    case LayoutKind::flipped: {
      Dims all;
      for (int i = 0; i < rank; ++i) {
        all.push_back(i);
      }
      return num_elements(shape) == 0
                 ? backend.from_data(data)
                 : ops::flip(ops::contiguous(ops::flip(backend.from_data(data), all)), all);
    }
    case LayoutKind::offset: {
      Shape outer = shape;
      for (std::int64_t& size : outer) {
        size += 3;
      }
      return view_of_larger(backend, data, Dims::filled(rank, 2), ones, outer);
    }
    case LayoutKind::stepped: {
      Shape outer = shape;
      for (std::int64_t& size : outer) {
        size = 2 * size + 1;
      }
      return view_of_larger(backend, data, ones, Dims::filled(rank, 2), outer);
    }
    case LayoutKind::padded_rows: {
      Shape outer = shape;
      outer[rank - 1] += 5;
      return view_of_larger(backend, data, zeros, ones, outer);
    }
    default: {
      Shape outer = shape;
      outer[0] += 4;
      return view_of_larger(backend, data, zeros, ones, outer);
    }
  }
}

double relative_error(const HostData& got, const HostData& expected) {
  if (!(got.shape() == expected.shape()) || got.dtype() != expected.dtype()) {
    return INFINITY;
  }
  const std::vector<double> a = got.to_doubles();
  const std::vector<double> b = expected.to_doubles();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) {
      continue;
    }
    const double error = std::fabs(a[i] - b[i]) / std::max(1.0, std::fabs(b[i]));
    worst = std::max(worst, std::isfinite(error) ? error : INFINITY);
  }
  return worst;
}

double tolerance_of(DType dtype, double f32_tolerance) {
  switch (dtype) {
    case DType::f64:
      return f32_tolerance == 0 ? 1e-15 : std::max(f32_tolerance * 1e-7, 1e-12);
    case DType::f32:
      return std::max(f32_tolerance, 1.2e-7);
    case DType::f16:
      return std::max(f32_tolerance * 8, 2e-3);
    case DType::bf16:
      return std::max(f32_tolerance * 64, 1.6e-2);
    default:
      return 0;
  }
}

}  // namespace sinter::conformance
