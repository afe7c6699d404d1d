// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolution: f32 over one and two dims by kernels of its own, everything else by unfolding.
#include "sinter/ops/conv/conv.hpp"

#include <cstring>

#include "sinter/backend/portable/conv_unfold.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/backend/portable/nn_driver.hpp"

namespace sinter::backend::portable {
namespace {

using sinter::portable::ConvArgs;
using sinter::portable::ConvPass;
using sinter::portable::ConvPlan;
using sinter::portable::ConvShape;

ConvShape shape_of(const ops::ConvWindow& window, const Shape& x, const Shape& weight) {
  const int last = x.rank() - 3;  // index of the innermost spatial dim
  ConvShape s;
  s.n = x[0];
  s.ci = x[1];
  s.co = weight[0];
  s.w = x[2 + last];
  s.kw = weight[2 + last];
  s.stride_w = window.stride[last];
  s.left = window.padding_before[last];
  s.right = window.padding_after[last];
  s.dilation_w = window.dilation[last];
  if (last == 1) {
    s.h = x[2];
    s.kh = weight[2];
    s.stride_h = window.stride[0];
    s.top = window.padding_before[0];
    s.bottom = window.padding_after[0];
    s.dilation_h = window.dilation[0];
  }
  s.groups = window.groups;
  return s;
}

void run_pass(const ConvShape& shape, ConvPass pass, const ConvArgs& args) {
  const auto& k = kernels();
  const ConvPlan plan = k.conv_plan(shape, pass);
  const Scratch shared(plan.shared_bytes);
  k.conv_prepare(plan, args, shared.data());
  parallel_for(plan.tasks, 1, [&](std::int64_t begin, std::int64_t end) {
    const Scratch scratch(plan.scratch_bytes);
    for (std::int64_t task = begin; task < end; ++task) {
      k.conv_task(plan, args, shared.data(), scratch.data(), task);
    }
  });
  parallel_for(plan.parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      k.conv_finish(plan, args, shared.data(), part, plan.parts);
    }
  });
}

template <class T>
bool is_planar(const Shape& x) {
  return std::is_same_v<T, float> && x.rank() <= 4;
}

// Nothing to multiply: the reference knows what zeros and biases are left.
bool is_empty(const OpCall& call) {
  return call.inputs[0].num_elements() == 0 || call.inputs[1].num_elements() == 0 ||
         num_elements(call.outputs[0].shape) == 0;
}

template <class T>
Value forward(Backend& backend, const OpCall& call) {
  const Value x = dense_as<T>(call.inputs[0]);
  const Value weight = dense_as<T>(call.inputs[1]);
  const Value bias = call.inputs.size() > 2 ? dense_as<T>(call.inputs[2]) : Value();
  const ops::ConvWindow window = call.as<ops::Conv>().resolved(x.rank() - 2, "conv");
  Value y = allocate(backend, call.outputs[0]);
  const T* b = bias ? data_of<T>(bias) : nullptr;
  if constexpr (std::is_same_v<T, float>) {
    if (is_planar<T>(x.shape())) {
      run_pass(shape_of(window, x.shape(), weight.shape()), ConvPass::forward,
               {.x = data_of<T>(x), .weight = data_of<T>(weight), .bias = b, .out = data_of<T>(y)});
      return y;
    }
  }
  const Unfolding unfolding(window, x.shape(), weight.shape(), y.shape());
  unfold_forward(unfolding, data_of<T>(x), data_of<T>(weight), b, data_of<T>(y));
  return y;
}

template <class T>
Value input_grad(Backend& backend, const OpCall& call) {
  const Value g = dense_as<T>(call.inputs[0]);
  const Value weight = dense_as<T>(call.inputs[1]);
  const ops::ConvWindow window = call.as<ops::ConvInputGrad>().resolved(g.rank() - 2, "conv");
  Value dx = allocate(backend, call.outputs[0]);
  if constexpr (std::is_same_v<T, float>) {
    if (is_planar<T>(g.shape())) {
      run_pass(shape_of(window, dx.shape(), weight.shape()), ConvPass::data_gradient,
               {.weight = data_of<T>(weight), .y = data_of<T>(g), .out = data_of<T>(dx)});
      return dx;
    }
  }
  const Unfolding unfolding(window, dx.shape(), weight.shape(), g.shape());
  unfold_input_grad(unfolding, data_of<T>(g), data_of<T>(weight), data_of<T>(dx));
  return dx;
}

template <class T>
Value weight_grad(Backend& backend, const OpCall& call) {
  const Value x = dense_as<T>(call.inputs[0]);
  const Value g = dense_as<T>(call.inputs[1]);
  const ops::ConvWindow window = call.as<ops::ConvWeightGrad>().resolved(x.rank() - 2, "conv");
  Value dw = allocate(backend, call.outputs[0]);
  if constexpr (std::is_same_v<T, float>) {
    if (is_planar<T>(x.shape())) {
      run_pass(shape_of(window, x.shape(), dw.shape()), ConvPass::weight_gradient,
               {.x = data_of<T>(x), .y = data_of<T>(g), .out = data_of<T>(dw)});
      return dw;
    }
  }
  const Unfolding unfolding(window, x.shape(), dw.shape(), g.shape());
  unfold_weight_grad(unfolding, data_of<T>(x), data_of<T>(g), data_of<T>(dw));
  return dw;
}

#define SINTER_CONV_KERNEL(name, pass)                                         \
  void name(Backend& backend, const OpCall& call, Outputs& outputs) {          \
    if (is_empty(call)) {                                                      \
      run_reference(backend, call, outputs);                                   \
      return;                                                                  \
    }                                                                          \
    with_float(call.outputs[0].dtype,                                          \
               [&]<class T>() { outputs.push_back(pass<T>(backend, call)); }); \
  }
SINTER_CONV_KERNEL(conv, forward)
SINTER_CONV_KERNEL(conv_input_grad, input_grad)
SINTER_CONV_KERNEL(conv_weight_grad, weight_grad)
#undef SINTER_CONV_KERNEL

}  // namespace

void set_conv(KernelTable& table) {
  table.set<ops::Conv>(widened<conv>);
  table.set<ops::ConvInputGrad>(widened<conv_input_grad>);
  table.set<ops::ConvWeightGrad>(widened<conv_weight_grad>);
}

}  // namespace sinter::backend::portable
