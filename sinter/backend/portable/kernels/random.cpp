// SPDX-License-Identifier: MIT OR Apache-2.0
// Philox blocks as vectors, and what is made of their words.
#include "sinter/backend/portable/kernels/random.hpp"

#include "sinter/backend/portable/kernels/simd.hpp"
#include "sinter/backend/portable/kernels/tables.hpp"
#include "sinter/backend/portable/kernels/vmath.hpp"
#include "sinter/ops/random/philox.hpp"

namespace sinter::portable::SINTER_ISA {

namespace {

// Blocks computed side by side: word k of all of them is one array, which the compiler keeps in
// vectors.
constexpr int width_of_group = 2 * vector_bytes / 4;

SINTER_FORCE_INLINE void philox_round(uint32_t* c0, uint32_t* c1, uint32_t* c2, uint32_t* c3,
                                      uint32_t key_0, uint32_t key_1) {
  for (int i = 0; i < width_of_group; ++i) {
    const uint32_t a_high = uint32_t((uint64_t(philox::multiplier_0) * c0[i]) >> 32);
    const uint32_t b_high = uint32_t((uint64_t(philox::multiplier_1) * c2[i]) >> 32);
    const uint32_t a_low = philox::multiplier_0 * c0[i];
    const uint32_t b_low = philox::multiplier_1 * c2[i];
    c0[i] = b_high ^ c1[i] ^ key_0;
    c1[i] = b_low;
    c2[i] = a_high ^ c3[i] ^ key_1;
    c3[i] = a_low;
  }
}

void words(uint64_t seed, uint64_t first, uint32_t width, uint32_t* out, int64_t blocks) {
  int64_t done = 0;
  for (; done + width_of_group <= blocks; done += width_of_group) {
    alignas(64) uint32_t c0[width_of_group], c1[width_of_group], c2[width_of_group],
        c3[width_of_group];
    for (int i = 0; i < width_of_group; ++i) {
      const uint64_t index = first + uint64_t(done + i);
      c0[i] = uint32_t(index);
      c1[i] = uint32_t(index >> 32);
      c2[i] = 0;
      c3[i] = width;
    }
    uint32_t key_0 = uint32_t(seed);
    uint32_t key_1 = uint32_t(seed >> 32);
    for (int round = 0; round < philox::rounds; ++round) {
      philox_round(c0, c1, c2, c3, key_0, key_1);
      key_0 += philox::weyl_0;
      key_1 += philox::weyl_1;
    }
    uint32_t* to = out + 4 * done;
    for (int i = 0; i < width_of_group; ++i) {
      to[4 * i] = c0[i];
      to[4 * i + 1] = c1[i];
      to[4 * i + 2] = c2[i];
      to[4 * i + 3] = c3[i];
    }
  }
  for (; done < blocks; ++done) {
    const philox::Block b =
        philox::stream_block(seed, first + uint64_t(done), philox::Width(width));
    for (int k = 0; k < 4; ++k) {
      out[4 * done + k] = b.words[k];
    }
  }
}

void uniform_f32(const uint32_t* bits, float low, float width, float last, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float unit = float(int32_t(bits[i] >> 8)) * 0x1p-24f;
    const float value = low + unit * width;
    out[i] = value < last ? value : last;
  }
}

// Sine and cosine of 2 pi u: u is cut to within an eighth of a turn exactly, and Taylor's series is
// below half an ulp there.
SINTER_FORCE_INLINE void turn(vf u, vf& sine, vf& cosine) {
  const vf quarter = floor(u * vf(4.0f) + vf(0.5f));
  const vf a = (u - quarter * vf(0.25f)) * vf(6.2831853071795865f);
  const vf b = a * a;
  const vf s = a + a * b *
                       (vf(-1.0f / 6) +
                        b * (vf(1.0f / 120) + b * (vf(-1.0f / 5040) + b * vf(1.0f / 362880))));
  const vf c = vf(1.0f) +
               b * (vf(-0.5f) + b * (vf(1.0f / 24) + b * (vf(-1.0f / 720) + b * vf(1.0f / 40320))));
  const auto odd = (quarter == vf(1.0f)) | (quarter == vf(3.0f));
  const auto sine_negative = (quarter == vf(2.0f)) | (quarter == vf(3.0f));
  const auto cosine_negative = (quarter == vf(1.0f)) | (quarter == vf(2.0f));
  const vf s_turned = select(odd, c, s);
  const vf c_turned = select(odd, s, c);
  sine = select(sine_negative, -s_turned, s_turned);
  cosine = select(cosine_negative, -c_turned, c_turned);
}

void normal_f32(const uint32_t* bits, float mean, float deviation, float* out, int64_t n) {
  constexpr int lanes = native_lanes<float>;
  for (int64_t begin = 0; begin < n; begin += 2 * lanes) {
    const int pairs = int((n - begin < 2 * lanes ? n - begin : 2 * lanes) / 2);
    alignas(64) float radius[lanes], angle[lanes], sine[lanes], cosine[lanes];
    for (int i = 0; i < lanes; ++i) {
      const int k = i < pairs ? i : 0;
      radius[i] = philox::unit_above_zero(bits[begin + 2 * k]);
      angle[i] = philox::unit(bits[begin + 2 * k + 1]);
    }
    vf s, c;
    turn(vf::load(angle), s, c);
    const vf r = sqrt(vf(-2.0f) * log(vf::load(radius)));
    (vf(mean) + vf(deviation) * (r * s)).store(sine);
    (vf(mean) + vf(deviation) * (r * c)).store(cosine);
    for (int i = 0; i < pairs; ++i) {
      out[begin + 2 * i] = cosine[i];
      out[begin + 2 * i + 1] = sine[i];
    }
  }
}

void dropout_f32(const uint32_t* bits, uint32_t threshold, float scale, const float* x, float* out,
                 int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float kept = x[i] * scale;
    out[i] = bits[i] < threshold ? 0.0f : kept;
  }
}

}  // namespace

const RandomKernels& random_kernels() {
  static constexpr RandomKernels table{words, uniform_f32, normal_f32, dropout_f32};
  return table;
}

}  // namespace sinter::portable::SINTER_ISA
