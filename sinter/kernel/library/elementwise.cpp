// SPDX-License-Identifier: MIT OR Apache-2.0
// The elementwise kernel, for devices whose cube is a loop and for those with many units.
#include "sinter/kernel/library/elementwise.hpp"

#include <algorithm>

#include <optional>

#include <fmt/format.h>

#include "sinter/kernel/dsl/control.hpp"

namespace sinter::kernel {

namespace {

using dsl::Index;
using dsl::NodeId;
using dsl::Recorder;
using dsl::Val;

std::uint64_t declare_buffer(std::string name, DType dtype, ir::Access access) {
  return Recorder::current().declare(ir::Memory{.name = std::move(name),
                                                .space = ir::Space::buffer,
                                                .dtype = dtype,
                                                .size = 0,
                                                .access = access});
}

class Body {
 public:
  Body(const ElementwiseProblem& problem, const Properties& properties)
      : problem_(problem), lanes_(lanes_of(problem.expression, properties)) {
    const Expression& expression = problem.expression;
    for (std::size_t i = 0; i < expression.inputs.size(); ++i) {
      inputs_.push_back(
          declare_buffer(fmt::format("x{}", i), expression.inputs[i], ir::Access::read));
    }
    for (std::size_t i = 0; i < expression.results.size(); ++i) {
      results_.push_back(declare_buffer(
          fmt::format("y{}", i), expression.dtype_of(expression.results[i]), ir::Access::write));
    }
    inner_ = dsl::scalar<std::uint32_t>("inner");
    rows_ = dsl::scalar<std::uint32_t>("rows");
    chunk_ = dsl::scalar<std::uint32_t>("chunk");
    for (int d = 0; d < problem.outer; ++d) {
      sizes_.push_back(dsl::scalar<std::uint32_t>(fmt::format("size{}", d)));
    }
    for (std::size_t i = 0; problem.offsets && i < problem.walks.size(); ++i) {
      offsets_.push_back(dsl::scalar<std::uint32_t>(fmt::format("offset{}", i)));
    }
    strides_.resize(problem.walks.size());
    for (std::size_t i = 0; i < problem.walks.size(); ++i) {
      for (int d = 0; problem.walks[i].rows && d < problem.outer; ++d) {
        strides_[i].push_back(dsl::scalar<std::uint32_t>(fmt::format("stride{}_{}", i, d)));
      }
    }
  }

  /// One unit walks a chunk of elements, or of rows.
  void loops() {
    const Index total = problem_.outer == 0 ? *inner_ : *rows_;
    const Index first = dsl::cube_pos() * *chunk_;
    const Index last = dsl::min(first + *chunk_, total);
    if (problem_.outer == 0) {
      enter_row(Index(0u));
      elements(first, last);
      return;
    }
    for (const Index row : dsl::range(first, last)) {
      enter_row(row);
      elements(Index(0u), *inner_);
    }
  }

  /// Each unit has one place.
  void units() {
    if (problem_.outer != 0) {
      const Index at = dsl::absolute_pos();
      KERNEL_IF (at < *inner_ * *rows_) {
        enter_row(at / *inner_);
        step(at % *inner_, 1);
      }
      return;
    }
    enter_row(Index(0u));
    const Index at = dsl::absolute_pos() * static_cast<std::uint32_t>(lanes_);
    KERNEL_IF (at + static_cast<std::uint32_t>(lanes_) <= *inner_) {
      step(at, lanes_);
    } else {
      for (const Index i : dsl::range(at, *inner_)) {
        step(i, 1);
      }
    }
  }

 private:
  /// Where the row begins in every buffer, and the values that stay the same along it.
  void enter_row(Index row) {
    const std::size_t count = inputs_.size();
    bases_ = problem_.offsets ? offsets_ : std::vector<Index>(count, Index(0u));
    constants_.assign(count, Val());
    out_base_ = row * *inner_;
    SmallVector<Index, 4> position;
    Index rest = row;
    for (int d = problem_.outer - 1; d >= 0; --d) {
      const Index size = sizes_[static_cast<std::size_t>(d)];
      position.push_back(d == 0 ? rest : rest % size);
      rest = rest / size;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Walk walk = problem_.walks[i];
      if (walk.rows) {
        for (int d = 0; d < problem_.outer; ++d) {
          const auto at = static_cast<std::size_t>(d);
          bases_[i] = bases_[i] +
                      position[static_cast<std::size_t>(problem_.outer - 1) - at] * strides_[i][at];
        }
      } else if (walk.along) {
        bases_[i] = bases_[i] + *out_base_;
      }
      if (!walk.along) {
        constants_[i] = load(i, bases_[i], 1);
      }
    }
  }

  void elements(Index first, Index last) {
    const Index step_size(static_cast<std::uint32_t>(lanes_));
    const Index whole = first + (last - first) / step_size * step_size;
    for (const Index i : dsl::range(first, whole, step_size)) {
      step(i, lanes_);
    }
    for (const Index i : dsl::range(whole, last)) {
      step(i, 1);
    }
  }

  void step(Index at, int lanes) {
    std::vector<Val> values;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      values.push_back(problem_.walks[i].along ? load(i, bases_[i] + at, lanes) : constants_[i]);
    }
    const std::vector<Val> results = record_expression(problem_.expression, values);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Val value =
          results[i].type().lanes == lanes ? results[i] : dsl::repeat(results[i], lanes);
      Recorder::current().statement(ir::Op::store, {(*out_base_ + at).node(), value.node()},
                                    results_[i]);
    }
  }

  Val load(std::size_t input, Index at, int lanes) {
    return Val(Recorder::current().value(
        ir::Op::load, {at.node()}, inputs_[input],
        {problem_.expression.inputs[input], static_cast<std::uint8_t>(lanes)}));
  }

  const ElementwiseProblem& problem_;
  int lanes_;
  std::vector<std::uint64_t> inputs_, results_;
  std::optional<Index> inner_, rows_, chunk_, out_base_;
  std::vector<Index> sizes_, offsets_;
  std::vector<std::vector<Index>> strides_;
  std::vector<Index> bases_;
  std::vector<Val> constants_;
};

}  // namespace

/// The widest value decides: what fits a register for f32 is twice too much for f64.
int lanes_of(const Expression& expression, const Properties& properties) {
  std::size_t widest = 4;
  for (std::size_t i = 0; i < expression.inputs.size() + expression.steps.size(); ++i) {
    widest = std::max(widest, size_of(expression.dtype_of(static_cast<std::uint16_t>(i))));
  }
  return std::max(1, static_cast<int>(properties.lanes * 4 / widest));
}

ir::Kernel elementwise_kernel(const ElementwiseProblem& problem, const Properties& properties) {
  const bool one_unit = properties.units == 1;
  return dsl::record("elementwise", {.cube = {one_unit ? 1 : properties.units}}, [&] {
    Body body(problem, properties);
    if (one_unit) {
      body.loops();
    } else {
      body.units();
    }
  });
}

std::uint64_t ElementwiseLaunch::row_count() const {
  std::uint64_t count = 1;
  for (const std::uint32_t size : outer) {
    count *= size;
  }
  return count;
}

std::vector<std::uint64_t> ElementwiseLaunch::scalars(std::uint32_t chunk) const {
  std::vector<std::uint64_t> result{inner, row_count(), chunk};
  result.insert(result.end(), outer.begin(), outer.end());
  result.insert(result.end(), offsets.begin(), offsets.end());
  for (const auto& strides : rows) {
    result.insert(result.end(), strides.begin(), strides.end());
  }
  return result;
}

}  // namespace sinter::kernel
