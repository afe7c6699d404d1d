# SPDX-License-Identifier: MIT OR Apache-2.0
# The umbrella target sinter::sinter, and an install tree that can be moved.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY SINTER_LIBRARIES)
get_property(packages GLOBAL PROPERTY SINTER_PACKAGES)
list(REMOVE_DUPLICATES packages)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sinter")

add_library(sinter INTERFACE)
add_library(sinter::sinter ALIAS sinter)
target_link_libraries(sinter INTERFACE ${libraries})
if(EXISTS "${PROJECT_SOURCE_DIR}/sinter/sinter.hpp")
  target_sources(sinter PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}"
    FILES "${PROJECT_SOURCE_DIR}/sinter/sinter.hpp" "${PROJECT_SOURCE_DIR}/sinter/train.hpp"
      "${PROJECT_SOURCE_DIR}/sinter/fwd.hpp")
  set(umbrella_headers FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endif()

foreach(library ${libraries})
  string(REGEX REPLACE "^sinter_" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${library} EXPORT sinterTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILE_SET detail DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endforeach()
install(TARGETS sinter EXPORT sinterTargets ${umbrella_headers})
install(EXPORT sinterTargets NAMESPACE sinter:: DESTINATION "${package_dir}")

set(SINTER_FIND_DEPENDENCIES "")
foreach(package ${packages})
  string(APPEND SINTER_FIND_DEPENDENCIES "find_dependency(${package})\n")
endforeach()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/sinterConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/sinterConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sinterConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sinterConfig.cmake" "${PROJECT_BINARY_DIR}/sinterConfigVersion.cmake"
  DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE-MIT" "${PROJECT_SOURCE_DIR}/LICENSE-APACHE"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/sinter")
