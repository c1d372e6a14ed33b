// A Slurm that answers in the forms of the recorded one, for a manager: nodes that others take, jobs of one node.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <mastic/core/command.hpp>

namespace mastic::test {

class FakeSlurm {
  public:
    struct Job {
        std::string name;
        std::string node;
        bool running = false;
        std::string limit;  // --time
        std::string reason = "Resources";
    };

    FakeSlurm(int nodes, std::filesystem::path pilot_folder);

    CommandRunner runner();

    void take(const std::string& node);  // by a job of somebody else; a pilot there is killed
    void give_back(const std::string& node);
    void set_state(const std::string& node, const std::string& state) { states_[node] = state; }  // of sinfo
    // As if its script had left that code; none: it was killed.
    void end(const std::string& job, std::optional<int> code);

    std::vector<std::string> jobs_of(const std::string& training) const;
    std::vector<std::string> nodes_of(const std::string& training) const;
    int count(const std::string& program) const;  // how often it was called

    std::map<std::string, Job> jobs;  // by number
    bool silent = false;              // no answer to anything
    bool loses_answers = false;       // sbatch is obeyed, and nobody hears of it
    bool starts = true;               // jobs on idle nodes
    bool lingers = false;             // who is sent a signal stays until it is cancelled
    std::map<std::string, int> waiting;  // job of somebody else, without a plan -> nodes
    std::map<std::string, double> planned;  // node -> when a job of somebody else shall start there, seconds since 1970
    std::string refusal;              // of sbatch
    std::vector<std::vector<std::string>> commands;

  private:
    CommandResult answer(const std::vector<std::string>& command);
    CommandResult sbatch(const std::vector<std::string>& command);
    CommandResult scancel(const std::vector<std::string>& command);
    std::string squeue() const;
    std::string sinfo() const;
    void start_jobs();
    bool is_free(const std::string& node) const;

    std::filesystem::path folder_;
    std::map<std::string, std::string> states_;
    int last_ = 100;
};

}  // namespace mastic::test
