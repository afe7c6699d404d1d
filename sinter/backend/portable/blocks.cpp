// SPDX-License-Identifier: MIT OR Apache-2.0
// Gathering, conversion and the choice of kernels.
#include "sinter/backend/portable/blocks.hpp"

#include <algorithm>
#include <cstring>

#include "sinter/backend/portable/dispatch.hpp"
#include "sinter/base/config.hpp"
#include "sinter/base/error.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::backend::portable {
namespace {

const sinter::portable::KernelSet& choose() {
  const std::string wanted = config::text(config::Setting::isa);
  if (wanted.empty() || wanted == "auto") {
    return *sinter::portable::find_kernel_set();
  }
  if (const auto* set = sinter::portable::find_kernel_set(wanted)) {
    return *set;
  }
  std::string names;
  for (const auto* set : sinter::portable::kernel_sets()) {
    names += names.empty() ? "" : ", ";
    names += set->name;
  }
  throw ArgumentError("SINTER_ISA: this build and processor have no `" + wanted + "`; they have " +
                      names);
}

template <class T>
void gather_as(const std::byte* from, std::int64_t stride, std::int64_t n, void* to) {
  const T* x = reinterpret_cast<const T*>(from);
  T* y = static_cast<T*>(to);
  if (stride == 1) {
    std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(T));
  } else if (stride == 0) {
    // Doubling turns a fill into few large copies.
    std::fill_n(y, std::min<std::int64_t>(n, 8), *x);
    for (std::int64_t have = 8; have < n; have *= 2) {
      std::memcpy(y + have, y, static_cast<std::size_t>(std::min(have, n - have)) * sizeof(T));
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = x[i * stride];
    }
  }
}

template <class T>
void scatter_as(const std::byte* from, std::byte* to, std::int64_t stride, std::int64_t n) {
  const T* x = reinterpret_cast<const T*>(from);
  T* y = reinterpret_cast<T*>(to);
  if (stride == 1) {
    std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(T));
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      y[i * stride] = x[i];
    }
  }
}

}  // namespace

const sinter::portable::KernelSet& kernels() {
  static const sinter::portable::KernelSet& set = choose();
  return set;
}

namespace {

// To the dtype's own carried type, into `to`; or `from` itself.
const void* widen_block(DType dtype, const void* from, std::int64_t n, BlockBuffer& to) {
  if (is_fp8(dtype)) {
    convert_elements(from, dtype, to.data(), DType::f32, n);
    return to.data();
  }
  if (const auto load = kernels().convert().load[static_cast<std::size_t>(dtype)]) {
    load(from, to.data(), static_cast<std::size_t>(n));
    return to.data();
  }
  return from;
}

}  // namespace

const void* load_block(DType dtype, const void* from, Carried carried, std::int64_t n,
                       BlockBuffer& to) {
  const Carried own = carried_of(dtype);
  if (own == carried) {
    return widen_block(dtype, from, n, to);
  }
  BlockBuffer widened;
  store_block(own, widen_block(dtype, from, n, widened), dtype_of_carried(carried), to.data(), n);
  return to.data();
}

void store_block(Carried carried, const void* from, DType dtype, void* to, std::int64_t n) {
  if (is_fp8(dtype)) {
    convert_elements(from, dtype_of_carried(carried), to, dtype, n);
  } else {
    kernels().convert().store[static_cast<std::size_t>(carried)][static_cast<std::size_t>(dtype)](
        from, to, static_cast<std::size_t>(n));
  }
}

void gather_run(const std::byte* from, std::int64_t stride, std::size_t size, std::int64_t n,
                void* to) {
  switch (size) {
    case 1:
      return gather_as<std::uint8_t>(from, stride, n, to);
    case 2:
      return gather_as<std::uint16_t>(from, stride, n, to);
    case 4:
      return gather_as<std::uint32_t>(from, stride, n, to);
    default:
      return gather_as<std::uint64_t>(from, stride, n, to);
  }
}

void scatter_run(const std::byte* from, std::byte* to, std::int64_t stride, std::size_t size,
                 std::int64_t n) {
  switch (size) {
    case 1:
      return scatter_as<std::uint8_t>(from, to, stride, n);
    case 2:
      return scatter_as<std::uint16_t>(from, to, stride, n);
    case 4:
      return scatter_as<std::uint32_t>(from, to, stride, n);
    default:
      return scatter_as<std::uint64_t>(from, to, stride, n);
  }
}

// Dims of size 1 go, and a dim whose steps carry on from the next inner one joins it.
Walk::Walk(const Shape& shape, const Shape& sizes_of, const Dims& strides_of) {
  const int lead = shape.rank() - sizes_of.rank();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) {
      continue;
    }
    const std::int64_t stride = i < lead || sizes_of[i - lead] == 1 ? 0 : strides_of[i - lead];
    if (rank > 0 && strides[rank - 1] == stride * shape[i]) {
      sizes[rank - 1] *= shape[i];
      strides[rank - 1] = stride;
    } else {
      sizes[rank] = shape[i];
      strides[rank++] = stride;
    }
  }
}

Operand::Operand(const Value& value, const Shape& shape, Carried carried)
    : data_(host(value).data()),
      dtype_(value.dtype()),
      carried_(carried),
      same_type_(value.dtype() == dtype_of_carried(carried)) {
  if (host(value).is_contiguous() && value.shape() == shape) {
    return;
  }
  walk_ = Walk(shape, value.shape(), host(value).strides());
  dense_ = walk_.dense();
  if (walk_.rank == 1 && walk_.strides[0] == 0) {
    period_ = 1;
  } else if (walk_.rank == 2 && walk_.strides[0] == 0 && walk_.sizes[1] <= block_elements) {
    period_ = walk_.sizes[1];
  }
}

void Operand::gather(std::int64_t begin, std::int64_t n, std::byte* to) const {
  const std::size_t size = sinter::size_of(dtype_);
  walk_.for_runs(begin, n, [&](std::int64_t offset, std::int64_t stride, std::int64_t count) {
    gather_run(data_ + offset * static_cast<std::int64_t>(size), stride, size, count, to);
    to += static_cast<std::size_t>(count) * size;
  });
}

void Operand::prepare(BlockBuffer& buffer, std::int64_t n) const {
  if (period_ == 0) {
    return;
  }
  // One period converted, then doubled until every phase has a whole block after it.
  BlockBuffer raw;
  gather(0, period_, raw.data());
  const void* block = load_block(dtype_, raw.data(), carried_, period_, buffer);
  const auto size = static_cast<std::int64_t>(size_of(carried_));
  if (block != buffer.data()) {
    std::memcpy(buffer.data(), block, static_cast<std::size_t>(period_ * size));
  }
  const std::int64_t wanted = (period_ == 1 ? 0 : period_) + std::min(n, block_elements);
  for (std::int64_t have = period_; have < wanted; have *= 2) {
    std::memcpy(buffer.data() + have * size, buffer.data(),
                static_cast<std::size_t>(std::min(have, wanted - have) * size));
  }
}

const void* Operand::fetch(std::int64_t begin, std::int64_t n, BlockBuffer& buffer) const {
  const auto size = static_cast<std::int64_t>(sinter::size_of(dtype_));
  if (dense_) {
    return load_block(dtype_, data_ + begin * size, carried_, n, buffer);
  }
  if (period_ != 0) {
    const std::int64_t phase = period_ == 1 ? 0 : begin % period_;
    return buffer.data() + phase * static_cast<std::int64_t>(size_of(carried_));
  }
  if (same_type_) {
    gather(begin, n, buffer.data());
    return buffer.data();
  }
  BlockBuffer raw;
  gather(begin, n, raw.data());
  const void* block = load_block(dtype_, raw.data(), carried_, n, buffer);
  if (block == raw.data()) {
    std::memcpy(buffer.data(), block, static_cast<std::size_t>(n) * size_of(carried_));
  }
  return buffer.data();
}

}  // namespace sinter::backend::portable
