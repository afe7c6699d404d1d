// SPDX-License-Identifier: MIT OR Apache-2.0
// Pooling layers.
#pragma once

#include <optional>

#include "sinter/nn/conv.hpp"

namespace sinter::nn {

template <int N>
struct MaxPoolConfig {
  std::array<std::int64_t, N> kernel = filled<N>(2);
  std::optional<std::array<std::int64_t, N>> stride = std::nullopt;  ///< the kernel's sizes
  std::array<std::int64_t, N> padding = filled<N>(0);
  std::array<std::int64_t, N> dilation = filled<N>(1);
  bool ceil_mode = false;
};

template <int N>
struct AvgPoolConfig {
  std::array<std::int64_t, N> kernel = filled<N>(2);
  std::optional<std::array<std::int64_t, N>> stride = std::nullopt;
  std::array<std::int64_t, N> padding = filled<N>(0);
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< padding counts as zeros
};

template <int N>
struct AdaptivePoolConfig {
  std::array<std::int64_t, N> size = filled<N>(1);
};

namespace detail {
struct PoolGeometry {
  Dims kernel;
  Dims stride;
  Dims padding;
  Dims dilation;
  bool ceil_mode = false;
  bool count_include_pad = true;
};
Value max_pool(const Value& x, const PoolGeometry& geometry);
Value avg_pool(const Value& x, const PoolGeometry& geometry);
Value adaptive_avg_pool(const Value& x, const Dims& size);
Value adaptive_max_pool(const Value& x, const Dims& size);

template <int N>
Value pool(const Value& x, const MaxPoolConfig<N>& config) {
  return max_pool(x, {dims(config.kernel), dims(config.stride.value_or(config.kernel)),
                      dims(config.padding), dims(config.dilation), config.ceil_mode, true});
}
template <int N>
Value pool(const Value& x, const AvgPoolConfig<N>& config) {
  return avg_pool(x, {dims(config.kernel), dims(config.stride.value_or(config.kernel)),
                      dims(config.padding), Dims(), config.ceil_mode, config.count_include_pad});
}
}  // namespace detail

// [batch, channels, sizes…] -> [batch, channels, sizes'…] for N sizes.
#define SINTER_NN_POOL(Name, Config, N, call)                       \
  struct Name {                                                     \
    Config<N> config;                                               \
    template <class K>                                              \
    Tensor<N + 2, K> forward(const Tensor<N + 2, K>& input) const { \
      const Value& x = input.value();                               \
      return Tensor<N + 2, K>(call);                                \
    }                                                               \
    DynTensor forward(const DynTensor& input) const {               \
      const Value& x = input.value();                               \
      return DynTensor(call);                                       \
    }                                                               \
  };
SINTER_NN_POOL(MaxPool1d, MaxPoolConfig, 1, detail::pool(x, config))
SINTER_NN_POOL(MaxPool2d, MaxPoolConfig, 2, detail::pool(x, config))
SINTER_NN_POOL(AvgPool1d, AvgPoolConfig, 1, detail::pool(x, config))
SINTER_NN_POOL(AvgPool2d, AvgPoolConfig, 2, detail::pool(x, config))
SINTER_NN_POOL(AdaptiveAvgPool1d, AdaptivePoolConfig, 1,
               detail::adaptive_avg_pool(x, detail::dims(config.size)))
SINTER_NN_POOL(AdaptiveAvgPool2d, AdaptivePoolConfig, 2,
               detail::adaptive_avg_pool(x, detail::dims(config.size)))
SINTER_NN_POOL(AdaptiveMaxPool1d, AdaptivePoolConfig, 1,
               detail::adaptive_max_pool(x, detail::dims(config.size)))
SINTER_NN_POOL(AdaptiveMaxPool2d, AdaptivePoolConfig, 2,
               detail::adaptive_max_pool(x, detail::dims(config.size)))
#undef SINTER_NN_POOL

}  // namespace sinter::nn
