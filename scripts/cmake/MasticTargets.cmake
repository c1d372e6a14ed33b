# The few shapes of target that mastic has: a library per folder of lib/, a program, a unit test, an MPI test.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # libraries of modules and Spack are in no standard place
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# Sources say #include <mastic/core/error.hpp>, in the build tree as after an install.
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/include")
file(CREATE_LINK "${CMAKE_SOURCE_DIR}/lib" "${CMAKE_BINARY_DIR}/include/mastic" SYMBOLIC)

add_library(mastic_options INTERFACE)
target_compile_features(mastic_options INTERFACE cxx_std_20)
# Warnings are for this project, not for those that use its installed libraries.
set(for_cxx "BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:C,CXX>")  # nvcc has other flags
target_compile_options(mastic_options INTERFACE "$<${for_cxx}:-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;-Werror>>")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Wrong about `"text" + std::string` (GCC bug 105651).
  target_compile_options(mastic_options INTERFACE
    "$<${for_cxx}:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>>")
endif()
if(MASTIC_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(mastic_options INTERFACE "$<${for_cxx}:-Wno-subobject-linkage>>")  # takes a group for a header
endif()
target_include_directories(mastic_options INTERFACE "$<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>"
                                                    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
if(MASTIC_SANITIZE)
  target_compile_options(mastic_options INTERFACE
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${MASTIC_SANITIZE};-fno-omit-frame-pointer>")
  target_link_options(mastic_options INTERFACE -fsanitize=${MASTIC_SANITIZE})
endif()

# mastic_library(core SOURCES ... [PUBLIC libs...] [PRIVATE libs...] [TORCH] [SEPARATE])
#   Defines the static library mastic_core with the alias mastic::core. TORCH: uses the precompiled torch header. SEPARATE:
#   its files are never compiled in groups, since the interposer takes some of them and must not need what others need.
function(mastic_library name)
  cmake_parse_arguments(ARG "TORCH;SEPARATE" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(mastic_${name} STATIC ${ARG_SOURCES})
  add_library(mastic::${name} ALIAS mastic_${name})
  target_link_libraries(mastic_${name} PUBLIC mastic_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(MASTIC_UNITY AND NOT ARG_SEPARATE)
    set_target_properties(mastic_${name} PROPERTIES UNITY_BUILD ON)
  endif()
  if(ARG_TORCH)
    mastic_use_torch(mastic_${name})
  endif()
endfunction()

# mastic_program(mastic-train SOURCES ... LIBS ... [TORCH])
function(mastic_program name)
  cmake_parse_arguments(ARG "TORCH" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE mastic_options ${ARG_LIBS})
  if(ARG_TORCH)
    mastic_use_torch(${name})
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_property(GLOBAL APPEND PROPERTY MASTIC_INSTALLED ${name})
endfunction()

# mastic_manual(mastic-train): the manual page and the completion that the program generates, built and installed.
function(mastic_manual program)
  set(page "${CMAKE_CURRENT_BINARY_DIR}/${program}.1")
  set(completion "${CMAKE_CURRENT_BINARY_DIR}/${program}.bash")
  add_custom_command(OUTPUT "${page}" "${completion}"
    COMMAND ${program} --generate man > "${page}"
    COMMAND ${program} --generate bash-completion > "${completion}"
    DEPENDS ${program} VERBATIM)
  add_custom_target(${program}_manual ALL DEPENDS "${page}" "${completion}")
  set_property(GLOBAL APPEND PROPERTY MASTIC_INSTALLED ${program}_manual)
  install(FILES "${page}" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES "${completion}" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program})
endfunction()

# Tests have the headers of GoogleTest precompiled (those of torch, if `torch`) and are little optimised: most of the time that
# they take is compilation.
function(mastic_compile_test target torch)
  if(torch)
    mastic_use_torch(${target})
  else()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    target_precompile_headers(${target} REUSE_FROM mastic_test_pch)
  endif()
endfunction()

# mastic_test(core SOURCES error_test.cpp ... LIBS ... [TORCH] [LABEL unit])
#   One GoogleTest program test_core; ctest knows each of its cases as core.SUITE.CASE. Those of LABEL mpi, which start
#   ranks, claim two processors.
function(mastic_test name)
  cmake_parse_arguments(ARG "TORCH" "TIMEOUT;LABEL" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set(processors 1)
  if(ARG_LABEL STREQUAL mpi)
    set(processors 2)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE mastic_options mastic::test_support GTest::gmock GTest::gtest_main ${ARG_LIBS})
  mastic_compile_test(test_${name} ${ARG_TORCH})
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABEL}" PROCESSORS ${processors})
endfunction()

# mastic_mpi_test(comm_mpi RANKS 1 2 3 4 SOURCES ... LIBS ... [TORCH])
#   One program whose main (tests/support/mpi_main.cpp) starts MPI and a hang watchdog; a ctest entry per rank count.
function(mastic_mpi_test name)
  cmake_parse_arguments(ARG "TORCH" "TIMEOUT" "RANKS;SOURCES;LIBS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE mastic_options mastic::mpi_test_main GTest::gmock GTest::gtest ${ARG_LIBS})
  mastic_compile_test(test_${name} ${ARG_TORCH})
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME ${name}.ranks${ranks} COMMAND ${MPIEXEC_EXECUTABLE} -n ${ranks} $<TARGET_FILE:test_${name}>)
    set_tests_properties(${name}.ranks${ranks} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS mpi
                         PROCESSORS 2)
  endforeach()
endfunction()
