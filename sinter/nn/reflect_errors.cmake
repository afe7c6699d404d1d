# SPDX-License-Identifier: MIT OR Apache-2.0
# Compiles each wrong module of reflect_errors.cpp and checks that the error names the way out.
set(case 0)
while(case LESS_EQUAL 7)
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${ROOT} -DCASE=${case}
            ${ROOT}/sinter/nn/reflect_errors.cpp
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(case EQUAL 0)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "case 0 must compile, but:\n${output}")
    endif()
  elseif(status EQUAL 0)
    message(FATAL_ERROR "case ${case} compiled; it must be an error")
  elseif(NOT output MATCHES "error[^\n]*SINTER_FIELDS\\(a, b\\)")
    message(FATAL_ERROR "case ${case}: no error names SINTER_FIELDS:\n${output}")
  endif()
  math(EXPR case "${case} + 1")
endwhile()
message(STATUS "8 cases: right")
