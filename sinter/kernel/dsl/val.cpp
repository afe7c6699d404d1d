// SPDX-License-Identifier: MIT OR Apache-2.0
// How values meet: literals take types, one lane is repeated.
#include "sinter/kernel/dsl/val.hpp"

#include <algorithm>

#include "sinter/base/error.hpp"

namespace sinter::dsl {

namespace {

/// The type that literals among `vals` take: that of the others, the widest in lanes.
ir::Type common_type(std::initializer_list<Val> vals) {
  ir::Type type;
  for (const Val& v : vals) {
    if (!v.is_literal() && v.type().lanes > type.lanes) {
      type = v.type();
    }
  }
  if (type.is_nothing()) {
    throw ArgumentError("kernel language: constants alone have no type; give one by Val::typed");
  }
  return type;
}

NodeId meet(Val v, ir::Type type) {
  const NodeId node = v.as(type);
  const ir::Type own = Recorder::current().type_of(node);
  return own.lanes == 1 && type.lanes > 1
             ? Recorder::current().value(ir::Op::splat, {node}, 0, {own.dtype, type.lanes})
             : node;
}

}  // namespace

Val Val::typed(ir::Type type, double value) {
  return Val(Recorder::current().constant(type, ir::constant_bits(type.dtype, value)));
}

NodeId Val::node() const {
  if (is_literal()) {
    throw ArgumentError("kernel language: a constant has no type here; give it one by Val::typed");
  }
  return node_;
}

NodeId Val::as(ir::Type type) const { return is_literal() ? typed(type, literal_).node_ : node_; }

Val apply(ir::Op op, std::initializer_list<Val> args) {
  const ir::Type type = common_type(args);
  NodeId nodes[3] = {no_node, no_node, no_node};
  std::transform(args.begin(), args.end(), nodes, [&](Val arg) { return meet(arg, type); });
  Recorder& recorder = Recorder::current();
  switch (args.size()) {
    case 1:
      return Val(recorder.value(op, {nodes[0]}));
    case 2:
      return Val(recorder.value(op, {nodes[0], nodes[1]}));
    default:
      return Val(recorder.value(op, {nodes[0], nodes[1], nodes[2]}));
  }
}

Val choose(Val mask, Val a, Val b) {
  ir::Type type = common_type({a, b});
  type.lanes = std::max(type.lanes, mask.type().lanes);
  return Val(Recorder::current().value(
      ir::Op::select, {meet(mask, type.with(DType::boolean)), meet(a, type), meet(b, type)}));
}

Val convert(Val x, DType to) {
  return Val(Recorder::current().value(ir::Op::cast, {x.node()}, 0, x.type().with(to)));
}
Val reinterpret(Val x, DType to) {
  return Val(Recorder::current().value(ir::Op::bitcast, {x.node()}, 0, x.type().with(to)));
}
Val repeat(Val x, int lanes) {
  return Val(Recorder::current().value(ir::Op::splat, {x.node()}, 0,
                                       {x.type().dtype, static_cast<std::uint8_t>(lanes)}));
}

}  // namespace sinter::dsl
