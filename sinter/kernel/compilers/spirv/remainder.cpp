// SPDX-License-Identifier: MIT OR Apache-2.0
// The remainder of floats, exact: long division of the significands, a bit at a time.
#include "sinter/kernel/compilers/spirv/detail/numeric.hpp"

namespace sinter::spirv {

namespace {

/// Emits the function's body for floats of one width.
class Remainder {
 public:
  Remainder(Module& module, std::uint32_t width)
      : m_(module),
        width_(width),
        fraction_(width == 64 ? 52 : 23),
        bits_(module.integer(width)),
        zero_(number(0)),
        one_(number(1)),
        implicit_(number(std::uint64_t{1} << fraction_)),
        infinity_(number(((std::uint64_t{1} << (width - 1 - fraction_)) - 1) << fraction_)),
        sign_(number(std::uint64_t{1} << (width - 1))) {}

  Id run(Id a, Id b) {
    const Id magnitude = m_.same(Code::bit_not, {sign_});
    const Id whole = m_.bitcast(bits_, a);
    const Id x = m_.same(Code::bit_and, {whole, magnitude});
    const Id y = m_.same(Code::bit_and, {m_.bitcast(bits_, b), magnitude});
    const Parts divisor = apart(y);
    const Id rest = divide(apart(x), divisor);
    Id bits = m_.select(equal(rest, zero_), zero_, together(rest, divisor.exponent));
    bits = m_.select(below(x, y), x, bits);
    const Id outside = either(m_.test(Code::u_greater_equal, {x, infinity_}),
                              m_.test(Code::u_greater_than, {y, infinity_}));
    const Id nan = m_.same(Code::bit_or, {infinity_, number(std::uint64_t{1} << (fraction_ - 1))});
    bits = m_.select(either(equal(y, zero_), outside), nan, bits);
    const Id sign = m_.same(Code::bit_and, {whole, sign_});
    return m_.bitcast(m_.type_of(a), m_.same(Code::bit_or, {bits, sign}));
  }

 private:
  /// A number's significand with its highest bit at `fraction_`, also of a subnormal and of 0.
  struct Parts {
    Id significand;
    Id exponent;  ///< biased, a signed integer of 32 bits
  };

  Id number(std::uint64_t bits) { return m_.constant(bits_, bits); }
  Id equal(Id a, Id b) { return m_.test(Code::i_equal, {a, b}); }
  Id below(Id a, Id b) { return m_.test(Code::u_less_than, {a, b}); }
  Id either(Id a, Id b) { return m_.test(Code::logical_or, {a, b}); }
  Id minus(Id a, Id b) { return m_.same(Code::i_sub, {a, b}); }
  Id left(Id a, Id places) { return m_.same(Code::shift_left, {a, places}); }
  Id right(Id a, Id places) { return m_.same(Code::shift_right_logical, {a, places}); }
  Id or_one(Id x) { return m_.select(equal(x, zero_), one_, x); }
  Id is_positive(Id x) { return m_.test(Code::s_greater_than, {x, m_.u32(0)}); }

  /// The place of the highest bit of a number that isn't 0.
  Id highest_bit(Id x) {
    if (width_ == 32) {
      return m_.glsl(Glsl::find_u_msb, {x});
    }
    const Id u = m_.integer(32);
    const Id low = m_.value(Code::u_convert, u, {x});
    const Id high = m_.value(Code::u_convert, u, {right(x, m_.u32(32))});
    const Id upper = m_.same(Code::i_add, {m_.glsl(Glsl::find_u_msb, {high}), m_.u32(32)});
    return m_.select(equal(high, m_.u32(0)), m_.glsl(Glsl::find_u_msb, {low}), upper);
  }

  Parts apart(Id v) {
    const Id top = right(v, number(fraction_));
    const Id exponent = width_ == 64 ? m_.value(Code::u_convert, m_.integer(32), {top}) : top;
    const Id bits = m_.same(Code::bit_and, {v, minus(implicit_, one_)});
    const Id some = or_one(bits);
    const Id up = minus(m_.u32(fraction_), highest_bit(some));
    const Id is_small = equal(exponent, m_.u32(0));
    const Id normal = m_.same(Code::bit_or, {bits, implicit_});
    return {m_.select(is_small, left(some, up), normal),
            m_.select(is_small, minus(m_.u32(1), up), exponent)};
  }

  Id reduced(Id rest, Id divisor) {
    return m_.select(below(rest, divisor), rest, minus(rest, divisor));
  }

  /// What is left of x, in units of the divisor's last place.
  Id divide(Parts x, Parts y) {
    const Id distance = minus(x.exponent, y.exponent);
    const Id before = m_.block();
    const Id header = m_.label(), test = m_.label(), body = m_.label(), next = m_.label(),
             end = m_.label();
    m_.branch(header);
    m_.begin(header);
    const Module::Phi rest = m_.phi(bits_, x.significand, before);
    const Module::Phi steps = m_.phi(m_.integer(32), distance, before);
    m_.effect(Code::loop_merge, {end, next, 0});
    m_.branch(test);
    m_.begin(test);
    m_.branch(is_positive(steps.id), body, end);
    m_.begin(body);
    const Id doubled = left(reduced(rest.id, y.significand), one_);
    const Id fewer = minus(steps.id, m_.u32(1));
    m_.branch(next);
    m_.begin(next);
    m_.complete(rest, doubled, next);
    m_.complete(steps, fewer, next);
    m_.branch(header);
    m_.begin(end);
    return reduced(rest.id, y.significand);
  }

  /// The bits of `rest` times the unit that a significand with `exponent` has.
  Id together(Id rest, Id exponent) {
    const Id some = or_one(rest);
    const Id up = minus(m_.u32(fraction_), highest_bit(some));
    const Id moved = minus(exponent, up);
    const Id wide = width_ == 64 ? m_.value(Code::s_convert, bits_, {moved}) : moved;
    const Id normal =
        m_.same(Code::i_add, {minus(left(some, up), implicit_), left(wide, number(fraction_))});
    // A subnormal result counts units of exponent 1.
    const Id above = is_positive(exponent);
    const Id is_normal = is_positive(moved);
    const Id raised = m_.select(above, minus(exponent, m_.u32(1)), m_.u32(0));
    const Id lowered = m_.select(above, m_.u32(0), minus(m_.u32(1), exponent));
    const Id small = right(left(some, m_.select(is_normal, m_.u32(0), raised)), lowered);
    return m_.select(is_normal, normal, small);
  }

  Module& m_;
  std::uint32_t width_, fraction_;
  Id bits_, zero_, one_, implicit_, infinity_, sign_;
};

}  // namespace

Id Numeric::float_remainder(Id a, Id b) {
  const Id real = m_.type_of(a);
  const std::uint32_t width = m_.width(real);
  if (width == 64 && !features_.i64) {
    refuse("needs 64-bit integers for f64, which the device lacks; use f32");
  }
  return m_.call(width == 64 ? "rem_f64" : "rem_f32", real, {a, b}, [&](std::span<const Id> args) {
    return Remainder(m_, width).run(args[0], args[1]);
  });
}

}  // namespace sinter::spirv
