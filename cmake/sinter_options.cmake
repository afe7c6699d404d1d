# SPDX-License-Identifier: MIT OR Apache-2.0
# What can be chosen at configure time, and the compiler flags that follow.
include(GNUInstallDirs)

option(SINTER_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SINTER_BUILD_APPS "Build the sinter command" ${PROJECT_IS_TOP_LEVEL})
option(SINTER_BUILD_BENCHES "Build the benchmarks" OFF)
option(SINTER_BUILD_EXAMPLES "Build the examples" ${SINTER_BUILD_TESTS})
option(SINTER_PCH "Precompile the headers that most sources share" ${PROJECT_IS_TOP_LEVEL})
set(SINTER_SANITIZE "" CACHE STRING "Sanitizers for the whole build, e.g. address,undefined")
set(SINTER_FOLDERS base types graph ops kernel backend decorators tensor nn optim data store train dist apps
    CACHE STRING "The folders of sinter/ to build, in the order data flows")
# A sanitizer build need not repeat every test: see sinter_test.cmake.
set(SINTER_TEST_NAMES "" CACHE STRING "Build only the tests with this word in their name")
set(SINTER_TEST_FOLDERS "" CACHE STRING "Folders whose tests are all built in spite of SINTER_TEST_NAMES")

# Integers wrap in tensors, so they do in the formulas that compute them, wherever those are instantiated.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  add_compile_options(-fwrapv)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A package found by one folder is needed by every folder that links to it.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
if(PROJECT_IS_TOP_LEVEL)
  # Kernels raise this themselves; elsewhere -O3 only costs build time.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()
# Tests and kernels are compiled without the checks for undefined behaviour, which would double what they cost.
set(SINTER_SANITIZE_LESS "")
if(SINTER_SANITIZE)
  # The three that are left out are the dear ones; the address sanitizer sees most of what they would.
  add_compile_options(-fsanitize=${SINTER_SANITIZE} -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  set(SINTER_SANITIZE_LESS -fno-sanitize=undefined)
  add_link_options(-fsanitize=${SINTER_SANITIZE})
endif()

find_program(SINTER_CCACHE ccache)
if(SINTER_CCACHE AND (NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$"))
  set(CMAKE_CXX_COMPILER_LAUNCHER "${SINTER_CCACHE}")
  if(SINTER_PCH)
    # What ccache asks for before it caches precompiled headers; relative paths let build folders share them.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      "CCACHE_BASEDIR=${CMAKE_BINARY_DIR}" "${SINTER_CCACHE}")
  endif()
endif()
