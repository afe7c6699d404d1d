// SPDX-License-Identifier: MIT OR Apache-2.0
// How reference kernels see tensors: plain vectors of double, int64 or uint64 in row-major order.
#pragma once

#include <vector>

#include "sinter/backend/host/host_backend.hpp"

namespace sinter::backend::reference {

/// Calls `f.template operator()<T>()` with the carrier of `dtype`: double for floats, int64 for
/// signed integers and bool, uint64 for unsigned ones.
template <class F>
decltype(auto) with_carrier(DType dtype, F&& f) {
  if (is_floating(dtype)) {
    return f.template operator()<double>();
  }
  if (is_unsigned(dtype) && dtype == DType::u64) {
    return f.template operator()<std::uint64_t>();
  }
  return f.template operator()<std::int64_t>();
}

template <class T>
inline constexpr DType carrier_dtype = dtype_of<T>;

/// All elements of `value`, whatever its layout, converted to `T`.
template <class T>
std::vector<T> read_as(const Value& value) {
  const Value flat = dense(value);
  std::vector<T> out(static_cast<std::size_t>(value.num_elements()));
  if (!out.empty()) {
    convert_elements(host(flat).data(), value.dtype(), out.data(), carrier_dtype<T>,
                     value.num_elements());
  }
  return out;
}

/// The same after broadcasting to `shape`.
template <class T>
std::vector<T> read_broadcast(const Value& value, const Shape& shape) {
  return read_as<T>(view_of(value, host(value).layout().expand(shape)));
}

/// A tensor of `spec` with these elements, each rounded once.
template <class T>
Value write_as(Backend& backend, const TensorSpec& spec, const std::vector<T>& elements) {
  Value out = allocate(backend, spec);
  if (!elements.empty()) {
    convert_elements(elements.data(), carrier_dtype<T>, host(out).data(), spec.dtype,
                     static_cast<std::int64_t>(elements.size()));
  }
  return out;
}

/// Position of multi-index `index` in a dense tensor of `shape`.
inline std::size_t flat_index(const Shape& shape, const Dims& index) {
  std::int64_t flat = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    flat = flat * shape[i] + index[i];
  }
  return static_cast<std::size_t>(flat);
}

/// Calls `f(index)` for every multi-index of `shape` in row-major order.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  Dims index = Dims::filled(shape.rank(), 0);
  for (std::int64_t left = num_elements(shape); left > 0; --left) {
    f(static_cast<const Dims&>(index));
    for (int dim = shape.rank() - 1; dim >= 0; --dim) {
      if (++index[dim] < shape[dim]) {
        break;
      }
      index[dim] = 0;
    }
  }
}

/// All kernels of the reference backend.
const KernelTable& kernels();

// Each family adds its kernels to the table.
void set_creation(KernelTable& table);
void set_matmul(KernelTable& table);
void set_conv(KernelTable& table);
void set_pool(KernelTable& table);
void set_interpolate(KernelTable& table);
void set_softmax(KernelTable& table);
void set_loss(KernelTable& table);
void set_norm(KernelTable& table);
void set_optim(KernelTable& table);
void set_index(KernelTable& table);
void set_join(KernelTable& table);
void set_random(KernelTable& table);
void set_scan(KernelTable& table);
void set_sort(KernelTable& table);
void run_elementwise(Backend& backend, const OpCall& call, Outputs& outputs);
void run_reduce(Backend& backend, const OpCall& call, Outputs& outputs);

}  // namespace sinter::backend::reference
