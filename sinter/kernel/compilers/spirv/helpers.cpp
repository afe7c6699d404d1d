// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions of the module: what takes more than a few instructions.
#include <bit>

#include "sinter/kernel/compilers/spirv/detail/numeric.hpp"

namespace sinter::spirv {

using Args = std::span<const Id>;

// ---- narrow floats: the formulas of sinter/base/half.hpp ----

/// f32 to the bits of the nearest f16, ties to even.
Id Numeric::encode_half(Id x) {
  const Id u = m_.integer(32);
  return m_.call("encode_f16", u, {x}, [&](Args args) {
    const auto add = [&](Id a, std::uint32_t b) { return m_.same(Code::i_add, {a, m_.u32(b)}); };
    const auto shift = [&](Id a, std::uint32_t b) {
      return m_.same(Code::shift_right_logical, {a, m_.u32(b)});
    };
    const auto mask = [&](Id a, std::uint32_t b) { return m_.same(Code::bit_and, {a, m_.u32(b)}); };
    const Id whole = m_.bitcast(u, args[0]);
    const Id magnitude = mask(whole, 0x7fffffff);
    const Id sign = mask(shift(whole, 16), 0x8000);
    const Id even = mask(shift(magnitude, 13), 1);
    const Id rounded = shift(m_.same(Code::i_add, {add(magnitude, 0xfff), even}), 13);
    const Id normal = add(rounded, 0u - (112u << 10));
    // The unit in the last place of 0.5 is the least f16, so the addition rounds.
    const Id half = m_.constant(m_.real(32), 0x3f000000);
    const Id sum = m_.exact(Code::f_add, {m_.bitcast(m_.real(32), magnitude), half});
    const Id low = add(m_.bitcast(u, sum), 0u - 0x3f000000u);
    const auto below = [&](Id a, std::uint32_t b) {
      return m_.test(Code::u_less_than, {a, m_.u32(b)});
    };
    Id code = m_.select(below(rounded, (112u << 10) + 0x7c00), normal, m_.u32(0x7c00));
    code = m_.select(below(magnitude, 113u << 23), low, code);
    code = m_.select(below(magnitude, 0x7f800001), code, m_.u32(0x7e00));
    return m_.same(Code::bit_or, {code, sign});
  });
}

/// The f32 that equals an f16.
Id Numeric::decode_half(Id bits) {
  const Id f = m_.real(32);
  return m_.call("decode_f16", f, {bits}, [&](Args args) {
    const Id u = m_.integer(32);
    const auto mask = [&](std::uint32_t b) { return m_.same(Code::bit_and, {args[0], m_.u32(b)}); };
    const auto left = [&](Id a, std::uint32_t b) {
      return m_.same(Code::shift_left, {a, m_.u32(b)});
    };
    const auto add = [&](Id a, std::uint32_t b) { return m_.same(Code::i_add, {a, m_.u32(b)}); };
    const auto below = [&](Id a, std::uint32_t b) {
      return m_.test(Code::u_less_than, {a, m_.u32(b)});
    };
    const Id magnitude = mask(0x7fff);
    const Id wide = left(magnitude, 13);
    // A subnormal counts units of 2^-24.
    const Id units = m_.value(Code::convert_u_to_f, f, {magnitude});
    const Id small = m_.exact(Code::f_mul, {units, m_.constant(f, 0x33800000)});
    const Id normal =
        m_.select(below(magnitude, 0x7c00), add(wide, 112u << 23), add(wide, 224u << 23));
    const Id code = m_.select(below(magnitude, 0x400), m_.bitcast(u, small), normal);
    return m_.bitcast(f, m_.same(Code::bit_or, {code, left(mask(0x8000), 16)}));
  });
}

/// f32 to the bits of the nearest bf16, ties to even.
Id Numeric::encode_bfloat(Id x) {
  const Id u = m_.integer(32);
  return m_.call("encode_bf16", u, {x}, [&](Args args) {
    const auto shift = [&](Id a) { return m_.same(Code::shift_right_logical, {a, m_.u32(16)}); };
    const auto mask = [&](Id a, std::uint32_t b) { return m_.same(Code::bit_and, {a, m_.u32(b)}); };
    const Id whole = m_.bitcast(u, args[0]);
    const Id magnitude = mask(whole, 0x7fffffff);
    const Id even = mask(shift(magnitude), 1);
    const Id half = m_.same(Code::i_add, {even, m_.u32(0x7fff)});
    const Id rounded = shift(m_.same(Code::i_add, {magnitude, half}));
    const Id number = m_.test(Code::u_less_equal, {magnitude, m_.u32(0x7f800000)});
    const Id sign = mask(shift(whole), 0x8000);
    return m_.same(Code::bit_or, {m_.select(number, rounded, m_.u32(0x7fc0)), sign});
  });
}

/// f64 to f32, rounded toward zero with the last bit set where that is inexact.
Id Numeric::to_odd_f32(Id x) {
  const Id f = m_.real(32);
  return m_.call("to_odd_f32", f, {x}, [&](Args args) {
    const Id u = m_.integer(32);
    const Id near = m_.value(Code::f_convert, f, {args[0]});
    const Id back = m_.value(Code::f_convert, m_.real(64), {near});
    const Id bits = m_.bitcast(u, near);
    const Id beyond = m_.test(Code::f_greater_than,
                              {m_.glsl(Glsl::f_abs, {back}), m_.glsl(Glsl::f_abs, {args[0]})});
    const Id inner = m_.select(beyond, m_.same(Code::i_sub, {bits, m_.u32(1)}), bits);
    const Id inexact = m_.test(Code::f_ord_not_equal, {back, args[0]});
    const Id odd = m_.same(Code::bit_or, {inner, m_.u32(1)});
    return m_.bitcast(f, m_.select(inexact, odd, bits));
  });
}

// ---- fused multiply-add ----

Id Numeric::fused(Id a, Id b, Id c) {
  const bool wide = m_.width(m_.type_of(a)) == 64;
  const bool exact = wide ? features_.exact_f64_fma : features_.exact_fma;
  if (exact || !features_.f64 || !features_.i64) {
    return m_.glsl(Glsl::fma, {a, b, c});
  }
  return wide ? fused_f64(a, b, c) : fused_by_f64(a, b, c);
}

/// `sum` with its last bit set if it is inexact, from the side where the exact value is: rounding
/// that to fewer bits equals rounding the exact value (Boldo and Melquiond 2008).
Id Numeric::round_to_odd(Id sum, Id error) {
  const Id u = m_.integer(64);
  const Id zero = bound_of(m_.real(64), 0);
  const Id bits = m_.bitcast(u, sum);
  const Id one = m_.constant(u, 1);
  const Id even = m_.test(Code::i_equal, {m_.same(Code::bit_and, {bits, one}), m_.constant(u, 0)});
  const Id inexact = m_.test(Code::f_ord_not_equal, {error, zero});
  const Id outward = m_.test(Code::logical_equal, {m_.test(Code::f_greater_than, {error, zero}),
                                                   m_.test(Code::f_greater_than, {sum, zero})});
  const Id moved =
      m_.select(outward, m_.same(Code::i_add, {bits, one}), m_.same(Code::i_sub, {bits, one}));
  return m_.bitcast(m_.real(64),
                    m_.select(m_.test(Code::logical_and, {even, inexact}), moved, bits));
}

namespace {

/// The rounded sum, and what was rounded away (Knuth).
std::pair<Id, Id> two_sum(Module& m, Id a, Id b) {
  const auto sub = [&](Id x, Id y) { return m.exact(Code::f_sub, {x, y}); };
  const Id sum = m.exact(Code::f_add, {a, b});
  const Id part = sub(sum, a);
  return {sum, m.exact(Code::f_add, {sub(a, sub(sum, part)), sub(b, part)})};
}

/// The rounded product, and what was rounded away (Dekker, Veltkamp).
std::pair<Id, Id> two_product(Module& m, Id a, Id b) {
  const Id splitter = m.constant(m.real(64), std::bit_cast<std::uint64_t>(134217729.0));
  const auto mul = [&](Id x, Id y) { return m.exact(Code::f_mul, {x, y}); };
  const auto sub = [&](Id x, Id y) { return m.exact(Code::f_sub, {x, y}); };
  const auto number = [&](double x) {
    return m.constant(m.real(64), std::bit_cast<std::uint64_t>(x));
  };
  const auto split = [&](Id x) {
    // Scaled where the product with the splitter could leave the range.
    const Id is_large = m.test(Code::f_greater_than, {m.glsl(Glsl::f_abs, {x}), number(0x1p900)});
    const Id scaled = mul(x, m.select(is_large, number(0x1p-100), number(1)));
    const Id wide = mul(splitter, scaled);
    const Id high =
        mul(sub(wide, sub(wide, scaled)), m.select(is_large, number(0x1p100), number(1)));
    return std::pair(high, sub(x, high));
  };
  const Id product = mul(a, b);
  const auto [ah, al] = split(a);
  const auto [bh, bl] = split(b);
  const Id rest = sub(sub(sub(product, mul(ah, bh)), mul(al, bh)), mul(ah, bl));
  return {product, sub(mul(al, bl), rest)};
}

}  // namespace

/// The product of two f32 is exact in f64; the sum is rounded to odd there, then once to f32.
Id Numeric::fused_by_f64(Id a, Id b, Id c) {
  const Id f = m_.real(32);
  return m_.call("fma_f32", f, {a, b, c}, [&](Args args) {
    const auto wide = [&](Id x) { return m_.value(Code::f_convert, m_.real(64), {x}); };
    const Id product = m_.exact(Code::f_mul, {wide(args[0]), wide(args[1])});
    const auto [sum, error] = two_sum(m_, product, wide(args[2]));
    return m_.value(Code::f_convert, f, {round_to_odd(sum, error)});
  });
}

/// Boldo and Melquiond, "Emulation of FMA and correctly rounded sums" (2008), scaled down where the
/// product or the sum is large. A result below 2^-900 may be rounded twice.
Id Numeric::fused_f64(Id a, Id b, Id c) {
  return m_.call("fma_f64", m_.real(64), {a, b, c}, [&](Args args) {
    const auto number = [&](double x) { return bound_of(m_.real(64), x); };
    const auto mul = [&](Id x, Id y) { return m_.exact(Code::f_mul, {x, y}); };
    const auto is_large = [&](Id x) {
      return m_.test(Code::f_greater_than, {m_.glsl(Glsl::f_abs, {x}), number(0x1p900)});
    };
    const Id product = mul(args[0], args[1]);
    const Id large = m_.test(Code::logical_or, {is_large(product), is_large(args[2])});
    const Id down = m_.select(large, number(0x1p-200), number(1));
    const auto [high, low] = two_product(m_, mul(args[0], down), args[1]);
    const auto [sum, rest] = two_sum(m_, mul(args[2], down), low);
    const auto [head, tail] = two_sum(m_, high, sum);
    const auto [small, error] = two_sum(m_, rest, tail);
    const Id scaled = m_.exact(Code::f_add, {head, round_to_odd(small, error)});
    const Id result = mul(scaled, m_.select(large, number(0x1p200), number(1)));
    // Infinities and NaN among the arguments.
    const Id plain = m_.exact(Code::f_add, {product, args[2]});
    const Id finite = m_.test(Code::f_equal, {m_.exact(Code::f_sub, {scaled, scaled}), number(0)});
    return m_.select(finite, result, plain);
  });
}

}  // namespace sinter::spirv
