// One process as the member of a run: whom it talks to, which generation it is in, what it does when others are lost. A pure
// state machine; what the trainer must know goes to MemberEvents.
//
//   joining --ready, table--> running --abandoned--> regrouping --table--> running ... --> ended
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mastic/elastic/coordinator.hpp>
#include <mastic/elastic/generation_store.hpp>
#include <mastic/elastic/network.hpp>

namespace mastic::elastic {

class MemberEvents {
  public:
    virtual ~MemberEvents() = default;
    // To a newcomer: who gives it the state.
    virtual void admitted(const MemberRecord& source) = 0;
    virtual void refused(const std::string& why) = 0;
    virtual void unneeded(const std::string& why) = 0;  // refused, but for no mistake
    // To a newcomer that was left out again before its first step: it starts anew, and is admitted again.
    virtual void sent_back(const std::string& why) = 0;
    // A change is committed; it takes effect at the boundary that the trainer agrees on: then adopt().
    virtual void committed(const Generation& next) = 0;
    // The group of this generation is over: its operations must end, then report().
    virtual void abandoned(GenerationId generation, const std::string& why) = 0;
    // After report(): the next generation has begun. `holders`: who can give its last step to those that miss it.
    virtual void regrouped(const Generation& generation, const std::vector<std::string>& holders) = 0;
    // The others go on without this one, as it wished (`planned`) or not.
    virtual void ended(bool planned, const std::string& why) = 0;
    virtual void wished(const std::string& answer) = 0;
};

struct MemberSettings {
    MemberRecord self;
    std::string identity;  // version and configuration
    Timing timing{};
};

class Member {
  public:
    // `coordinator` is this process's own. All outlive it.
    Member(MemberSettings settings, GenerationStore& store, Network& network, Coordinator& coordinator,
           MemberEvents& events);

    // This process has committed `generation` by itself.
    void found(const Generation& generation, Seconds now);
    void join(Seconds now);
    // A newcomer whose source was lost: what it has may be of a part that does not go on, so it begins again. But if the
    // committed change has it as a member, the survivors may regroup with it: then it waits for that first.
    void start_over(Seconds now);
    // A newcomer's progress; `port`: where it listens for its first group; `offer`: what it says of itself.
    void ready(Step step, std::uint16_t port, const std::string& offer, Seconds now);
    // The committed change has taken effect here: its members have agreed on the boundary.
    void adopt(GenerationId next, Seconds now);
    // Where this process listens for the generation after the present one. Once after each change of generation.
    void prepare(std::uint16_t port, Seconds now);
    // After a step failed: the last step applied, the members that this one could not reach, and where it listens for the
    // next generation.
    void report(Step applied, const std::vector<std::string>& misses, std::uint16_t port, Seconds now);
    void leave(Seconds now);
    void wish(const std::string& text);

    void hear(Link link, const Message& message, Seconds now);
    void lose(Link link, Loss loss, Seconds now);
    void tick(Seconds now);

    const Generation& generation() const { return current_; }
    const std::optional<Generation>& pending() const { return pending_; }
    bool has_begun() const { return has_begun_; }
    bool has_ended() const { return state_ == State::ended; }

  private:
    enum class State { outside, joining, running, regrouping, ended };

    void ask_to_join(Seconds now);
    std::vector<std::string> sources() const;
    void hang_up();
    void talk_to(const MemberRecord& coordinator, Seconds now);
    void send(Message message);
    void say_hello();
    void say_ready();
    void say_broken();
    void find_coordinator(Seconds now);
    void lose_coordinator(Loss loss, Seconds now);
    void give_up(const std::string& why);
    void follow_newest(Seconds now);
    void take_table(const Message& message, Seconds now);
    void end(bool planned, const std::string& why, Seconds now);

    MemberSettings settings_;
    GenerationStore& store_;
    Network& network_;
    Coordinator& coordinator_;
    MemberEvents& events_;
    State state_ = State::outside;
    Generation current_;
    std::optional<Generation> pending_;
    Link link_ = 0;               // to the coordinator, or to who might be it
    MemberRecord partner_;        // at its other end
    bool second_chance_ = false;  // the link was lost and is being made again
    Seconds last_heard_{0};
    Seconds next_beat_{0};
    Seconds state_since_{0};
    std::optional<Seconds> next_try_;       // of joining
    std::size_t next_candidate_ = 0;        // of joining: whom to ask
    std::optional<Seconds> patience_ends_;  // without a coordinator, but with a change to come
    std::set<std::string> lost_;            // members of the generation that did not answer
    std::set<std::string> dead_;            // of those: processes that have ended
    int open_wishes_ = 0;
    std::string source_;  // of a newcomer's state; its state counts only as long as that is a member
    bool is_ready_ = false;
    std::string offer_;
    bool has_begun_ = false;  // it has been in a generation that took effect
    bool leaving_ = false;
    bool abandoned_ = false;  // said so to the trainer, for the present generation
    Step applied_ = 0;
    std::uint16_t port_ = 0;
    std::vector<std::string> misses_;
};

}  // namespace mastic::elastic
