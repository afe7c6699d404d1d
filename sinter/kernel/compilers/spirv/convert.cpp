// SPDX-License-Identifier: MIT OR Apache-2.0
// Conversions between dtypes, and between values and their bits.
#include <bit>
#include <cmath>

#include "sinter/kernel/compilers/spirv/detail/numeric.hpp"

namespace sinter::spirv {

namespace {

bool is_wide(DType dtype) { return size_of(dtype) == 8; }
bool has_sign(DType dtype) { return is_integer(dtype) && !is_unsigned(dtype); }

}  // namespace

/// `value` as a constant of the float type.
Id Numeric::bound_of(Id type, double value) {
  return m_.width(type) == 64
             ? m_.constant(type, std::bit_cast<std::uint64_t>(value))
             : m_.constant(type, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}

Id Numeric::cast(DType from, DType to, Id x) {
  if (is_floating(from)) {
    if (to == DType::boolean) {
      return m_.test(Code::f_not_equal, {x, bound_of(m_.type_of(x), 0)});
    }
    return is_floating(to) ? float_to_float(from, to, x) : float_to_integer(to, x);
  }
  if (from == DType::boolean) {
    return m_.select(x, constant(to, ir::constant_bits(to, 1.0)), constant(to, 0));
  }
  if (to == DType::boolean) {
    return m_.test(Code::i_not_equal, {x, constant(from, 0)});
  }
  if (is_floating(to)) {
    const Code code = has_sign(from) ? Code::convert_s_to_f : Code::convert_u_to_f;
    return narrow(to, m_.value(code, type(to), {x}));
  }
  return integer_to_integer(from, to, x);
}

Id Numeric::float_to_float(DType from, DType to, Id x) {
  if (to == DType::f64) {
    return m_.value(Code::f_convert, type(to), {x});
  }
  if (from != DType::f64) {
    return narrow(to, x);
  }
  // Rounded to odd first, so that rounding to fewer bits afterwards is as if done once.
  return to == DType::f32 ? m_.value(Code::f_convert, type(to), {x}) : narrow(to, to_odd_f32(x));
}

/// Outside of the range SPIR-V's conversion gives anything: that lane is not selected.
Id Numeric::float_to_integer(DType to, Id x) {
  const int bits = 8 * static_cast<int>(size_of(to)) - (has_sign(to) ? 1 : 0);
  const Id real = m_.type_of(x);
  const Id result = type(to);
  const double limit = std::ldexp(1.0, bits);
  const std::uint64_t most = bits == 64 ? ~0ull : (1ull << bits) - 1;
  const std::uint64_t least = has_sign(to) ? ~most : 0;
  const Code code = has_sign(to) ? Code::convert_f_to_s : Code::convert_f_to_u;
  const Id above = m_.test(Code::f_greater_equal, {x, bound_of(real, limit)});
  const Id below = m_.test(Code::f_less_equal, {x, bound_of(real, has_sign(to) ? -limit : 0)});
  const Id inside = m_.value(code, result, {x});
  const Id bounded = m_.select(above, m_.constant(result, most),
                               m_.select(below, m_.constant(result, least), inside));
  return m_.select(is_nan(x), m_.constant(result, 0), bounded);
}

Id Numeric::integer_to_integer(DType from, DType to, Id x) {
  if (is_wide(from) == is_wide(to)) {
    return narrow(to, x);
  }
  if (is_wide(from)) {
    return narrow(to, m_.value(Code::u_convert, type(to), {x}));
  }
  return m_.value(has_sign(from) ? Code::s_convert : Code::u_convert, type(to), {x});
}

Id Numeric::to_bits(DType dtype, Id x) {
  switch (dtype) {
    case DType::boolean:
      return m_.select(x, m_.u32(1), m_.u32(0));
    case DType::f16:
      return encode_half(x);
    case DType::bf16:
      return m_.same(Code::shift_right_logical, {m_.bitcast(m_.integer(32), x), m_.u32(16)});
    case DType::i8:
      return m_.same(Code::bit_and, {x, m_.u32(0xff)});
    case DType::i16:
      return m_.same(Code::bit_and, {x, m_.u32(0xffff)});
    default:
      return is_floating(dtype) ? m_.bitcast(m_.integer(is_wide(dtype) ? 64 : 32), x) : x;
  }
}

Id Numeric::from_bits(DType dtype, Id bits) {
  switch (dtype) {
    case DType::boolean:
      return m_.test(Code::i_not_equal, {bits, m_.u32(0)});
    case DType::f16:
      return decode_half(bits);
    case DType::bf16:
      return m_.bitcast(m_.real(32), m_.same(Code::shift_left, {bits, m_.u32(16)}));
    case DType::i8:
    case DType::i16:
      return narrow(dtype, bits);
    default:
      return is_floating(dtype) ? m_.bitcast(type(dtype), bits) : bits;
  }
}

}  // namespace sinter::spirv
