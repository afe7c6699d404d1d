// SPDX-License-Identifier: MIT OR Apache-2.0
// Rule and gradient of matrix products.
#include "sinter/ops/matmul/matmul.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {

void Matmul::infer(const OpCall& call, Specs& outputs) {
  const Value& a = call.inputs[0];
  const Value& b = call.inputs[1];
  if (a.rank() < 2 || b.rank() < 2) {
    throw ShapeError(
        fmt::format("matmul: both inputs need at least 2 dims, got {} and {}; unsqueeze a "
                    "vector first",
                    a.shape().str(), b.shape().str()));
  }
  if (a.size(-1) != b.size(-2)) {
    throw ShapeError(
        fmt::format("matmul: the inner sizes of {} and {} differ: {} and {}; transpose one?",
                    a.shape().str(), b.shape().str(), a.size(-1), b.size(-2)));
  }
  const DType common = promote(a.dtype(), b.dtype());
  check_domain("matmul", info.domain, common);
  Shape left = a.shape();
  Shape right = b.shape();
  left.erase(left.rank() - 1);
  left.erase(left.rank() - 1);
  right.erase(right.rank() - 1);
  right.erase(right.rank() - 1);
  Shape shape = broadcast(left, right, "matmul");
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  outputs.push_back({shape, common == DType::i8 ? DType::i32 : common});
}

void Matmul::backward(GradCall& call) {
  const Value& a = call.input(0);
  const Value& b = call.input(1);
  const Value& g = call.grad();
  if (call.needs(0)) {
    call.set(0, matmul(g, transpose(b)));
  }
  if (call.needs(1)) {
    // One matrix for a whole batch: its gradient is one product over all rows.
    if (b.rank() == 2 && a.rank() > 2) {
      const Value rows = reshape(a, {-1, a.size(-1)});
      call.set(1, matmul(transpose(rows), reshape(g, {-1, g.size(-1)})));
    } else {
      call.set(1, matmul(transpose(a), g));
    }
  }
}

void Matmul::samples(SampleSink& sink) {
  sink.add(Matmul{}, {value_sample({3, 4}), value_sample({4, 5})});
  sink.add(Matmul{}, {value_sample({2, 3, 4}), value_sample({4, 2})});
  sink.add(Matmul{}, {value_sample({2, 1, 3, 4}), value_sample({3, 4, 2})});
}

}  // namespace sinter::ops
