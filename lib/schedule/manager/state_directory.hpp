// STATE/: everything a manager must not forget. Each file is replaced as a whole or appended to, so a manager that is killed
// at any moment leaves a directory that the next one goes on with.
//
//   state.json            format, and the id by which pilots of this directory are known
//   lock, manager.json    who manages it now
//   round.json            what the manager knew and wanted at its last round
//   drained.json          nodes that it must not use
//   trainings/ID/         order.json (what was asked), record.json (what became of it)
//   inbox/, answers/      requests that wait, and what was answered
//   events.jsonl          what happened
//   pilots/               batch scripts and logs of pilots
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mastic/job/owner_lock.hpp>
#include <mastic/schedule/manager/inbox.hpp>
#include <mastic/schedule/manager/round_record.hpp>
#include <mastic/schedule/manager/training_order.hpp>
#include <mastic/schedule/manager/training_record.hpp>

namespace mastic::schedule {

struct Training {
    std::string id;
    TrainingOrder order;
    TrainingRecord record;
    std::string problem;  // not empty: one of its files cannot be read, and nothing may be done about it
    bool unread = false;  // because of the file system: its files may be as they were
};

struct DrainedNodes {
    bool all = false;
    std::set<std::string> nodes;
};

class StateDirectory {
  public:
    // Makes it (mode 0700) if there is none. Throws Error(io) if it cannot be made or others may write to it, Error(usage)
    // for a directory with other things in it or a path that Slurm misreads, Error(data) if a newer mastic made it.
    static StateDirectory create_or_open(const std::filesystem::path& path);
    // Throws Error(usage) if there is none, and the errors above.
    static StateDirectory open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    const std::string& id() const { return id_; }  // 8 hexadecimal digits
    // Throws if it is not there now, or is another one.
    void check() const;

    // Throws Error(io) naming the other manager.
    [[nodiscard]] job::OwnerLock lock(const job::Owner& owner) const;
    std::optional<job::Owner> manager() const;  // none: nobody manages it

    // Each becomes visible at once and whole, under an id made of its name: "fashion", "fashion-2". Either all are published,
    // or (full disk) none and an Error is thrown.
    std::vector<std::string> publish(const std::vector<TrainingOrder>& orders) const;

    // Removes what submissions that were killed have left: nobody else does.
    void forget_drafts() const;

    std::vector<std::string> training_ids() const;  // by time of submission
    Training load(const std::string& training) const;
    std::vector<Training> trainings() const;
    // The training of that id. Throws Error(usage), "did you mean".
    Training require(const std::string& training) const;
    void write_order(const std::string& training, const TrainingOrder& order) const;
    void write_record(const std::string& training, const TrainingRecord& record) const;

    std::optional<RoundRecord> round() const;
    void write_round(const RoundRecord& record) const;
    DrainedNodes drained() const;
    void write_drained(const DrainedNodes& drained) const;

    Inbox inbox() const { return {path_ / "inbox", path_ / "answers"}; }
    std::filesystem::path events_file() const { return path_ / "events.jsonl"; }
    std::filesystem::path pilots() const { return path_ / "pilots"; }

  private:
    explicit StateDirectory(std::filesystem::path path);
    std::filesystem::path training(const std::string& id) const { return path_ / "trainings" / id; }
    job::OwnedPlace place() const;

    std::filesystem::path path_;
    std::string id_;
};

}  // namespace mastic::schedule
