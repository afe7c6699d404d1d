// SPDX-License-Identifier: MIT OR Apache-2.0
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011):
// a bijection from a counter to four random words, so that any position of a stream is reached at
// once. Freestanding: portable kernels include it too.
#pragma once

#include <stdint.h>

// Inlined everywhere: no instruction set's copy may be linked into another's kernels.
#define SINTER_PHILOX [[gnu::always_inline]] constexpr

namespace sinter::philox {

inline constexpr uint32_t multiplier_0 = 0xD2511F53u;
inline constexpr uint32_t multiplier_1 = 0xCD9E8D57u;
inline constexpr uint32_t weyl_0 = 0x9E3779B9u;  // fraction of the golden ratio
inline constexpr uint32_t weyl_1 = 0xBB67AE85u;  // fraction of sqrt(3)
inline constexpr int rounds = 10;

struct Block {
  uint32_t words[4];
};

/// The four words of `counter` under a 64-bit key.
SINTER_PHILOX Block block(Block counter, uint32_t key_0, uint32_t key_1) {
  for (int round = 0; round < rounds; ++round) {
    const uint64_t a = uint64_t(multiplier_0) * counter.words[0];
    const uint64_t b = uint64_t(multiplier_1) * counter.words[2];
    counter = {{uint32_t(b >> 32) ^ counter.words[1] ^ key_0, uint32_t(b),
                uint32_t(a >> 32) ^ counter.words[3] ^ key_1, uint32_t(a)}};
    key_0 += weyl_0;
    key_1 += weyl_1;
  }
  return counter;
}

/// Streams of 32-bit and 64-bit numbers of one seed share no counter.
enum class Width : uint32_t { bits32 = 0, bits64 = 1 };

/// Block `index` of stream `seed`.
SINTER_PHILOX Block stream_block(uint64_t seed, uint64_t index, Width width) {
  return block({{uint32_t(index), uint32_t(index >> 32), 0, uint32_t(width)}}, uint32_t(seed),
               uint32_t(seed >> 32));
}

/// Number `position` of the stream's 32-bit numbers.
SINTER_PHILOX uint32_t bits32(uint64_t seed, uint64_t position) {
  return stream_block(seed, position / 4, Width::bits32).words[position % 4];
}
/// Number `position` of the stream's 64-bit numbers.
SINTER_PHILOX uint64_t bits64(uint64_t seed, uint64_t position) {
  const Block b = stream_block(seed, position / 2, Width::bits64);
  const int i = position % 2 ? 2 : 0;
  return uint64_t(b.words[i + 1]) << 32 | b.words[i];
}

/// [0, 1), all multiples of 2^-24 and 2^-53.
SINTER_PHILOX float unit(uint32_t bits) { return float(int32_t(bits >> 8)) * 0x1p-24f; }
SINTER_PHILOX double unit(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }
/// (0, 1]: safe in a logarithm.
SINTER_PHILOX float unit_above_zero(uint32_t bits) {
  return float(int32_t(bits >> 8) + 1) * 0x1p-24f;
}
SINTER_PHILOX double unit_above_zero(uint64_t bits) { return double((bits >> 11) + 1) * 0x1p-53; }

/// How many of the 2^32 words count as true with probability `p`.
SINTER_PHILOX uint64_t threshold(double p) {
  return p <= 0 ? 0 : p >= 1 ? uint64_t(1) << 32 : uint64_t(p * 0x1p32);
}

/// The high word of a 64 x 64 bit product.
SINTER_PHILOX uint64_t multiply_high(uint64_t a, uint64_t b) {
  const uint64_t a0 = uint32_t(a), a1 = a >> 32, b0 = uint32_t(b), b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t other = a0 * b1 + uint32_t(middle);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

/// An integer in [0, range), which 0 makes 2^64 (Lemire's multiplication; its bias is below 2^-16).
SINTER_PHILOX uint64_t bounded(uint64_t seed, uint64_t position, uint64_t range) {
  if (range == 0) {
    return bits64(seed, position);
  }
  return range <= 0x10000 ? uint64_t(bits32(seed, position)) * range >> 32
                          : multiply_high(bits64(seed, position), range);
}

}  // namespace sinter::philox

#undef SINTER_PHILOX
