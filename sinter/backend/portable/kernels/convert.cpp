// SPDX-License-Identifier: MIT OR Apache-2.0
// Conversions between element types and carried types on dense blocks.
#include "sinter/backend/portable/kernels/elementwise.hpp"
#include "sinter/backend/portable/kernels/simd.hpp"
#include "sinter/base/half.hpp"

namespace sinter::portable::SINTER_ISA {
namespace {

// Stand-ins for the storage types without arithmetic of their own.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct Truth {
  uint8_t bits;
};

template <class T>
inline constexpr bool is_float = T(0.5) != T(0);

template <class T>
SINTER_FORCE_INLINE auto load_one(T x) {
  if constexpr (__is_same(T, Half)) {
    return sinter::detail::decode<F16Format>(x.bits);
  } else if constexpr (__is_same(T, Brain)) {
    return sinter::detail::decode<BF16Format>(x.bits);
  } else if constexpr (__is_same(T, Truth)) {
    return int64_t(x.bits);
  } else {
    return int64_t(x);
  }
}

// Float to integer: truncated, saturated, NaN gives 0.
template <class To, class From>
SINTER_FORCE_INLINE To saturate(From x) {
  constexpr bool is_signed = To(-1) < To(0);
  constexpr int bits = 8 * int(sizeof(To)) - (is_signed ? 1 : 0);
  constexpr To highest = is_signed ? To((uint64_t(1) << bits) - 1) : To(-1);
  constexpr To lowest = is_signed ? To(-highest - 1) : To(0);
  constexpr From limit = From(2) * From(uint64_t(1) << (bits - 1));
  const bool above = x >= limit;
  const bool below = x <= (is_signed ? -limit : From(0));
  const From inside = above || below || x != x ? From(0) : x;
  const To y = To(inside);
  return above ? highest : below ? lowest : y;
}

template <class To, class From>
SINTER_FORCE_INLINE To store_one(From x) {
  if constexpr (__is_same(To, Half) || __is_same(To, Brain)) {
    using Format = __decltype([] {
      if constexpr (__is_same(To, Half)) {
        return F16Format{};
      } else {
        return BF16Format{};
      }
    }());
    if constexpr (__is_same(From, float)) {
      return To{sinter::detail::encode_float<Format>(x)};
    } else {
      return To{sinter::detail::encode_double<Format>(double(x))};
    }
  } else if constexpr (__is_same(To, Truth)) {
    return Truth{uint8_t(x != From(0))};
  } else if constexpr (is_float<From> && !is_float<To>) {
    return saturate<To>(x);
  } else {
    return To(x);
  }
}

template <class From>
void load(const void* from, void* to, size_t n) {
  using To = decltype(load_one(From{}));
  const From* __restrict x = static_cast<const From*>(from);
  To* __restrict y = static_cast<To*>(to);
  for (size_t i = 0; i < n; ++i) {
    y[i] = load_one(x[i]);
  }
}

template <class From, class To>
void store(const void* from, void* to, size_t n) {
  const From* __restrict x = static_cast<const From*>(from);
  To* __restrict y = static_cast<To*>(to);
  for (size_t i = 0; i < n; ++i) {
    y[i] = store_one<To>(x[i]);
  }
}

#if defined(__F16C__)
void load_half(const void* from, void* to, size_t n) {
  const auto* x = static_cast<const uint16_t*>(from);
  auto* y = static_cast<float*>(to);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(y + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  }
  load<Half>(x + i, y + i, n - i);
}
void store_half(const void* from, void* to, size_t n) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<uint16_t*>(to);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  }
  store<float, Half>(x + i, y + i, n - i);
}
#else
void load_half(const void* from, void* to, size_t n) { load<Half>(from, to, n); }
void store_half(const void* from, void* to, size_t n) { store<float, Half>(from, to, n); }
#endif

template <class From>
void fill_stores(ConvertKernel* row) {
  // In the order of DType.
  constexpr ConvertKernel kernels[element_types] = {store<From, double>,
                                                    store<From, float>,
                                                    store<From, Half>,
                                                    store<From, Brain>,
                                                    nullptr,
                                                    nullptr,
                                                    store<From, int64_t>,
                                                    store<From, int32_t>,
                                                    store<From, int16_t>,
                                                    store<From, int8_t>,
                                                    store<From, uint64_t>,
                                                    store<From, uint32_t>,
                                                    store<From, uint16_t>,
                                                    store<From, uint8_t>,
                                                    store<From, Truth>};
  for (int i = 0; i < element_types; ++i) {
    row[i] = kernels[i];
  }
}

}  // namespace

void fill_convert(ConvertTable& table) {
  constexpr ConvertKernel loads[element_types] = {
      nullptr, nullptr,        load_half,      load<Brain>,   nullptr,
      nullptr, nullptr,        load<int32_t>,  load<int16_t>, load<int8_t>,
      nullptr, load<uint32_t>, load<uint16_t>, load<uint8_t>, load<Truth>};
  for (int i = 0; i < element_types; ++i) {
    table.load[i] = loads[i];
  }
  fill_stores<float>(table.store[int(Carried::f32)]);
  fill_stores<double>(table.store[int(Carried::f64)]);
  fill_stores<int64_t>(table.store[int(Carried::i64)]);
  fill_stores<uint64_t>(table.store[int(Carried::u64)]);
  table.store[int(Carried::f32)][2] = store_half;
}

}  // namespace sinter::portable::SINTER_ISA
