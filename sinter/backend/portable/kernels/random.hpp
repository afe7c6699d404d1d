// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels of random numbers.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sinter::portable {

struct RandomKernels {
  /// Writes the four words of each of `blocks` blocks of stream `seed` from block `first` on;
  /// `width` is 0 for the stream of 32-bit numbers, 1 for that of 64-bit ones.
  void (*words)(uint64_t seed, uint64_t first, uint32_t width, uint32_t* out, int64_t blocks);
  /// min(low + u * width, last) for u in [0, 1) of each word.
  void (*uniform_f32)(const uint32_t* words, float low, float width, float last, float* out,
                      int64_t n);
  /// mean + deviation * z for standard normal z, two for each two words; `n` is even.
  void (*normal_f32)(const uint32_t* words, float mean, float deviation, float* out, int64_t n);
  /// 0 where the word is below `threshold`, else x * scale.
  void (*dropout_f32)(const uint32_t* words, uint32_t threshold, float scale, const float* x,
                      float* out, int64_t n);
};

}  // namespace sinter::portable
