// SPDX-License-Identifier: MIT OR Apache-2.0
// Matrix products by three plain loops.
#include "sinter/ops/matmul/matmul.hpp"

#include "sinter/backend/reference/oracle.hpp"

namespace sinter::backend::reference {
namespace {

template <class T>
Value multiply(Backend& backend, const OpCall& call) {
  const Value& a = call.inputs[0];
  const Value& b = call.inputs[1];
  const Shape& shape = call.outputs[0].shape;
  const std::int64_t m = a.size(-2);
  const std::int64_t k = a.size(-1);
  const std::int64_t n = b.size(-1);
  const auto broadcast_batch = [&](const Value& matrix) {
    Shape target = shape;
    target[target.rank() - 2] = matrix.size(-2);
    target[target.rank() - 1] = matrix.size(-1);
    return read_broadcast<T>(matrix, target);
  };
  const std::vector<T> left = broadcast_batch(a);
  const std::vector<T> right = broadcast_batch(b);
  std::vector<T> product(static_cast<std::size_t>(num_elements(shape)));
  const std::int64_t batches = m * n == 0 ? 0 : static_cast<std::int64_t>(product.size()) / (m * n);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          sum += left[static_cast<std::size_t>((batch * m + i) * k + p)] *
                 right[static_cast<std::size_t>((batch * k + p) * n + j)];
        }
        product[static_cast<std::size_t>((batch * m + i) * n + j)] = sum;
      }
    }
  }
  return write_as(backend, call.outputs[0], product);
}

void matmul(Backend& backend, const OpCall& call, Outputs& outputs) {
  with_carrier(call.outputs[0].dtype,
               [&]<class T>() { outputs.push_back(multiply<T>(backend, call)); });
}

}  // namespace

void set_matmul(KernelTable& table) { table.set<ops::Matmul>(matmul); }

}  // namespace sinter::backend::reference
