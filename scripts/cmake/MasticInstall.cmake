# The package `mastic`. `cmake --install BUILD --component comm`: headers and libraries of lib/comm and what it stands on, as the
# target mastic::comm. `--component elastic_app`, in addition: what lib/elastic/app needs, as mastic::elastic_app. Without a
# component: all of it, and the programs.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/mastic")
set(comm_folders core job comm)
set(comm_libraries mastic_options mastic_core mastic_job mastic_comm_plan mastic_comm mastic_comm_shm mastic_comm_tcp
                   mastic_comm_collective mastic_comm_mpi)

set(cuda_libraries mastic_comm_cuda mastic_comm_nccl)  # their package needs a CUDA toolkit, the others' does not

foreach(library IN LISTS comm_libraries cuda_libraries)
  string(REPLACE "mastic_" "" name "${library}")
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
# The package's mastic::comm is everything: see mastic-config.cmake.in.
set_target_properties(mastic_comm PROPERTIES EXPORT_NAME comm_base)

install(TARGETS ${comm_libraries} EXPORT mastic-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT comm)
install(EXPORT mastic-targets NAMESPACE mastic:: DESTINATION "${package_dir}" COMPONENT comm)
install(TARGETS ${cuda_libraries} EXPORT mastic-cuda-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        COMPONENT comm)
install(EXPORT mastic-cuda-targets NAMESPACE mastic:: DESTINATION "${package_dir}" COMPONENT comm)
foreach(folder IN LISTS comm_folders)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/lib/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mastic" COMPONENT comm
          FILES_MATCHING PATTERN "*.hpp" PATTERN "detail" EXCLUDE PATTERN "interposer" EXCLUDE PATTERN "batch" EXCLUDE)
endforeach()

set(app_folders config checkpoint elastic)
set(app_libraries mastic_config mastic_checkpoint mastic_elastic mastic_elastic_app)
foreach(library IN LISTS app_libraries)
  string(REPLACE "mastic_" "" name "${library}")
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${app_libraries} EXPORT mastic-elastic_app-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT elastic_app)
install(EXPORT mastic-elastic_app-targets NAMESPACE mastic:: DESTINATION "${package_dir}" COMPONENT elastic_app)
foreach(folder IN LISTS app_folders)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/lib/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mastic" COMPONENT elastic_app
          FILES_MATCHING PATTERN "*.hpp")
endforeach()

install(DIRECTORY "${CMAKE_SOURCE_DIR}/slurm" DESTINATION "${CMAKE_INSTALL_DATADIR}/mastic" USE_SOURCE_PERMISSIONS)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/mastic-config.cmake.in"
  "${CMAKE_BINARY_DIR}/mastic-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/mastic-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/mastic-config.cmake" "${CMAKE_BINARY_DIR}/mastic-config-version.cmake"
        DESTINATION "${package_dir}" COMPONENT comm)

# What users copy, and what a site shows them.
set(MASTIC_DATA_DIR "${CMAKE_INSTALL_DATADIR}/mastic")
foreach(folder slurm configs)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/${folder}" DESTINATION "${MASTIC_DATA_DIR}" OPTIONAL)
endforeach()
configure_file("${CMAKE_SOURCE_DIR}/scripts/packaging/module.lua.in"
               "${CMAKE_BINARY_DIR}/${PROJECT_VERSION}.lua" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/${PROJECT_VERSION}.lua" DESTINATION "${CMAKE_INSTALL_DATADIR}/modulefiles/mastic")

# All that `cmake --install` takes, without the tests.
get_property(installed GLOBAL PROPERTY MASTIC_INSTALLED)
add_custom_target(installed DEPENDS ${installed} ${comm_libraries} ${cuda_libraries} ${app_libraries})
