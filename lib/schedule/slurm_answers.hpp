// What Slurm is asked for a view of a cluster, and how its answers are read.
//
// The commands print text in formats of our own and times as seconds since 1970. `--json` would need a serializer
// plugin that sites may lack, and is about 3 kB a job instead of 0.1; so there is one way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/schedule/log_text.hpp>
#include <mastic/schedule/slurm_view.hpp>

namespace mastic::schedule {

// The commands of one round, in the order in which they are to be asked: a job that starts in between makes its nodes
// busy, not idle. Variables of the user that would filter or shorten the answers are taken away.
using Command = std::vector<std::string>;
struct ViewCommands {
    Command jobs;
    Command nodes;
    Command reservations;
};
const ViewCommands& view_commands();

// Readers of their answers. A row that cannot be understood is left out and told to `odd`; none throws for it.
struct Jobs {
    std::vector<RunningJob> running;
    std::vector<QueuedJob> pending;
};
Jobs parse_jobs(std::string_view answer, OddRows& odd);
std::vector<ClusterNode> parse_nodes(std::string_view answer, OddRows& odd);
std::vector<Reservation> parse_reservations(std::string_view answer, OddRows& odd);

struct ViewAnswers {
    std::string jobs;
    std::string nodes;
    std::string reservations;
};

}  // namespace mastic::schedule
