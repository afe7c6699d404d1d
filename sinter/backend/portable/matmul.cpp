// SPDX-License-Identifier: MIT OR Apache-2.0
// Driver of matrix products: views as they lie, batches folded into rows where they can be.
#include "sinter/ops/matmul/matmul.hpp"

#include <algorithm>

#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/convert.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/base/memory_pool.hpp"
#include "sinter/base/thread_pool.hpp"

namespace sinter::backend::portable {
namespace {

using sinter::portable::Gemm;
using sinter::portable::GemmGrid;
using sinter::portable::GemmI8;

// Below this many multiplications a product is not worth a second thread.
constexpr std::int64_t serial_limit = std::int64_t{64} * 64 * 64;

// Scratch of one task: a little on the stack, else of the pool.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : bytes_(bytes),
        block_(bytes <= sizeof(small_) ? small_ : MemoryPool::host().allocate(bytes)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (block_ != small_) {
      MemoryPool::host().free(block_, bytes_);
    }
  }
  void* data() { return block_; }

 private:
  alignas(64) std::byte small_[1024];
  std::size_t bytes_;
  void* block_;
};

std::size_t scratch_bytes(const Gemm<float>& g) {
  return kernels().gemm_f32_scratch_bytes(g.m, g.n, g.k);
}
std::size_t scratch_bytes(const Gemm<double>& g) {
  return kernels().gemm_f64_scratch_bytes(g.m, g.n, g.k);
}
std::size_t scratch_bytes(const GemmI8& g) {
  return kernels().gemm_i8_scratch_bytes(g.m, g.n, g.k);
}
void run_kernel(const Gemm<float>& g, void* scratch) { kernels().gemm_f32(g, scratch); }
void run_kernel(const Gemm<double>& g, void* scratch) { kernels().gemm_f64(g, scratch); }
void run_kernel(const GemmI8& g, void* scratch) { kernels().gemm_i8(g, scratch); }

// Sizes and strides of a product; batch dims come first and share their index.
struct Plan {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t a_row = 0;
  std::int64_t a_col = 0;
  std::int64_t b_row = 0;
  std::int64_t b_col = 0;
  int rank = 0;  // batch dims
  std::int64_t sizes[max_rank] = {};
  std::int64_t a_batch[max_rank] = {};
  std::int64_t b_batch[max_rank] = {};

  std::int64_t batches() const {
    std::int64_t count = 1;
    for (int d = 0; d < rank; ++d) {
      count *= sizes[d];
    }
    return count;
  }
};

std::int64_t batch_stride(const HostTensor& x, int dims_from_end) {
  const int dim = x.shape().rank() - dims_from_end;
  return dim < 0 || x.shape()[dim] == 1 ? 0 : x.strides()[dim];
}

// A batch dim that B doesn't have, and whose steps in A carry on from its rows, is more rows.
void fold_rows(Plan& plan) {
  while (plan.rank > 0) {
    const int last = plan.rank - 1;
    const std::int64_t size = plan.sizes[last];
    const bool shared = plan.b_batch[last] == 0;
    const bool carries_on = plan.m == 1 || plan.a_batch[last] == plan.a_row * plan.m;
    if (size != 1 && !(shared && carries_on)) {
      return;
    }
    if (size != 1) {
      plan.a_row = plan.m == 1 ? plan.a_batch[last] : plan.a_row;
      plan.m *= size;
    }
    --plan.rank;
  }
}

Plan make_plan(const HostTensor& a, const HostTensor& b, const Shape& out) {
  Plan plan;
  const int rank = out.rank();
  const int a_rank = a.shape().rank();
  const int b_rank = b.shape().rank();
  plan.m = out[rank - 2];
  plan.n = out[rank - 1];
  plan.k = a.shape()[a_rank - 1];
  plan.a_row = a.strides()[a_rank - 2];
  plan.a_col = a.strides()[a_rank - 1];
  plan.b_row = b.strides()[b_rank - 2];
  plan.b_col = b.strides()[b_rank - 1];
  plan.rank = rank - 2;
  for (int d = 0; d < plan.rank; ++d) {
    plan.sizes[d] = out[d];
    plan.a_batch[d] = batch_stride(a, rank - d);
    plan.b_batch[d] = batch_stride(b, rank - d);
  }
  fold_rows(plan);
  return plan;
}

// The product of one batch.
template <class G, class A, class C>
G product_at(const Plan& plan, const A* a, const A* b, C* c, std::int64_t batch) {
  G g;
  g.m = plan.m;
  g.n = plan.n;
  g.k = plan.k;
  g.a = a;
  g.b = b;
  g.c = c + batch * plan.m * plan.n;
  g.a_row = plan.a_row;
  g.a_col = plan.a_col;
  g.b_row = plan.b_row;
  g.b_col = plan.b_col;
  g.c_row = plan.n;
  for (int d = plan.rank - 1; d >= 0; --d) {
    const std::int64_t index = batch % plan.sizes[d];
    batch /= plan.sizes[d];
    g.a += index * plan.a_batch[d];
    g.b += index * plan.b_batch[d];
  }
  return g;
}

template <class G, class A, class C>
void multiply(const Plan& plan, const A* a, const A* b, C* c) {
  const std::int64_t batches = plan.batches();
  if (batches == 0 || plan.m == 0 || plan.n == 0) {
    return;
  }
  const std::int64_t work = plan.m * plan.n * std::max<std::int64_t>(plan.k, 1);
  if (batches == 1 && work <= serial_limit) {
    const G g = product_at<G>(plan, a, b, c, 0);
    Scratch scratch(scratch_bytes(g));
    return run_kernel(g, scratch.data());
  }
  GemmGrid grid;
  const std::int64_t threads = ThreadPool::global().num_threads();
  if (batches < 2 * threads && work > serial_limit) {
    grid = sinter::portable::gemm_grid(plan.m, plan.n, batches == 1 ? threads : 2 * threads);
  }
  const std::int64_t pieces = grid.rows * grid.cols;
  const std::int64_t grain =
      std::max<std::int64_t>(1, serial_limit / std::max<std::int64_t>(work, 1));
  parallel_for(batches * pieces, pieces > 1 ? 1 : grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      G g = product_at<G>(plan, a, b, c, task / pieces);
      if (pieces > 1) {
        g = sinter::portable::gemm_piece(g, grid, task % pieces);
      }
      Scratch scratch(scratch_bytes(g));
      run_kernel(g, scratch.data());
    }
  });
}

// Integers other than i8: 64-bit sums that wrap; the result keeps the low bits.
void multiply_integers(const Plan& plan, const std::int64_t* a, const std::int64_t* b,
                       std::int64_t* c) {
  const std::int64_t batches = plan.batches();
  const std::int64_t grain =
      std::max<std::int64_t>(1, parallel_grain / std::max<std::int64_t>(1, plan.n * plan.k));
  parallel_for(batches * plan.m, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto g = product_at<Gemm<std::int64_t>>(plan, a, b, c, row / plan.m);
      const std::int64_t i = row % plan.m;
      auto* out = reinterpret_cast<std::uint64_t*>(g.c) + i * plan.n;
      std::fill_n(out, plan.n, 0);
      for (std::int64_t p = 0; p < plan.k; ++p) {
        const auto x = static_cast<std::uint64_t>(g.a[i * g.a_row + p * g.a_col]);
        const std::int64_t* y = g.b + p * g.b_row;
        for (std::int64_t j = 0; j < plan.n; ++j) {
          out[j] += x * static_cast<std::uint64_t>(y[j * g.b_col]);
        }
      }
    }
  });
}

Value in_dtype(const Value& value, DType dtype) {
  return value.dtype() == dtype ? value : converted(value, dtype);
}

void run_matmul(Backend& backend, const OpCall& call, Outputs& outputs) {
  const TensorSpec& spec = call.outputs[0];
  const bool bytes = call.inputs[0].dtype() == DType::i8 && call.inputs[1].dtype() == DType::i8;
  // Half types compute in f32, integers in 64 bits.
  const DType dtype = bytes ? DType::i8
                      : carried_of(spec.dtype) == Carried::u64
                          ? DType::i64
                          : dtype_of_carried(carried_of(spec.dtype));
  const Value a = in_dtype(call.inputs[0], dtype);
  const Value b = in_dtype(call.inputs[1], dtype);
  const Plan plan = make_plan(host(a), host(b), spec.shape);
  Value product = allocate(backend, spec.shape, bytes ? DType::i32 : dtype);
  const HostTensor& c = host(product);
  switch (dtype) {
    case DType::f32:
      multiply<Gemm<float>>(plan, host(a).data_as<const float>(), host(b).data_as<const float>(),
                            c.data_as<float>());
      break;
    case DType::f64:
      multiply<Gemm<double>>(plan, host(a).data_as<const double>(), host(b).data_as<const double>(),
                             c.data_as<double>());
      break;
    case DType::i8:
      multiply<GemmI8>(plan, host(a).data_as<const std::int8_t>(),
                       host(b).data_as<const std::int8_t>(), c.data_as<std::int32_t>());
      break;
    default:
      multiply_integers(plan, host(a).data_as<const std::int64_t>(),
                        host(b).data_as<const std::int64_t>(), c.data_as<std::int64_t>());
      break;
  }
  outputs.push_back(in_dtype(product, spec.dtype));
}

}  // namespace

void set_matmul(KernelTable& table) { table.set<ops::Matmul>(run_matmul); }

}  // namespace sinter::backend::portable
