// SPDX-License-Identifier: MIT OR Apache-2.0
// Joining and padding by copies of whole rows.
#include <cstring>

#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/convert.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/ops/join/join.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::backend::portable {
namespace {

void run_cat(Backend& backend, const OpCall& call, Outputs& outputs) {
  Value out = allocate(backend, call.outputs[0]);
  const Shape& shape = out.shape();
  const int dim = normalize_dim(call.as<ops::Cat>().dim, shape.rank(), "cat");
  std::int64_t outer = 1;
  for (int i = 0; i < dim; ++i) {
    outer *= shape[i];
  }
  std::int64_t row_bytes = static_cast<std::int64_t>(size_of(out.dtype()));
  for (int i = dim + 1; i < shape.rank(); ++i) {
    row_bytes *= shape[i];
  }
  std::byte* to = host(out).data();
  const std::int64_t pitch = shape[dim] * row_bytes;
  for (const Value& part : call.inputs) {
    const std::int64_t bytes = part.size(dim) * row_bytes;
    if (bytes == 0 || outer == 0) {
      continue;
    }
    if (outer == 1) {
      copy_dense(host(part).data(), host(part).layout(), size_of(part.dtype()), to);
    } else {
      const Value dense_part = densely(part);
      const std::byte* from = host(dense_part).data();
      parallel_for(
          outer, 4 * parallel_grain / bytes + 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t o = begin; o < end; ++o) {
              std::memcpy(to + o * pitch, from + o * bytes, static_cast<std::size_t>(bytes));
            }
          });
    }
    to += bytes;
  }
  outputs.push_back(std::move(out));
}

template <class T>
void fill(T* to, std::int64_t n, const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = value;
  }
}

// One row of the result: border, x's elements, border; or border alone.
template <class T>
void pad_rows(const OpCall& call, const Value& x, const Value& out, const std::byte* element) {
  const auto& op = call.as<ops::Pad>();
  const Shape& shape = out.shape();
  const int last = shape.rank() - 1;
  const std::int64_t width = shape[last];
  const std::int64_t front = op.before[last];
  const std::int64_t length = x.size(last);
  const Dims& strides = host(x).strides();
  const std::int64_t rows = width == 0 ? 0 : out.num_elements() / width;
  T* to = host(out).data_as<T>();
  parallel_for(rows, parallel_grain / (width + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t rest = row;
      std::int64_t offset = 0;
      bool inside = true;
      for (int d = last - 1; d >= 0; --d) {
        const std::int64_t i = rest % shape[d] - op.before[d];
        rest /= shape[d];
        inside = inside && i >= 0 && i < x.size(d);
        offset += i * strides[d];
      }
      T* line = to + row * width;
      if (!inside) {
        fill(line, width, element);
        continue;
      }
      fill(line, front, element);
      if (length > 0) {
        gather_run(reinterpret_cast<const std::byte*>(host(x).data_as<T>() + offset), strides[last],
                   sizeof(T), length, line + front);
      }
      fill(line + front + length, width - front - length, element);
    }
  });
}

void run_pad(Backend& backend, const OpCall& call, Outputs& outputs) {
  const Value& x = call.inputs[0];
  if (x.rank() == 0) {
    outputs.push_back(x);
    return;
  }
  const Scalar value = call.as<ops::Pad>().value;
  Value out = allocate(backend, call.outputs[0]);
  std::byte element[8];
  if (value.kind == Kind::floating) {
    convert_elements(&value.floating, DType::f64, element, out.dtype(), 1);
  } else {
    convert_elements(&value.integer, DType::i64, element, out.dtype(), 1);
  }
  switch (size_of(out.dtype())) {
    case 1:
      pad_rows<std::uint8_t>(call, x, out, element);
      break;
    case 2:
      pad_rows<std::uint16_t>(call, x, out, element);
      break;
    case 4:
      pad_rows<std::uint32_t>(call, x, out, element);
      break;
    default:
      pad_rows<std::uint64_t>(call, x, out, element);
      break;
  }
  outputs.push_back(std::move(out));
}

}  // namespace

void set_join(KernelTable& table) {
  table.set<ops::Cat>(run_cat);
  table.set<ops::Pad>(run_pad);
}

}  // namespace sinter::backend::portable
