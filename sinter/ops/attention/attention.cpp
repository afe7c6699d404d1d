// SPDX-License-Identifier: MIT OR Apache-2.0
// Attention by its formula, in products, softmax and selection.
#include "sinter/ops/attention/attention.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/softmax/softmax.hpp"

namespace sinter::ops {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Splits the heads of q [..., H, S, D] as [..., Hk, H / Hk * S, D]: queries that share a head of k
// are one batch of rows, so that k and v need no repeating.
Shape grouped(const Shape& shape, std::int64_t key_heads) {
  Shape out = shape;
  out[out.rank() - 3] = key_heads;
  out[out.rank() - 2] = shape[shape.rank() - 3] / key_heads * shape[shape.rank() - 2];
  return out;
}

// true at [i, j] where query i may see key j.
Value causal_mask(Backend& backend, std::int64_t queries, std::int64_t keys) {
  const Value last = reshape(arange(backend, keys - queries, 1, queries, DType::i32), {queries, 1});
  return greater_equal(last, arange(backend, 0, 1, keys, DType::i32));
}

// Scores [..., H, S, T] with what may not be seen at -inf.
Value masked_scores(const OpCall& call, Value scores) {
  const Value nothing = scalar_like(scores, -infinity);
  if (call.as<Attention>().is_causal) {
    const Value seen = causal_mask(scores.backend(), scores.size(-2), scores.size(-1));
    scores = where(seen, scores, nothing);
  }
  if (call.inputs.size() > 3) {
    const Value& mask = call.inputs[3];
    scores = mask.dtype() == DType::boolean ? where(mask, scores, nothing)
                                            : add(scores, cast(mask, scores.dtype()));
  }
  return scores;
}

}  // namespace

void Attention::infer(const OpCall& call, Specs& outputs) {
  if (call.inputs.size() < 3) {
    throw ArgumentError(
        fmt::format("attention: expected q, k and v, got {} inputs", call.inputs.size()));
  }
  const Value& q = call.inputs[0];
  const Value& k = call.inputs[1];
  const Value& v = call.inputs[2];
  const auto shapes = [&] {
    return fmt::format("q {}, k {}, v {}", q.shape().str(), k.shape().str(), v.shape().str());
  };
  check_domain(info.name, info.domain, q.dtype());
  if (k.dtype() != q.dtype() || v.dtype() != q.dtype()) {
    throw DTypeError(fmt::format("attention: q, k and v need one dtype, got {}, {} and {}",
                                 name_of(q.dtype()), name_of(k.dtype()), name_of(v.dtype())));
  }
  const int rank = q.rank();
  if (rank < 3 || k.rank() != rank || v.rank() != rank) {
    throw ShapeError(
        fmt::format("attention: expected [..., heads, sequence, features], got {}", shapes()));
  }
  bool fits = q.size(-1) == k.size(-1) && k.size(-2) == v.size(-2) && k.size(-3) == v.size(-3);
  for (int i = 0; i < rank - 3; ++i) {
    fits = fits && q.size(i) == k.size(i) && q.size(i) == v.size(i);
  }
  if (!fits) {
    throw ShapeError(
        fmt::format("attention: q and k need the same features, k and v the same heads and "
                    "sequence, all the same batch; got {}",
                    shapes()));
  }
  if (k.size(-3) < 1 || q.size(-3) % k.size(-3) != 0) {
    throw ShapeError(fmt::format("attention: {} query heads are not divisible by {} key heads",
                                 q.size(-3), k.size(-3)));
  }
  Shape shape = q.shape();
  shape[rank - 1] = k.size(-2);
  if (call.inputs.size() > 3 && !(broadcast(call.inputs[3].shape(), shape, "attention") == shape)) {
    throw ShapeError(fmt::format("attention: mask {} does not broadcast to {}",
                                 call.inputs[3].shape().str(), shape.str()));
  }
  shape[rank - 1] = v.size(-1);
  outputs.push_back({shape, q.dtype()});
}

void Attention::decompose(const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<Attention>();
  const Value& q = call.inputs[0];
  const Value& k = call.inputs[1];
  const Value& v = call.inputs[2];
  const double scale = op.scale != 0 ? op.scale : 1 / std::sqrt(static_cast<double>(q.size(-1)));
  Shape score_shape = q.shape();
  score_shape[q.rank() - 1] = k.size(-2);
  const Value rows = reshape(mul(q, scalar_like(q, scale)), grouped(q.shape(), k.size(-3)));
  const Value scores = masked_scores(call, reshape(matmul(rows, transpose(k)), score_shape));
  // Without a mask, and causally with as many keys as queries, every row sees a key.
  const bool may_be_empty =
      call.inputs.size() > 3 || (op.is_causal && k.size(-2) < q.size(-2)) || k.size(-2) == 0;
  const Value weights = may_be_empty ? masked_softmax(scores) : softmax(scores, -1);
  const Value mixed = matmul(reshape(weights, grouped(score_shape, k.size(-3))), v);
  outputs.push_back(reshape(mixed, call.outputs[0].shape));
}

void Attention::samples(SampleSink& sink) {
  sink.add(Attention{},
           {value_sample({2, 2, 3, 4}), value_sample({2, 2, 5, 4}), value_sample({2, 2, 5, 4})});
  sink.add(Attention{0.3, true},
           {value_sample({1, 2, 2, 4}), value_sample({1, 2, 4, 4}), value_sample({1, 2, 4, 3})});
  sink.add(Attention{}, {value_sample({1, 4, 3, 4}), value_sample({1, 2, 3, 4}),
                         value_sample({1, 2, 3, 4}), value_sample({1, 1, 3, 3})});
  sink.add(Attention{}, {value_sample({2, 2, 3, 4}), value_sample({2, 2, 3, 4}),
                         value_sample({2, 2, 3, 4}), mask_sample({2, 1, 3, 3})});
}

Value attention(const Value& q, const Value& k, const Value& v, const Value& mask,
                const Attention& options, SourceLoc where) {
  return mask ? apply(options, {q, k, v, mask}, where) : apply(options, {q, k, v}, where);
}

Value masked_softmax(const Value& x) {
  if (x.size(-1) == 0) {
    return x;
  }
  const Value none = equal(max(x, {-1}, true), scalar_like(x, -infinity));
  const Value zero = scalar_like(x, 0);
  return where(none, zero, softmax(where(none, zero, x), -1));
}

Value rope(const Value& x, const Value& cosine, const Value& sine, bool interleaved,
           SourceLoc where) {
  const std::int64_t half = x.rank() > 0 ? x.size(-1) / 2 : 0;
  if (x.rank() < 1 || x.size(-1) % 2 != 0) {
    throw ShapeError(
        fmt::format("rope: the last dim of {} must have an even size", x.shape().str()));
  }
  // Pairs as [..., D / 2, 2] or [..., 2, D / 2], with both halves of every pair along one dim.
  Shape pairs = x.shape();
  pairs.erase(pairs.rank() - 1);
  pairs.push_back(interleaved ? half : 2);
  pairs.push_back(interleaved ? 2 : half);
  const int dim = interleaved ? x.rank() : x.rank() - 1;
  const Value split = reshape(x, pairs);
  const Value a = squeeze(narrow(split, dim, 0, 1), dim);
  const Value b = squeeze(narrow(split, dim, 1, 1), dim);
  const Value first = sub(mul(a, cosine, where), mul(b, sine, where));
  const Value second = add(mul(a, sine), mul(b, cosine));
  Dims starts = Dims::filled(pairs.rank(), 0);
  Dims lengths = pairs;
  const Dims steps = Dims::filled(pairs.rank(), 1);
  lengths[dim] = 1;
  Value out = full(x.backend(), pairs, 0, x.dtype());
  out = slice_assign(out, unsqueeze(first, dim), starts, lengths, steps);
  starts[dim] = 1;
  out = slice_assign(out, unsqueeze(second, dim), starts, lengths, steps);
  return reshape(out, x.shape());
}

}  // namespace sinter::ops
