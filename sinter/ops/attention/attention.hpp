// SPDX-License-Identifier: MIT OR Apache-2.0
// Scaled dot-product attention and rotary positions.
#pragma once

#include "sinter/ops/op.hpp"

namespace sinter::ops {

/// softmax(q k^T * scale + mask) v for q [..., H, S, D], k [..., Hk, T, D], v [..., Hk, T, Dv] ->
/// [..., H, S, Dv]. H is a multiple of Hk: each head of k and v serves H / Hk heads of q. The
/// optional fourth input is a mask that broadcasts to [..., H, S, T]: bool (true: look) or floats
/// that are added. A row that sees no key gives zeros, and its gradient is finite.
struct Attention {
  static constexpr OpInfo info{
      .name = "attention", .domain = Domain::floating, .cheap = false, .tolerance = 2e-5};
  double scale = 0;        ///< 0: 1 / sqrt(D)
  bool is_causal = false;  ///< query i sees keys up to i + T - S: the last query sees all
  static void infer(const OpCall& call, Specs& outputs);
  static void decompose(const OpCall& call, Outputs& outputs);
  static void samples(SampleSink& sink);
  template <class S, class V>
  static void fields(S& self, V&& visit) {
    visit("scale", self.scale);
    visit("is_causal", self.is_causal);
  }
};

/// See Attention; `mask` may be empty.
Value attention(const Value& q, const Value& k, const Value& v, const Value& mask = {},
                const Attention& options = {}, SourceLoc where = SourceLoc::current());

/// Softmax along the last dim where a row of -inf gives zeros instead of NaN.
Value masked_softmax(const Value& x);

/// Rotates pairs of the last dim of x [..., S, D] by the angles whose cosine and sine are given as
/// [S, D / 2] (or broadcast). Pairs are neighbours when `interleaved`, else i and i + D / 2.
Value rope(const Value& x, const Value& cosine, const Value& sine, bool interleaved = false,
           SourceLoc where = SourceLoc::current());

}  // namespace sinter::ops
