// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls of ops that bring a kernel of their own.
#pragma once

#include "sinter/backend/host/tensor.hpp"
#include "sinter/base/function_ref.hpp"
#include "sinter/kernel/ir/interpret.hpp"
#include "sinter/kernel/launch/launch_plan.hpp"

namespace sinter::backend {

/// Records the kernel of a call. Throws ArgumentError unless its buffers and scalars are those of
/// the call.
[[nodiscard]] ir::Kernel record_user_kernel(const OpCall& call, const kernel::LaunchPlan& plan);

/// Equal for calls that share a kernel.
[[nodiscard]] std::vector<std::uint64_t> user_kernel_key(const OpCall& call,
                                                         const kernel::LaunchPlan& plan);

/// Runs a call whose tensors lie in host memory: makes the inputs dense and the outputs, and has
/// `launch` run the kernel on them.
using HostLaunch =
    FunctionRef<void(const kernel::LaunchPlan& plan, std::span<const ir::BufferArg> buffers)>;
void run_user_kernel(Backend& backend, const OpCall& call, Outputs& outputs, HostLaunch launch);

/// Runs a call in checked mode, for backends that compile nothing.
void interpret_user_kernel(Backend& backend, const OpCall& call, Outputs& outputs);

}  // namespace sinter::backend
