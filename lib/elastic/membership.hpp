// A trainer's membership of an elastic run: what a step loop needs of lib/elastic, and nothing else.
//
//   Membership run(options, state);           // founds the run, or joins it in the background and catches up
//   auto group = run.make_group();
//   for (step = ...) {
//       try {
//           ... reduce over `group`; in the control word, rank 0 adds run.pending(), and all take the maximum ...
//       } catch (const Error& e) {            // e.code() == collective: somebody is lost
//           group.reset();
//           run.regroup(last_applied_step);   // state.apply() brings a laggard up; then this step again
//           group = run.make_group();
//           continue;
//       }
//       ... apply ...
//       run.keep(step, reduced, agreed_pending);
//       switch (run.at_boundary(step, agreed_pending)) {
//           case Boundary::stays: break;
//           case Boundary::changed: group.reset(); group = run.make_group(); break;
//           case Boundary::left: return;
//       }
//   }
//
// One thread calls all of it, but for leave() and metrics. Everything is bounded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mastic/comm/group.hpp>
#include <mastic/comm/options.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/core/error.hpp>
#include <mastic/elastic/blob.hpp>
#include <mastic/elastic/coordinator.hpp>
#include <mastic/elastic/generation.hpp>
#include <mastic/elastic/network.hpp>

namespace mastic::elastic {

struct MembershipOptions {
    std::filesystem::path directory;  // RUN/elastic: seen by all members
    // What members must share: the version of the program, and a fingerprint of its configuration.
    std::string version;
    std::string fingerprint;
    std::string network = "auto";  // as comm::TcpOptions::network
    Timing timing{};
    Seconds join{120};  // how long to look for a coordinator that answers
    std::function<bool()> must_end = {};  // asked while this process joins: if so, it is Left
    Bytes rate{0};      // of what this process gives newcomers, bytes per second; 0: no limit
    Bytes most_kept{std::uint64_t{4} << 30};  // steps kept for newcomers
    comm::GroupOptions group{};
    bool control_socket = true;
    // A newcomer is a member before it has the last step of the others, which catch_up() brings while they do the next one: give
    // it nothing to do in that.
    bool enter_behind = false;
    // Whether a newcomer is needed: what a newcomer says of itself when it has the state, and what the run's coordinator makes of
    // that, in a thread of its own. Empty: everybody may join.
    std::function<std::string()> offer = {};
    Judge why_not = {};
};

// What newcomers get and laggards catch up with: everything that must be the same on all members.
class ReplicatedState {
  public:
    virtual ~ReplicatedState() = default;
    // The state after the last step; the blob must not change any more. Called from at_boundary().
    virtual Blob snapshot() = 0;
    // It will be called soon: time to get the memory. From another thread, while a step is computed.
    virtual void expect_snapshot() {}
    // The state after `step`, as snapshot() gave it on another member.
    virtual void load(Step step, std::span<const std::byte> snapshot) = 0;
    // What another member gave to keep(step, ...): `step` becomes the last step applied.
    virtual void apply(Step step, std::span<const std::byte> reduced) = 0;
};

enum class Boundary { stays, changed, left };

class Membership {
  public:
    // Founds the run if it has no members, else joins it: fetches the state, catches up, and returns when this process is a
    // member; `state` is then that of after last_step(). Throws Error(environment): not reachable; Refused; Error(io); Unneeded;
    // Left. `state` outlives it.
    Membership(MembershipOptions options, ReplicatedState& state);
    ~Membership();
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;

    bool founded() const;    // began with its own state, as the only member
    Step last_step() const;  // of `state`, as far as membership has brought it
    const std::string& id() const;
    const Generation& generation() const;  // once this process has left: the first one without it, maybe without anybody
    int rank() const;
    // Once this process has left: nobody goes on, and it is the one that saves.
    bool is_last() const;

    // The group of the present generation; once per generation. It fails when membership finds that somebody is lost.
    std::shared_ptr<comm::Group> make_group();
    // Of a newcomer that has entered behind: the last step of the others is still on its way. catch_up() waits for it and applies
    // it; once the group is there, before the first step. Throws Error(collective), as a step that fails.
    bool is_behind() const;
    void catch_up();
    // What this rank adds to the control word: 0, or at rank 0 the generation that is committed and waits.
    std::int64_t pending() const;

    // What was applied as `step`, and the maximum of all ranks' pending(), as for at_boundary(); before that. It is given to others
    // later, so it must not change until the next step's call, or as long as the blob lives.
    void keep(Step step, Blob reduced, std::int64_t agreed_pending);
    // After each step, with the maximum of all ranks' pending(). left: this process is no member any more, as it wished.
    // changed: a new generation, or the old one is broken already, which the next operation will tell.
    Boundary at_boundary(Step step, std::int64_t agreed_pending);
    // After a failed step and the end of the group; `applied`: the last step that counts here. Waits for the survivors. Throws
    // Error(collective) if they go on without this process, Error(requeue) if it was still on its way to their state, and Left
    // below if it had asked to go.
    void regroup(Step applied);
    // Asks to be let go, at a boundary. From any thread.
    void leave();
    // True once, at rank 0, after somebody has asked for a checkpoint.
    bool take_checkpoint_wish();

    // What happened since the last call, for metrics.
    struct Event {
        double unix_time = 0;
        std::string kind;  // "joined", "switched", "lost", "regrouped", "left"
        GenerationId generation = 0;
        int members = 0;
        Seconds took{0};  // that the trainer was held up
        std::string text;
    };
    std::vector<Event> take_events();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Thrown by regroup() where the process had asked to leave, and the others have gone on without it; and to one that must end before
// it has joined: a good end.
class Left : public std::exception {
  public:
    const char* what() const noexcept override { return "this process has left the run"; }
};

// Thrown to a newcomer of another version or configuration.
class Refused : public Error {
  public:
    explicit Refused(const std::string& why)
        : Error(ExitCode::environment, "this process may not join the run: " + why,
                "start the same version of the program with the same configuration as the run has") {}
};

// Thrown to a newcomer that the run does not need: a good end.
class Unneeded : public std::exception {
  public:
    explicit Unneeded(std::string why) : why_(std::move(why)) {}
    const char* what() const noexcept override { return why_.c_str(); }

  private:
    std::string why_;
};

}  // namespace mastic::elastic
