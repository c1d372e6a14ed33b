// One rank of one side of a comparison of collectives: a process that waits for commands on a socket. Waiting takes no
// processor time, so sides of different MPI implementations can take turns in one invocation.
//
// A command is one line, sent to every rank of a side:
//   COLLECTIVE SIZE warm_up=N repetitions=N memory=private key=value...
//   allreduce 64K warm_up=3 repetitions=20 memory=private call=pipelined segment=256K depth=4
// COLLECTIVE is allreduce, broadcast, reduce-scatter (float32, sum, root 0) or copy (each rank copies the message once).
// Every rank answers with one line: {"seconds": s, "correct": bool, "description": "..."}, s being this rank's mean over
// the repetitions, or {"error": "..."}. With compute=S (seconds), an operation is also started, S seconds of computation
// without calls of the library follow, and the answer has "wait": the time until the operation was done after that,
// "slow_down": what the computation took longer than alone, and "cpu": processor time that other threads took meanwhile.
// "quit" ends the rank.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mastic::bench {

struct Command {
    std::string collective;
    std::size_t bytes = 0;
    int warm_up = 0;
    int repetitions = 1;
    double compute = 0;
    std::string memory = "private";
    std::map<std::string, std::string> settings;  // what is left, for the side

    std::size_t count() const { return bytes / sizeof(float); }
    // The settings as one text, equal for equal settings.
    std::string key() const;
};

// Elements `first`... of the collective's result.
struct ResultPart {
    std::span<const float> values;
    std::size_t first = 0;
};

struct Operation {
    std::function<void()> run;  // in place, any number of times
    std::vector<ResultPart> result;
    std::string description;           // what really runs
    std::function<void()> start = {};  // the two halves of run, where it has such
    std::function<void()> wait = {};
};

// Zeroed memory on huge pages where the system has them.
class PrivateMemory {
  public:
    // At least `count` elements, kept until more are asked for.
    std::span<float> get(std::size_t count);

  private:
    struct Free {
        void operator()(float* memory) const;
    };
    std::unique_ptr<float[], Free> memory_;
    std::size_t count_ = 0;
};

// What a communication library does for the benchmark. Functions are collective and may throw if all ranks do.
class Side {
  public:
    virtual ~Side() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual std::string description() const = 0;
    virtual void barrier() = 0;
    virtual std::span<float> buffer(const Command& command);
    virtual Operation prepare(const Command& command, std::span<float> buffer) = 0;
    virtual void finish() = 0;  // the last call

  private:
    PrivateMemory private_memory_;
};

// The rank that the launcher gave this process, before MPI starts. Throws Error(environment).
int launched_rank();
// Binds this process to one of the cores that it may use: ranks take them in turn.
void bind_to_own_core(int rank);

// Serves until "quit"; ends the process if the other end of the socket is gone.
void serve(Side& side, const std::string& socket_path);

// The frame of a main function: binds the process, makes the side, serves, and finishes within 5 s.
int run_side(int argc, char** argv, const std::function<std::unique_ptr<Side>()>& make);

}  // namespace mastic::bench
