// SPDX-License-Identifier: MIT OR Apache-2.0
// Element types: their list, sizes, kinds and promotion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sinter/base/half.hpp"

namespace sinter {

/// The element type of a tensor. `f8e4m3` and `f8e5m2` are storage types: cast before computing.
enum class DType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean
};
inline constexpr int dtype_count = 15;

/// What the compiler checks of a dtype: `Tensor<D, Float>`, `Tensor<D, Int>`, `Tensor<D, Bool>`.
enum class Kind : std::uint8_t { floating, integer, boolean };

struct Float {
  static constexpr Kind kind = Kind::floating;
  static constexpr DType default_dtype = DType::f32;
};
struct Int {
  static constexpr Kind kind = Kind::integer;
  static constexpr DType default_dtype = DType::i64;
};
struct Bool {
  static constexpr Kind kind = Kind::boolean;
  static constexpr DType default_dtype = DType::boolean;
};

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) {
  constexpr std::uint8_t sizes[dtype_count] = {8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  return sizes[static_cast<int>(dtype)];
}

[[nodiscard]] constexpr Kind kind_of(DType dtype) {
  return dtype <= DType::f8e5m2    ? Kind::floating
         : dtype == DType::boolean ? Kind::boolean
                                   : Kind::integer;
}
[[nodiscard]] constexpr bool is_floating(DType d) { return kind_of(d) == Kind::floating; }
[[nodiscard]] constexpr bool is_integer(DType d) { return kind_of(d) == Kind::integer; }
[[nodiscard]] constexpr bool is_unsigned(DType d) { return d >= DType::u64 && d <= DType::u8; }
[[nodiscard]] constexpr bool is_fp8(DType d) { return d == DType::f8e4m3 || d == DType::f8e5m2; }

/// "f32", "i64", "bool" …
[[nodiscard]] std::string_view name_of(DType dtype);
/// "Float", "Int" or "Bool".
[[nodiscard]] std::string_view name_of(Kind kind);
/// The inverse of `name_of`; throws ArgumentError for an unknown name.
[[nodiscard]] DType dtype_from_name(std::string_view name);

/// The dtype of a binary operation on two tensors: bool < integers < floats; within a kind the
/// wider one; f16 with bf16 gives f32; a signed with an equally wide unsigned integer gives the
/// next wider signed one (u64 with a signed one gives f32's stand-in for integers, i64).
[[nodiscard]] DType promote(DType a, DType b);

/// The dtype of sum and prod: small integers and bool widen to i64, the rest stays.
[[nodiscard]] DType sum_dtype(DType dtype);

namespace detail {
template <class T>
struct DTypeOf;
#define SINTER_DTYPE_OF(type, name)             \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  }
SINTER_DTYPE_OF(double, f64);
SINTER_DTYPE_OF(float, f32);
SINTER_DTYPE_OF(f16, f16);
SINTER_DTYPE_OF(bf16, bf16);
SINTER_DTYPE_OF(f8e4m3, f8e4m3);
SINTER_DTYPE_OF(f8e5m2, f8e5m2);
SINTER_DTYPE_OF(std::int64_t, i64);
SINTER_DTYPE_OF(std::int32_t, i32);
SINTER_DTYPE_OF(std::int16_t, i16);
SINTER_DTYPE_OF(std::int8_t, i8);
SINTER_DTYPE_OF(std::uint64_t, u64);
SINTER_DTYPE_OF(std::uint32_t, u32);
SINTER_DTYPE_OF(std::uint16_t, u16);
SINTER_DTYPE_OF(std::uint8_t, u8);
SINTER_DTYPE_OF(bool, boolean);
#undef SINTER_DTYPE_OF
}  // namespace detail

/// The dtype that stores C++ type `T`: `dtype_of<float> == DType::f32`.
template <class T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

template <class T>
concept Element = requires { detail::DTypeOf<T>::value; };

/// Calls `f.template operator()<T>()` with the C++ type that stores `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f.template operator()<double>();
    case DType::f32:
      return f.template operator()<float>();
    case DType::f16:
      return f.template operator()<f16>();
    case DType::bf16:
      return f.template operator()<bf16>();
    case DType::f8e4m3:
      return f.template operator()<f8e4m3>();
    case DType::f8e5m2:
      return f.template operator()<f8e5m2>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::i32:
      return f.template operator()<std::int32_t>();
    case DType::i16:
      return f.template operator()<std::int16_t>();
    case DType::i8:
      return f.template operator()<std::int8_t>();
    case DType::u64:
      return f.template operator()<std::uint64_t>();
    case DType::u32:
      return f.template operator()<std::uint32_t>();
    case DType::u16:
      return f.template operator()<std::uint16_t>();
    case DType::u8:
      return f.template operator()<std::uint8_t>();
    case DType::boolean:
      break;
  }
  return f.template operator()<bool>();
}

}  // namespace sinter
