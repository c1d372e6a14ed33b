// The coordinator of a generation: hears its members' signs of life, forms the next generation when somebody comes or goes,
// and lets the survivors regroup when somebody is lost. A pure state machine; time is given to it.
//
// Every process has one. It is active in the process of rank 0, or, when that is lost, of the first rank that is left;
// elsewhere it only keeps what it hears, so that it knows who has called when it has to take over.
//
// Planned change: the next generation is committed while the present one works, and takes effect at the step boundary that
// the members agree on. Loss: `abandon` to all members; who reports in time is in the next generation; the highest applied
// step counts, and who is more than one step behind is left out.
//
// Several parts of a cut network may try to go on. The commit of the next generation decides; so that the larger part wins,
// one without a majority of those members that are not known to be dead tries later (at three time-outs).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <mastic/elastic/generation_store.hpp>
#include <mastic/elastic/network.hpp>

namespace mastic::elastic {

// Why the run does not need a newcomer that says `offer` of itself beside so many members; empty: it may join.
using Judge = std::function<std::string(const std::string& offer, std::size_t members)>;

struct CoordinatorSettings {
    std::string self;      // id of this process
    std::string identity;  // version and configuration that members must share
    Timing timing{};
    AddressPlan plan_addresses;
    Judge why_not = {};  // empty: everybody may join
};

class Coordinator {
  public:
    // `store` and `network` outlive it.
    Coordinator(CoordinatorSettings settings, GenerationStore& store, Network& network);

    // The generation has taken effect here.
    void begin(const Generation& generation, Seconds now);
    // All lower ranks of `generation` are among the `lost`; those in `dead` have certainly ended.
    void take_over(const Generation& generation, const std::set<std::string>& lost,
                   const std::set<std::string>& dead, Seconds now);
    // The last step that this process has completed.
    void at_step(Step step) { step_ = std::max(step_, step); }

    // Of links that others opened to this process, and of its own.
    void hear(Link link, const Message& message, Seconds now);
    void lose(Link link, Loss loss, Seconds now);
    void tick(Seconds now);

    bool active() const { return active_; }
    const Generation& generation() const { return current_; }
    // True once after somebody has asked for a checkpoint.
    bool take_checkpoint_wish() { return std::exchange(checkpoint_wished_, false); }

  private:
    struct Peer {
        std::string id;
        MemberRecord record;
        bool newcomer = false;
        bool ready = false;           // a newcomer that has caught up
        std::string source = {};      // whom a newcomer has its state from
        GenerationId greeted = 0;     // generation of its last hello
        GenerationId reported = 0;    // generation of its last report
        std::string offer = {};       // what a newcomer says of itself
        Step applied = 0;             // as reported
        std::uint16_t data_port = 0;  // for the next generation
        std::vector<std::string> misses{};
        Seconds last_heard{0};
        Seconds since{0};
    };

    Peer* peer_of(const std::string& id);
    void welcome(Link link, Peer& peer, const Message& message);
    const MemberRecord& source_for_newcomer(const std::vector<std::string>& present);
    void greet(Link link, Peer& peer, const Message& message, Seconds now);
    void take_report(Link link, Peer& peer, const Message& message, Seconds now);
    std::string fulfil(const std::string& wish);
    std::string status();

    void start_regroup(const std::string& why, Seconds now);
    void try_to_regroup(Seconds now);
    bool has_waited_enough(const std::vector<Peer*>& reporters, Seconds now) const;
    Generation survivors_of(const std::vector<Peer*>& reporters);
    void drop_a_suspect(Generation& next, const std::vector<Peer*>& reporters);
    void try_to_change(Seconds now);
    std::optional<Generation> next_generation();
    bool is_needed(Link link, Peer& newcomer, std::size_t members);
    void count_out(const std::string& id, Seconds now);
    void probe(const MemberRecord& member, int tries, Seconds now);
    void stand_down();
    void tell_members(const Message& message);

    const CoordinatorSettings settings_;
    GenerationStore& store_;
    Network& network_;
    Generation current_;
    std::optional<Generation> pending_;  // committed, not yet in effect
    bool active_ = false;
    bool regrouping_ = false;
    std::string loss_;  // why it regroups
    Seconds begun_{0};
    Seconds regrouping_since_{0};
    Seconds next_beat_{0};
    std::map<Link, Peer> peers_;
    struct Probe {
        MemberRecord member;
        Seconds since{0};
        int tries = 1;
    };
    std::map<Link, Probe> probes_;  // of members that are not linked: has the process ended?
    std::set<std::string> gone_;    // members of the generation that were lost
    std::set<std::string> dead_;    // those of them that have certainly ended
    std::set<std::string> leaving_;
    std::set<std::string> lost_newcomers_;  // members of the pending generation
    std::map<std::string, Seconds>
        lost_leavers_;  // members of the present one that the pending one leaves out: since when
    int limit_ = 0;
    Step step_ = 0;
    int fruitless_ = 0;  // regroupings in a row in which nobody was lost and no step completed
    bool checkpoint_wished_ = false;
};

}  // namespace mastic::elastic
