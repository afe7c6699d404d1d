# SPDX-License-Identifier: MIT OR Apache-2.0
# fmt for the cross build: compiled from its headers.
include("${CMAKE_CURRENT_LIST_DIR}/host_headers.cmake")
sinter_host_headers(fmt::fmt fmt)
sinter_host_headers(fmt::fmt-header-only fmt)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
