// SPDX-License-Identifier: MIT OR Apache-2.0
// Inputs of the conformance suite: the same logical values under every layout.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sinter/ops/all.hpp"
#include "sinter/ops/op.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::conformance {

/// How a tensor lies in memory; all mean the same values.
enum class LayoutKind {
  contiguous,
  transposed,
  offset,
  stepped,
  flipped,
  padded_rows,
  prefix,
  count
};
std::string name_of(LayoutKind kind);

/// One example call of an op, with its attributes owned.
struct Case {
  const OpDef* def = nullptr;
  OwnedAttributes attributes;
  std::vector<SampleInput> inputs;
  int number = 0;
};

/// All example calls that `def` gives of itself.
std::vector<Case> cases_of(const OpDef& def);

/// Random elements for `sample` in `dtype`; the same seed gives the same.
HostData make_data(const SampleInput& sample, DType dtype, std::mt19937_64& random);
/// Overwrites some elements with NaN, infinities, -0, denormals and, if `huge`, the largest finite
/// values (whose products and sums overflow sooner in f32 than in the oracle's double).
void put_special_values(HostData& data, std::mt19937_64& random, bool huge);
/// The dtype an input takes when the op is tried with `dtype`: indices and masks keep theirs.
DType input_dtype(const SampleInput& sample, DType dtype);

/// `data` on `backend`, lying as `kind` says.
Value place(Backend& backend, const HostData& data, LayoutKind kind);

/// Largest relative error of `got` against `expected` (absolute below 1); infinite when shapes,
/// dtypes, NaNs or infinities differ.
double relative_error(const HostData& got, const HostData& expected);
/// What may be lost in `dtype` by an op that is good to `f32_tolerance` in f32.
double tolerance_of(DType dtype, double f32_tolerance);

}  // namespace sinter::conformance
