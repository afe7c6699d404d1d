// SPDX-License-Identifier: MIT OR Apache-2.0
// A backend over any runtime whose memory is not the host's.
#pragma once

#include <memory>
#include <string>

#include "sinter/backend/jit/programs.hpp"
#include "sinter/graph/backend.hpp"

namespace sinter::backend::jit {

/// Tensors are HostTensors (layouts over counted storages) whose storages lie on the device.
/// Groups, elementwise ops, casts, copies between layouts and the user's kernels run there; views
/// cost nothing; every other op fetches its inputs, runs on the portable kernels and sends the
/// results back, or runs as its decomposition if those have none.
class DeviceBackend final : public Backend {
 public:
  DeviceBackend(std::string name, std::unique_ptr<kernel::Runtime> runtime);

  std::string name() const override { return name_; }
  void execute(const OpCall& call, Outputs& outputs) override;
  bool supports(const OpDef& def, DType dtype) const override;
  bool joins_groups(const OpCall& call) const override;
  void execute_group(Group& group, Outputs& outputs) override;
  Value from_data(const HostData& data) override;
  HostData read(const Value& value) override;
  void sync() override { runtime_->sync(); }
  MemoryStats memory() const override { return runtime_->memory(); }
  void trim() override { runtime_->trim(); }

 private:
  Value make(const TensorSpec& spec);
  /// A call as a group of its own.
  Value run_alone(const OpCall& call);
  Value densely(const Value& value);
  void run_user_kernel(const OpCall& call, Outputs& outputs);
  void run_on_host(const OpCall& call, Outputs& outputs);

  std::string name_;
  std::unique_ptr<kernel::Runtime> runtime_;
  Programs programs_;
};

}  // namespace sinter::backend::jit
