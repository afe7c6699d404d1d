// SPDX-License-Identifier: MIT OR Apache-2.0
// What an elementwise op struct is made of. Freestanding kernels include the structs through this
// header, so it brings in nothing that could emit code.
#pragma once

#include <cstdint>

#include "sinter/graph/saves.hpp"
#include "sinter/ops/carrier.hpp"

namespace sinter {

struct OpCall;
struct TensorSpec;
class GradCall;
class SampleSink;
template <class T, int N>
class SmallVector;
using Specs = SmallVector<TensorSpec, 2>;

/// Which dtypes an op takes. `numeric` is floats and integers; f8 types must be cast before
/// computing.
enum class Domain : std::uint8_t { floating, numeric, integer, boolean_or_integer, any };

/// What an elementwise gradient formula reads besides the output's gradient.
enum class Reads : std::uint8_t {
  none = 0,
  a = 1,
  b = 2,
  c = 4,
  y = 8,
  ab = 3,
  abc = 7,
  ay = 9,
  by = 10,
  aby = 11
};

/// The facts of an op; every op struct has one as `static constexpr OpInfo info`.
struct OpInfo {
  const char* name;
  Domain domain = Domain::numeric;
  Reads reads = Reads::none;            ///< elementwise: what `backward` reads
  Saves saves{};                        ///< others: what `backward` reads
  std::uint64_t untracked_outputs = 0;  ///< bit mask: outputs that only serve the gradient
  bool cheap = true;                    ///< recomputing costs little more than reading the result
  double low = -3;                      ///< sample inputs are drawn from [low, high)
  double high = 3;
  double tolerance = 2e-6;  ///< relative error allowed in f32
};

// Families of elementwise ops: derive the op struct from one of them and write
//   template <class T> static T forward(T a[, T b[, T c]])        (a member when it reads
//   attributes) template <class T> static T backward(T a, T y, T g)           unary: gradient of
//   `a` template <class T> static T grad_a(T a, T b, T y, T g)        binary: gradient of `a`;
//   grad_b too
// `inline_gradient` ops have gradients too simple for a kernel of their own: they run as ops on
// values.
struct Unary {
  static constexpr int arity = 1;
};
struct Binary {
  static constexpr int arity = 2;
};
struct Ternary {
  static constexpr int arity = 3;
};
/// Binary ops that give bool: forward returns MaskOf<T>.
struct Compare : Binary {};
/// Unary ops that give bool.
struct Test : Unary {};

namespace detail {

template <class O>
inline constexpr bool gives_bool = __is_base_of(Compare, O) || __is_base_of(Test, O);
template <class O>
constexpr bool takes_floats = O::info.domain == Domain::floating ||
                              O::info.domain == Domain::numeric || O::info.domain == Domain::any;
template <class O>
constexpr bool takes_integers = O::info.domain != Domain::floating;

/// The op of a call; an op without attributes needs none to be there.
template <class O>
SINTER_INLINE O op_from(const void* attributes) {
  if constexpr (__is_empty(O)) {
    return O{};
  } else {
    return *static_cast<const O*>(attributes);
  }
}

/// The formula on `T`, for each side: -1 the value, else the gradient of input `side`.
template <class O, int side, class T>
SINTER_INLINE auto formula(const O& op, const T* x) {
  if constexpr (side < 0) {
    if constexpr (O::arity == 1) {
      return op.forward(x[0]);
    } else if constexpr (O::arity == 2) {
      return op.forward(x[0], x[1]);
    } else {
      return op.forward(x[0], x[1], x[2]);
    }
  } else if constexpr (O::arity == 1) {
    return op.backward(x[0], x[1], x[2]);
  } else if constexpr (side == 0) {
    return op.grad_a(x[0], x[1], x[2], x[3]);
  } else {
    return op.grad_b(x[0], x[1], x[2], x[3]);
  }
}
template <class O, int side>
inline constexpr int formula_arity = side < 0 ? O::arity : O::arity + 2;

/// `O` has a gradient formula for input `side` that is worth a kernel.
template <class O, int side>
constexpr bool has_gradient_row() {
  if constexpr (requires { O::inline_gradient; }) {
    return false;
  } else if constexpr (O::arity == 1) {
    return side == 0 && requires(O op, double x) { op.backward(x, x, x); };
  } else {
    return O::arity == 2 && side < 2 && requires(O op, double x) { op.grad_a(x, x, x, x); };
  }
}

}  // namespace detail
}  // namespace sinter
