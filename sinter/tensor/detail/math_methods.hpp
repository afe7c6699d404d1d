// SPDX-License-Identifier: MIT OR Apache-2.0
// Methods of Tensor: elementwise ones with attributes, closeness, products of vectors and matrices.
#pragma once

#include <limits>

#include "sinter/tensor/detail/core.hpp"
#include "sinter/tensor/detail/kinds.hpp"

namespace sinter::detail {

template <int D, class K>
class MathMethods {
  using Self = Tensor<D, K>;
  using Mask = Tensor<D, kind_or_any<K, Bool>>;
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  const Value& self(SourceLoc caller = SourceLoc::current()) const {
    return set_value(static_cast<const Self*>(this)->value(), caller);
  }
  Value take_self(SourceLoc caller = SourceLoc::current()) {
    (void)self(caller);
    return std::move(static_cast<Self&>(*this)).value();
  }

 public:
  // A temporary is computed in place, another tensor is not changed.
#define SINTER_WHERE SourceLoc where = SourceLoc::current()
#define SINTER_CALL(parameters, name, function, ...)               \
  [[nodiscard]] Self name parameters const&                        \
    requires may_be_number<K>                                      \
  {                                                                \
    return Self(ops::function(Value(self()), __VA_ARGS__, where)); \
  }                                                                \
  [[nodiscard]] Self name parameters&&                             \
    requires may_be_number<K>                                      \
  {                                                                \
    return Self(ops::function(take_self(), __VA_ARGS__, where));   \
  }
  /// min(max(x, low), high); NaN stays NaN.
  SINTER_CALL((double low, double high, SINTER_WHERE), clamp, clamped, low, high)
  SINTER_CALL((double low, SINTER_WHERE), clamp_min, clamped, low, infinity)
  SINTER_CALL((double high, SINTER_WHERE), clamp_max, clamped, -infinity, high)
  SINTER_CALL((SINTER_WHERE), relu6, clamped, 0, 6)
  SINTER_CALL((double low = -1, double high = 1, SINTER_WHERE), hardtanh, clamped, low, high)
  /// Where x is negative, x * slope.
  SINTER_CALL((double slope = 0.01, SINTER_WHERE), leaky_relu, leaky_relu, slope)
  /// Where x is negative, alpha * (exp(x) - 1).
  SINTER_CALL((double alpha = 1, SINTER_WHERE), elu, elu, alpha)
  SINTER_CALL((double alpha = 1, SINTER_WHERE), celu, celu, alpha)
  /// log(1 + exp(beta * x)) / beta.
  SINTER_CALL((double beta = 1, SINTER_WHERE), softplus, softplus, beta)
  /// alpha * x + beta kept inside [0, 1].
  SINTER_CALL((double alpha = 1.0 / 6, double beta = 0.5, SINTER_WHERE), hard_sigmoid, hard_sigmoid,
              alpha, beta)
  /// x where it is greater than `limit`, else `value`.
  SINTER_CALL((double limit, double value = 0, SINTER_WHERE), threshold, threshold, limit, value)
  SINTER_CALL((double alpha = 1, SINTER_WHERE), thresholded_relu, threshold, alpha, 0)
  SINTER_CALL((double lambda = 0.5, SINTER_WHERE), hard_shrink, hard_shrink, lambda)
  SINTER_CALL((double lambda = 0.5, SINTER_WHERE), soft_shrink, soft_shrink, lambda)
  SINTER_CALL((double lambda = 0.5, double bias = 0, SINTER_WHERE), shrink, shrink, lambda, bias)
#undef SINTER_CALL
#undef SINTER_WHERE
  /// x - tanh(x).
  [[nodiscard]] Self tanhshrink(SourceLoc where = SourceLoc::current()) const {
    return Self(ops::tanhshrink(self(), where));
  }
  /// Where x is negative, x * weight: one, or one for each of dim 1's channels.
  [[nodiscard]] Self prelu(const Tensor<rank_or_dynamic<D, 1>, K>& weight,
                           SourceLoc where = SourceLoc::current()) const {
    return Self(ops::prelu(self(), weight.value(), where));
  }
  /// Degrees to radians and back.
  [[nodiscard]] Self deg2rad(SourceLoc where = SourceLoc::current()) const {
    return Self(ops::mul(self(), number(self(), 0.017453292519943295, "deg2rad"), where));
  }
  [[nodiscard]] Self rad2deg(SourceLoc where = SourceLoc::current()) const {
    return Self(ops::mul(self(), number(self(), 57.29577951308232, "rad2deg"), where));
  }
  /// this + (end - this) * weight.
  [[nodiscard]] Self lerp(const Self& end, Scalar weight,
                          SourceLoc where = SourceLoc::current()) const {
    return Self(run3(OpCode::lerp, self(), end.value(), number(self(), weight, "lerp"), where));
  }
  [[nodiscard]] Self lerp(const Self& end, const Self& weight,
                          SourceLoc where = SourceLoc::current()) const {
    return Self(run3(OpCode::lerp, self(), end.value(), weight.value(), where));
  }
  /// NaN, infinity and -infinity replaced, the last two by the dtype's largest finite numbers.
  [[nodiscard]] Self nan_to_num(double nan = 0, SourceLoc where = SourceLoc::current()) const {
    return Self(ops::nan_to_num(self(), nan, nullptr, nullptr, where));
  }
  [[nodiscard]] Self nan_to_num(double nan, double positive, double negative,
                                SourceLoc where = SourceLoc::current()) const {
    return Self(ops::nan_to_num(self(), nan, &positive, &negative, where));
  }

  /// |x - y| <= atol + rtol * |y|; equal infinities are close, NaN is close to nothing.
  [[nodiscard]] Mask is_close(const Self& other, double rtol = 1e-5, double atol = 1e-8,
                              SourceLoc where = SourceLoc::current()) const {
    return Mask(ops::is_close(self(), other.value(), rtol, atol, false, where));
  }
  /// All elements are close. Waits.
  [[nodiscard]] bool all_close(const Self& other, double rtol = 1e-5, double atol = 1e-8,
                               SourceLoc where = SourceLoc::current()) const {
    return detail::truth(ops::all(ops::is_close(self(), other.value(), rtol, atol, false, where)));
  }
  /// Any element is NaN: a bool tensor of one element.
  [[nodiscard]] auto contains_nan(SourceLoc where = SourceLoc::current()) const {
    return Tensor<rank_or_dynamic<D, 0>, kind_or_any<K, Bool>>(ops::contains_nan(self(), where));
  }

  /// [n] . [n] -> [].
  [[nodiscard]] auto dot(const Self& other, SourceLoc where = SourceLoc::current()) const
    requires(D == 1 || D == dynamic_rank)
  {
    return Tensor<rank_or_dynamic<D, 0>, reduced_kind<OpCode::sum, K>>(
        ops::dot(self(), other.value(), where));
  }
  /// [m], [n] -> [m, n]: all products.
  [[nodiscard]] auto outer(const Self& other, SourceLoc where = SourceLoc::current()) const
    requires(D == 1 || D == dynamic_rank)
  {
    return Tensor<rank_plus<D, 1>, K>(ops::outer(self(), other.value(), where));
  }
  /// [.., m, k] x [k] -> [.., m].
  [[nodiscard]] auto matvec(const Tensor<rank_or_dynamic<D, 1>, K>& x,
                            SourceLoc where = SourceLoc::current()) const {
    return Tensor<rank_plus<D, -1>, K>(ops::matvec(self(), x.value(), where));
  }
  /// [.., m, n] -> [..]: the sum of the main diagonal.
  [[nodiscard]] auto trace(SourceLoc where = SourceLoc::current()) const {
    return Tensor<rank_plus<D, -2>, reduced_kind<OpCode::sum, K>>(ops::trace(self(), where));
  }
  /// Vector product of the 3-element vectors along `dim`.
  [[nodiscard]] Self cross(const Self& other, int dim = -1) const {
    return Self(ops::cross(self(), other.value(), dim));
  }
  /// Kronecker product: [m, n], [p, q] -> [m * p, n * q].
  [[nodiscard]] Self kron(const Self& other, SourceLoc where = SourceLoc::current()) const {
    return Self(ops::kron(self(), other.value(), where));
  }
  /// Classes drawn for each row of logits [.., classes], with replacement: [.., count].
  [[nodiscard]] auto categorical(std::int64_t count, SourceLoc where = SourceLoc::current()) const {
    return Tensor<D, kind_or_any<K, Int>>(ops::categorical(self(), count, where));
  }
};

}  // namespace sinter::detail
