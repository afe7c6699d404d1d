// SPDX-License-Identifier: MIT OR Apache-2.0
// Arithmetic, comparisons and choices on one lane.
#include <bit>

#include <fmt/format.h>

#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/compilers/spirv/detail/numeric.hpp"

namespace sinter::spirv {

using ir::Op;

namespace {

bool is_signed(DType dtype) { return !is_unsigned(dtype) && dtype != DType::boolean; }
bool is_wide(DType dtype) { return size_of(dtype) == 8; }

/// The instruction on floats that rounds once, if `op` is one.
std::optional<Code> rounded(Op op) {
  switch (op) {
    case Op::add:
      return Code::f_add;
    case Op::sub:
      return Code::f_sub;
    case Op::mul:
      return Code::f_mul;
    case Op::div:
      return Code::f_div;
    default:
      return std::nullopt;
  }
}

/// The function of GLSL.std.450 of the same name, as precise as the device makes it.
template <class Functions>
Glsl glsl_of(Op op) {
  switch (op) {
#define SINTER_INSTRUCTION(name, arguments, rule, traits) \
  case Op::name:                                          \
    if constexpr (requires { Functions::name; }) {        \
      return Functions::name;                             \
    }                                                     \
    break;
#include "sinter/kernel/ir/instructions.def"
#undef SINTER_INSTRUCTION
  }
  return Glsl::none;
}

}  // namespace

void Numeric::refuse(const std::string& why) const {
  std::string text = fmt::format("kernel {}: ", kernel_.name);
  if (inst_ != nullptr) {
    text += fmt::format("{} of {}: ", ir::traits_of(inst_->op).name, to_text(inst_->type));
  }
  text += why;
  if (inst_ != nullptr && inst_->loc.line != 0) {
    text += fmt::format(", recorded at {}:{}", inst_->loc.file, inst_->loc.line);
  }
  throw CompileError(text);
}

Id Numeric::type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return m_.truth();
    case DType::f64:
      if (!features_.f64) {
        refuse("the device has no f64; use f32");
      }
      return m_.real(64);
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      return m_.real(32);
    case DType::i64:
    case DType::u64:
      if (!features_.i64) {
        refuse("the device has no 64-bit integers; use i32 or u32");
      }
      return m_.integer(64);
    default:
      return m_.integer(32);
  }
}

Id Numeric::constant(DType dtype, std::uint64_t bits) {
  return dtype == DType::boolean ? m_.truth(bits != 0) : m_.constant(type(dtype), bits);
}

Id Numeric::narrow(DType dtype, Id x) {
  switch (dtype) {
    case DType::u8:
      return m_.same(Code::bit_and, {x, m_.u32(0xff)});
    case DType::u16:
      return m_.same(Code::bit_and, {x, m_.u32(0xffff)});
    case DType::i8:
      return m_.same(Code::bit_field_s_extract, {x, m_.u32(0), m_.u32(8)});
    case DType::i16:
      return m_.same(Code::bit_field_s_extract, {x, m_.u32(0), m_.u32(16)});
    case DType::f16:
      return decode_half(encode_half(x));
    case DType::bf16:
      return from_bits(dtype, encode_bfloat(x));
    default:
      return x;
  }
}

Id Numeric::apply(Op op, DType from, DType to, const std::array<Id, 3>& args) {
  const auto [a, b, c] = args;
  switch (op) {
    case Op::select:
      return m_.select(a, b, c);
    case Op::cast:
      return from == to ? a : cast(from, to, a);
    case Op::bitcast:
      return from_bits(to, to_bits(from, a));
    case Op::splat:
      return a;
    default:
      break;
  }
  if (ir::traits_of(op).rule == ir::TypeRule::compare) {
    return compare(op, from, a, b);
  }
  if (from == DType::boolean) {
    return truth(op, a, b);
  }
  return is_floating(from) ? floating(op, from, args) : integer(op, from, a, b);
}

// ---- integers ----

Id Numeric::integer(Op op, DType dtype, Id a, Id b) {
  const bool has_sign = is_signed(dtype);
  switch (op) {
    case Op::neg:
      return narrow(dtype, m_.same(Code::s_negate, {a}));
    case Op::abs:
      return has_sign ? narrow(dtype, m_.select(m_.test(Code::s_less_than, {a, constant(dtype, 0)}),
                                                m_.same(Code::s_negate, {a}), a))
                      : a;
    case Op::add:
      return narrow(dtype, m_.same(Code::i_add, {a, b}));
    case Op::sub:
      return narrow(dtype, m_.same(Code::i_sub, {a, b}));
    case Op::mul:
      return narrow(dtype, m_.same(Code::i_mul, {a, b}));
    case Op::div:
      return narrow(dtype, quotient(dtype, a, b));
    case Op::rem:
      return remainder(dtype, a, b);
    case Op::min:
      return m_.select(compare(Op::lt, dtype, a, b), a, b);
    case Op::max:
      return m_.select(compare(Op::gt, dtype, a, b), a, b);
    case Op::bit_and:
      return m_.same(Code::bit_and, {a, b});
    case Op::bit_or:
      return m_.same(Code::bit_or, {a, b});
    case Op::bit_xor:
      return m_.same(Code::bit_xor, {a, b});
    case Op::bit_not:
      return narrow(dtype, m_.same(Code::bit_not, {a}));
    case Op::shift_left:
      return narrow(dtype, shift_left(a, b));
    case Op::shift_right:
      return shift_right(dtype, a, b);
    case Op::mul_high:
      return high_product(dtype, a, b);
    default:
      refuse("not an instruction on integers");
  }
}

/// Division by zero, and of the least integer by -1, is undefined in SPIR-V: the divisor is
/// replaced first.
Id Numeric::quotient(DType dtype, Id a, Id b) {
  const Code code = is_signed(dtype) ? Code::s_div : Code::u_div;
  const auto fixed = m_.known(b);
  if (fixed && *fixed != 0 && (!is_signed(dtype) || b != constant(dtype, ~0ull))) {
    return m_.same(code, {a, b});
  }
  const Id zero = constant(dtype, 0);
  const Id one = constant(dtype, 1);
  const Id by_zero = m_.test(Code::i_equal, {b, zero});
  if (!is_signed(dtype)) {
    return m_.select(by_zero, zero, m_.same(code, {a, m_.select(by_zero, one, b)}));
  }
  const Id by_minus_one = m_.test(Code::i_equal, {b, constant(dtype, ~0ull)});
  const Id odd = m_.test(Code::logical_or, {by_zero, by_minus_one});
  const Id plain = m_.same(code, {a, m_.select(odd, one, b)});
  const Id negated = m_.select(by_minus_one, m_.same(Code::s_negate, {a}), plain);
  return m_.select(by_zero, zero, negated);
}

/// SPIR-V's own remainder is undefined in Vulkan when an operand is negative.
Id Numeric::remainder(DType dtype, Id a, Id b) {
  const Id rest = m_.same(Code::i_sub, {a, m_.same(Code::i_mul, {quotient(dtype, a, b), b})});
  const auto fixed = m_.known(b);
  if (fixed && *fixed != 0) {
    return rest;
  }
  const Id zero = constant(dtype, 0);
  return m_.select(m_.test(Code::i_equal, {b, zero}), zero, rest);
}

Id Numeric::shift_left(Id a, Id b) {
  const std::uint32_t width = m_.width(m_.type_of(a));
  if (const auto fixed = m_.known(b); fixed && *fixed < width) {
    return m_.same(Code::shift_left, {a, b});
  }
  const Id type = m_.type_of(a);
  const Id inside = m_.test(Code::u_less_than, {b, m_.constant(type, width)});
  const Id amount = m_.same(Code::bit_and, {b, m_.constant(type, width - 1)});
  return m_.select(inside, m_.same(Code::shift_left, {a, amount}), m_.constant(type, 0));
}

Id Numeric::shift_right(DType dtype, Id a, Id b) {
  const Id type = m_.type_of(a);
  const std::uint32_t width = m_.width(type);
  const Code code = is_signed(dtype) ? Code::shift_right_arithmetic : Code::shift_right_logical;
  if (const auto fixed = m_.known(b); fixed && *fixed < width) {
    return m_.same(code, {a, b});
  }
  const Id inside = m_.test(Code::u_less_than, {b, m_.constant(type, width)});
  if (is_signed(dtype)) {
    return m_.same(code, {a, m_.select(inside, b, m_.constant(type, width - 1))});
  }
  const Id amount = m_.same(Code::bit_and, {b, m_.constant(type, width - 1)});
  return m_.select(inside, m_.same(code, {a, amount}), m_.constant(type, 0));
}

Id Numeric::high_product(DType dtype, Id a, Id b) {
  if (is_wide(dtype)) {
    return high_product_64(is_signed(dtype), a, b);
  }
  if (size_of(dtype) == 4) {
    const Code code = is_signed(dtype) ? Code::s_mul_extended : Code::u_mul_extended;
    const Id both = m_.value(code, m_.pair(m_.integer(32)), {a, b});
    return m_.value(Code::composite_extract, m_.integer(32), {both, 1});
  }
  const Id width = m_.u32(8 * static_cast<std::uint32_t>(size_of(dtype)));
  return shift_right(dtype, m_.same(Code::i_mul, {a, b}), width);
}

/// By the schoolbook, in halves of 32 bits.
Id Numeric::high_product_64(bool has_sign, Id a, Id b) {
  const Id type = m_.integer(64);
  const Id half = m_.constant(type, 32);
  const Id mask = m_.constant(type, 0xffffffff);
  const auto low = [&](Id x) { return m_.same(Code::bit_and, {x, mask}); };
  const auto high = [&](Id x) { return m_.same(Code::shift_right_logical, {x, half}); };
  const auto sum = [&](Id x, Id y) { return m_.same(Code::i_add, {x, y}); };
  const auto product = [&](Id x, Id y) { return m_.same(Code::i_mul, {x, y}); };
  const Id middle = sum(product(high(a), low(b)), high(product(low(a), low(b))));
  const Id other = sum(product(low(a), high(b)), low(middle));
  Id result = sum(product(high(a), high(b)), sum(high(middle), high(other)));
  if (has_sign) {
    const Id zero = m_.constant(type, 0);
    const auto take = [&](Id sign, Id x) {
      const Id negative = m_.test(Code::s_less_than, {sign, zero});
      result = m_.same(Code::i_sub, {result, m_.select(negative, x, zero)});
    };
    take(a, b);
    take(b, a);
  }
  return result;
}

// ---- floats ----

Id Numeric::floating(Op op, DType dtype, const std::array<Id, 3>& args) {
  const auto [a, b, c] = args;
  if (const auto code = rounded(op)) {
    return narrow(dtype, m_.exact(*code, {a, b}));
  }
  switch (op) {
    case Op::neg:
      return m_.same(Code::f_negate, {a});
    case Op::abs:
      return m_.glsl(Glsl::f_abs, {a});
    case Op::rem:
      return float_remainder(a, b);
    case Op::min:
    case Op::max: {
      const Id first = m_.test(op == Op::min ? Code::f_less_than : Code::f_greater_than, {a, b});
      return m_.select(m_.test(Code::logical_or, {is_nan(a), first}), a, b);
    }
    case Op::fma:
      return narrow(dtype, fused(a, b, c));
    case Op::round:
      return m_.glsl(Glsl::round_even, {a});
    case Op::copysign: {
      const Id held = m_.type_of(a);
      const Id bits = m_.integer(m_.width(held));
      const Id sign = m_.constant(bits, std::uint64_t{1} << (m_.width(held) - 1));
      const Id magnitude =
          m_.same(Code::bit_and, {m_.bitcast(bits, a), m_.same(Code::bit_not, {sign})});
      const Id other = m_.same(Code::bit_and, {m_.bitcast(bits, b), sign});
      return m_.bitcast(held, m_.same(Code::bit_or, {magnitude, other}));
    }
    default:
      return elementary(op, dtype, a, b);
  }
}

Id Numeric::elementary(Op op, DType dtype, Id a, Id b) {
  if (op == Op::rsqrt) {
    const Id one = bound_of(m_.type_of(a), 1);
    return narrow(dtype, m_.exact(Code::f_div, {one, m_.glsl(Glsl::sqrt, {a})}));
  }
  const Glsl function = glsl_of<Glsl>(op);
  if (function == Glsl::none) {
    refuse("Vulkan has no such function; lower it to arithmetic before");
  }
  if (function == Glsl::floor || function == Glsl::ceil || function == Glsl::trunc) {
    return m_.glsl(function, {a});
  }
  if (dtype == DType::f64 && function != Glsl::sqrt) {
    refuse("Vulkan has it for f32 only; lower it to arithmetic before, or cast");
  }
  const bool two = ir::traits_of(op).arguments == 2;
  return narrow(dtype, two ? m_.glsl(function, {a, b}) : m_.glsl(function, {a}));
}

// ---- truth ----

Id Numeric::truth(Op op, Id a, Id b) {
  switch (op) {
    case Op::bit_and:
      return m_.same(Code::logical_and, {a, b});
    case Op::bit_or:
      return m_.same(Code::logical_or, {a, b});
    case Op::bit_xor:
      return m_.same(Code::logical_not_equal, {a, b});
    case Op::bit_not:
      return m_.same(Code::logical_not, {a});
    default:
      refuse("not an instruction on truth values");
  }
}

Id Numeric::compare(Op op, DType dtype, Id a, Id b) {
  const bool real = is_floating(dtype);
  const bool has_sign = is_signed(dtype);
  const auto pick = [&](Code floats, Code with_sign, Code without) {
    return m_.test(real ? floats : has_sign ? with_sign : without, {a, b});
  };
  if (dtype == DType::boolean) {
    return m_.test(op == Op::eq ? Code::logical_equal : Code::logical_not_equal, {a, b});
  }
  switch (op) {
    case Op::eq:
      return pick(Code::f_equal, Code::i_equal, Code::i_equal);
    case Op::ne:
      return pick(Code::f_not_equal, Code::i_not_equal, Code::i_not_equal);
    case Op::lt:
      return pick(Code::f_less_than, Code::s_less_than, Code::u_less_than);
    case Op::le:
      return pick(Code::f_less_equal, Code::s_less_equal, Code::u_less_equal);
    case Op::gt:
      return pick(Code::f_greater_than, Code::s_greater_than, Code::u_greater_than);
    default:
      return pick(Code::f_greater_equal, Code::s_greater_equal, Code::u_greater_equal);
  }
}

}  // namespace sinter::spirv
