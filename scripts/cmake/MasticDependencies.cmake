# External libraries, all from the distribution's packages (see scripts/packages).

# MPI is MPICH, whatever mpicc points at: Debian installs its wrappers with this suffix; elsewhere (modules, Spack)
# plain mpicxx is asked and must turn out to be MPICH.
if(NOT DEFINED MPI_EXECUTABLE_SUFFIX)
  find_program(MASTIC_MPICXX_MPICH mpicxx.mpich)
  if(MASTIC_MPICXX_MPICH)
    set(MPI_EXECUTABLE_SUFFIX .mpich)
  endif()
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
# Optional: which launcher started the processes can also be asked through it.
pkg_check_modules(PMIX IMPORTED_TARGET pmix)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C HL)
if(MASTIC_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

if(MASTIC_TORCH)
  find_package(Torch REQUIRED)
  # <torch/torch.h> takes 30 s to compile: once, for everything.
  file(WRITE "${CMAKE_BINARY_DIR}/torch_pch.cpp" "// Owner of the precompiled torch header.\n")
  add_library(mastic_torch_pch OBJECT "${CMAKE_BINARY_DIR}/torch_pch.cpp")
  target_link_libraries(mastic_torch_pch PRIVATE mastic_options torch)
  target_precompile_headers(mastic_torch_pch PRIVATE <torch/torch.h>)
endif()

# Links torch and reuses the precompiled header.
function(mastic_use_torch target)
  target_link_libraries(${target} PUBLIC torch)
  target_precompile_headers(${target} REUSE_FROM mastic_torch_pch)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)  # -fPIE, which programs get otherwise, does not fit the precompiled header
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()
