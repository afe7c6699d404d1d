# SPDX-License-Identifier: MIT OR Apache-2.0
# sinter_folder(<name>): one folder becomes one library and, when tests are built, one test program.
option(SINTER_BUILD_TESTS "Build the unit tests" ON)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Globs *.cpp into sinter_<name> and *_test.cpp into sinter_<name>_test, so that a new file needs no edit here.
# KERNELS lists sources that the folder compiles itself (once per instruction set).
function(sinter_folder name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PACKAGES;PRIVATE_PACKAGES;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzzer)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  foreach(pattern ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  add_library(sinter_${name} STATIC ${sources})
  add_library(sinter::${name} ALIAS sinter_${name})
  target_include_directories(sinter_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                   $<INSTALL_INTERFACE:include>)
  target_compile_options(sinter_${name} PRIVATE -Wall -Wextra)
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(sinter_${name} PUBLIC sinter_${dependency})
  endforeach()
  target_link_libraries(sinter_${name} PUBLIC ${ARG_PACKAGES} PRIVATE ${ARG_PRIVATE_PACKAGES})
  if(SINTER_BUILD_TESTS AND tests)
    find_package(GTest REQUIRED)
    add_executable(sinter_${name}_test ${tests})
    target_link_libraries(sinter_${name}_test PRIVATE sinter_${name} GTest::gtest_main)
    add_test(NAME ${name} COMMAND sinter_${name}_test)
    set_tests_properties(${name} PROPERTIES LABELS unit)
  endif()
endfunction()
