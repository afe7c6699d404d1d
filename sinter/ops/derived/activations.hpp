// SPDX-License-Identifier: MIT OR Apache-2.0
// Activations with attributes, and those that are formulas over others. Each takes its input by
// value: one that is moved in and has no other handle is computed in place.
#pragma once

#include "sinter/graph/op_call.hpp"

namespace sinter::ops {

/// min(max(x, low), high); NaN stays NaN.
Value clamped(Value x, double low, double high, SourceLoc where = SourceLoc::current());

/// The op structs of the same names.
Value leaky_relu(Value x, double slope = 0.01, SourceLoc where = SourceLoc::current());
Value elu(Value x, double alpha = 1, SourceLoc where = SourceLoc::current());
Value celu(Value x, double alpha = 1, SourceLoc where = SourceLoc::current());
Value softplus(Value x, double beta = 1, SourceLoc where = SourceLoc::current());
Value hard_sigmoid(Value x, double alpha = 1.0 / 6, double beta = 0.5,
                   SourceLoc where = SourceLoc::current());
/// x where it is greater than `threshold`, else `value`.
Value threshold(Value x, double threshold, double value, SourceLoc where = SourceLoc::current());
Value hard_shrink(Value x, double lambda = 0.5, SourceLoc where = SourceLoc::current());
Value soft_shrink(Value x, double lambda = 0.5, SourceLoc where = SourceLoc::current());

/// x - bias above lambda, x + bias below -lambda, 0 between.
Value shrink(const Value& x, double lambda = 0.5, double bias = 0,
             SourceLoc where = SourceLoc::current());
/// x where positive, else x * weight. `weight` has one element, or one for each of dim 1's
/// channels.
Value prelu(const Value& x, const Value& weight, SourceLoc where = SourceLoc::current());
/// x - tanh(x).
Value tanhshrink(const Value& x, SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
