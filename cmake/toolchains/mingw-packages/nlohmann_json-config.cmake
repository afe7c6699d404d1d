# SPDX-License-Identifier: MIT OR Apache-2.0
# nlohmann-json for the cross build.
include("${CMAKE_CURRENT_LIST_DIR}/host_headers.cmake")
sinter_host_headers(nlohmann_json::nlohmann_json nlohmann)
