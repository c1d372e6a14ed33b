#include <mastic/job/task_end.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <mastic/job/host_list.hpp>

namespace mastic::job {
namespace {

// "n[1-2]: tasks 0-1,3: Killed"
void add_ends(std::vector<TaskEnd>& ends, std::string_view words) {
    const auto tasks = words.find(": task");
    const auto number = words.find_first_of("0123456789", std::min(tasks, words.size()));
    const auto colon = words.find(": ", std::min(number, words.size()));
    if (colon == words.npos) {
        return;
    }
    const std::string how(words.substr(colon + 2));
    for (const std::string& task : expand_or_none("t[" + std::string(words.substr(number, colon - number)) + "]")) {
        int rank = 0;
        if (std::from_chars(task.data() + 1, task.data() + task.size(), rank).ec == std::errc()) {
            ends.push_back({rank, how});
        }
    }
}

}  // namespace

std::vector<TaskEnd> read_task_ends(std::string_view log) {
    constexpr std::string_view from_srun = "srun: error: ";
    constexpr std::string_view end_of_start = "mastic-train: ";
    std::vector<TaskEnd> newest, present;
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(log.size(), line.size() + 1));
        if (line.starts_with(from_srun)) {
            add_ends(present, line.substr(from_srun.size()));
        } else if (line.starts_with(end_of_start)) {
            newest = std::exchange(present, {});
        }
    }
    return present.empty() ? newest : present;
}

std::string read_successor(std::string_view log) {
    constexpr std::string_view begin = "mastic-train: job ", end = " goes on, with the same log";
    std::string successor;
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(log.size(), line.size() + 1));
        if (line.starts_with(begin) && line.ends_with(end)) {
            successor = line.substr(begin.size(), line.size() - begin.size() - end.size());
        } else if (line.starts_with("mastic-train: ")) {
            successor.clear();
        }
    }
    return successor;
}

}  // namespace mastic::job
