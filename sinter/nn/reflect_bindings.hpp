// SPDX-License-Identifier: MIT OR Apache-2.0
// The fields of an aggregate as arguments of one call: structured bindings for 1 to 32 fields.
#pragma once

#include <type_traits>

namespace sinter::nn::detail {

inline constexpr int max_fields = 32;

/// True when each type can be a field that reflection hands out by reference.
template <class... Fields>
inline constexpr bool plain_fields =
    ((!std::is_reference_v<Fields> && !std::is_array_v<Fields>) && ...);

// clang-format off
#define SINTER_F1 f1
#define SINTER_D1 decltype(f1)
#define SINTER_F2 SINTER_F1, f2
#define SINTER_F3 SINTER_F2, f3
#define SINTER_F4 SINTER_F3, f4
#define SINTER_F5 SINTER_F4, f5
#define SINTER_F6 SINTER_F5, f6
#define SINTER_F7 SINTER_F6, f7
#define SINTER_F8 SINTER_F7, f8
#define SINTER_F9 SINTER_F8, f9
#define SINTER_F10 SINTER_F9, f10
#define SINTER_F11 SINTER_F10, f11
#define SINTER_F12 SINTER_F11, f12
#define SINTER_F13 SINTER_F12, f13
#define SINTER_F14 SINTER_F13, f14
#define SINTER_F15 SINTER_F14, f15
#define SINTER_F16 SINTER_F15, f16
#define SINTER_F17 SINTER_F16, f17
#define SINTER_F18 SINTER_F17, f18
#define SINTER_F19 SINTER_F18, f19
#define SINTER_F20 SINTER_F19, f20
#define SINTER_F21 SINTER_F20, f21
#define SINTER_F22 SINTER_F21, f22
#define SINTER_F23 SINTER_F22, f23
#define SINTER_F24 SINTER_F23, f24
#define SINTER_F25 SINTER_F24, f25
#define SINTER_F26 SINTER_F25, f26
#define SINTER_F27 SINTER_F26, f27
#define SINTER_F28 SINTER_F27, f28
#define SINTER_F29 SINTER_F28, f29
#define SINTER_F30 SINTER_F29, f30
#define SINTER_F31 SINTER_F30, f31
#define SINTER_F32 SINTER_F31, f32
#define SINTER_D2 SINTER_D1, decltype(f2)
#define SINTER_D3 SINTER_D2, decltype(f3)
#define SINTER_D4 SINTER_D3, decltype(f4)
#define SINTER_D5 SINTER_D4, decltype(f5)
#define SINTER_D6 SINTER_D5, decltype(f6)
#define SINTER_D7 SINTER_D6, decltype(f7)
#define SINTER_D8 SINTER_D7, decltype(f8)
#define SINTER_D9 SINTER_D8, decltype(f9)
#define SINTER_D10 SINTER_D9, decltype(f10)
#define SINTER_D11 SINTER_D10, decltype(f11)
#define SINTER_D12 SINTER_D11, decltype(f12)
#define SINTER_D13 SINTER_D12, decltype(f13)
#define SINTER_D14 SINTER_D13, decltype(f14)
#define SINTER_D15 SINTER_D14, decltype(f15)
#define SINTER_D16 SINTER_D15, decltype(f16)
#define SINTER_D17 SINTER_D16, decltype(f17)
#define SINTER_D18 SINTER_D17, decltype(f18)
#define SINTER_D19 SINTER_D18, decltype(f19)
#define SINTER_D20 SINTER_D19, decltype(f20)
#define SINTER_D21 SINTER_D20, decltype(f21)
#define SINTER_D22 SINTER_D21, decltype(f22)
#define SINTER_D23 SINTER_D22, decltype(f23)
#define SINTER_D24 SINTER_D23, decltype(f24)
#define SINTER_D25 SINTER_D24, decltype(f25)
#define SINTER_D26 SINTER_D25, decltype(f26)
#define SINTER_D27 SINTER_D26, decltype(f27)
#define SINTER_D28 SINTER_D27, decltype(f28)
#define SINTER_D29 SINTER_D28, decltype(f29)
#define SINTER_D30 SINTER_D29, decltype(f30)
#define SINTER_D31 SINTER_D30, decltype(f31)
#define SINTER_D32 SINTER_D31, decltype(f32)
#define SINTER_CASE(n)                                                                          \
  else if constexpr (count == n) {                                                              \
    auto& [SINTER_F##n] = object;                                                               \
    static_assert(plain_fields<SINTER_D##n>,                                                    \
                  "a reflected struct can't hold references or C arrays: use std::array, or "   \
                  "list the fields to visit with SINTER_FIELDS(a, b)");                         \
    return visitor(SINTER_F##n);                                                                \
  }

/// Calls `visitor(field_1, ..., field_count)` with references to the fields of the aggregate.
template <int count, class T, class Visitor>
constexpr decltype(auto) bind_fields([[maybe_unused]] T& object, Visitor&& visitor) {
  static_assert(count <= max_fields);
  if constexpr (count <= 0) {
    return visitor();
  }
  SINTER_CASE(1) SINTER_CASE(2) SINTER_CASE(3) SINTER_CASE(4) SINTER_CASE(5) SINTER_CASE(6)
  SINTER_CASE(7) SINTER_CASE(8) SINTER_CASE(9) SINTER_CASE(10) SINTER_CASE(11) SINTER_CASE(12)
  SINTER_CASE(13) SINTER_CASE(14) SINTER_CASE(15) SINTER_CASE(16) SINTER_CASE(17) SINTER_CASE(18)
  SINTER_CASE(19) SINTER_CASE(20) SINTER_CASE(21) SINTER_CASE(22) SINTER_CASE(23) SINTER_CASE(24)
  SINTER_CASE(25) SINTER_CASE(26) SINTER_CASE(27) SINTER_CASE(28) SINTER_CASE(29) SINTER_CASE(30)
  SINTER_CASE(31) SINTER_CASE(32)
}
#undef SINTER_CASE
#undef SINTER_F1
#undef SINTER_D1
#undef SINTER_F2
#undef SINTER_D2
#undef SINTER_F3
#undef SINTER_D3
#undef SINTER_F4
#undef SINTER_D4
#undef SINTER_F5
#undef SINTER_D5
#undef SINTER_F6
#undef SINTER_D6
#undef SINTER_F7
#undef SINTER_D7
#undef SINTER_F8
#undef SINTER_D8
#undef SINTER_F9
#undef SINTER_D9
#undef SINTER_F10
#undef SINTER_D10
#undef SINTER_F11
#undef SINTER_D11
#undef SINTER_F12
#undef SINTER_D12
#undef SINTER_F13
#undef SINTER_D13
#undef SINTER_F14
#undef SINTER_D14
#undef SINTER_F15
#undef SINTER_D15
#undef SINTER_F16
#undef SINTER_D16
#undef SINTER_F17
#undef SINTER_D17
#undef SINTER_F18
#undef SINTER_D18
#undef SINTER_F19
#undef SINTER_D19
#undef SINTER_F20
#undef SINTER_D20
#undef SINTER_F21
#undef SINTER_D21
#undef SINTER_F22
#undef SINTER_D22
#undef SINTER_F23
#undef SINTER_D23
#undef SINTER_F24
#undef SINTER_D24
#undef SINTER_F25
#undef SINTER_D25
#undef SINTER_F26
#undef SINTER_D26
#undef SINTER_F27
#undef SINTER_D27
#undef SINTER_F28
#undef SINTER_D28
#undef SINTER_F29
#undef SINTER_D29
#undef SINTER_F30
#undef SINTER_D30
#undef SINTER_F31
#undef SINTER_D31
#undef SINTER_F32
#undef SINTER_D32
// clang-format on

}  // namespace sinter::nn::detail
