#include <mastic/report/rank_failure.hpp>

#include <nlohmann/json.hpp>

#include <mastic/core/file.hpp>

namespace mastic::report {
namespace {

std::filesystem::path file_of(const job::RunDirectory& directory) { return directory.path() / "failure.json"; }

}  // namespace

std::string to_string(const RankFailure& failure) {
    return "rank " + std::to_string(failure.rank) + ": " + failure.message;
}

void write_rank_failure(const job::RunDirectory& directory, const RankFailure& failure) {
    const nlohmann::json content = {
        {"rank", failure.rank}, {"exit_code", static_cast<int>(failure.code)}, {"message", failure.message}};
    write_file_atomically(file_of(directory), content.dump(2) + "\n");
}

std::optional<RankFailure> read_rank_failure(const job::RunDirectory& directory) {
    try {
        const auto content = nlohmann::json::parse(read_text_file(file_of(directory)));
        return RankFailure{content.at("rank"), ExitCode{content.at("exit_code").get<int>()}, content.at("message")};
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void remove_rank_failure(const job::RunDirectory& directory) {
    std::error_code ignored;
    std::filesystem::remove(file_of(directory), ignored);
}

}  // namespace mastic::report
