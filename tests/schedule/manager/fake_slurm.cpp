#include "schedule/manager/fake_slurm.hpp"

#include <algorithm>
#include <sstream>

#include <mastic/core/file.hpp>

namespace mastic::test {
namespace {

const std::string* value_of(const std::vector<std::string>& command, const std::string& option) {
    static std::string value;
    for (const std::string& word : command) {
        if (word.starts_with(option + "=")) {
            value = word.substr(option.size() + 1);
            return &value;
        }
    }
    return nullptr;
}

std::string job_name_in(const std::string& script) {
    const std::string key = "#SBATCH --job-name=";
    const auto at = script.find(key) + key.size();
    return script.substr(at, script.find('\n', at) - at);
}

std::string training_of(const std::string& job_name) {
    const std::string prefix = "mastic-";
    return job_name.substr(prefix.size(), job_name.rfind('@') - prefix.size());
}

}  // namespace

FakeSlurm::FakeSlurm(int nodes, std::filesystem::path pilot_folder) : folder_(std::move(pilot_folder)) {
    for (int node = 1; node <= nodes; ++node) {
        states_["n" + std::to_string(node)] = "idle";
    }
}

CommandRunner FakeSlurm::runner() {
    return [this](const std::vector<std::string>& command, Seconds) { return answer(command); };
}

CommandResult FakeSlurm::answer(const std::vector<std::string>& command) {
    const auto is = [&](const char* program) { return std::ranges::find(command, program) != command.end(); };
    commands.push_back(command);
    if (silent) {
        return {1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"};
    }
    if (is("squeue")) {
        start_jobs();
        return {0, squeue(), ""};
    }
    if (is("sinfo")) {
        return {0, sinfo(), ""};
    }
    if (is("sbatch")) {
        return sbatch(command);
    }
    return is("scancel") ? scancel(command) : CommandResult{0, "", ""};
}

int FakeSlurm::count(const std::string& program) const {
    return static_cast<int>(std::ranges::count_if(
        commands, [&](const auto& command) { return std::ranges::find(command, program) != command.end(); }));
}

CommandResult FakeSlurm::sbatch(const std::vector<std::string>& command) {
    if (!refusal.empty()) {
        return {1, "", "sbatch: error: " + refusal};
    }
    const std::string id = std::to_string(++last_);
    const std::string* limit = value_of(command, "--time");
    const std::string time = limit ? *limit : "";
    jobs[id] = {job_name_in(read_text_file(command.back())), *value_of(command, "--nodelist"), false, time};
    start_jobs();
    return loses_answers ? CommandResult{124, "", ""} : CommandResult{0, id + "\n", ""};
}

CommandResult FakeSlurm::scancel(const std::vector<std::string>& command) {
    const bool signal_only = value_of(command, "--signal") != nullptr;
    for (const std::string& word : command) {
        if (jobs.contains(word) && !(lingers && signal_only)) {
            end(word, signal_only || !jobs[word].running ? std::optional(75) : std::nullopt);
        }
    }
    return {};
}

bool FakeSlurm::is_free(const std::string& node) const {
    return states_.at(node) == "idle" && std::ranges::none_of(jobs, [&](const auto& job) {
               return job.second.running && job.second.node == node;
           });
}

void FakeSlurm::start_jobs() {
    for (auto& [id, job] : jobs) {
        job.running = job.running || (starts && is_free(job.node));
    }
}

void FakeSlurm::end(const std::string& job, std::optional<int> code) {
    if (code && std::filesystem::is_directory(folder_)) {
        write_file_atomically(folder_ / (training_of(jobs.at(job).name) + "-" + job + ".code"),
                              std::to_string(*code) + "\n");
    }
    jobs.erase(job);
}

void FakeSlurm::take(const std::string& node) {
    std::erase_if(jobs, [&](const auto& job) { return job.second.running && job.second.node == node; });
    states_[node] = "allocated";
}

void FakeSlurm::give_back(const std::string& node) {
    states_[node] = "idle";
}

std::vector<std::string> FakeSlurm::jobs_of(const std::string& training) const {
    std::vector<std::string> ids;
    for (const auto& [id, job] : jobs) {
        if (training_of(job.name) == training) {
            ids.push_back(id);
        }
    }
    return ids;
}

std::vector<std::string> FakeSlurm::nodes_of(const std::string& training) const {
    std::vector<std::string> nodes;
    for (const std::string& id : jobs_of(training)) {
        nodes.push_back(jobs.at(id).node);
    }
    std::ranges::sort(nodes);
    return nodes;
}

std::string FakeSlurm::squeue() const {
    std::ostringstream text;
    for (const auto& [id, job] : jobs) {
        text << id << (job.running ? "|R" : "|PD") << "|cancel|me|1|" << (job.running ? job.node : "")
             << "|1796009829|1796013429|(null)|1|4|0|N/A|" << job.node << "||(null)|"
             << (job.running ? "None" : job.reason) << "|" << job.name << "\n";
    }
    for (const auto& [node, state] : states_) {
        if (state == "allocated") {
            text << "9" << node.substr(1) << "|R|normal|you|1|" << node
                 << "|1796009829|1796013429|(null)|1|4|0|N/A|||(null)|None|theirs\n";
        }
    }
    for (const auto& [job, nodes] : waiting) {
        text << job << "|PD|cancel|you|" << nodes << "||N/A|N/A|(null)|9|" << nodes << "|0|N/A|||(null)|Resources|theirs\n";
    }
    for (const auto& [node, start_s] : planned) {
        const auto start = static_cast<long>(start_s);
        text << "8" << node.substr(1) << "|PD|cancel|you|1||" << start << "|" << start + 600 << "|" << node
             << "|9|4|0|N/A|" << node << "||(null)|Priority|theirs\n";
    }
    return text.str();
}

std::string FakeSlurm::sinfo() const {
    std::ostringstream text;
    for (const auto& [node, state] : states_) {
        const bool is_used = state == "allocated" || (state == "idle" && !is_free(node));
        text << node << "|cancel|up|" << (is_used ? "allocated" : state)
             << (is_used ? "|4/0/0/4" : "|0/4/0/4") << "|4000|(null)|none\n";
    }
    return text.str();
}

}  // namespace mastic::test
