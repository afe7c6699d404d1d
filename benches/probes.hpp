// SPDX-License-Identifier: MIT OR Apache-2.0
// What this machine can do at best: arithmetic and memory, measured in the same run as the rows.
#pragma once

namespace sinter::bench {

/// The kinds of memory traffic, each with a limit of its own.
enum class Traffic { read, copy, update };

/// Rates of `threads` threads together.
struct Limits {
  double f32_flops = 0;   ///< Fused multiply-adds on the widest vectors, 2 operations each.
  double int8_ops = 0;    ///< The same for i8 products summed in i32; 0 without such instructions.
  double read_bytes = 0;  ///< Bytes read per second.
  double copy_bytes = 0;  ///< Bytes read and written, with stores past the caches.
  double update_bytes = 0;  ///< Bytes read and written in place.
  const char* isa = "";

  double bytes_per_second(Traffic traffic) const {
    return traffic == Traffic::read   ? read_bytes
           : traffic == Traffic::copy ? copy_bytes
                                      : update_bytes;
  }
};

/// Runs the probes for about two seconds and keeps the best of several rounds of each.
Limits probe_limits(int threads);

}  // namespace sinter::bench
