// SPDX-License-Identifier: MIT OR Apache-2.0
// Execution on the host: views by layout, kernels by table, the rest by decomposition.
#include "sinter/backend/host/host_backend.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <stdexcept>

#include "sinter/backend/host/user_kernel.hpp"
#include "sinter/base/error.hpp"
#include "sinter/ops/functions.hpp"

namespace sinter::backend {

Value run_view(const OpCall& call) {
  Layout layout;
  Value input = call.inputs[0];
  if (!call.def->view(call, host(input).layout(), layout)) {
    input = ops::contiguous(input);
    const bool fits = call.def->view(call, host(input).layout(), layout);
    SINTER_ASSERT(fits);
  }
  return view_of(input, layout);
}

Kernel KernelTable::find(const OpDef& def) const {
  if (def.family == Family::elementwise && elementwise) {
    return elementwise;
  }
  if (def.family == Family::reduce && reduce) {
    return reduce;
  }
  return def.code >= 0 && def.variant == 0 ? structured[static_cast<std::size_t>(def.code)]
                                           : nullptr;
}

void HostBackend::execute(const OpCall& call, Outputs& outputs) try {
  if (call.def->view) {
    outputs.push_back(run_view(call));
  } else if (const Kernel kernel = kernels_.find(*call.def)) {
    kernel(*this, call, outputs);
  } else if (call.def->kernel) {
    run_own_kernel(call, outputs);
  } else if (call.def->decompose) {
    call.def->decompose(call, outputs);
  } else {
    throw UnsupportedError(fmt::format(
        "{}: the `{}` backend has no kernel for it, and it has no decomposition; use another "
        "device",
        describe(call), name_));
  }
} catch (const std::bad_alloc&) {  // of a kernel's own vectors
  throw OutOfMemoryError(fmt::format("{}: no memory left for its work", describe(call)));
} catch (const std::length_error&) {
  throw OutOfMemoryError(fmt::format("{}: its size exceeds the address space", describe(call)));
}

void HostBackend::run_own_kernel(const OpCall& call, Outputs& outputs) {
  interpret_user_kernel(*this, call, outputs);
}

bool HostBackend::supports(const OpDef& def, DType) const {
  return def.view != nullptr || kernels_.find(def) != nullptr;
}

Value HostBackend::from_data(const HostData& data) {
  Value value = allocate(*this, data.shape(), data.dtype());
  if (!data.bytes().empty()) {
    std::memcpy(host(value).data(), data.bytes().data(), data.bytes().size());
  }
  return value;
}

Value HostBackend::scalar(Scalar number, DType dtype) {
  Value value = allocate(*this, Shape{}, dtype);
  if (dtype == DType::f32 && number.kind == Kind::floating) {
    *host(value).data_as<float>() = static_cast<float>(number.floating);
  } else if (number.kind == Kind::floating) {
    convert_elements(&number.floating, DType::f64, host(value).data(), dtype, 1);
  } else {
    convert_elements(&number.integer, DType::i64, host(value).data(), dtype, 1);
  }
  return value;
}

HostData HostBackend::read(const Value& value) {
  HostData data(value.shape(), value.dtype());
  if (!data.bytes().empty()) {
    gather_dense(host(value).storage()->data(), host(value).layout(), size_of(value.dtype()),
                 data.bytes().data());
  }
  return data;
}

MemoryStats HostBackend::memory() const { return MemoryPool::host().stats(); }
void HostBackend::trim() { MemoryPool::host().trim(); }

Value dense(const Value& value) {
  if (host(value).is_contiguous()) {
    return value;
  }
  Value copy = allocate(value.backend(), value.shape(), value.dtype());
  gather_dense(host(value).storage()->data(), host(value).layout(), size_of(value.dtype()),
               host(copy).data());
  return copy;
}

}  // namespace sinter::backend
