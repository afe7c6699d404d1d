// SPDX-License-Identifier: MIT OR Apache-2.0
// From an op struct to its OpDef row.
#pragma once

#include "sinter/ops/op.hpp"
#include "sinter/ops/opcode.hpp"

namespace sinter::detail {

template <class O>
concept Elementwise =
    std::derived_from<O, Unary> || std::derived_from<O, Binary> || std::derived_from<O, Ternary>;
template <class O>
concept Reduction = std::derived_from<O, ReduceDims> && requires { O::template init<double>(); };
template <class O, int side, class T>
void scalar_block(const void* attributes, const void* const* inputs, void* output, std::int64_t n) {
  const O op = op_from<O>(attributes);
  constexpr int arity = formula_arity<O, side>;
  using R = std::conditional_t<gives_bool<O> && (side < 0), bool, T>;
  for (std::int64_t i = 0; i < n; ++i) {
    T x[arity];
    for (int k = 0; k < arity; ++k) {
      x[k] = static_cast<const T*>(inputs[k])[i];
    }
    static_cast<R*>(output)[i] = static_cast<R>(formula<O, side>(op, x));
  }
}

template <class O, int side>
constexpr ElementwiseRow make_elementwise_row() {
  ElementwiseRow row;
  row.arity = formula_arity<O, side>;
  row.bool_result = side < 0 && gives_bool<O>;
  if constexpr (takes_floats<O>) {
    row.f64 = scalar_block<O, side, double>;
  }
  if constexpr (takes_integers<O> && side < 0) {
    row.i64 = scalar_block<O, side, std::int64_t>;
    row.u64 = scalar_block<O, side, std::uint64_t>;
  }
  return row;
}
template <class O, int side>
inline constexpr ElementwiseRow elementwise_row = make_elementwise_row<O, side>();

template <class O, class T>
constexpr ReduceFormula<T> reduce_formula() {
  ReduceFormula<T> f{O::template init<T>, O::template combine<T>, nullptr};
  if constexpr (requires { O::template finish<T>; }) {
    f.finish = O::template finish<T>;
  }
  return f;
}
template <class O>
inline constexpr ReduceRow reduce_row = {reduce_formula<O, double>(),
                                         reduce_formula<O, std::int64_t>(),
                                         reduce_formula<O, std::uint64_t>()};

void infer_elementwise(const OpCall& call, Specs& outputs, const OpInfo& info, bool bool_result);
void infer_gradient(const OpCall& call, Specs& outputs);
void infer_reduce(const OpCall& call, Specs& outputs, const OpInfo& info, const ReduceDims& dims);
void sample_elementwise(SampleSink& sink, const OpInfo& info, int arity, const void* attributes);
void sample_reduce(SampleSink& sink, const OpInfo& info,
                   void (*add)(SampleSink&, const Dims&, bool, const Shape&));
/// Places that a gradient row does not read are filled with the gradient itself, which costs
/// nothing.
Value run_gradient_row(const OpDef& row, GradCall& call, Reads reads, int arity);

template <class O, int side>
const OpDef& gradient_row();

template <class O>
constexpr bool has_gradient() {
  if constexpr (!Elementwise<O>) {
    return requires(GradCall& call) { O::backward(call); };
  } else if constexpr (O::arity == 1) {
    return requires(O op, double x) { op.backward(x, x, x); };
  } else {
    return requires(O op, double x) { op.grad_a(x, x, x, x); } ||
           requires(GradCall& call) { O::backward(call); };
  }
}

/// The gradient of input `side` as ops on values: for gradients of gradients, and for trivial ones.
template <class O, int side>
Value gradient_by_ops(const O& op, std::span<const Value> inputs) {
  constexpr int arity = formula_arity<O, side>;
  ValueExpr x[arity];
  for (int k = 0; k < arity; ++k) {
    x[k] = ValueExpr(inputs[static_cast<std::size_t>(k)]);
  }
  const ValueExpr result = formula<O, side>(op, x);
  const Value& like = inputs[arity - 1];
  return result.value ? result.value : like.backend().scalar(result.constant, like.dtype());
}

template <class O, int side>
void backward_side(GradCall& call) {
  if (!call.needs(side)) {
    return;
  }
  if constexpr (requires { O::inline_gradient; }) {
    Value x[O::arity + 2];
    for (int k = 0; k < O::arity; ++k) {
      x[k] = call.input(k);
    }
    x[O::arity] = call.output();
    x[O::arity + 1] = call.grad();
    call.set(side, gradient_by_ops<O, side>(op_from<O>(call.call().attributes), {x, O::arity + 2}));
  } else {
    call.set(side, run_gradient_row(gradient_row<O, side>(), call, O::info.reads, O::arity));
  }
}

template <class O>
void elementwise_backward(GradCall& call) {
  if constexpr (requires { O::backward(call); }) {
    O::backward(call);
  } else {
    backward_side<O, 0>(call);
    if constexpr (O::arity == 2) {
      backward_side<O, 1>(call);
    }
  }
}

constexpr Saves saves_of(Reads reads) {
  const auto bits = static_cast<unsigned>(reads);
  return {.inputs = bits & 7u, .outputs = bits >> 3 & 1u};
}

template <class O>
void fill_elementwise(OpDef& def) {
  def.family = Family::elementwise;
  def.elementwise = &elementwise_row<O, -1>;
  def.saves = saves_of(O::info.reads);
  def.infer = [](const OpCall& call, Specs& outputs) {
    infer_elementwise(call, outputs, O::info, gives_bool<O>);
  };
  def.samples = [](SampleSink& sink) {
    const O op{};
    sample_elementwise(sink, O::info, O::arity, &op);
  };
  if constexpr (has_gradient<O>()) {
    def.backward = elementwise_backward<O>;
  }
}

template <class O>
void fill_reduce(OpDef& def) {
  def.family = Family::reduce;
  def.reduce = &reduce_row<O>;
  def.infer = [](const OpCall& call, Specs& outputs) {
    infer_reduce(call, outputs, O::info, call.as<O>());
  };
  def.samples = [](SampleSink& sink) {
    sample_reduce(
        sink, O::info, [](SampleSink& s, const Dims& dims, bool keep, const Shape& shape) {
          O op;
          op.dims = dims;
          op.keep_dim = keep;
          s.add(op, {SampleInput{shape, SampleInput::Role::distinct, O::info.low, O::info.high}});
        });
  };
}

template <class O>
OpDef make_def() {
  OpDef def;
  def.name = O::info.name;
  def.code = op_code_of<O>;
  def.cheap = O::info.cheap;
  def.saves = O::info.saves;
  def.untracked_outputs = O::info.untracked_outputs;
  def.attributes = attribute_row<O>();
  def.notes = {O::info.low, O::info.high, O::info.tolerance, has_gradient<O>()};
  if constexpr (Elementwise<O>) {
    fill_elementwise<O>(def);
  } else if constexpr (Reduction<O>) {
    fill_reduce<O>(def);
  }
  if constexpr (requires { &O::infer; }) {
    def.infer = O::infer;
  }
  if constexpr (requires { &O::samples; }) {
    def.samples = O::samples;
  }
  if constexpr (requires { &O::view; }) {
    def.family = Family::view;
    def.view = O::view;
  }
  if constexpr (requires(const OpCall& call, kernel::LaunchPlan& plan) { O::kernel(call, plan); }) {
    def.kernel = O::kernel;
  }
  if constexpr (requires { &O::decompose; }) {
    def.decompose = O::decompose;
  }
  if constexpr (!Elementwise<O> && has_gradient<O>()) {
    def.backward = O::backward;
  }
  return def;
}

/// "gelu_grad", "pow_grad_a": stored for as long as the process lives.
std::string_view gradient_name(std::string_view op, int arity, int side);

template <class O, int side>
const OpDef& gradient_row() {
  static const OpDef def = [] {
    OpDef row;
    row.name = gradient_name(O::info.name, O::arity, side);
    row.family = Family::elementwise;
    row.code = op_code_of<O>;
    row.variant = side + 1;
    row.cheap = true;
    row.elementwise = &elementwise_row<O, side>;
    row.attributes = attribute_row<O>();
    row.infer = infer_gradient;
    row.decompose = [](const OpCall& call, Outputs& outputs) {
      outputs.push_back(gradient_by_ops<O, side>(op_from<O>(call.attributes), call.inputs));
    };
    return row;
  }();
  return def;
}

}  // namespace sinter::detail

namespace sinter {

/// The row of an op struct, ours or a user's; the same object on every call.
template <class O>
const OpDef& def_of() {
  if constexpr (detail::op_code_of<O> >= 0) {
    return op_def(static_cast<OpCode>(detail::op_code_of<O>));
  } else {
    static const OpDef def = detail::make_def<O>();
    return def;
  }
}

}  // namespace sinter
