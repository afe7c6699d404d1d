// SPDX-License-Identifier: MIT OR Apache-2.0
// Recorded elementwise kernels, run by the checked interpreter, against the formulas on double.
#include "sinter/kernel/library/elementwise.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "sinter/kernel/dsl/control.hpp"
#include "sinter/kernel/ir/interpret.hpp"
#include "sinter/kernel/ir/text.hpp"
#include "sinter/kernel/library/formulas.hpp"
#include "sinter/ops/all.hpp"

namespace sinter::kernel {
namespace {

const Properties loop_device{.device = "loop", .lanes = 8, .units = 1};
const Properties unit_device{.device = "units", .lanes = 4, .units = 32};

std::vector<float> noise(std::size_t count, double low, double high) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<float> uniform(static_cast<float>(low), static_cast<float>(high));
  std::vector<float> values(count);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

template <class T>
ir::BufferArg arg(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size()};
}

std::uint32_t cubes_of(const Properties& device, std::uint32_t total, std::uint32_t chunk) {
  const std::uint32_t each = device.units == 1 ? chunk : device.units;
  return (total + each - 1) / each;
}

// Every formula of ops.def, with its own sample range, on both shapes of kernel.
class EveryFormula : public testing::TestWithParam<Properties> {};

TEST_P(EveryFormula, equals_the_scalar_one) {
  const std::uint32_t n = 61;
  int checked = 0;
  for (int code = 0; code < op_count; ++code) {
    const OpDef& def = op_def(static_cast<OpCode>(code));
    if (formula_of(def) == nullptr || def.attributes.clone != nullptr) {
      continue;
    }
    const auto arity = static_cast<std::size_t>(def.elementwise->arity);
    ElementwiseProblem problem;
    problem.expression.inputs.assign(arity, DType::f32);
    const DType result = def.elementwise->bool_result ? DType::boolean : DType::f32;
    Expression::Step step{&def, nullptr, {}, result};
    std::vector<std::vector<float>> x;
    for (std::size_t i = 0; i < arity; ++i) {
      step.args.push_back(static_cast<std::uint16_t>(i));
      problem.walks.push_back({.along = true});
      x.push_back(noise(n, def.notes.low + 0.1 * double(i), def.notes.high));
    }
    problem.expression.steps.push_back(step);
    problem.expression.results = {static_cast<std::uint16_t>(arity)};
    std::vector<float> y(n);
    std::vector<std::uint8_t> truth(n);
    std::vector<ir::BufferArg> buffers;
    for (auto& values : x) {
      buffers.push_back(arg(values));
    }
    buffers.push_back(result == DType::boolean ? arg(truth) : arg(y));
    const auto scalars =
        ElementwiseLaunch{.inner = n, .outer = {}, .rows = {}, .offsets = {}}.scalars(16);
    const ir::Kernel kernel = elementwise_kernel(problem, GetParam());
    ir::interpret(
        kernel,
        {.cubes = {cubes_of(GetParam(), n, 16), 1, 1}, .buffers = buffers, .scalars = scalars});
    for (std::uint32_t i = 0; i < n; ++i) {
      double in[3];
      const void* pointers[3];
      for (std::size_t k = 0; k < arity; ++k) {
        in[k] = x[k][i];
        pointers[k] = &in[k];
      }
      double expected = 0;
      bool expected_truth = false;
      def.elementwise->f64(nullptr, pointers,
                           result == DType::boolean ? static_cast<void*>(&expected_truth)
                                                    : static_cast<void*>(&expected),
                           1);
      if (result == DType::boolean) {
        EXPECT_EQ(truth[i] != 0, expected_truth) << def.name << " " << in[0];
      } else if (!std::isnan(expected)) {
        EXPECT_NEAR(y[i], expected, 2e-5 * (1 + std::abs(expected))) << def.name << " " << in[0];
      }
    }
    ++checked;
  }
  EXPECT_GT(checked, 60);
}
INSTANTIATE_TEST_SUITE_P(Kernel, EveryFormula, testing::Values(loop_device, unit_device));

// (a [rows, n] + b [n]) * c [rows, 1], rows of a apart in memory; also as bf16 and f64.
class Broadcast : public testing::TestWithParam<Properties> {};

TEST_P(Broadcast, rows_columns_and_gaps) {
  const std::uint32_t outer0 = 3, outer1 = 5, n = 13;
  ElementwiseProblem problem;
  problem.outer = 2;
  problem.expression.inputs = {DType::f32, DType::f64, DType::boolean};
  problem.walks = {{true, true}, {true, true}, {false, true}};
  const auto step = [](const OpDef& def, std::uint16_t a, std::uint16_t b, DType dtype) {
    return Expression::Step{&def, nullptr, {a, b}, dtype};
  };
  problem.expression.steps = {step(def_of<ops::Add>(), 0, 1, DType::f64),
                              step(def_of<ops::Mul>(), 3, 2, DType::f64),
                              step(def_of<ops::Less>(), 0, 1, DType::boolean)};
  problem.expression.results = {4, 5};
  std::vector<float> a = noise(outer0 * 100, -2, 2);
  std::vector<double> b(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    b[i] = i * 0.1 - 0.5;
  }
  std::vector<std::uint8_t> c = {1, 0, 1, 1, 0};
  std::vector<double> y(outer0 * outer1 * n);
  std::vector<std::uint8_t> less(y.size());
  const ir::BufferArg buffers[] = {arg(a), arg(b), arg(c), arg(y), arg(less)};
  const ElementwiseLaunch launch{
      .inner = n, .outer = {outer0, outer1}, .rows = {{100, 17}, {0, 0}, {0, 1}}, .offsets = {}};
  const auto scalars = launch.scalars(4);
  const std::uint32_t total = GetParam().units == 1 ? outer0 * outer1 : outer0 * outer1 * n;
  ir::interpret(
      elementwise_kernel(problem, GetParam()),
      {.cubes = {cubes_of(GetParam(), total, 4), 1, 1}, .buffers = buffers, .scalars = scalars});
  for (std::uint32_t i = 0; i < y.size(); ++i) {
    const std::uint32_t k = i % n, q = i / n % outer1, p = i / n / outer1;
    const double x = a[p * 100 + q * 17 + k];
    EXPECT_EQ(y[i], (x + b[k]) * c[q]) << i;
    EXPECT_EQ(less[i] != 0, x < b[k]) << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Kernel, Broadcast, testing::Values(loop_device, unit_device));

}  // namespace
}  // namespace sinter::kernel
