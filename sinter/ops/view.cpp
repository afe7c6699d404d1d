// SPDX-License-Identifier: MIT OR Apache-2.0
// Layout rules and gradients of views.
#include "sinter/ops/view.hpp"

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::ops {
namespace {

// Replaces the one -1 in `asked` by what makes the element counts agree.
Shape resolve_shape(const Shape& from, const Shape& asked) {
  const std::int64_t count = num_elements(from);
  const auto reject = [&](std::string_view why) {
    throw ShapeError(
        fmt::format("reshape: {} of {} elements to {}: {}", from.str(), count, asked.str(), why));
  };
  constexpr std::string_view other_count = "the shape can't hold that number of elements";
  Shape out = asked;
  int open = -1;
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] == -1) {
      if (open >= 0) {
        reject("at most one -1 may stand for a size");
      }
      open = i;
      out[i] = 1;
    } else if (out[i] < 0) {
      reject("a size must be 0 or more, or -1 to be worked out");
    }
  }
  const std::int64_t known = num_elements(out);
  if (open >= 0) {
    if (known == 0 && count == 0) {
      reject("-1 is ambiguous with 0 elements; give that size");
    }
    if (known == 0 || count % known != 0) {
      reject(other_count);
    }
    out[open] = count / known;
  } else if (known != count) {
    reject(other_count);
  }
  return out;
}

template <class Op>
void check_slice(std::string_view name, const Shape& shape, const Op& op) {
  if (op.starts.rank() != shape.rank() || op.lengths.rank() != shape.rank() ||
      op.steps.rank() != shape.rank()) {
    throw ShapeError(
        fmt::format("{}: starts {}, lengths {} and steps {} must give one number for each "
                    "of the {} dims",
                    name, op.starts.str(), op.lengths.str(), op.steps.str(), shape.rank()));
  }
  for (int i = 0; i < shape.rank(); ++i) {
    if (op.lengths[i] == 0) {
      continue;
    }
    const std::int64_t last = op.starts[i] + (op.lengths[i] - 1) * op.steps[i];
    if (op.lengths[i] < 0 || op.steps[i] == 0 || op.starts[i] < 0 || op.starts[i] >= shape[i] ||
        last < 0 || last >= shape[i]) {
      throw IndexError(fmt::format("{}: {} elements from {} by {} leave dim {} of size {}", name,
                                   op.lengths[i], op.starts[i], op.steps[i], i, shape[i]));
    }
  }
}

template <class Op>
Layout slice_layout(const Op& op, const Layout& in) {
  Layout out = in;
  for (int i = 0; i < in.shape.rank(); ++i) {
    out = out.slice(i, op.starts[i], op.lengths[i], op.steps[i]);
  }
  return out;
}

}  // namespace

void Reshape::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  outputs.push_back({resolve_shape(x.shape(), call.as<Reshape>().shape), x.dtype()});
}
bool Reshape::view(const OpCall& call, const Layout& in, Layout& out) {
  return in.reshape(call.outputs[0].shape, out);
}
void Reshape::backward(GradCall& call) { call.set(0, reshape(call.grad(), call.input_shape(0))); }
void Reshape::samples(SampleSink& sink) {
  sink.add(Reshape{{6, -1}}, {value_sample({2, 3, 4})});
  sink.add(Reshape{{2, 1, 6}}, {value_sample({3, 4})});
  sink.add(Reshape{{}}, {value_sample({1, 1})});
}

void Permute::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  const Dims& dims = call.as<Permute>().dims;
  if (dims.rank() != x.rank()) {
    throw ShapeError(fmt::format("permute: {} must name each of the {} dims of {} once", dims.str(),
                                 x.rank(), x.shape().str()));
  }
  if (x.rank() > 0) {
    (void)normalize_dims(dims, x.rank(), "permute");
  }
  Shape shape = x.shape();
  for (int i = 0; i < dims.rank(); ++i) {
    shape[i] = x.shape()[normalize_dim(dims[i], x.rank(), "permute")];
  }
  outputs.push_back({shape, x.dtype()});
}
bool Permute::view(const OpCall& call, const Layout& in, Layout& out) {
  Dims dims = call.as<Permute>().dims;
  for (std::int64_t& dim : dims) {
    dim = normalize_dim(dim, in.shape.rank(), "permute");
  }
  out = in.permute(dims);
  return true;
}
void Permute::backward(GradCall& call) {
  const Dims& dims = call.op<Permute>().dims;
  Dims inverse = dims;
  for (int i = 0; i < dims.rank(); ++i) {
    inverse[normalize_dim(dims[i], dims.rank(), "permute")] = i;
  }
  call.set(0, permute(call.grad(), inverse));
}
void Permute::samples(SampleSink& sink) {
  sink.add(Permute{{2, 0, 1}}, {value_sample({2, 3, 4})});
  sink.add(Permute{{-1, 0}}, {value_sample({3, 4})});
}

void Expand::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  Shape shape = call.as<Expand>().shape;
  const int lead = shape.rank() - x.rank();
  for (int i = 0; i < shape.rank(); ++i) {
    const std::int64_t size = i < lead ? 1 : x.shape()[i - lead];
    if (shape[i] == -1 && i >= lead) {
      shape[i] = size;
    }
    if (lead < 0 || shape[i] < 0 || (size != 1 && size != shape[i])) {
      throw ShapeError(fmt::format("expand: {} can't expand to {}: only dims of size 1 stretch",
                                   x.shape().str(), call.as<Expand>().shape.str()));
    }
  }
  if (lead < 0) {
    throw ShapeError(fmt::format("expand: {} has more dims than {}", x.shape().str(), shape.str()));
  }
  (void)num_elements(shape);
  outputs.push_back({shape, x.dtype()});
}
bool Expand::view(const OpCall& call, const Layout& in, Layout& out) {
  out = in.expand(call.outputs[0].shape);
  return true;
}
// The engine sums the gradient down to the input's shape.
void Expand::backward(GradCall& call) { call.set(0, call.grad()); }
void Expand::samples(SampleSink& sink) {
  sink.add(Expand{{2, 3, 4}}, {value_sample({3, 1})});
  sink.add(Expand{{3, -1}}, {value_sample({1, 4})});
}

void Slice::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  check_slice("slice", x.shape(), call.as<Slice>());
  outputs.push_back({call.as<Slice>().lengths, x.dtype()});
}
bool Slice::view(const OpCall& call, const Layout& in, Layout& out) {
  out = slice_layout(call.as<Slice>(), in);
  return true;
}
void Slice::backward(GradCall& call) {
  const Slice& op = call.op<Slice>();
  const Value zeros = full(call.grad().backend(), call.input_shape(0), 0, call.grad().dtype());
  call.set(0, slice_assign(zeros, call.grad(), op.starts, op.lengths, op.steps));
}
void Slice::samples(SampleSink& sink) {
  sink.add(Slice{{1, 0}, {2, 3}, {1, 1}}, {value_sample({4, 3})});
  sink.add(Slice{{3, 0}, {2, 2}, {-2, 2}}, {value_sample({4, 3})});
}

void Unfold::infer(const OpCall& call, Specs& outputs) {
  const Value& x = call.inputs[0];
  const Unfold& op = call.as<Unfold>();
  const int dim = normalize_dim(op.dim, x.rank(), "unfold");
  if (op.size < 1 || op.step < 1 || op.size > x.shape()[dim]) {
    throw ShapeError(fmt::format(
        "unfold: windows of {} by step {} don't fit dim {} of size {}; both must be at least 1",
        op.size, op.step, dim, x.shape()[dim]));
  }
  Shape shape = x.shape();
  shape[dim] = (shape[dim] - op.size) / op.step + 1;
  shape.push_back(op.size);
  outputs.push_back({shape, x.dtype()});
}
bool Unfold::view(const OpCall& call, const Layout& in, Layout& out) {
  const Unfold& op = call.as<Unfold>();
  const int dim = normalize_dim(op.dim, in.shape.rank(), "unfold");
  out = in;
  out.shape = call.outputs[0].shape;
  out.strides.push_back(in.strides[dim]);
  out.strides[dim] *= op.step;
  return true;
}
// Windows overlap, so each position inside the windows is added in turn.
void Unfold::backward(GradCall& call) {
  const Unfold& op = call.op<Unfold>();
  const Shape& shape = call.input_shape(0);
  const int dim = normalize_dim(op.dim, shape.rank(), "unfold");
  const Value& g = call.grad();
  Value total = full(g.backend(), shape, 0, g.dtype());
  Dims starts = Dims::filled(shape.rank(), 0);
  Dims lengths = shape;
  Dims steps = Dims::filled(shape.rank(), 1);
  lengths[dim] = g.size(dim);
  steps[dim] = op.step;
  for (std::int64_t k = 0; k < op.size; ++k) {
    starts[dim] = k;
    total = slice_assign(total, squeeze(narrow(g, -1, k, 1), -1), starts, lengths, steps, true);
  }
  call.set(0, total);
}
void Unfold::samples(SampleSink& sink) {
  sink.add(Unfold{0, 3, 1}, {value_sample({6})});
  sink.add(Unfold{1, 2, 3}, {value_sample({2, 8, 3})});
}

void SliceAssign::infer(const OpCall& call, Specs& outputs) {
  const SliceAssign& op = call.as<SliceAssign>();
  const Value& x = call.inputs[0];
  const Value& values = call.inputs[1];
  check_slice("slice_assign", x.shape(), op);
  if (x.dtype() != values.dtype()) {
    throw DTypeError(fmt::format("slice_assign: the tensor is {} and the values are {}; cast one",
                                 name_of(x.dtype()), name_of(values.dtype())));
  }
  if (!(broadcast(values.shape(), op.lengths, "slice_assign") == op.lengths)) {
    throw ShapeError(fmt::format("slice_assign: values {} don't fit a slice of {}",
                                 values.shape().str(), op.lengths.str()));
  }
  outputs.push_back({x.shape(), x.dtype()});
}
void SliceAssign::backward(GradCall& call) {
  const SliceAssign& op = call.op<SliceAssign>();
  const Value& g = call.grad();
  if (call.needs(0)) {
    call.set(
        0, op.accumulate ? g : slice_assign(g, scalar_like(g, 0), op.starts, op.lengths, op.steps));
  }
  if (call.needs(1)) {
    call.set(1, slice(g, op.starts, op.lengths, op.steps));
  }
}
void SliceAssign::samples(SampleSink& sink) {
  sink.add(SliceAssign{{1, 0}, {2, 2}, {2, 1}}, {value_sample({4, 3}), value_sample({2, 2})});
  sink.add(SliceAssign{{3, 0}, {2, 3}, {-1, 1}, true}, {value_sample({4, 3}), value_sample({3})});
}

}  // namespace sinter::ops
