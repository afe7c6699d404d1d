# SPDX-License-Identifier: MIT OR Apache-2.0
# Cross-compiles for 64-bit Windows with Debian's mingw-w64 (g++-mingw-w64-x86-64-posix).
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Debian has no Windows build of these, but their headers are enough.
set(fmt_DIR "${CMAKE_CURRENT_LIST_DIR}/mingw-packages" CACHE PATH "fmt, headers only")
set(nlohmann_json_DIR "${CMAKE_CURRENT_LIST_DIR}/mingw-packages" CACHE PATH "nlohmann-json")
