// SPDX-License-Identifier: MIT OR Apache-2.0
// Driver of all elementwise ops: whole tensors where elements lie as kernels want them, else
// blocks.
#include <algorithm>
#include <memory>

#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/convert.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/base/thread_pool.hpp"

namespace sinter::backend::portable {
namespace {

constexpr std::size_t max_inputs = 8;
// From this size on a new result is written past the cache: it would not stay there anyway. One
// that overwrites an input is in the cache by then, and faster to store there.
constexpr std::int64_t stream_bytes = std::int64_t{32} << 20;

// A formula on blocks: a SIMD kernel, or the scalar function that every op brings along.
struct Formula {
  Carried carried = Carried::f32;
  sinter::portable::BlockKernel kernel = nullptr;
  BlockFunction function = nullptr;
  const void* attributes = nullptr;

  void operator()(const void* const* inputs, void* output, std::int64_t n) const {
    if (kernel) {
      kernel(attributes, inputs, output, static_cast<std::size_t>(n));
    } else {
      function(attributes, inputs, output, n);
    }
  }
};

// Where the inputs meet; a result may have another dtype (bool).
DType common_dtype(const OpCall& call) {
  DType dtype = call.inputs[0].dtype();
  for (const Value& input : call.inputs.subspan(1)) {
    if (input.dtype() != dtype) {
      dtype = promote(dtype, input.dtype());
    }
  }
  return dtype;
}

Formula find_formula(const OpCall& call) {
  static const auto& table = kernels().elementwise();
  Formula formula;
  formula.carried = carried_of(common_dtype(call));
  formula.attributes = call.attributes;
  const OpDef& def = *call.def;
  if (def.code >= 0) {
    formula.kernel =
        table.rows[static_cast<std::size_t>(formula.carried)][static_cast<std::size_t>(def.variant)]
                  [static_cast<std::size_t>(def.code)];
  }
  if (!formula.kernel) {
    const ElementwiseRow& row = *def.elementwise;
    if (formula.carried == Carried::f32) {
      formula.carried = Carried::f64;
    }
    formula.function = formula.carried == Carried::f64   ? row.f64
                       : formula.carried == Carried::i64 ? row.i64
                                                         : row.u64;
  }
  return formula;
}

Value result_for(Backend& backend, const OpCall& call) {
  const TensorSpec& spec = call.outputs[0];
  if (call.donated != 0) {
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (may_overwrite(call, i, spec)) {
        return call.inputs[i];
      }
    }
  }
  return allocate(backend, spec);
}

// The inputs are dense, of the result's shape and of the carried dtype: no plan is needed.
bool all_plain(const OpCall& call, const Formula& formula) {
  const DType dtype = dtype_of_carried(formula.carried);
  for (const Value& input : call.inputs) {
    if (input.dtype() != dtype || !host(input).is_contiguous() ||
        !(input.shape() == call.outputs[0].shape)) {
      return false;
    }
  }
  return call.def->elementwise->bool_result || call.outputs[0].dtype == dtype;
}

// The result is new, too large for the cache, and can be stored a line at a time.
bool past_cache(const OpCall& call, const HostTensor& out, std::int64_t n) {
  const std::int64_t bytes = n * static_cast<std::int64_t>(sinter::size_of(out.dtype()));
  if (bytes < stream_bytes || reinterpret_cast<std::uintptr_t>(out.data()) % 64 != 0) {
    return false;
  }
  for (const Value& input : call.inputs) {
    if (host(input).data() == out.data()) {
      return false;
    }
  }
  return true;
}

// One result computed block by block.
class BlockRun {
 public:
  BlockRun(const OpCall& call, const Formula& formula, const HostTensor& out, bool stream)
      : formula_(formula),
        count_(call.inputs.size()),
        out_(out.data()),
        out_dtype_(out.dtype()),
        in_place_(call.def->elementwise->bool_result ||
                  out.dtype() == dtype_of_carried(formula.carried)),
        stream_(stream) {
    for (std::size_t k = 0; k < count_; ++k) {
      const Value* input = &call.inputs[k];
      if (transposed(*input)) {
        // Reading it row by row would fetch a line of the cache for each element.
        laid_out_[k] = densely(*input);
        input = &laid_out_[k];
      }
      std::construct_at(&operands_[k], *input, call.outputs[0].shape, formula.carried);
    }
  }

  void operator()(std::int64_t begin, std::int64_t end) const {
    BlockBuffer buffers[max_inputs];
    BlockBuffer result;
    BlockBuffer converted;
    for (std::size_t k = 0; k < count_; ++k) {
      operands_[k].prepare(buffers[k], end - begin);
    }
    const auto size = static_cast<std::int64_t>(sinter::size_of(out_dtype_));
    for (std::int64_t at = begin; at < end; at += block_elements) {
      const std::int64_t n = std::min(block_elements, end - at);
      const void* inputs[max_inputs];
      for (std::size_t k = 0; k < count_; ++k) {
        inputs[k] = operands_[k].fetch(at, n, buffers[k]);
      }
      std::byte* target = out_ + at * size;
      std::byte* block = in_place_ && !stream_ ? target : result.data();
      formula_(inputs, block, n);
      if (!in_place_) {
        std::byte* stored = stream_ ? converted.data() : target;
        store_block(formula_.carried, block, out_dtype_, stored, n);
        block = stored;
      }
      if (stream_) {
        kernels().copy().stream(block, target, static_cast<std::size_t>(n * size));
      }
    }
  }

 private:
  const Formula& formula_;
  std::size_t count_;
  std::byte* out_;
  DType out_dtype_;
  bool in_place_;  // the formula writes the result's own dtype
  bool stream_;    // past the cache
  Value laid_out_[max_inputs];
  Operand operands_[max_inputs];
};

// Apart from the short path, whose stack frame stays small.
[[gnu::noinline]] void run_blocks(const OpCall& call, const Formula& formula, const HostTensor& out,
                                  std::int64_t n, bool stream) {
  const BlockRun run(call, formula, out, stream);
  parallel_for(n, parallel_grain, run);
}

void run_plain(const OpCall& call, const Formula& formula, const HostTensor& out, std::int64_t n) {
  const std::byte* data[max_inputs];
  for (std::size_t k = 0; k < call.inputs.size(); ++k) {
    data[k] = host(call.inputs[k]).data();
  }
  const std::size_t in_size = size_of(formula.carried);
  const std::size_t out_size = sinter::size_of(out.dtype());
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    const void* inputs[max_inputs];
    for (std::size_t k = 0; k < call.inputs.size(); ++k) {
      inputs[k] = data[k] + static_cast<std::size_t>(begin) * in_size;
    }
    formula(inputs, out.data() + static_cast<std::size_t>(begin) * out_size, end - begin);
  };
  if (n <= parallel_grain) {
    run(0, n);
  } else {
    parallel_for(n, parallel_grain, run);
  }
}

void run_elementwise(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Formula formula = find_formula(call);
  Value result = result_for(backend, call);
  const HostTensor& out = host(result);
  const std::int64_t n = num_elements(out.shape());
  const bool stream = past_cache(call, out, n);
  if (!stream && all_plain(call, formula)) {
    run_plain(call, formula, out, n);
  } else if (n > 0) {
    run_blocks(call, formula, out, n, stream);
  }
  outputs.push_back(std::move(result));
}

}  // namespace

void set_elementwise(KernelTable& table) { table.elementwise = run_elementwise; }

}  // namespace sinter::backend::portable
