// SPDX-License-Identifier: MIT OR Apache-2.0
// Activation functions.
#pragma once

#include "sinter/ops/formula.hpp"

namespace sinter::ops {

namespace detail {

/// 1 / (1 + e^-x): no overflow for any x, since e^-x = inf gives 0.
template <class T>
SINTER_INLINE T sigmoid(T x) {
  return lit<T>(1) / (lit<T>(1) + math::exp(-x));
}
/// log(1 + e^x) without overflow.
template <class T>
SINTER_INLINE T softplus(T x) {
  return math::maximum(x, lit<T>(0)) + math::log1p(math::exp(-math::abs(x)));
}
inline constexpr double sqrt_half = 0.70710678118654752440;
inline constexpr double inv_sqrt_two_pi = 0.39894228040143267794;
inline constexpr double sqrt_two_over_pi = 0.79788456080286535588;
inline constexpr double selu_alpha = 1.6732632423543772848170429916717;
inline constexpr double selu_scale = 1.0507009873554804934193349852946;

}  // namespace detail

/// max(a, 0); the gradient at 0 is 0, NaN stays NaN.
struct Relu : Unary {
  static constexpr OpInfo info{.name = "relu", .reads = Reads::y, .tolerance = 0};
  template <class T>
  static T forward(T a) {
    return select(a < lit<T>(0), lit<T>(0), a);
  }
  template <class T>
  static T backward(T, T y, T g) {
    return select(y > lit<T>(0), g, lit<T>(0));
  }
};

struct Sigmoid : Unary {
  static constexpr OpInfo info{.name = "sigmoid", .domain = Domain::floating, .reads = Reads::y};
  template <class T>
  static T forward(T a) {
    return detail::sigmoid(a);
  }
  template <class T>
  static T backward(T, T y, T g) {
    return g * y * (lit<T>(1) - y);
  }
};

struct LogSigmoid : Unary {
  static constexpr OpInfo info{
      .name = "log_sigmoid", .domain = Domain::floating, .reads = Reads::a};
  template <class T>
  static T forward(T a) {
    return -detail::softplus(-a);
  }
  template <class T>
  static T backward(T a, T, T g) {
    return g * detail::sigmoid(-a);
  }
};

/// a * sigmoid(a), also called swish.
struct Silu : Unary {
  static constexpr OpInfo info{.name = "silu", .domain = Domain::floating, .reads = Reads::a};
  template <class T>
  static T forward(T a) {
    return a * detail::sigmoid(a);
  }
  template <class T>
  static T backward(T a, T, T g) {
    const T s = detail::sigmoid(a);
    return g * (s + a * s * (lit<T>(1) - s));
  }
};

/// a * (1 + erf(a / sqrt 2)) / 2.
struct Gelu : Unary {
  static constexpr OpInfo info{
      .name = "gelu", .domain = Domain::floating, .reads = Reads::a, .tolerance = 4e-6};
  template <class T>
  static T forward(T a) {
    return lit<T>(0.5) * a * (lit<T>(1) + math::erf(a * lit<T>(detail::sqrt_half)));
  }
  template <class T>
  static T backward(T a, T, T g) {
    const T cdf = lit<T>(0.5) * (lit<T>(1) + math::erf(a * lit<T>(detail::sqrt_half)));
    const T pdf = lit<T>(detail::inv_sqrt_two_pi) * math::exp(lit<T>(-0.5) * a * a);
    return g * (cdf + a * pdf);
  }
};

/// GELU by tanh: a/2 * (1 + tanh(sqrt(2/pi) * (a + 0.044715 a^3))).
struct GeluApproximate : Unary {
  static constexpr OpInfo info{
      .name = "gelu_approximate", .domain = Domain::floating, .reads = Reads::a, .tolerance = 4e-6};
  template <class T>
  static T forward(T a) {
    return lit<T>(0.5) * a * (lit<T>(1) + math::tanh(inner(a)));
  }
  template <class T>
  static T backward(T a, T, T g) {
    const T t = math::tanh(inner(a));
    const T slope = lit<T>(detail::sqrt_two_over_pi) * (lit<T>(1) + lit<T>(3 * 0.044715) * a * a);
    return g * lit<T>(0.5) * (lit<T>(1) + t + a * (lit<T>(1) - t * t) * slope);
  }

 private:
  template <class T>
  static T inner(T a) {
    return lit<T>(detail::sqrt_two_over_pi) * (a + lit<T>(0.044715) * a * a * a);
  }
};

/// a * tanh(softplus(a)).
struct Mish : Unary {
  static constexpr OpInfo info{
      .name = "mish", .domain = Domain::floating, .reads = Reads::a, .tolerance = 4e-6};
  template <class T>
  static T forward(T a) {
    return a * math::tanh(detail::softplus(a));
  }
  template <class T>
  static T backward(T a, T, T g) {
    const T t = math::tanh(detail::softplus(a));
    return g * (t + a * (lit<T>(1) - t * t) * detail::sigmoid(a));
  }
};

struct Softsign : Unary {
  static constexpr OpInfo info{.name = "softsign", .domain = Domain::floating, .reads = Reads::a};
  template <class T>
  static T forward(T a) {
    return a / (lit<T>(1) + math::abs(a));
  }
  template <class T>
  static T backward(T a, T, T g) {
    const T d = lit<T>(1) + math::abs(a);
    return g / (d * d);
  }
};

struct Selu : Unary {
  static constexpr OpInfo info{.name = "selu", .domain = Domain::floating, .reads = Reads::y};
  template <class T>
  static T forward(T a) {
    const T negative = lit<T>(detail::selu_scale * detail::selu_alpha) * math::expm1(a);
    return select(a > lit<T>(0), lit<T>(detail::selu_scale) * a, negative);
  }
  template <class T>
  static T backward(T, T y, T g) {
    const T slope = y + lit<T>(detail::selu_scale * detail::selu_alpha);
    return g * select(y > lit<T>(0), lit<T>(detail::selu_scale), slope);
  }
};

/// a * clamp(a + 3, 0, 6) / 6.
struct HardSwish : Unary {
  static constexpr OpInfo info{.name = "hard_swish",
                               .domain = Domain::floating,
                               .reads = Reads::a,
                               .low = -4.3,
                               .high = 4.7};
  template <class T>
  static T forward(T a) {
    const T t = a + lit<T>(3);
    const T gate = select(t < lit<T>(0), lit<T>(0), select(t > lit<T>(6), lit<T>(6), t));
    return a * (gate / lit<T>(6));  // the product alone could overflow
  }
  template <class T>
  static T backward(T a, T, T g) {
    const T inside = (a + a + lit<T>(3)) / lit<T>(6);
    return g * select(a < lit<T>(-3), lit<T>(0), select(a > lit<T>(3), lit<T>(1), inside));
  }
};

/// log(1 + e^(beta a)) / beta.
struct Softplus : Unary {
  static constexpr OpInfo info{.name = "softplus", .domain = Domain::floating, .reads = Reads::a};
  double beta = 1;
  template <class T>
  T forward(T a) const {
    return detail::softplus(a * lit<T>(beta)) / lit<T>(beta);
  }
  template <class T>
  T backward(T a, T, T g) const {
    return g * detail::sigmoid(a * lit<T>(beta));
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("beta", self.beta);
  }
};

struct LeakyRelu : Unary {
  static constexpr OpInfo info{.name = "leaky_relu", .domain = Domain::floating, .reads = Reads::a};
  double slope = 0.01;
  template <class T>
  T forward(T a) const {
    return select(a < lit<T>(0), a * lit<T>(slope), a);
  }
  template <class T>
  T backward(T a, T, T g) const {
    return select(a > lit<T>(0), g, g * lit<T>(slope));
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("slope", self.slope);
  }
};

/// a for a > 0, else alpha * (e^a - 1).
struct Elu : Unary {
  static constexpr OpInfo info{.name = "elu", .domain = Domain::floating, .reads = Reads::a};
  double alpha = 1;
  template <class T>
  T forward(T a) const {
    return select(a > lit<T>(0), a, lit<T>(alpha) * math::expm1(a));
  }
  template <class T>
  T backward(T a, T, T g) const {
    return g * select(a > lit<T>(0), lit<T>(1), lit<T>(alpha) * math::exp(a));
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("alpha", self.alpha);
  }
};

/// a for a > 0, else alpha * (e^(a / alpha) - 1).
struct Celu : Unary {
  static constexpr OpInfo info{.name = "celu", .domain = Domain::floating, .reads = Reads::a};
  double alpha = 1;
  template <class T>
  T forward(T a) const {
    return select(a > lit<T>(0), a, lit<T>(alpha) * math::expm1(a / lit<T>(alpha)));
  }
  template <class T>
  T backward(T a, T, T g) const {
    return g * select(a > lit<T>(0), lit<T>(1), math::exp(a / lit<T>(alpha)));
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("alpha", self.alpha);
  }
};

/// clamp(alpha * a + beta, 0, 1).
struct HardSigmoid : Unary {
  static constexpr OpInfo info{
      .name = "hard_sigmoid", .domain = Domain::floating, .reads = Reads::y, .low = -4, .high = 4};
  double alpha = 1.0 / 6;
  double beta = 0.5;
  template <class T>
  T forward(T a) const {
    const T t = a * lit<T>(alpha) + lit<T>(beta);
    return select(t < lit<T>(0), lit<T>(0), select(t > lit<T>(1), lit<T>(1), t));
  }
  template <class T>
  T backward(T, T y, T g) const {
    return select((y > lit<T>(0)) & (y < lit<T>(1)), g * lit<T>(alpha), lit<T>(0));
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("alpha", self.alpha);
    visit("beta", self.beta);
  }
};

/// a where a > threshold, else value.
struct Threshold : Unary {
  static constexpr OpInfo info{
      .name = "threshold", .domain = Domain::floating, .reads = Reads::a, .tolerance = 0};
  double threshold = 0.11;
  double value = 0;
  template <class T>
  T forward(T a) const {
    return select(a <= lit<T>(threshold), lit<T>(value), a);
  }
  template <class T>
  T backward(T a, T, T g) const {
    return select(a > lit<T>(threshold), g, lit<T>(0));
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("threshold", self.threshold);
    visit("value", self.value);
  }
};

/// a where |a| > lambda, else 0.
struct HardShrink : Unary {
  static constexpr OpInfo info{
      .name = "hard_shrink", .domain = Domain::floating, .reads = Reads::y, .tolerance = 0};
  double lambda = 0.5;
  template <class T>
  T forward(T a) const {
    return select(math::abs(a) <= lit<T>(lambda), lit<T>(0), a);
  }
  template <class T>
  T backward(T, T y, T g) const {
    return select(y == lit<T>(0), lit<T>(0), g);
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("lambda", self.lambda);
  }
};

/// a moved toward 0 by lambda, and 0 within it.
struct SoftShrink : Unary {
  static constexpr OpInfo info{
      .name = "soft_shrink", .domain = Domain::floating, .reads = Reads::y};
  double lambda = 0.5;
  template <class T>
  T forward(T a) const {
    const T moved = select(a > lit<T>(0), a - lit<T>(lambda), a + lit<T>(lambda));
    return select(math::abs(a) <= lit<T>(lambda), lit<T>(0), moved);
  }
  template <class T>
  T backward(T, T y, T g) const {
    return select(y == lit<T>(0), lit<T>(0), g);
  }
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("lambda", self.lambda);
  }
};

}  // namespace sinter::ops
