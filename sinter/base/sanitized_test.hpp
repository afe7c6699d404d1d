// SPDX-License-Identifier: MIT OR Apache-2.0
// Tells tests of endurance whether a sanitizer watches: a step then costs ten times as much.
#pragma once

namespace sinter::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace sinter::testing
