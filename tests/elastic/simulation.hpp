// A run of many members in one process: the state machines of membership over a simulated network, with trainers that
// complete steps in lockstep. Time, delays and misfortunes come from a seed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mastic/core/random.hpp>
#include <mastic/elastic/coordinator.hpp>
#include <mastic/elastic/member.hpp>

namespace mastic::test {

using elastic::Generation;
using elastic::GenerationId;
using elastic::Link;
using elastic::Loss;
using elastic::MemberRecord;
using elastic::Message;
using elastic::Step;

class MemoryStore : public elastic::GenerationStore {
  public:
    std::optional<Generation> newest() const override;
    std::optional<Generation> read(GenerationId id) const override;
    bool commit(const Generation& generation) override;
    std::map<GenerationId, Generation> all;
};

// What has been applied: a chain over the contributions to each step.
struct Applied {
    Step step = 0;
    std::uint64_t hash = 0;
    bool operator==(const Applied&) const = default;
};

class Simulation;

// One process.
class SimulatedProcess : public elastic::Network, public elastic::MemberEvents {
  public:
    SimulatedProcess(Simulation& world, int number);

    void start();
    void tick();

    Link dial(const MemberRecord& to) override;
    void send(Link link, const Message& message) override;
    void close(Link link) override;

    void admitted(const MemberRecord& source) override;
    void refused(const std::string& why) override;
    void unneeded(const std::string& why) override { last_words = why; }
    void sent_back(const std::string& why) override;
    void committed(const Generation&) override {}
    void abandoned(GenerationId generation, const std::string& why) override;
    void regrouped(const Generation& generation, const std::vector<std::string>& holders) override;
    void ended(bool planned, const std::string& why) override;
    void wished(const std::string&) override {}

    Simulation& world;
    const int number;
    MemberRecord record;
    elastic::Coordinator coordinator;
    elastic::Member member;
    bool alive = true;
    bool stopped = false;  // SIGSTOP
    bool over = false;     // left or excluded
    bool left = false;     // as it wished
    std::string last_words;

    // The trainer.
    enum class Doing { nothing, fetching, following, computing, reducing, reporting, repairing };
    Doing doing = Doing::nothing;
    Applied applied;
    std::map<Step, Applied> kept;  // results of steps
    Generation generation;         // of its group
    Seconds ready_at{0};           // when the present activity ends
    Seconds last_progress{0};
    std::string source;
    std::uint16_t port = 0;
    bool broken = false;  // its group is over
    std::vector<std::string> holders;

  private:
    void train();
    void follow();
    void begin_step();
    void complete_step();
    void switch_to(const Generation& next);
    void report();
    void repair();
};

class Simulation {
  public:
    explicit Simulation(std::uint64_t seed) : random(seed) {}

    SimulatedProcess& start_process();
    void run_for(Seconds span);
    void kill(int number);
    void freeze(int number, bool frozen);
    // Processes of different sides do not hear one another.
    void cut(const std::set<int>& side);
    void heal();
    bool connected(int a, int b) const;
    SimulatedProcess* find(const std::string& id);
    std::vector<SimulatedProcess*> working();  // alive, not frozen, not over

    double uniform(double low, double high) { return low + (high - low) * random.uniform(); }

    Seconds now{0};
    CounterRandom random;
    MemoryStore store;
    std::vector<std::unique_ptr<SimulatedProcess>> processes;
    // Who has come to a step of a generation, and what rank 0 said was pending when it came.
    struct Meeting {
        std::set<std::string> present;
        GenerationId pending = 0;
    };
    std::map<std::pair<GenerationId, Step>, Meeting> meetings;

  private:
    friend class SimulatedProcess;
    struct End {
        int process = 0;
        Link link = 0;
    };
    struct Event {
        End to;
        bool incoming = false;  // to the coordinator
        std::optional<Message> message{};
        Loss loss = Loss::closed;
        int from = 0;
    };
    struct Connection {
        End caller;
        End callee;
        bool open = true;
        Seconds last_delivery{0};  // messages keep their order
    };
    void deliver_due();
    void post(Seconds at, Event event);
    Connection* connection_of(const End& end);
    void drop(Connection& connection, Seconds after);

    std::multimap<Seconds, Event> events_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::map<std::pair<int, Link>, Connection*> by_end_;
    int next_link_ = 1;
    std::set<int> side_;
    bool is_cut_ = false;
};

}  // namespace mastic::test
