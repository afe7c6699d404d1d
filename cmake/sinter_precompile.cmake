# SPDX-License-Identifier: MIT OR Apache-2.0
# sinter_precompile: headers that many sources read are read once.

# sinter_precompile(<target> <set>)
# Gives the target the precompiled headers of a set. The first target that asks for a set makes it; all targets of a set
# need the same flags.
#   base    the standard library and fmt
#   ops     base, and the surface of ops
#   tensor  ops, and tensors
#   test    the standard library and GoogleTest
#   user    test, and what a user includes
function(sinter_precompile target set)
  if(NOT SINTER_PCH)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The first tells ccache which precompiled header a source has read. The others: GCC 12 forgets that precompiled
    # strings are the system's, and shows false warnings of them that it hides otherwise.
    target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-array-bounds -Wno-restrict)
  endif()
  get_property(owner GLOBAL PROPERTY SINTER_PCH_${set})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    return()
  endif()

  set(standard <algorithm> <array> <atomic> <cmath> <cstdint> <cstring> <limits> <memory> <mutex> <optional> <span>
               <string> <string_view> <utility> <vector>)
  set(ops <fmt/format.h> sinter/base/error.hpp sinter/ops/functions.hpp sinter/ops/op.hpp)
  set(headers_base ${standard} <fmt/format.h>)
  set(headers_ops ${standard} ${ops})
  set(headers_tensor ${standard} ${ops} sinter/tensor/functional.hpp sinter/tensor/tensor.hpp)
  set(headers_test ${standard} <gtest/gtest.h>)
  set(headers_user ${standard} <gtest/gtest.h> sinter/sinter.hpp)
  list(TRANSFORM headers_${set} REPLACE "^sinter/" "${PROJECT_SOURCE_DIR}/sinter/")
  target_precompile_headers(${target} PRIVATE ${headers_${set}})
  set_property(GLOBAL PROPERTY SINTER_PCH_${set} ${target})
endfunction()

# The set for a folder's library: what lies below the folder, so that a set brings in no header from above.
function(sinter_precompile_set result folder)
  if(folder MATCHES "^(base|types|graph|data|store)$")
    set(${result} base PARENT_SCOPE)
  elseif(folder MATCHES "^(ops|kernel|backend|decorators)$")
    set(${result} ops PARENT_SCOPE)
  else()
    set(${result} tensor PARENT_SCOPE)
  endif()
endfunction()
