// SPDX-License-Identifier: MIT OR Apache-2.0
// OpCode, the position of each op in ops.def.
#pragma once

#include <cstdint>

namespace sinter {

struct OpDef;

enum class OpCode : std::int16_t {
#define SINTER_OP(Struct, name, group) name,
#include "sinter/ops/ops.def"
  count
};

inline constexpr int op_count = static_cast<int>(OpCode::count);

/// The row of an op of ours.
const OpDef& op_def(OpCode code);

namespace ops {
#define SINTER_OP(Struct, name, group) struct Struct;
#include "sinter/ops/ops.def"
}  // namespace ops

namespace detail {
template <class Op>
inline constexpr int op_code_of = -1;
#define SINTER_OP(Struct, name, group) \
  template <>                          \
  inline constexpr int op_code_of<ops::Struct> = static_cast<int>(OpCode::name);
#include "sinter/ops/ops.def"
}  // namespace detail

}  // namespace sinter
