// SPDX-License-Identifier: MIT OR Apache-2.0
// The processor as a device for kernels: compiled by LLVM, run by the thread pool.
#pragma once

#include <memory>
#include <string>

#include "sinter/kernel/launch/runtime.hpp"

namespace sinter::kernel {

struct CpuOptions {
  /// Path of the LLVM plug-in; empty: the setting `llvm`, or else it is looked for.
  std::string plugin;
  /// Folder of compiled kernels; empty: none.
  std::string cache;
};

/// The processor. Kernels that the cache on disk holds run without LLVM; the plug-in is opened when
/// the first other one is loaded. Launches return when they are done; their cubes run on the
/// threads of ThreadPool::global(). Buffers are plain pointers of the host.
std::unique_ptr<Runtime> make_cpu_runtime(const CpuOptions& options);

/// The one runtime that backends share, with the settings' plug-in and cache.
Runtime& cpu_runtime();

/// Whether kernels can be compiled here: the plug-in is there and opens.
bool cpu_can_compile();

}  // namespace sinter::kernel
