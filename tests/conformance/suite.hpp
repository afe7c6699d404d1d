// SPDX-License-Identifier: MIT OR Apache-2.0
// What the checks of the conformance suite share: the device under test, and running a case.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "inputs.hpp"
#include "sinter/tensor/device.hpp"

namespace sinter::conformance {

/// The device named by SINTER_TEST_DEVICE, or `portable`.
Device device_under_test();
/// The whole product instead of a seeded cover of it: SINTER_TEST_FULL is set.
bool full_sweep();

/// All ops of ops.def.
std::vector<const OpDef*> all_ops();

/// The elements of every output of one call, or the message of the UserError it threw.
struct Result {
  std::vector<HostData> outputs;
  std::string error;
};
Result run(const Case& c, Backend& backend, const std::vector<Value>& inputs,
           std::uint64_t donated = 0);

/// The same with inputs that are made here and given up, so that the op may work in place.
Result run_donated(const Case& c, Backend& backend, const std::vector<HostData>& inputs);

/// Adds to the number of compared calls that the program names at its end.
void count_case();
std::int64_t cases_compared();

/// Registers a test `suite.name` with GoogleTest.
void add_test(const std::string& suite, const std::string& name, std::function<void()> body);

// Each file adds its tests for every op.
void add_value_tests();
void add_gradient_tests();

}  // namespace sinter::conformance
