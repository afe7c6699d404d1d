# SPDX-License-Identifier: MIT OR Apache-2.0
# Installs BUILD, moves the tree, and builds and runs main.cpp against it.
set(work "${BUILD}/tests/install/work")
set(CMAKE_EXECUTE_PROCESS_COMMAND_ECHO NONE)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${work}")
run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${work}/first")
file(RENAME "${work}/first" "${work}/moved")

# Nothing in the tree may remember where it was built or first installed.
file(GLOB_RECURSE package "${work}/moved/*.cmake")
foreach(file ${package})
  file(READ "${file}" text)
  foreach(path "${work}/first" "${BUILD}" "${SOURCE}")
    string(FIND "${text}" "${path}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}")
    endif()
  endforeach()
endforeach()

run(${CMAKE_COMMAND} -S "${SOURCE}/tests/install" -B "${work}/build" -G Ninja -D CMAKE_BUILD_TYPE=Release
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${work}/moved -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
string(TIMESTAMP start "%s")
run(${CMAKE_COMMAND} --build "${work}/build")
string(TIMESTAMP stop "%s")
run("${work}/build/user")
math(EXPR seconds "${stop} - ${start}")
message("${output}compiled and linked in about ${seconds} s")
file(REMOVE_RECURSE "${work}")
