// SPDX-License-Identifier: MIT OR Apache-2.0
// What the backends in host memory share: data in and out, views, kernel lookup, decomposition.
#pragma once

#include <array>
#include <string>

#include "sinter/backend/host/tensor.hpp"
#include "sinter/graph/backend.hpp"
#include "sinter/ops/op.hpp"

namespace sinter::backend {

/// Runs a call and appends its outputs.
using Kernel = void (*)(Backend& backend, const OpCall& call, Outputs& outputs);

/// Which kernel runs which op. Each family of structured ops sets its own, in its own file.
struct KernelTable {
  Kernel elementwise = nullptr;
  Kernel reduce = nullptr;
  std::array<Kernel, op_count> structured{};

  template <class Op>
  void set(Kernel kernel) {
    static_assert(detail::op_code_of<Op> >= 0);
    structured[static_cast<std::size_t>(detail::op_code_of<Op>)] = kernel;
  }
  Kernel find(const OpDef& def) const;
};

/// A backend whose tensors are `HostTensor`s. Derived ones bring a kernel table.
class HostBackend : public Backend {
 public:
  HostBackend(std::string name, const KernelTable& kernels)
      : name_(std::move(name)), kernels_(kernels) {}

  std::string name() const override { return name_; }
  void execute(const OpCall& call, Outputs& outputs) override;
  bool supports(const OpDef& def, DType dtype) const override;
  Value from_data(const HostData& data) override;
  Value scalar(Scalar value, DType dtype) override;
  HostData read(const Value& value) override;
  MemoryStats memory() const override;
  void trim() override;

 protected:
  /// A call whose op brings a kernel along: checked mode, unless the backend can compile it.
  virtual void run_own_kernel(const OpCall& call, Outputs& outputs);

 private:
  std::string name_;
  const KernelTable& kernels_;
};

/// The layout rule of a view op, on HostTensors of any backend; a copy first where the rule needs
/// dense elements.
Value run_view(const OpCall& call);

/// `value` dense and row-major, copied only where it is not.
Value dense(const Value& value);

}  // namespace sinter::backend
