// SPDX-License-Identifier: MIT OR Apache-2.0
// What the reference examples say of their results: each statement is checked when they run.
#pragma once

#include <cmath>
#include <cstdio>
#include <vector>

inline int wrong = 0;

/// Counts and prints a statement that doesn't hold.
inline void expect(bool holds, const char* statement) {
  if (!holds) {
    ++wrong;
    std::printf("does not hold: %s\n", statement);
  }
}
#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__)

inline bool near(double a, double b) { return std::abs(a - b) < 1e-4 * (1 + std::abs(b)); }

/// The tensor holds these elements in row-major order.
template <class T>
bool holds(const T& tensor, const std::vector<double>& values) {
  const std::vector<double> found = tensor.template to_vector<double>();
  bool equal = found.size() == values.size();
  for (std::size_t i = 0; equal && i < values.size(); ++i) {
    equal = near(found[i], values[i]) || (std::isnan(found[i]) && std::isnan(values[i])) ||
            found[i] == values[i];
  }
  return equal;
}
