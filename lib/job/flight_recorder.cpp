#include <mastic/job/flight_recorder.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <mastic/core/file.hpp>

namespace mastic::job {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// One write of this size replaces the record before it whole.
constexpr std::size_t record_bytes = 512;

std::string json_text(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

FlightRecorder::FlightRecorder(const std::filesystem::path& file, int rank, std::string host)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (!file_.valid()) {
        throw_file_error("write", file, errno);
    }
    moment_.rank = rank;
    moment_.host = std::move(host);
    moment_.pid = getpid();
    head_ = nlohmann::json{{"rank", moment_.rank}, {"host", moment_.host}, {"pid", moment_.pid}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
    head_.pop_back();  // the closing brace
    enter("start");
}

void FlightRecorder::enter(std::string_view phase, std::int64_t step) {
    if (file_.valid()) {
        moment_.phase = phase;
        moment_.step = step;
        moment_.since = system_clock::now();
        write();
    }
}

void FlightRecorder::end(int exit_code) {
    if (file_.valid()) {
        moment_.end = "exit code " + std::to_string(exit_code);
        write();
    }
}

void FlightRecorder::write() {
    const auto since = std::chrono::duration_cast<milliseconds>(moment_.since.time_since_epoch());
    // Several times a step, so no whole object is made.
    std::string text = head_ + ",\"step\":" + std::to_string(moment_.step) + ",\"phase\":" + json_text(moment_.phase) +
                       ",\"since_ms\":" + std::to_string(since.count()) + ",\"end\":" + json_text(moment_.end) + "}";
    if (text.size() < record_bytes) {
        text.resize(record_bytes - 1, ' ');
        text.push_back('\n');
        [[maybe_unused]] const ssize_t written = pwrite(file_.get(), text.data(), text.size(), 0);
    }
}

std::optional<LastMoment> read_last_moment(const std::filesystem::path& file) {
    try {
        const auto content = nlohmann::json::parse(read_text_file(file));
        return LastMoment{content.at("rank"),
                          content.at("host"),
                          content.at("pid"),
                          content.at("step"),
                          content.at("phase"),
                          system_clock::time_point(milliseconds(content.at("since_ms").get<std::int64_t>())),
                          content.at("end")};
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

std::vector<LastMoment> read_last_moments(const std::filesystem::path& directory) {
    std::vector<LastMoment> moments;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(directory, missing)) {
        if (entry.path().extension() == ".last") {
            if (auto moment = read_last_moment(entry.path())) {
                moments.push_back(std::move(*moment));
            }
        }
    }
    std::ranges::sort(moments, {}, &LastMoment::rank);
    return moments;
}

}  // namespace mastic::job
