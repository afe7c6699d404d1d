// SPDX-License-Identifier: MIT OR Apache-2.0
// A kernel that tests of several targets record, and numbers to run it on.
#pragma once

#include <random>
#include <vector>

#include "sinter/kernel/dsl/control.hpp"

namespace sinter::dsl {

inline std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

/// c [m, n] = a [m, k] b [k, n], by tiles in shared memory; cubes of tile x tile units.
inline void tiled_matmul(std::uint32_t tile) {
  const Buffer<float> a("a", ir::Access::read), b("b", ir::Access::read);
  const Buffer<float> c("c", ir::Access::write);
  const Index m = scalar<std::uint32_t>("m"), n = scalar<std::uint32_t>("n"),
              k = scalar<std::uint32_t>("k");
  const Shared<float> sa("sa", tile * tile), sb("sb", tile * tile);
  const Index tx = unit_pos(Axis::x), ty = unit_pos(Axis::y);
  const Index row = cube_pos(Axis::y) * tile + ty, col = cube_pos(Axis::x) * tile + tx;
  Var<float> sum = 0.0f;
  for (const Index k0 : range(Index(0u), k, Index(tile))) {
    KERNEL_IF ((row < m) & (k0 + tx < k)) {
      sa[ty * tile + tx] = a[row * k + k0 + tx];
    } else {
      sa[ty * tile + tx] = 0.0f;
    }
    KERNEL_IF ((k0 + ty < k) & (col < n)) {
      sb[ty * tile + tx] = b[(k0 + ty) * n + col];
    } else {
      sb[ty * tile + tx] = 0.0f;
    }
    sync_cube();
    for (std::uint32_t i = 0; i < tile; ++i) {
      sum += sa[ty * tile + i].value() * sb[i * tile + tx].value();
    }
    sync_cube();
  }
  KERNEL_IF ((row < m) & (col < n)) {
    c[row * n + col] = sum;
  }
}

}  // namespace sinter::dsl
