// SPDX-License-Identifier: MIT OR Apache-2.0
// Cores of pooling layers.
#include "sinter/nn/pool.hpp"

#include <fmt/format.h>

#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/join/join.hpp"
#include "sinter/ops/pool/pool.hpp"

namespace sinter::nn::detail {
namespace {

ops::PoolWindow window_of(const PoolGeometry& geometry) {
  ops::PoolWindow window;
  window.kernel = geometry.kernel;
  window.stride = geometry.stride;
  window.padding_before = geometry.padding;
  window.padding_after = geometry.padding;
  window.dilation = geometry.dilation;
  window.ceil_mode = geometry.ceil_mode;
  return window;
}

// The maxima of windows [floor(i in / out), ceil((i + 1) in / out)) along one dim.
Value adaptive_max_along(const Value& x, int dim, std::int64_t outputs) {
  const std::int64_t input = x.size(dim);
  std::vector<Value> parts;
  for (std::int64_t i = 0; i < outputs; ++i) {
    const std::int64_t begin = i * input / outputs;
    const std::int64_t end = ((i + 1) * input + outputs - 1) / outputs;
    parts.push_back(ops::max(ops::narrow(x, dim, begin, end - begin), {dim}, true));
  }
  return parts.size() == 1 ? parts[0] : ops::cat(parts, dim);
}

}  // namespace

Value max_pool(const Value& x, const PoolGeometry& geometry) {
  return ops::max_pool(x, window_of(geometry));
}
Value avg_pool(const Value& x, const PoolGeometry& geometry) {
  return ops::avg_pool(x, window_of(geometry), geometry.count_include_pad);
}
Value adaptive_avg_pool(const Value& x, const Dims& size) {
  return ops::adaptive_avg_pool(x, size);
}

Value adaptive_max_pool(const Value& x, const Dims& size) {
  if (x.rank() <= size.rank()) {
    throw ShapeError(fmt::format("adaptive_max_pool: expected rank {} or more, got {}",
                                 size.rank() + 1, x.shape().str()));
  }
  Value y = x;
  for (int i = 0; i < size.rank(); ++i) {
    const int dim = x.rank() - size.rank() + i;
    if (size[i] <= 0 || x.size(dim) == 0) {
      throw ShapeError(fmt::format("adaptive_max_pool: can't make {} windows of dim {} of {}",
                                   size[i], dim, x.shape().str()));
    }
    y = adaptive_max_along(y, dim, size[i]);
  }
  return y;
}

}  // namespace sinter::nn::detail
