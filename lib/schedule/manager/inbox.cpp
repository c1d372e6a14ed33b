#include <mastic/schedule/manager/inbox.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/host_name.hpp>

namespace mastic::schedule {
namespace {

namespace fs = std::filesystem;

// Microseconds first, so that names sort by time; then what makes them differ between processes and hosts.
std::string new_id(double time_s) {
    static std::atomic<unsigned> counter{0};
    std::array<char, 32> time = {};
    std::snprintf(time.data(), time.size(), "%016.0f", time_s * 1e6);
    return std::string(time.data()) + "-" + host_name() + "-" + std::to_string(getpid()) + "-" +
           std::to_string(counter++);
}

}  // namespace

std::string Inbox::post(const Request& request) const {
    const std::string id = new_id(request.time_s);
    write_file_atomically(request_file(id), to_json(request), 0600);
    return id;
}

std::vector<Inbox::Waiting> Inbox::waiting() const {
    std::vector<Waiting> found;
    for (const auto& entry : fs::directory_iterator(requests_)) {
        if (entry.path().extension() == ".json") {
            found.push_back({entry.path().stem().string(), {}, ""});
        }
    }
    std::ranges::sort(found, {}, &Waiting::id);
    const auto is_gone = [this](const Waiting& waiting) {
        return !waiting.request && !fs::exists(request_file(waiting.id));
    };
    for (Waiting& waiting : found) {
        try {
            const fs::path file = request_file(waiting.id);
            waiting.request = parse_request(read_text_file(file), file.string());
        } catch (const Error& error) {
            waiting.problem = error.what();
        }
    }
    std::erase_if(found, is_gone);  // the manager took it meanwhile
    return found;
}

void Inbox::answer(const std::string& id, const Answer& answer) const {
    write_file_atomically(answer_file(id), to_json(answer), 0600);
    fs::remove(request_file(id));
    sync_directory(requests_);
}

std::optional<Answer> Inbox::answer_to(const std::string& id) const {
    if (!fs::exists(answer_file(id))) {
        return std::nullopt;
    }
    return parse_answer(read_text_file(answer_file(id)), answer_file(id).string());
}

void Inbox::forget_answers_before(double time_s) const {
    for (const auto& entry : fs::directory_iterator(answers_)) {
        const std::string id = entry.path().stem().string();
        double posted_us = 0;
        if (std::sscanf(id.c_str(), "%lf-", &posted_us) == 1 && posted_us < time_s * 1e6) {
            std::error_code ignored;
            fs::remove(entry.path(), ignored);
        }
    }
}

}  // namespace mastic::schedule
