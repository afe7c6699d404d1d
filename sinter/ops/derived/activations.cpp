// SPDX-License-Identifier: MIT OR Apache-2.0
// Activations with attributes.
#include "sinter/ops/derived/activations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sinter/base/error.hpp"
#include "sinter/ops/activation.hpp"
#include "sinter/ops/arithmetic.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::ops {
namespace {

// Runs `op` on an input that it may overwrite.
template <class Op>
Value give(const Op& op, Value x, SourceLoc where) {
  return std::move(apply(op, std::span<const Value>(&x, 1), 1, where)[0]);
}

// Bounds may lie beyond the dtype, as infinity does: there they must not become integers.
Value clamped_integers(Value x, double low, double high, SourceLoc where) {
  const bool is_signed = !is_unsigned(x.dtype());
  const auto bits = 8 * static_cast<int>(size_of(x.dtype())) - (is_signed ? 1 : 0);
  const double past = std::ldexp(1, bits);
  const bool low_acts = low > (is_signed ? -past : 0);
  const bool high_acts = high < past;
  if (low_acts && high_acts) {
    Clamp op;
    op.low = low;
    op.high = high;
    return give(op, std::move(x), where);
  }
  if (high_acts) {
    return minimum(x, scalar_like(x, high), where);
  }
  return low_acts ? maximum(x, scalar_like(x, low), where) : x;
}

}  // namespace

Value clamped(Value x, double low, double high, SourceLoc where) {
  if (std::isnan(low) || std::isnan(high)) {
    if (is_integer(x.dtype())) {
      throw DTypeError(fmt::format(
          "clamp: a limit is NaN, which {} can't hold; use another limit, or a floating dtype",
          name_of(x.dtype())));
    }
    // Nothing is between limits of which one is unknown. No gradient flows.
    const Value nothing = mul(x, scalar_like(x, 0), where);
    return add(nothing, scalar_like(x, std::numeric_limits<double>::quiet_NaN()), where);
  }
  low = low > high ? high : low;
  if (is_integer(x.dtype())) {
    return clamped_integers(std::move(x), low, high, where);
  }
  Clamp op;
  op.low = low;
  op.high = high;
  return give(op, std::move(x), where);
}
Value leaky_relu(Value x, double slope, SourceLoc where) {
  LeakyRelu op;
  op.slope = slope;
  return give(op, std::move(x), where);
}
Value elu(Value x, double alpha, SourceLoc where) {
  Elu op;
  op.alpha = alpha;
  return give(op, std::move(x), where);
}
Value celu(Value x, double alpha, SourceLoc where) {
  Celu op;
  op.alpha = alpha;
  return give(op, std::move(x), where);
}
Value softplus(Value x, double beta, SourceLoc where) {
  Softplus op;
  op.beta = beta;
  return give(op, std::move(x), where);
}
Value hard_sigmoid(Value x, double alpha, double beta, SourceLoc where) {
  HardSigmoid op;
  op.alpha = alpha;
  op.beta = beta;
  return give(op, std::move(x), where);
}
Value threshold(Value x, double threshold, double value, SourceLoc where) {
  Threshold op;
  op.threshold = threshold;
  op.value = value;
  return give(op, std::move(x), where);
}
Value hard_shrink(Value x, double lambda, SourceLoc where) {
  HardShrink op;
  op.lambda = lambda;
  return give(op, std::move(x), where);
}
Value soft_shrink(Value x, double lambda, SourceLoc where) {
  SoftShrink op;
  op.lambda = lambda;
  return give(op, std::move(x), where);
}

Value shrink(const Value& x, double lambda, double bias, SourceLoc where) {
  const Value zero = scalar_like(x, 0);
  const Value above = greater(x, scalar_like(x, lambda), where);
  const Value below = less(x, scalar_like(x, -lambda), where);
  const Value offset = scalar_like(x, bias);
  return ops::where(above, sub(x, offset), ops::where(below, add(x, offset), zero));
}

Value prelu(const Value& x, const Value& weight, SourceLoc where) {
  const std::int64_t count = weight.num_elements();
  if (count != 1 && (x.rank() < 2 || x.size(1) != count)) {
    throw ShapeError(
        fmt::format("prelu: {} weights for an input of shape {}; give 1, or one for each "
                    "element of dim 1",
                    count, x.shape().str()));
  }
  Shape shape = Shape::filled(x.rank(), 1);
  if (count != 1) {
    shape[1] = count;
  }
  const Value slopes = reshape(weight, shape);
  return ops::where(greater(x, scalar_like(x, 0), where), x, mul(x, slopes, where));
}

Value tanhshrink(const Value& x, SourceLoc where) { return sub(x, tanh(x, where), where); }

}  // namespace sinter::ops
