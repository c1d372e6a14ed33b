#include <mastic/core/log.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic {
namespace {

spdlog::level::level_enum parse_level(const std::string& name) {
    const std::vector<std::string> known{"trace", "debug", "info", "warn", "error", "off"};
    for (const auto& word : known) {
        if (name == word) {
            return spdlog::level::from_str(name);
        }
    }
    const auto nearest = nearest_word(name, known);
    throw Error(ExitCode::usage, "unknown log level \"" + name + "\"",
                nearest.empty() ? "levels are trace, debug, info, warn, error and off"
                                : "did you mean \"" + nearest + "\"?");
}

spdlog::sink_ptr console_sink(int rank, spdlog::level::level_enum level) {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(spdlog::color_mode::automatic);
    const std::string speaker = rank == 0 ? "" : "[rank " + std::to_string(rank) + "] ";
    sink->set_pattern("%H:%M:%S %^%-7l%$ " + speaker + "%v");
    sink->set_level(rank == 0 ? level : std::max(level, spdlog::level::warn));
    return sink;
}

spdlog::sink_ptr file_sink(const LogOptions& options, spdlog::level::level_enum level) {
    try {
        constexpr bool truncate = false;
        auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file.string(), truncate);
        sink->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l [rank " + std::to_string(options.rank) + "/" +
                          std::to_string(options.world_size) + "] %v");
        sink->set_level(level);
        return sink;
    } catch (const spdlog::spdlog_ex& failure) {
        throw Error(ExitCode::io, "cannot open the log file " + options.file.string() + ": " + failure.what(),
                    "check that its directory is writable and the disk is not full");
    }
}

}  // namespace

void setup_log(const LogOptions& options) {
    const auto level = parse_level(options.level);
    std::vector<spdlog::sink_ptr> sinks{console_sink(options.rank, level)};
    if (!options.file.empty()) {
        sinks.push_back(file_sink(options, level));
    }
    auto logger = std::make_shared<spdlog::logger>("mastic", sinks.begin(), sinks.end());
    logger->set_level(level);
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
}

bool on_terminal() {
    return isatty(STDERR_FILENO) == 1;
}

}  // namespace mastic
