// SPDX-License-Identifier: MIT OR Apache-2.0
// The number before another one, for any floating dtype.
#include "sinter/backend/host/random.hpp"

#include <cmath>
#include <limits>

#include "sinter/types/convert.hpp"

namespace sinter::backend {
namespace {

// Halving the gap between a number below and one not below ends at neighbours: every dtype's
// numbers are also numbers of f64.
template <class T>
double below(double high) {
  const auto rounded = static_cast<double>(convert<T>(high));
  if (rounded < high) {
    return rounded;
  }
  double step = std::fabs(rounded) * 0x1p-60 + std::numeric_limits<double>::min();
  double candidate = rounded;
  while (candidate >= high) {
    candidate = convert<double>(convert<T>(rounded - step));
    step *= 2;
  }
  return candidate;
}

}  // namespace

double largest_below(double high, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::nextafter(high, -std::numeric_limits<double>::infinity());
    case DType::f16:
      return below<f16>(high);
    case DType::bf16:
      return below<bf16>(high);
    default:
      return below<float>(high);
  }
}

}  // namespace sinter::backend
