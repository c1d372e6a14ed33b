// What a state directory says at one moment, for people and programs. It needs no manager.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <mastic/schedule/manager/state_directory.hpp>

namespace mastic::schedule {

struct StateView {
    std::filesystem::path path;
    std::string id;
    std::optional<job::Owner> manager;
    std::optional<RoundRecord> round;
    std::vector<Training> trainings;
    DrainedNodes drained;
    std::vector<Inbox::Waiting> requests;
    double now_s = 0;  // seconds since 1970
};

StateView view_of(const StateDirectory& state, double now_s);

// Who manages, what it waits for, a table of the trainings: what runs where, since when, how fast, how far, and why it has
// the nodes that it has. Trainings that have ended come last, only the newest of them.
std::string status_text(const StateView& view);
// All of one training: its order, its pilots.
std::string training_text(const StateView& view, const Training& training);
// Format 1; times in seconds since 1970, null where something is not known.
std::string status_json(const StateView& view);

}  // namespace mastic::schedule
