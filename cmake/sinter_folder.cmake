# SPDX-License-Identifier: MIT OR Apache-2.0
# sinter_folder: one folder becomes one library and, when tests are built, one test program.

# sinter_folder(<name> [DEPENDS <folders…>] [PACKAGES <targets…>] [PRIVATE_PACKAGES <targets…>]
#               [EXCLUDE <regexes…>])
# Globs *.cpp into sinter_<name> and *_test.cpp into sinter_<name>_test, so that a new file needs no edit here.
# EXCLUDE drops sources that the folder compiles itself (once per instruction set, or as a program).
# Headers are public and must compile alone, except those below detail/ or kernels/, which are only installed.
function(sinter_folder name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PACKAGES;PRIVATE_PACKAGES;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzzer)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  foreach(pattern ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  if(NOT sources)
    set(sources "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp")
    file(WRITE "${sources}.in" "// This folder has headers only.\n")
    configure_file("${sources}.in" "${sources}" COPYONLY)
  endif()

  add_library(sinter_${name} STATIC ${sources})
  add_library(sinter::${name} ALIAS sinter_${name})
  target_compile_features(sinter_${name} PUBLIC cxx_std_20)
  target_compile_options(sinter_${name} PRIVATE -Wall -Wextra)
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(sinter_${name} PUBLIC sinter_${dependency})
  endforeach()
  target_link_libraries(sinter_${name} PUBLIC ${ARG_PACKAGES})
  sinter_note_packages(${ARG_PACKAGES})
  foreach(package ${ARG_PRIVATE_PACKAGES})
    sinter_link_privately(sinter_${name} ${package})
  endforeach()
  sinter_folder_headers(${name})
  sinter_precompile_set(set ${name})
  sinter_precompile(sinter_${name} ${set})

  if(NOT name STREQUAL "apps")
    set_property(GLOBAL APPEND PROPERTY SINTER_LIBRARIES sinter_${name})
  endif()
  if(SINTER_BUILD_TESTS AND tests)
    sinter_test(${name} PROGRAM sinter_${name}_test LABEL unit SOURCES ${tests} DEPENDS ${name})
  endif()
endfunction()

# Lists the folder's headers as file sets: HEADERS is verified, detail is not.
function(sinter_folder_headers name)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.hpp")
  list(FILTER headers EXCLUDE REGEX "_test\\.hpp$")
  set(details ${headers})
  list(FILTER headers EXCLUDE REGEX "/(detail|kernels)/")
  list(FILTER details INCLUDE REGEX "/(detail|kernels)/")
  file(GLOB_RECURSE tables CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.def")
  target_sources(sinter_${name}
    PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers}
    PUBLIC FILE_SET detail TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${details} ${tables})
  set_target_properties(sinter_${name} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
endfunction()

# Links a package that no public header shows. One that is headers only is no concern of an installed library's user.
function(sinter_link_privately target package)
  if(package MATCHES "::")
    if(NOT TARGET ${package})
      message(FATAL_ERROR "${target} needs ${package}; call find_package() for it before sinter_folder()")
    endif()
    get_target_property(type ${package} TYPE)
    get_target_property(linked ${package} INTERFACE_LINK_LIBRARIES)
    if(type STREQUAL "INTERFACE_LIBRARY" AND NOT linked)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${package}>)
      return()
    endif()
  endif()
  target_link_libraries(${target} PRIVATE ${package})
  sinter_note_packages(${package})
endfunction()

# Remembers which packages sinterConfig.cmake must find again: a static library passes its links on.
function(sinter_note_packages)
  foreach(package ${ARGN})
    if(package MATCHES "^([A-Za-z0-9_]+)::")
      set_property(GLOBAL APPEND PROPERTY SINTER_PACKAGES ${CMAKE_MATCH_1})
    endif()
  endforeach()
endfunction()

# sinter_program(<target> NAME <file name> SOURCES <files…> DEPENDS <folders…> PACKAGES <targets…>)
# A program for users: built into <build>/bin and installed. The command is `sinter_program(sinter_cli NAME sinter …)`,
# since the target `sinter` is the library.
function(sinter_program target)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPENDS;PACKAGES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${ARG_NAME}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  sinter_precompile(${target} tensor)
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(${target} PRIVATE sinter_${dependency})
  endforeach()
  target_link_libraries(${target} PRIVATE ${ARG_PACKAGES})
  install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endfunction()
