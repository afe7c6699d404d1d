// SPDX-License-Identifier: MIT OR Apache-2.0
// Optimizer steps: the blocks of all tensors in one parallel loop.
#include "sinter/ops/optim/optim.hpp"

#include <cmath>
#include <vector>

#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/backend/portable/nn_driver.hpp"

namespace sinter::backend::portable {
namespace {

using sinter::portable::AdamArgs;
using sinter::portable::SgdArgs;

constexpr std::int64_t piece = 16384;  // elements of a task

// Tensors cut into pieces of one numbering.
class Pieces {
 public:
  explicit Pieces(std::span<const Value> tensors) {
    starts_.push_back(0);
    for (const Value& tensor : tensors) {
      sizes_.push_back(tensor.num_elements());
      starts_.push_back(starts_.back() + (sizes_.back() + piece - 1) / piece);
    }
  }
  std::int64_t count() const { return starts_.back(); }
  /// Calls f(tensor, first element, elements, piece) for every piece, over threads.
  template <class F>
  void for_each(F&& f) const {
    parallel_for(count(), 1, [&](std::int64_t begin, std::int64_t end) {
      auto tensor = static_cast<std::size_t>(
          std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin() - 1);
      for (std::int64_t p = begin; p < end; ++p) {
        while (p >= starts_[tensor + 1]) {
          ++tensor;
        }
        const std::int64_t first = (p - starts_[tensor]) * piece;
        f(tensor, first, std::min(piece, sizes_[tensor] - first), p);
      }
    });
  }

 private:
  std::vector<std::int64_t> starts_;
  std::vector<std::int64_t> sizes_;
};

std::byte* element(const Value& value, std::int64_t i) {
  return host(value).data() + i * static_cast<std::int64_t>(size_of(value.dtype()));
}

// The inputs and outputs of a step, dense, in lists of n tensors; list 1 are the gradients.
struct Lists {
  std::size_t n;
  std::vector<Value> in;
  std::vector<Value> out;  // as in, with empty handles for the gradients

  Lists(Backend& backend, const OpCall& call, std::size_t lists) : n(call.inputs.size() / lists) {
    // First of all: an input that may be overwritten has no other handle yet.
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const bool gradient = i >= n && i < 2 * n;
      if (gradient) {
        out.emplace_back();
        continue;
      }
      const TensorSpec& spec = call.outputs[i < n ? i : i - n];
      out.push_back(may_overwrite(call, i, spec) ? call.inputs[i] : allocate(backend, spec));
    }
    for (const Value& input : call.inputs) {
      in.push_back(densely(input));
    }
  }
  void write(Outputs& outputs) const {
    for (const Value& value : out) {
      if (value) {
        outputs.push_back(value);
      }
    }
  }
  /// Calls f(index in the first list, first element, elements); T is what parameters are computed
  /// in.
  std::span<const Value> parameters() const { return {in.data(), n}; }
};

// `count` elements of T from `first` on, in the tensor itself or converted to `buffer`.
template <class T>
const T* load(const Value& value, std::int64_t first, std::int64_t count, BlockBuffer& buffer) {
  return static_cast<const T*>(
      load_block(value.dtype(), element(value, first), carried_of(dtype_of<T>), count, buffer));
}

// Runs step(p_in, g, offset of the state, p_out, elements) on pieces of parameter `i`, converting
// parameters and gradients that are not T in blocks.
template <class T, class F>
void step_piece(const Lists& lists, std::size_t i, std::int64_t first, std::int64_t count,
                F&& step) {
  const Value& p = lists.in[i];
  const Value& g = lists.in[lists.n + i];
  const Value& out = lists.out[i];
  if (p.dtype() == dtype_of<T> && g.dtype() == dtype_of<T>) {
    step(data_of<T>(p) + first, data_of<T>(g) + first, first, data_of<T>(out) + first, count);
    return;
  }
  BlockBuffer p_buffer;
  BlockBuffer g_buffer;
  BlockBuffer out_buffer;
  for (std::int64_t done = 0; done < count; done += block_elements) {
    const std::int64_t at = first + done;
    const std::int64_t n = std::min(block_elements, count - done);
    T* result =
        p.dtype() == dtype_of<T> ? data_of<T>(out) + at : reinterpret_cast<T*>(out_buffer.data());
    step(load<T>(p, at, n, p_buffer), load<T>(g, at, n, g_buffer), at, result, n);
    if (p.dtype() != dtype_of<T>) {
      store_block(carried_of(dtype_of<T>), result, p.dtype(), element(out, at), n);
    }
  }
}

template <class T>
T* at(const std::vector<Value>& list, std::size_t i, std::int64_t first) {
  return list[i] ? data_of<T>(list[i]) + first : nullptr;
}

void sgd_step(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::SgdStep>();
  const bool momentum = op.momentum != 0;
  const Lists lists(backend, call, momentum ? 3 : 2);
  Pieces(lists.parameters())
      .for_each([&](std::size_t i, std::int64_t first, std::int64_t count, std::int64_t) {
        with_float(lists.in[i].dtype(), [&]<class T>() {
          const SgdArgs<T> args{static_cast<T>(op.lr),
                                static_cast<T>(op.momentum),
                                static_cast<T>(1 - op.dampening),
                                static_cast<T>(op.weight_decay),
                                momentum,
                                op.nesterov,
                                op.first};
          step_piece<T>(lists, i, first, count,
                        [&](const T* p, const T* g, std::int64_t state, T* out, std::int64_t n) {
                          const std::size_t buffer = 2 * lists.n + i;
                          nn<T>().optim.sgd(
                              args, p, g, momentum ? at<T>(lists.in, buffer, state) : nullptr, out,
                              momentum ? at<T>(lists.out, buffer, state) : nullptr, n);
                        });
        });
      });
  lists.write(outputs);
}

template <class T>
AdamArgs<T> adam_args(const ops::AdamStep& op) {
  const auto step = static_cast<double>(op.step);
  AdamArgs<T> args;
  args.lr = static_cast<T>(op.lr);
  args.beta1 = static_cast<T>(op.beta1);
  args.beta2 = static_cast<T>(op.beta2);
  args.eps = static_cast<T>(op.eps);
  args.weight_decay = static_cast<T>(op.weight_decay);
  args.keep1 = static_cast<T>(1 - op.beta1);
  args.keep2 = static_cast<T>(1 - op.beta2);
  args.step_size = static_cast<T>(op.lr / (1 - std::pow(op.beta1, step)));
  args.root_second = static_cast<T>(std::sqrt(1 - std::pow(op.beta2, step)));
  args.decoupled = op.decoupled;
  return args;
}

void adam_step(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::AdamStep>();
  const Lists lists(backend, call, op.amsgrad ? 5 : 4);
  Pieces(lists.parameters())
      .for_each([&](std::size_t i, std::int64_t first, std::int64_t count, std::int64_t) {
        with_float(lists.in[i].dtype(), [&]<class T>() {
          const AdamArgs<T> args = adam_args<T>(op);
          step_piece<T>(lists, i, first, count,
                        [&](const T* p, const T* g, std::int64_t state, T* out, std::int64_t n) {
                          const std::size_t m = 2 * lists.n + i;
                          const std::size_t v = 3 * lists.n + i;
                          const std::size_t most = 4 * lists.n + i;
                          nn<T>().optim.adam(
                              args, p, g, at<T>(lists.in, m, state), at<T>(lists.in, v, state),
                              op.amsgrad ? at<T>(lists.in, most, state) : nullptr, out,
                              at<T>(lists.out, m, state), at<T>(lists.out, v, state),
                              op.amsgrad ? at<T>(lists.out, most, state) : nullptr, n);
                        });
        });
      });
  lists.write(outputs);
}

// Sums of pieces are added in order, whatever the threads.
void sum_squares(Backend& backend, const OpCall& call, Outputs& outputs) {
  std::vector<Value> inputs;
  for (const Value& input : call.inputs) {
    inputs.push_back(densely(input));
  }
  const Pieces pieces(inputs);
  std::vector<double> partial(static_cast<std::size_t>(pieces.count()));
  pieces.for_each([&](std::size_t i, std::int64_t first, std::int64_t count, std::int64_t p) {
    with_float(inputs[i].dtype(), [&]<class T>() {
      double sum = 0;
      if (inputs[i].dtype() == dtype_of<T>) {
        sum = nn<T>().optim.sum_squares(data_of<T>(inputs[i]) + first, count);
      } else {
        BlockBuffer buffer;
        for (std::int64_t done = 0; done < count; done += block_elements) {
          const std::int64_t n = std::min(block_elements, count - done);
          sum += nn<T>().optim.sum_squares(load<T>(inputs[i], first + done, n, buffer), n);
        }
      }
      partial[static_cast<std::size_t>(p)] = sum;
    });
  });
  double total = 0;
  for (const double sum : partial) {
    total += sum;
  }
  const Value out = allocate(backend, call.outputs[0]);
  convert_elements(&total, DType::f64, host(out).data(), out.dtype(), 1);
  outputs.push_back(out);
}

void scale_all(Backend& backend, const OpCall& call, Outputs& outputs) {
  double factor = 0;
  convert_elements(host(densely(call.inputs[0])).data(), call.inputs[0].dtype(), &factor,
                   DType::f64, 1);
  std::vector<Value> out;
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const TensorSpec& spec = call.outputs[i - 1];
    out.push_back(may_overwrite(call, i, spec) ? call.inputs[i] : allocate(backend, spec));
  }
  std::vector<Value> in;
  for (const Value& input : call.inputs.subspan(1)) {
    in.push_back(densely(input));
  }
  Pieces(in).for_each([&](std::size_t i, std::int64_t first, std::int64_t count, std::int64_t) {
    with_float(in[i].dtype(), [&]<class T>() {
      if (in[i].dtype() == dtype_of<T>) {
        nn<T>().optim.scale(static_cast<T>(factor), data_of<T>(in[i]) + first,
                            data_of<T>(out[i]) + first, count);
        return;
      }
      BlockBuffer buffer;
      BlockBuffer result;
      for (std::int64_t done = 0; done < count; done += block_elements) {
        const std::int64_t n = std::min(block_elements, count - done);
        T* y = reinterpret_cast<T*>(result.data());
        nn<T>().optim.scale(static_cast<T>(factor), load<T>(in[i], first + done, n, buffer), y, n);
        store_block(carried_of(dtype_of<T>), y, in[i].dtype(), element(out[i], first + done), n);
      }
    });
  });
  for (Value& value : out) {
    outputs.push_back(std::move(value));
  }
}

}  // namespace

void set_optim(KernelTable& table) {
  table.set<ops::SgdStep>(sgd_step);
  table.set<ops::AdamStep>(adam_step);
  table.set<ops::SumSquares>(sum_squares);
  table.set<ops::ScaleAll>(scale_all);
}

}  // namespace sinter::backend::portable
