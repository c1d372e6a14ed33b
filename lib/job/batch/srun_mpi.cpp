#include <mastic/job/batch/srun_mpi.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>

#include <mastic/config/text.hpp>
#include <mastic/core/error.hpp>

namespace mastic::job {

std::string required_srun_mpi(std::string_view library) {
    const auto says = [&](std::string_view word) { return library.find(word) != library.npos; };
    if (says("CRAY MPICH")) {
        return "cray_shasta";
    }
    const bool without_pmix = says("--without-pmix") || says("--with-pmix=no");
    return says("Open MPI") || (says("--with-pmix") && !without_pmix) ? "pmix" : "pmi2";
}

std::vector<std::string> parse_srun_mpi_list(std::string_view answer) {
    std::vector<std::string> types;
    std::istringstream lines{std::string(answer)};
    for (std::string line; std::getline(lines, line);) {
        // "MPI plugin types are...", "specific pmix plugin versions available: pmix_v4", "srun: MPI types are..."
        if (const auto colon = line.rfind(": "); colon != line.npos) {
            line.erase(0, colon + 2);
        }
        std::ranges::replace(line, ',', ' ');
        std::istringstream words(line);
        const std::vector<std::string> found{std::istream_iterator<std::string>(words), {}};
        const bool sentence = std::ranges::any_of(found, [](const auto& word) { return word == "types"; });
        if (!sentence) {
            types.insert(types.end(), found.begin(), found.end());
        }
    }
    return types;
}

std::vector<std::string> ask_srun_mpi_types(const CommandRunner& run) {
    const CommandResult result = run({"srun", "--mpi=list"}, Seconds(20));
    return result.exit_code == 0 ? parse_srun_mpi_list(result.output + "\n" + result.error)
                                 : std::vector<std::string>{};
}

void check_srun_mpi(const std::string& required, const std::vector<std::string>& offered) {
    const bool has = offered.empty() || std::ranges::any_of(offered, [&](const std::string& type) {
                         return type == required || type.starts_with(required + "_v");
                     });
    if (!has) {
        throw Error(ExitCode::environment,
                    "this program's MPI library needs srun --mpi=" + required + ", but srun offers only " +
                        config::join(offered),
                    "ask for Slurm's plugin mpi/" + required +
                        ", or build mastic with an MPI library that speaks " + "one of these");
    }
}

}  // namespace mastic::job
