// SPDX-License-Identifier: MIT OR Apache-2.0
// OpDef, an operation's erased description, and OpCall, the only thing that travels between layers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sinter/base/loc.hpp"
#include "sinter/base/small_vector.hpp"
#include "sinter/graph/saves.hpp"
#include "sinter/graph/value.hpp"
#include "sinter/types/layout.hpp"

namespace sinter {

/// Shape and dtype of a tensor that need not exist yet.
struct TensorSpec {
  Shape shape;
  DType dtype = DType::f32;
};

using Outputs = SmallVector<Value, 2>;
using Specs = SmallVector<TensorSpec, 2>;

/// What a backend may know about an op without knowing which it is.
enum class Family : std::uint8_t {
  elementwise,  ///< one formula per element over broadcast inputs: `OpDef::elementwise` is set
  view,         ///< the same elements in another order: `OpDef::view` is set
  reduce,       ///< folds dims by one formula: `OpDef::reduce` is set
  structured,   ///< anything else: a kernel of its own, or its decomposition
};

struct OpDef;
struct OpCall;
class GradCall;
class SampleSink;
namespace kernel {
struct LaunchPlan;
}

/// Evaluates a formula on `n` dense elements of the carrier type (double, int64 or uint64); inputs
/// and output are arrays of that type, except that a comparison writes bytes of 0 and 1.
using BlockFunction = void (*)(const void* attributes, const void* const* inputs, void* output,
                               std::int64_t n);

/// The scalar formulas of an elementwise op; null where the op is not defined for the carrier.
struct ElementwiseRow {
  int arity = 1;
  bool bool_result = false;
  BlockFunction f64 = nullptr;
  BlockFunction i64 = nullptr;
  BlockFunction u64 = nullptr;
};

/// The scalar formulas of a reduction over carrier `T`: acc = combine(acc, x) from init(), then
/// finish(acc, number of elements).
template <class T>
struct ReduceFormula {
  T (*init)() = nullptr;
  T (*combine)(T acc, T x) = nullptr;
  T (*finish)(T acc, std::int64_t count) = nullptr;
};
struct ReduceRow {
  ReduceFormula<double> f64;
  ReduceFormula<std::int64_t> i64;
  ReduceFormula<std::uint64_t> u64;
};

/// How attributes (the op struct itself) are handled without knowing its type.
struct AttributeRow {
  const void* (*clone)(const void* attributes) = nullptr;  ///< null: the op has no attributes
  void (*destroy)(const void* attributes) = nullptr;
  void (*print)(const void* attributes, std::string& out) = nullptr;
};

/// Numbers about an op that tests and tables need.
struct OpNotes {
  double low = -3;  ///< sample inputs are drawn from [low, high)
  double high = 3;
  double tolerance = 0;  ///< relative error allowed in f32; 0: exact up to the last rounding
  bool differentiable = false;
};

/// One operation, erased. Rows are made by `def_of<Op>()` and live for the whole process.
struct OpDef {
  std::string_view name;
  Family family = Family::structured;
  int code = -1;       ///< position in ops.def; -1 for an op of the user's
  int variant = 0;     ///< 0 the op itself, 1 and 2 its derived gradient rows
  bool cheap = false;  ///< recomputing costs little more than reading the result
  Saves saves;
  /// Outputs that only serve the gradient (statistics, window positions): never tracked themselves.
  std::uint64_t untracked_outputs = 0;

  /// Shape and dtype rule; throws ShapeError, DTypeError, IndexError or ArgumentError.
  void (*infer)(const OpCall& call, Specs& outputs) = nullptr;
  /// The layout of a view of `in`; false when the elements must be copied to get it.
  bool (*view)(const OpCall& call, const Layout& in, Layout& out) = nullptr;
  /// The same result by simpler ops; null for a primitive.
  void (*decompose)(const OpCall& call, Outputs& outputs) = nullptr;
  /// A kernel that the op brings along (kernel/launch/launch_plan.hpp); null: it has none.
  void (*kernel)(const OpCall& call, kernel::LaunchPlan& plan) = nullptr;
  /// Sets the gradients of the inputs; null when the op has none of its own.
  void (*backward)(GradCall& call) = nullptr;
  /// Gives example calls to the conformance suite; null for derived rows.
  void (*samples)(SampleSink& sink) = nullptr;
  const ElementwiseRow* elementwise = nullptr;
  const ReduceRow* reduce = nullptr;
  AttributeRow attributes;
  OpNotes notes;
};

/// One call of an op: checked, and with the specs of its outputs already inferred.
struct OpCall {
  const OpDef* def = nullptr;
  const void* attributes = nullptr;  ///< the op struct; lives as long as the call
  std::span<const Value> inputs;
  std::span<const TensorSpec> outputs;
  std::uint64_t donated = 0;  ///< bit i: the caller gives up inputs[i]; its memory may be reused
  SourceLoc where;

  /// The attributes as the op struct.
  template <class Op>
  const Op& as() const {
    return *static_cast<const Op*>(attributes);
  }
};

/// "matmul([2, 3] f32, [3, 4] f32)", with attributes: for errors and traces.
[[nodiscard]] std::string describe(const OpCall& call);

/// Checks a call, infers its outputs and has the inputs' backend execute it.
/// `backend` is needed only for ops without inputs. Throws DeviceMismatchError when the inputs live
/// on different backends, and what the op's rule throws, with the caller's place added.
Outputs execute(const OpDef& def, const void* attributes, std::span<const Value> inputs,
                std::uint64_t donated = 0, SourceLoc where = SourceLoc::current(),
                Backend* backend = nullptr);

/// The gradient of one call, asked of its op: reads what was saved, sets gradients of inputs.
class GradCall {
 public:
  /// `call.inputs` and `outputs` hold what `OpDef::saves` names; the rest may be empty.
  GradCall(const OpCall& call, std::span<const TensorSpec> input_specs,
           std::span<const Value> outputs, std::span<const Value> grads, std::uint64_t needed)
      : call_(call), input_specs_(input_specs), outputs_(outputs), grads_(grads), needed_(needed) {
    results_.resize(input_specs.size());
  }

  /// The op's attributes.
  template <class Op>
  const Op& op() const {
    return call_.as<Op>();
  }
  const OpCall& call() const { return call_; }
  std::size_t num_inputs() const { return input_specs_.size(); }
  const Value& input(int i) const { return call_.inputs[static_cast<std::size_t>(i)]; }
  const Shape& input_shape(int i) const { return input_specs_[static_cast<std::size_t>(i)].shape; }
  DType input_dtype(int i) const { return input_specs_[static_cast<std::size_t>(i)].dtype; }
  const Value& output(int i = 0) const { return outputs_[static_cast<std::size_t>(i)]; }
  const Shape& output_shape(int i = 0) const {
    return call_.outputs[static_cast<std::size_t>(i)].shape;
  }
  /// The gradient that reached output `i`; empty if none did (it then counts as zeros). Ops with
  /// one output always have it.
  const Value& grad(int i = 0) const { return grads_[static_cast<std::size_t>(i)]; }
  /// Somebody wants the gradient of input `i`.
  bool needs(int i) const { return (needed_ >> i & 1) != 0; }
  /// Sets the gradient of input `i`. It may have the broadcast shape and the output's dtype: the
  /// engine sums and casts it to the input's.
  void set(int i, Value gradient) { results_[static_cast<std::size_t>(i)] = std::move(gradient); }
  Outputs& results() { return results_; }

 private:
  const OpCall& call_;
  std::span<const TensorSpec> input_specs_;
  std::span<const Value> outputs_;
  std::span<const Value> grads_;
  std::uint64_t needed_;
  Outputs results_;
};

}  // namespace sinter
