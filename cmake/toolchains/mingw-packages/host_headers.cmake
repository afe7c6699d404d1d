# SPDX-License-Identifier: MIT OR Apache-2.0
# Takes one header-only library from the host without showing the cross compiler the rest of /usr/include.

# sinter_host_headers(<target> <folder of /usr/include>): an imported interface target over a copy of that folder.
function(sinter_host_headers target folder)
  if(NOT IS_DIRECTORY "/usr/include/${folder}")
    message(FATAL_ERROR "/usr/include/${folder} is missing: install the Debian package that holds it")
  endif()
  set(copy "${CMAKE_BINARY_DIR}/host-headers/${folder}")
  file(COPY "/usr/include/${folder}" DESTINATION "${copy}")
  if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE "${copy}")
  endif()
endfunction()
