// SPDX-License-Identifier: MIT OR Apache-2.0
// Activations as layers: one for each attribute-free activation op, and those with options.
#pragma once

#include "sinter/nn/param.hpp"

namespace sinter::nn {

// Relu, Sigmoid, LogSigmoid, Silu, Gelu, GeluApproximate, Mish, Softsign, Selu, HardSwish, and
// whatever activation ops.def names next: a layer for each row of that group.
#define SINTER_NN_LAYER(Struct, name)                   \
  struct Struct {                                       \
    template <int D, class K>                           \
    Tensor<D, K> forward(const Tensor<D, K>& x) const { \
      return x.name();                                  \
    }                                                   \
  };
#define SINTER_NN_activation(Struct, name) SINTER_NN_LAYER(Struct, name)
#define SINTER_NN_arithmetic(Struct, name)
#define SINTER_NN_bits(Struct, name)
#define SINTER_NN_exponential(Struct, name)
#define SINTER_NN_trigonometry(Struct, name)
#define SINTER_UNARY(Struct, name, group) SINTER_NN_##group(Struct, name)
#include "sinter/ops/ops.def"
SINTER_NN_LAYER(Tanh, tanh)
#undef SINTER_NN_LAYER
#undef SINTER_NN_activation
#undef SINTER_NN_arithmetic
#undef SINTER_NN_bits
#undef SINTER_NN_exponential
#undef SINTER_NN_trigonometry
#undef SINTER_UNARY

namespace detail {
Value softplus(const Value& x, double beta);
Value leaky_relu(const Value& x, double slope);
Value elu(const Value& x, double alpha);
Value celu(const Value& x, double alpha);
Value hard_sigmoid(const Value& x, double alpha, double beta);
Value threshold(const Value& x, double threshold, double value);
Value hard_shrink(const Value& x, double lambda);
Value soft_shrink(const Value& x, double lambda);
Value prelu(const Value& x, const Value& slope);
Value clamp(const Value& x, double low, double high);
Value glu(const Value& x, int dim);
Value softmax(const Value& x, int dim);
Value log_softmax(const Value& x, int dim);
}  // namespace detail

// What `call` computes, as the typed forward of a layer.
#define SINTER_NN_FORWARD(call)                           \
  template <int D, class K>                               \
  Tensor<D, K> forward(const Tensor<D, K>& input) const { \
    const Value& x = input.value();                       \
    return Tensor<D, K>(call);                            \
  }

/// log(1 + e^(beta x)) / beta
struct Softplus {
  double beta = 1;
  SINTER_NN_FORWARD(detail::softplus(x, beta))
};
struct LeakyRelu {
  double slope = 0.01;
  SINTER_NN_FORWARD(detail::leaky_relu(x, slope))
};
struct Elu {
  double alpha = 1;
  SINTER_NN_FORWARD(detail::elu(x, alpha))
};
struct Celu {
  double alpha = 1;
  SINTER_NN_FORWARD(detail::celu(x, alpha))
};
/// clamp(alpha x + beta, 0, 1)
struct HardSigmoid {
  double alpha = 1.0 / 6;
  double beta = 0.5;
  SINTER_NN_FORWARD(detail::hard_sigmoid(x, alpha, beta))
};
/// x where it is above `threshold`, else `value`.
struct Threshold {
  double threshold = 0;
  double value = 0;
  SINTER_NN_FORWARD(detail::threshold(x, threshold, value))
};
struct HardShrink {
  double lambda = 0.5;
  SINTER_NN_FORWARD(detail::hard_shrink(x, lambda))
};
struct SoftShrink {
  double lambda = 0.5;
  SINTER_NN_FORWARD(detail::soft_shrink(x, lambda))
};
/// x - tanh(x)
struct Tanhshrink {
  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return x - x.tanh();
  }
};
struct Hardtanh {
  double low = -1;
  double high = 1;
  SINTER_NN_FORWARD(detail::clamp(x, low, high))
};
struct Relu6 {
  SINTER_NN_FORWARD(detail::clamp(x, 0, 6))
};
/// The first half along `dim` times the sigmoid of the second; the dim is halved.
struct Glu {
  int dim = -1;
  SINTER_NN_FORWARD(detail::glu(x, dim))
};
struct Softmax {
  int dim = -1;
  SINTER_NN_FORWARD(detail::softmax(x, dim))
};
struct LogSoftmax {
  int dim = -1;
  SINTER_NN_FORWARD(detail::log_softmax(x, dim))
};
#undef SINTER_NN_FORWARD

struct PReluConfig {
  std::int64_t features = 1;  ///< 1, or the number of channels (dim 1)
  double slope = 0.25;
};
/// Leaky ReLU whose slope is trained.
class PRelu {
 public:
  Param<1> weight;

  PRelu() = default;
  PRelu(const PReluConfig& config, const Device& device = {})
      : weight({.shape = {config.features}, .initializer = Initializer::constant(config.slope)},
               device) {}

  template <int D, class K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return Tensor<D, K>(detail::prelu(x.value(), weight.value()));
  }

  SINTER_FIELDS(weight)
};

}  // namespace sinter::nn
