# SPDX-License-Identifier: MIT OR Apache-2.0
# Preprocesses each header of the user's and counts; compiles a program that knows only the names of fwd.hpp.

# What the preprocessor makes of one include, into `output`, and its number of lines, into `lines`.
function(preprocess header)
  file(WRITE "${WORK}/one.cpp" "#include \"${header}\"\n")
  execute_process(COMMAND ${COMPILER} -std=c++20 -E -I${SOURCE} "${WORK}/one.cpp"
    OUTPUT_FILE "${WORK}/one.txt" COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${WORK}/one.txt" output)
  string(REGEX MATCHALL "\n" ends "${output}")
  list(LENGTH ends lines)
  set(lines ${lines} PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

# At most `most` lines, and none of the standard headers that follow.
function(check_header header most)
  preprocess("${header}")
  message(STATUS "${header}: ${lines} lines")
  if(lines GREATER most)
    message(SEND_ERROR "${header}: expected at most ${most} preprocessed lines, got ${lines}")
  endif()
  foreach(heavy ${ARGN})
    if(output MATCHES "/${heavy}\" 1 ")
      message(SEND_ERROR "${header} reads <${heavy}>; keep what needs it in a .cpp file")
    endif()
  endforeach()
endfunction()

# Standard headers that each cost a tenth of sinter.hpp or more; a program that needs one includes it.
check_header(sinter/sinter.hpp 150000 atomic functional iostream memory regex chrono thread map unordered_map)
check_header(sinter/train.hpp 150000 atomic functional iostream regex chrono thread unordered_map)
check_header(sinter/fwd.hpp 2000)

file(WRITE "${WORK}/names.cpp" "#include <sinter/fwd.hpp>
sinter::Tensor<2, sinter::Float> half(const sinter::Tensor<2, sinter::Float>& x);
void train(sinter::Device device, const sinter::DynTensor* x);
struct Net { sinter::Value* value; sinter::Shape* shape; sinter::DType dtype; };
")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I${SOURCE} "${WORK}/names.cpp"
  COMMAND_ERROR_IS_FATAL ANY)
