// What srun says in a job's log of tasks that ended badly: "srun: error: n2: task 1: Killed".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mastic::job {

struct TaskEnd {
    int task = 0;     // the rank
    std::string how;  // srun's words: "Killed", "Out Of Memory", "Exited with exit code 7"
};

// In the order of the log, of the newest start in it: the end of each is told by a line of mastic-train.
std::vector<TaskEnd> read_task_ends(std::string_view log);

// The number of the job that goes on, as the newest end in the log says; empty: none.
std::string read_successor(std::string_view log);

}  // namespace mastic::job
