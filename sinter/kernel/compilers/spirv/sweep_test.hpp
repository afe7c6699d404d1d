// SPDX-License-Identifier: MIT OR Apache-2.0
// A kernel for every instruction, dtype and width: what compilers and devices are tested with.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "sinter/kernel/dsl/control.hpp"

namespace sinter::ir {

/// y[i] = op(a[i], b[i], c[i]) on vectors of `lanes`, for one unit each.
struct Case {
  Op op;
  DType from, to;
  int lanes;

  [[nodiscard]] int arguments() const { return traits_of(op).arguments; }
  /// The dtype of argument `i`.
  [[nodiscard]] DType dtype(int i) const {
    return op == Op::select && i == 0                            ? DType::boolean
           : traits_of(op).rule == TypeRule::same_first && i > 0 ? DType::u32
                                                                 : from;
  }
  [[nodiscard]] std::string name() const {
    return fmt::format("{}_{}_{}_{}", traits_of(op).name, name_of(from), name_of(to), lanes);
  }
  [[nodiscard]] Kernel kernel(std::uint32_t units) const {
    return dsl::record(name(), {.cube = {units}}, [this] { record_body(); });
  }

 private:
  void record_body() const {
    dsl::Recorder& recorder = dsl::Recorder::current();
    const Type wide{from, static_cast<std::uint8_t>(lanes)};
    const auto index = (dsl::absolute_pos() * static_cast<std::uint32_t>(lanes)).node();
    const char* names[] = {"a", "b", "c"};
    dsl::NodeId args[3] = {};
    for (int i = 0; i < arguments(); ++i) {
      const auto memory = recorder.declare(Memory{.name = names[i],
                                                  .space = Space::buffer,
                                                  .dtype = dtype(i),
                                                  .size = 0,
                                                  .access = Access::read});
      args[i] = recorder.value(Op::load, {index}, memory, wide.with(dtype(i)));
    }
    const auto out = recorder.declare(Memory{
        .name = "y", .space = Space::buffer, .dtype = to, .size = 0, .access = Access::write});
    const Type result = wide.with(to);
    const auto value = arguments() == 1 ? recorder.value(op, {args[0]}, 0, result)
                       : arguments() == 2
                           ? recorder.value(op, {args[0], args[1]}, 0, result)
                           : recorder.value(op, {args[0], args[1], args[2]}, 0, result);
    recorder.statement(Op::store, {index, value}, out);
  }
};

inline constexpr DType value_dtypes[] = {
    DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,    DType::i16,
    DType::i8,  DType::u64, DType::u32, DType::u16,  DType::u8,  DType::boolean};

/// Every pure instruction that works lane by lane, on every dtype that it takes.
inline std::vector<Case> all_cases(const std::vector<int>& widths) {
  std::vector<Case> cases;
  const auto add = [&](Op op, DType from, DType to) {
    for (const int lanes : widths) {
      cases.push_back({op, from, to, lanes});
    }
  };
  for (int i = 0; i < op_count(); ++i) {
    const Op op = static_cast<Op>(i);
    const OpTraits& traits = traits_of(op);
    const bool lanewise = traits.is(pure) && traits.arguments > 0 &&
                          traits.rule != TypeRule::lane && traits.rule != TypeRule::same_first &&
                          op != Op::splat;
    for (const DType from : value_dtypes) {
      if (!lanewise) {
        continue;
      }
      if (op == Op::cast || op == Op::bitcast) {
        for (const DType to : value_dtypes) {
          if (from != to && (op == Op::cast || size_of(from) == size_of(to))) {
            add(op, from, to);
          }
        }
        continue;
      }
      const Type type{from, 1};
      const Type args[] = {op == Op::select ? truth_type : type, type, type};
      const Typing typing = type_of(op, args, type);
      if (typing.problem.empty()) {
        add(op, from, typing.type.dtype);
      }
    }
  }
  return cases;
}

}  // namespace sinter::ir
