# SPDX-License-Identifier: MIT OR Apache-2.0
# Configures as if packages were not installed. Without any, one error names them all and the ways out; without all
# but the formatting library, tensors alone can still be configured. Nothing is fetched from a network, so neither
# needs one.

function(configure)
  set(without "")
  foreach(package nlohmann_json ZLIB CLI11 GTest)
    list(APPEND without -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
  endforeach()
  file(REMOVE_RECURSE "${WORK}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}" -G Ninja -D CMAKE_CXX_COMPILER=${COMPILER} ${without} ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(status "${status}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

configure(-D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON)
if(status EQUAL 0)
  message(SEND_ERROR "configured without any package:\n${output}")
endif()
string(REGEX MATCHALL "CMake Error" errors "${output}")
list(LENGTH errors count)
if(NOT count EQUAL 1)
  message(SEND_ERROR "expected one error, got ${count}:\n${output}")
endif()
foreach(words "fmt, for base" nlohmann_json ZLIB CLI11 GTest libfmt-dev zlib1g-dev CMAKE_PREFIX_PATH
        SINTER_BUILD_APPS=OFF SINTER_BUILD_TESTS=OFF "SINTER_FOLDERS=base;types;graph")
  string(FIND "${output}" "${words}" position)
  if(position EQUAL -1)
    message(SEND_ERROR "the error doesn't say `${words}`:\n${output}")
  endif()
endforeach()

# As that error says.
configure(-D SINTER_BUILD_TESTS=OFF -D SINTER_BUILD_APPS=OFF
  "-DSINTER_FOLDERS=base\\;types\\;graph\\;ops\\;kernel\\;backend\\;decorators\\;tensor")
if(NOT status EQUAL 0 OR NOT EXISTS "${WORK}/sinter/tensor/cmake_install.cmake")
  message(SEND_ERROR "tensors alone don't configure:\n${output}")
endif()
file(REMOVE_RECURSE "${WORK}")

file(GLOB_RECURSE files "${SOURCE}/cmake/*" "${SOURCE}/sinter/*/CMakeLists.txt" "${SOURCE}/tests/CMakeLists.txt")
foreach(file "${SOURCE}/CMakeLists.txt" ${files})
  file(READ "${file}" text)
  if(text MATCHES "FetchContent|ExternalProject|file\\(DOWNLOAD|git clone")
    message(SEND_ERROR "${file} fetches something: ${CMAKE_MATCH_0}")
  endif()
endforeach()
