// SPDX-License-Identifier: MIT OR Apache-2.0
// Probe loops for AVX-512, AVX2 and plain vectors.
#include "benches/probes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/cpu.hpp"
#include "sinter/base/os/memory.hpp"
#include "sinter/base/os/process.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sinter::bench {
namespace {

constexpr std::size_t buffer_floats = std::size_t{32} << 20;  // 128 MiB: beyond every cache.
constexpr std::size_t slice_floats = std::size_t{4} << 20;

/// Keeps a value alive without storing it.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}

#if defined(__x86_64__)

// 16 independent chains hide the latency of two units at 4 cycles; the loop holds no memory access.
#define SINTER_FMA_LOOP(Vector, fma, set1)                                                  \
  Vector sums[16];                                                                          \
  for (int i = 0; i < 16; ++i) {                                                            \
    sums[i] = set1(1.0f + static_cast<float>(i));                                           \
  }                                                                                         \
  const Vector a = set1(0.999f);                                                            \
  const Vector b = set1(0.001f);                                                            \
  for (long n = 0; n < rounds; ++n) {                                                       \
    _Pragma("GCC unroll 16") for (int i = 0; i < 16; ++i) { sums[i] = fma(sums[i], a, b); } \
    asm volatile("");                                                                       \
  }                                                                                         \
  keep(sums)

__attribute__((target("avx512f"))) void fma_avx512(long rounds) {
  SINTER_FMA_LOOP(__m512, _mm512_fmadd_ps, _mm512_set1_ps);
}

// AVX2 has 16 registers: 12 chains and two operands.
__attribute__((target("avx2,fma"))) void fma_avx2(long rounds) {
  __m256 sums[12];
  for (int i = 0; i < 12; ++i) {
    sums[i] = _mm256_set1_ps(1.0f + static_cast<float>(i));
  }
  const __m256 a = _mm256_set1_ps(0.999f);
  const __m256 b = _mm256_set1_ps(0.001f);
  for (long n = 0; n < rounds; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      sums[i] = _mm256_fmadd_ps(sums[i], a, b);
    }
    asm volatile("");
  }
  keep(sums);
}

__attribute__((target("avx512f,avx512vnni"))) void dot_vnni(long rounds) {
  __m512i sums[16];
  for (int i = 0; i < 16; ++i) {
    sums[i] = _mm512_set1_epi32(i);
  }
  const __m512i a = _mm512_set1_epi8(3);
  const __m512i b = _mm512_set1_epi8(5);
  for (long n = 0; n < rounds; ++n) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      sums[i] = _mm512_dpbusd_epi32(sums[i], a, b);
    }
    asm volatile("");
  }
  keep(sums);
}

__attribute__((target("avx2"))) void read_all(const float* data, std::size_t count) {
  __m256 sums[8] = {};
  for (std::size_t i = 0; i < count; i += 64) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      sums[k] = _mm256_add_ps(sums[k], _mm256_load_ps(data + i + 8 * k));
    }
  }
  keep(sums);
}

__attribute__((target("avx2"))) void copy_all(const float* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 32) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      _mm256_stream_ps(to + i + 8 * k, _mm256_load_ps(from + i + 8 * k));
    }
  }
  _mm_sfence();
}

__attribute__((target("avx2"))) void update_all(float* data, std::size_t count) {
  const __m256 factor = _mm256_set1_ps(0.9999f);
  for (std::size_t i = 0; i < count; i += 32) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      float* at = data + i + 8 * k;
      _mm256_store_ps(at, _mm256_mul_ps(_mm256_load_ps(at), factor));
    }
  }
}

#endif

// Machines without AVX2 get what the compiler makes of plain loops.
void fma_plain(long rounds) {
  typedef float Vector __attribute__((vector_size(16)));
  Vector sums[16] = {};
  const Vector a = {0.999f, 0.999f, 0.999f, 0.999f};
  for (long n = 0; n < rounds; ++n) {
    for (Vector& sum : sums) {
      sum = sum * a + a;
    }
    asm volatile("" : "+m"(sums));
  }
}

void read_plain(const float* data, std::size_t count) {
  float sums[16] = {};
  for (std::size_t i = 0; i < count; i += 16) {
    for (int k = 0; k < 16; ++k) {
      sums[k] += data[i + k];
    }
  }
  keep(sums);
}

void update_plain(float* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    data[i] *= 0.9999f;
  }
}

/// The rate of `work(thread)` on all threads at once; one thread is timed as the rows are.
template <class Work>
double rate(int threads, double amount_per_thread, const Work& work) {
  const auto now = threads == 1 ? os::process_cpu_seconds : os::monotonic_seconds;
  const double begin = now();
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) {
    others.emplace_back([&work, t] { work(t); });
  }
  work(0);
  for (std::thread& other : others) {
    other.join();
  }
  return amount_per_thread * threads / (now() - begin);
}

enum class Isa { plain, avx2, avx512 };

Isa isa_of_machine() {
#if defined(__x86_64__)
  const os::CpuFeatures& cpu = os::cpu_features();
  if (cpu.avx512f) {
    return Isa::avx512;
  }
  if (cpu.avx2 && cpu.fma) {
    return Isa::avx2;
  }
#endif
  return Isa::plain;
}

struct Unmap {
  void operator()(float* memory) const { os::unmap_pages(memory, buffer_floats * sizeof(float)); }
};
using Buffer = std::unique_ptr<float, Unmap>;

Buffer make_buffer() {
  const std::size_t bytes = buffer_floats * sizeof(float);
  Buffer buffer(static_cast<float*>(os::map_pages(bytes, std::size_t{2} << 20)));
  if (!buffer) {
    throw std::bad_alloc();
  }
  os::advise_huge(buffer.get(), bytes);  // As the pool of the rows' tensors has them.
  for (std::size_t i = 0; i < buffer_floats; ++i) {
    buffer.get()[i] = static_cast<float>(i % 1021) * 0.001f;
  }
  return buffer;
}

void run_traffic(Traffic traffic, float* a, float* b, std::size_t count) {
#if defined(__x86_64__)
  if (os::cpu_features().avx2) {
    return traffic == Traffic::read   ? read_all(a, count)
           : traffic == Traffic::copy ? copy_all(a, b, count)
                                      : update_all(a, count);
  }
#endif
  switch (traffic) {
    case Traffic::read:
      return read_plain(a, count);
    case Traffic::copy:
      std::memcpy(b, a, count * sizeof(float));
      return;
    case Traffic::update:
      return update_plain(a, count);
  }
}

}  // namespace

/// Each slice lies behind the one before, so that none is in a cache when its turn comes.
struct Probe::Memory {
  Buffer a = make_buffer();
  Buffer b = make_buffer();
  std::size_t at = 0;
};

Probe::Probe(int threads) : threads_(threads) {}
Probe::~Probe() = default;

void Probe::release() { memory_.reset(); }

const char* Probe::isa() const {
  const char* names[] = {"plain", "avx2", "avx512"};
  return names[static_cast<int>(isa_of_machine())];
}

double Probe::f32_flops() {
  const long rounds = 1 << 19;
#if defined(__x86_64__)
  if (isa_of_machine() == Isa::avx512) {
    return rate(threads_, 2.0 * 16 * 16 * rounds, [&](int) { fma_avx512(rounds); });
  }
  if (isa_of_machine() == Isa::avx2) {
    return rate(threads_, 2.0 * 8 * 12 * rounds, [&](int) { fma_avx2(rounds); });
  }
#endif
  return rate(threads_, 2.0 * 4 * 16 * rounds, [&](int) { fma_plain(rounds); });
}

double Probe::int8_ops() {
#if defined(__x86_64__)
  if (isa_of_machine() == Isa::avx512 && os::cpu_features().avx512vnni) {
    const long rounds = 1 << 19;
    return rate(threads_, 2.0 * 64 * 16 * rounds, [&](int) { dot_vnni(rounds); });
  }
#endif
  return f32_flops();
}

double Probe::bytes(Traffic traffic) {
  if (!memory_) {
    memory_ = std::make_unique<Memory>();
  }
  // The first slices after a peer's turn are slow, and a row's iterations are long beside them.
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    best = std::max(best, bytes_of_slice(traffic));
  }
  return best;
}

double Probe::bytes_of_slice(Traffic traffic) {
  const std::size_t threads = static_cast<std::size_t>(threads_);
  const std::size_t part = slice_floats / threads / 64 * 64;
  if (memory_->at + part * threads > buffer_floats) {
    memory_->at = 0;
  }
  float* a = memory_->a.get() + memory_->at;
  float* b = memory_->b.get() + memory_->at;
  memory_->at += part * threads;
  const double moved =
      static_cast<double>(part * sizeof(float)) * (traffic == Traffic::read ? 1 : 2);
  return rate(threads_, moved, [&](int t) {
    const std::size_t offset = part * static_cast<std::size_t>(t);
    run_traffic(traffic, a + offset, b + offset, part);
  });
}

}  // namespace sinter::bench
