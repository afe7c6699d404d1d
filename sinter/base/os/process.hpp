// SPDX-License-Identifier: MIT OR Apache-2.0
// This process: environment, memory in use, load of the machine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace sinter::os {

/// An environment variable. Reading is safe unless another thread sets one.
std::optional<std::string> environment(const char* name);
/// Sets (or with nullopt removes) a variable of this process; for tests and programs at start-up.
void set_environment(const char* name, const std::optional<std::string>& value);

long process_id() noexcept;
/// The path of the running program; empty if unknown.
std::string executable_path();

/// Resident memory of this process in bytes, now and at its highest; 0 if unknown.
std::size_t resident_bytes() noexcept;
std::size_t peak_resident_bytes() noexcept;

/// Runnable processes averaged over the last minute; negative where the system doesn't tell.
double load_average() noexcept;

/// Processor seconds spent by this process, all threads together.
double process_cpu_seconds() noexcept;

}  // namespace sinter::os
