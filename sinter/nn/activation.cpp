// SPDX-License-Identifier: MIT OR Apache-2.0
// Activations with options.
#include "sinter/nn/activation.hpp"

#include "sinter/ops/activation.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/op.hpp"
#include "sinter/ops/softmax/softmax.hpp"

namespace sinter::nn::detail {

Value softplus(const Value& x, double beta) {
  ops::Softplus op;
  op.beta = beta;
  return apply(op, {x});
}
Value leaky_relu(const Value& x, double slope) {
  ops::LeakyRelu op;
  op.slope = slope;
  return apply(op, {x});
}
Value elu(const Value& x, double alpha) {
  ops::Elu op;
  op.alpha = alpha;
  return apply(op, {x});
}
Value celu(const Value& x, double alpha) {
  ops::Celu op;
  op.alpha = alpha;
  return apply(op, {x});
}
Value hard_sigmoid(const Value& x, double alpha, double beta) {
  ops::HardSigmoid op;
  op.alpha = alpha;
  op.beta = beta;
  return apply(op, {x});
}
Value threshold(const Value& x, double threshold, double value) {
  ops::Threshold op;
  op.threshold = threshold;
  op.value = value;
  return apply(op, {x});
}
Value hard_shrink(const Value& x, double lambda) {
  ops::HardShrink op;
  op.lambda = lambda;
  return apply(op, {x});
}
Value soft_shrink(const Value& x, double lambda) {
  ops::SoftShrink op;
  op.lambda = lambda;
  return apply(op, {x});
}
Value prelu(const Value& x, const Value& slope) {
  Value per_channel = slope;
  if (slope.num_elements() > 1 && x.rank() > 2) {
    Shape shape = Dims::filled(x.rank() - 1, 1);
    shape[0] = slope.num_elements();
    per_channel = ops::reshape(slope, shape);
  }
  const Value zero = ops::scalar_like(x, 0);
  return ops::where(ops::greater(x, zero), x, ops::mul(x, per_channel));
}
Value clamp(const Value& x, double low, double high) { return ops::clamp(x, low, high); }
Value glu(const Value& x, int dim) { return ops::glu(x, dim); }
Value softmax(const Value& x, int dim) { return ops::softmax(x, dim); }
Value log_softmax(const Value& x, int dim) { return ops::log_softmax(x, dim); }

}  // namespace sinter::nn::detail
