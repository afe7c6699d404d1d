# SPDX-License-Identifier: MIT OR Apache-2.0
# sinter_portable_kernels(<target> [extra sources…]): compiles the kernels once per instruction set and adds the objects.
#
# Extra sources (say, the elementwise kernels of the backend) are compiled the same way. Each copy lives in the namespace
# SINTER_ISA; SINTER_HAS_ISA_<name>, defined for the target, tells the dispatcher which copies exist.
include(CheckCXXCompilerFlag)

set(SINTER_PORTABLE_ISAS "" CACHE STRING "Instruction sets of the portable kernels; empty for all of the processor family")

set(SINTER_PORTABLE_KERNELS_DIR "${CMAKE_CURRENT_LIST_DIR}")

function(sinter_portable_kernels target)
  file(GLOB sources CONFIGURE_DEPENDS "${SINTER_PORTABLE_KERNELS_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzzer)\\.cpp$")
  list(APPEND sources ${ARGN})
  set(common -O3 -fno-wrapv -fno-exceptions -fno-rtti -fno-math-errno -fno-trapping-math -ffp-contract=off
             -fno-stack-protector -Wall -Wextra -Wno-uninitialized -Wno-maybe-uninitialized)
  # Unrolled by hand: -O3 doubles their compile time and gains nothing.
  set(unrolled conv_gather.cpp gemm_f32.cpp gemm_f64.cpp)
  list(TRANSFORM unrolled PREPEND "${SINTER_PORTABLE_KERNELS_DIR}/")
  set_source_files_properties(${unrolled} PROPERTIES COMPILE_OPTIONS -O2)
  set(generic_flags "")
  set(baseline_flags "")
  set(avx2_flags -mavx2 -mfma -mf16c)
  set(avx512_flags -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c
                   -mprefer-vector-width=512)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(isas baseline avx2 avx512)
  else()
    set(isas generic)
  endif()
  if(SINTER_SANITIZE)
    # One copy, optimised a little, with the checks of loads and stores alone: all that there is time for.
    list(TRANSFORM common REPLACE "^-O3$" "-O1")
    list(APPEND common ${SINTER_SANITIZE_LESS})
    list(GET isas 0 isas)
    if(EXISTS /proc/cpuinfo)
      file(STRINGS /proc/cpuinfo avx2 REGEX " fma .* avx2 " LIMIT_COUNT 1)
      if(avx2)
        set(isas avx2)
      endif()
    endif()
  endif()
  if(SINTER_PORTABLE_ISAS)
    set(isas ${SINTER_PORTABLE_ISAS})
  endif()
  foreach(isa ${isas})
    set(objects ${target}_kernels_${isa})
    add_library(${objects} OBJECT ${sources})
    target_include_directories(${objects} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_definitions(${objects} PRIVATE SINTER_ISA=${isa})
    target_compile_options(${objects} PRIVATE ${common} ${${isa}_flags})
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    target_compile_definitions(${target} PRIVATE SINTER_HAS_ISA_${isa}=1)
    if(SINTER_BUILD_TESTS AND CMAKE_NM AND NOT SINTER_SANITIZE)
      add_test(NAME ${objects}_symbols
        COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DISA=${isa} "-DOBJECTS=$<TARGET_OBJECTS:${objects}>"
                -P "${SINTER_PORTABLE_KERNELS_DIR}/check_symbols.cmake")
      set_tests_properties(${objects}_symbols PROPERTIES LABELS unit)
    endif()
  endforeach()
endfunction()
