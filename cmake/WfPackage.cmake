# What others take from a build: the rooms for bindings built later (build tree), the command `wf`, and the C++
# library with its CMake package (component Development).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Everything a user runs, without tests: what `make setup` builds.
get_property(wf_rooms GLOBAL PROPERTY WF_ROOMS)
add_custom_target(wf_core DEPENDS ${wf_rooms})
if(TARGET wf)
  add_dependencies(wf_core wf)
  if(SKBUILD)
    install(TARGETS wf RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
  else()
    install(TARGETS wf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

# python/bindings/CMakeLists.txt reads this file: the core is compiled once, the bindings once per Python.
export(TARGETS ${wf_rooms} wf_warnings FILE ${PROJECT_BINARY_DIR}/WfCoreTargets.cmake)

if(SKBUILD)
  return()  # a wheel carries the Python package and `wf`, no headers
endif()

# find_package(workflow) gives workflow::workflow: the headers of include/wf and the rooms behind them.
set(wf_public_rooms "")
foreach(room base dag)
  if(TARGET wf_${room})
    list(APPEND wf_public_rooms wf_${room})
  endif()
endforeach()
add_library(wf_public INTERFACE)
set_target_properties(wf_public PROPERTIES EXPORT_NAME workflow)
target_link_libraries(wf_public INTERFACE ${wf_public_rooms})
set(wf_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/workflow)
install(TARGETS wf_public ${wf_public_rooms} EXPORT workflowTargets ARCHIVE COMPONENT Development)
install(DIRECTORY include/wf TYPE INCLUDE COMPONENT Development FILES_MATCHING PATTERN "*.h")
install(EXPORT workflowTargets NAMESPACE workflow:: DESTINATION ${wf_package_dir} COMPONENT Development)
configure_package_config_file(cmake/workflowConfig.cmake.in ${PROJECT_BINARY_DIR}/workflowConfig.cmake
                              INSTALL_DESTINATION ${wf_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/workflowConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/workflowConfig.cmake ${PROJECT_BINARY_DIR}/workflowConfigVersion.cmake
        DESTINATION ${wf_package_dir} COMPONENT Development)
