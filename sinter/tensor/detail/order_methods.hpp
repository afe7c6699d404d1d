// SPDX-License-Identifier: MIT OR Apache-2.0
// Methods of Tensor along a dim: order, extremes, scans, statistics, norms, softmax.
#pragma once

#include "sinter/tensor/detail/core.hpp"
#include "sinter/tensor/detail/kinds.hpp"

namespace sinter {

/// What `var_mean` gives: `auto [var, mean] = x.var_mean(1);`
template <int D, class K>
struct VarianceAndMean {
  Tensor<D, K> var;
  Tensor<D, K> mean;
};

namespace detail {

template <int D, class K>
class OrderMethods {
  using Self = Tensor<D, K>;
  using Lower = Tensor<rank_plus<D, -1>, K>;
  using Single = Tensor<rank_or_dynamic<D, 0>, K>;
  using IntKind = kind_or_any<K, Int>;
  using Summed = Tensor<D, reduced_kind<OpCode::sum, K>>;
  const Value& self(SourceLoc caller = SourceLoc::current()) const {
    return set_value(static_cast<const Self*>(this)->value(), caller);
  }

  template <int R>
  static WithIndices<R, K> paired(Outputs pair) {
    return {Tensor<R, K>(std::move(pair[0])), Tensor<R, IntKind>(std::move(pair[1]))};
  }

 public:
  // ---- Order. NaN is sorted last, and wins in max, min, argmax, argmin and topk; equal elements
  // keep their order. Indices are i64.

  [[nodiscard]] Self sort(int dim = -1, bool descending = false,
                          SourceLoc where = SourceLoc::current()) const {
    return Self(std::move(ops::sort(self(), dim, descending, where)[0]));
  }
  [[nodiscard]] Self sort_descending(int dim = -1, SourceLoc where = SourceLoc::current()) const {
    return sort(dim, true, where);
  }
  [[nodiscard]] WithIndices<D, K> sort_with_indices(int dim = -1, bool descending = false,
                                                    SourceLoc where = SourceLoc::current()) const {
    return paired<D>(ops::sort(self(), dim, descending, where));
  }
  [[nodiscard]] Tensor<D, IntKind> argsort(int dim = -1, bool descending = false,
                                           SourceLoc where = SourceLoc::current()) const {
    return Tensor<D, IntKind>(ops::argsort(self(), dim, descending, where));
  }
  /// The `k` largest (or smallest) elements along `dim`, best first. ArgumentError for k outside
  /// the dim.
  [[nodiscard]] Self topk(std::int64_t k, int dim = -1, bool largest = true,
                          SourceLoc where = SourceLoc::current()) const {
    return Self(std::move(ops::topk(self(), k, dim, largest, where)[0]));
  }
  [[nodiscard]] WithIndices<D, K> topk_with_indices(std::int64_t k, int dim = -1,
                                                    bool largest = true,
                                                    SourceLoc where = SourceLoc::current()) const {
    return paired<D>(ops::topk(self(), k, dim, largest, where));
  }
  [[nodiscard]] Tensor<D, IntKind> argtopk(std::int64_t k, int dim = -1, bool largest = true,
                                           SourceLoc where = SourceLoc::current()) const {
    return topk_with_indices(k, dim, largest, where).indices;
  }

  /// Index of the extreme element along `dim`, the lowest among equal ones; without a dim, in
  /// row-major order. ShapeError for a dim of size 0.
#define SINTER_EXTREME(name, arg)                                                                  \
  [[nodiscard]] auto arg(SourceLoc where = SourceLoc::current()) const {                           \
    return Tensor<rank_or_dynamic<D, 0>, IntKind>(ops::arg(self(), where));                        \
  }                                                                                                \
  [[nodiscard]] auto arg(int dim, SourceLoc where = SourceLoc::current()) const {                  \
    return Tensor<rank_plus<D, -1>, IntKind>(ops::arg(self(), dim, false, where));                 \
  }                                                                                                \
  [[nodiscard]] Tensor<D, IntKind> arg(int dim, KeepDim, SourceLoc where = SourceLoc::current())   \
      const {                                                                                      \
    return Tensor<D, IntKind>(ops::arg(self(), dim, true, where));                                 \
  }                                                                                                \
  [[nodiscard]] auto name##_with_indices(int dim, SourceLoc where = SourceLoc::current()) const {  \
    return paired<rank_plus<D, -1>>(extreme_with_indices(OpCode::arg, self(), dim, false, where)); \
  }                                                                                                \
  [[nodiscard]] auto name##_with_indices(int dim, KeepDim, SourceLoc where = SourceLoc::current()) \
      const {                                                                                      \
    return paired<D>(extreme_with_indices(OpCode::arg, self(), dim, true, where));                 \
  }
  SINTER_EXTREME(max, argmax)
  SINTER_EXTREME(min, argmin)
#undef SINTER_EXTREME

  /// The middle element along `dim`, the lower one of an even count; NaN if there is one.
  [[nodiscard]] Lower median(int dim, SourceLoc where = SourceLoc::current()) const {
    return Lower(std::move(ops::median(self(), dim, false, where)[0]));
  }
  [[nodiscard]] Single median(SourceLoc where = SourceLoc::current()) const {
    return Single(ops::median(self(), where));
  }
  [[nodiscard]] auto median_with_indices(int dim, SourceLoc where = SourceLoc::current()) const {
    return paired<rank_plus<D, -1>>(ops::median(self(), dim, false, where));
  }
  /// The largest |x|.
  [[nodiscard]] Single max_abs(SourceLoc where = SourceLoc::current()) const {
    return Single(ops::max(ops::abs(self(), where), {}, false, where));
  }
  [[nodiscard]] Lower max_abs(int dim, SourceLoc where = SourceLoc::current()) const {
    const int d = normalize_dim(dim, self().rank(), "max_abs");
    return Lower(ops::max(ops::abs(self(), where), {d}, false, where));
  }

  // ---- Scans along a dim.

  [[nodiscard]] Summed cumsum(int dim, SourceLoc where = SourceLoc::current()) const {
    return Summed(ops::cumsum(self(), dim, where));
  }
  [[nodiscard]] Summed cumprod(int dim, SourceLoc where = SourceLoc::current()) const {
    return Summed(ops::cumprod(self(), dim, where));
  }
  [[nodiscard]] Self cummax(int dim, SourceLoc where = SourceLoc::current()) const {
    return Self(std::move(ops::cummax(self(), dim, where)[0]));
  }
  [[nodiscard]] Self cummin(int dim, SourceLoc where = SourceLoc::current()) const {
    return Self(std::move(ops::cummin(self(), dim, where)[0]));
  }
  [[nodiscard]] WithIndices<D, K> cummax_with_indices(
      int dim, SourceLoc where = SourceLoc::current()) const {
    return paired<D>(ops::cummax(self(), dim, where));
  }
  [[nodiscard]] WithIndices<D, K> cummin_with_indices(
      int dim, SourceLoc where = SourceLoc::current()) const {
    return paired<D>(ops::cummin(self(), dim, where));
  }
  /// x[i + 1] - x[i] along `dim`, `n` times.
  [[nodiscard]] Self diff(int n = 1, int dim = -1, SourceLoc where = SourceLoc::current()) const {
    return Self(ops::difference(self(), n, dim, where));
  }

  // ---- Statistics of floats. The divisor is n - correction; a correction of 0 gives the biased
  // ones.

#define SINTER_SPREAD(name, function)                                                              \
  [[nodiscard]] Single name(SourceLoc where = SourceLoc::current()) const {                        \
    return Single(ops::function(self(), {}, 1, false, where));                                     \
  }                                                                                                \
  [[nodiscard]] Single name(AllType, double correction, SourceLoc where = SourceLoc::current())    \
      const {                                                                                      \
    return Single(ops::function(self(), {}, correction, false, where));                            \
  }                                                                                                \
  [[nodiscard]] Lower name(int dim, double correction = 1, SourceLoc where = SourceLoc::current()) \
      const {                                                                                      \
    return Lower(ops::function(self(), {dim}, correction, false, where));                          \
  }                                                                                                \
  [[nodiscard]] Self name(int dim, KeepDim, double correction = 1,                                 \
                          SourceLoc where = SourceLoc::current()) const {                          \
    return Self(ops::function(self(), {dim}, correction, true, where));                            \
  }
  /// The variance, and its root: of all elements, `x.var(all, 0)`, or along a dim, `x.var(1)`.
  SINTER_SPREAD(var, variance)
  SINTER_SPREAD(std, standard_deviation)
#undef SINTER_SPREAD
  [[nodiscard]] auto var_mean(int dim, double correction = 1,
                              SourceLoc where = SourceLoc::current()) const {
    Outputs both = ops::variance_mean(self(), {dim}, correction, false, where);
    return VarianceAndMean<rank_plus<D, -1>, K>{Lower(std::move(both[0])),
                                                Lower(std::move(both[1]))};
  }
  /// Observations along `dim`, one of the last two: [n, f] with dim 0 gives [f, f].
  [[nodiscard]] Self cov(int dim, double correction = 1,
                         SourceLoc where = SourceLoc::current()) const {
    return Self(ops::covariance(self(), dim, correction, where));
  }

  // ---- Norms, softmax.

  /// (sum |x|^p)^(1/p) of all elements, or along `dim`. p may be 0 (count), infinity or -infinity.
  [[nodiscard]] Single norm(double p = 2, SourceLoc where = SourceLoc::current()) const {
    return Single(ops::norm(self(), p, {}, false, where));
  }
  [[nodiscard]] Lower norm(double p, int dim, SourceLoc where = SourceLoc::current()) const {
    return Lower(ops::norm(self(), p, {dim}, false, where));
  }
  [[nodiscard]] Self norm(double p, int dim, KeepDim,
                          SourceLoc where = SourceLoc::current()) const {
    return Self(ops::norm(self(), p, {dim}, true, where));
  }
  /// x / max(norm, eps) along `dim`; zeros stay zeros.
  [[nodiscard]] Self normalize(int dim = -1, double eps = 1e-12,
                               SourceLoc where = SourceLoc::current()) const {
    return Self(ops::normalize(self(), dim, eps, where));
  }
  /// log(sum(exp(x))) without overflow.
  [[nodiscard]] Single logsumexp(SourceLoc where = SourceLoc::current()) const {
    return Single(ops::logsumexp(self(), {}, false, where));
  }
  [[nodiscard]] Lower logsumexp(int dim, SourceLoc where = SourceLoc::current()) const {
    return Lower(ops::logsumexp(self(), {dim}, false, where));
  }
  [[nodiscard]] Self logsumexp(int dim, KeepDim, SourceLoc where = SourceLoc::current()) const {
    return Self(ops::logsumexp(self(), {dim}, true, where));
  }
  /// exp(x) / sum(exp(x)) along `dim`; log_softmax is its logarithm, softmin softmax(-x),
  /// quiet_softmax adds 1 to the sum, glu multiplies the first half by the sigmoid of the second.
#define SINTER_ALONG(name)                                                              \
  [[nodiscard]] Self name(int dim = -1, SourceLoc where = SourceLoc::current()) const { \
    return Self(ops::name(self(), dim, where));                                         \
  }
  SINTER_ALONG(softmax)
  SINTER_ALONG(log_softmax)
  SINTER_ALONG(softmin)
  SINTER_ALONG(quiet_softmax)
  SINTER_ALONG(glu)
#undef SINTER_ALONG
};

}  // namespace detail
}  // namespace sinter
