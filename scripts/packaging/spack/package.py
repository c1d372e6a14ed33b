# A Spack recipe: copy it to packages/mastic/package.py of a repository of your site (`spack repo create`), set `url` or `git`
# to where your copy of the source is, and `spack install mastic`.
from spack.package import *


class Mastic(CMakePackage):
    """Malleable data-parallel training on Slurm clusters."""

    version("main", branch="main")

    variant("torch", default=True, description="Build the trainer; without it: what a login node needs")
    variant("pmix", default=True, description="Recognise launchers that speak PMIx")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpich@4:")  # collectives, progress and the ends of ranks are tested with MPICH only
    depends_on("hdf5@1.10:+hl~mpi")
    depends_on("hwloc@2:")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("cli11@2:")
    depends_on("tomlplusplus@3:")
    depends_on("nlohmann-json@3:")
    depends_on("spdlog+shared")
    depends_on("py-torch@1.13:~cuda~distributed", when="+torch")
    depends_on("pmix@4:", when="+pmix")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("MASTIC_TESTS", False),
            self.define("MPI_EXECUTABLE_SUFFIX", ""),  # Spack's MPICH has plain names
            self.define_from_variant("MASTIC_TORCH", "torch"),
        ]
