// SPDX-License-Identifier: MIT OR Apache-2.0
// Names and promotion rules of element types.
#include "sinter/types/dtype.hpp"

#include <algorithm>
#include <string>

#include "sinter/base/error.hpp"

namespace sinter {
namespace {

constexpr std::string_view names[dtype_count] = {"f64",    "f32", "f16", "bf16", "f8e4m3",
                                                 "f8e5m2", "i64", "i32", "i16",  "i8",
                                                 "u64",    "u32", "u16", "u8",   "bool"};

DType promote_floats(DType a, DType b) {
  if (size_of(a) != size_of(b)) {
    return size_of(a) > size_of(b) ? a : b;
  }
  // Two different formats of one width: the next wider one holds both.
  return size_of(a) == 2 ? DType::f32 : DType::f16;
}

DType promote_integers(DType a, DType b) {
  if (is_unsigned(a) == is_unsigned(b)) {
    return size_of(a) > size_of(b) ? a : b;
  }
  const DType sign = is_unsigned(a) ? b : a;
  const DType plain = is_unsigned(a) ? a : b;
  if (size_of(sign) > size_of(plain)) {
    return sign;
  }
  switch (size_of(plain)) {
    case 1:
      return DType::i16;
    case 2:
      return DType::i32;
    default:
      return DType::i64;
  }
}

}  // namespace

std::string_view name_of(DType dtype) { return names[static_cast<int>(dtype)]; }

std::string_view name_of(Kind kind) {
  constexpr std::string_view kinds[] = {"Float", "Int", "Bool"};
  return kinds[static_cast<int>(kind)];
}

DType dtype_from_name(std::string_view name) {
  const auto* found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) {
    throw ArgumentError("no dtype is called `" + std::string(name) +
                        "`; use f64, f32, f16, bf16, f8e4m3, f8e5m2, i64 … i8, u64 … u8 or bool");
  }
  return static_cast<DType>(found - std::begin(names));
}

DType promote(DType a, DType b) {
  if (a == b) {
    return a;
  }
  if (kind_of(a) != kind_of(b)) {
    // Kind's enumerators stand in the order floating, integer, boolean: the lower one wins.
    return kind_of(a) < kind_of(b) ? a : b;
  }
  return is_floating(a) ? promote_floats(a, b) : promote_integers(a, b);
}

DType sum_dtype(DType dtype) {
  if (is_floating(dtype) || size_of(dtype) == 8) {
    return dtype;
  }
  return DType::i64;
}

}  // namespace sinter
