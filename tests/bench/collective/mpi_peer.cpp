// The peer that MPI itself is, compiled with MPICH and with Open MPI.
// Settings: call=blocking | nonblocking | pipelined (with segment=SIZE depth=N); wait=yield gives the core away between
// two tests of a non-blocking call; control.NAME=N sets a control variable of the library through MPI_T; with
// communicator=own the settings get an own communicator, since Open MPI reads its variables when it makes one.
#include <mpi.h>

#include <map>

#include <sched.h>

#include <mastic/comm/segments.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/checked_cast.hpp>
#include <mastic/core/error.hpp>

#include "bench/collective/server.hpp"

namespace {

using namespace mastic;

class ControlVariables {
  public:
    void write(const std::string& name, int value) {
        int index = 0;
        if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) {
            throw Error(ExitCode::usage, "this MPI has no control variable " + name);
        }
        const int before = exchange(index, value, name);
        defaults_.try_emplace(index, before);
    }

    void reset() {
        for (const auto& [index, value] : defaults_) {
            exchange(index, value, "");
        }
    }

  private:
    static int exchange(int index, int value, const std::string& name) {
        MPI_T_cvar_handle handle{};
        int count = 0;
        int before = 0;
        int after = 0;
        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
        MPI_T_cvar_read(handle, &before);
        MPI_T_cvar_write(handle, &value);
        MPI_T_cvar_read(handle, &after);
        MPI_T_cvar_handle_free(&handle);
        if (after != value) {
            throw Error(ExitCode::environment, "cannot set control variable " + name);
        }
        return before;
    }

    std::map<int, int> defaults_;  // by index, of those written so far
};

// One collective on a part of the buffer; blocking if there is no request.
using Call = std::function<void(const comm::Segment&, MPI_Request*)>;

std::string setting(const bench::Command& command, const std::string& name, const std::string& otherwise) {
    const auto found = command.settings.find(name);
    return found == command.settings.end() ? otherwise : found->second;
}

void wait(MPI_Request* request, bool yield) {
    if (!yield) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
        sched_yield();
    }
}

class MpiSide : public bench::Side {
  public:
    MpiSide() {
        int level = 0;
        MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
        MPI_Init(nullptr, nullptr);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    void finish() override { MPI_Finalize(); }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

    std::string description() const override {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(text, &length);
        return text;  // Open MPI counts the zero at the end as well
    }

    bench::Operation prepare(const bench::Command& command, std::span<float> buffer) override {
        constexpr std::string_view prefix = "control.";
        controls_.reset();
        for (const auto& [name, value] : command.settings) {
            if (name.starts_with(prefix)) {
                controls_.write(name.substr(prefix.size()), std::stoi(value));
            }
        }
        return operation(command, buffer, communicator(command));
    }

  private:
    MPI_Comm communicator(const bench::Command& command) {
        if (setting(command, "communicator", "world") == "world") {
            return MPI_COMM_WORLD;
        }
        const auto [entry, is_new] = communicators_.try_emplace(command.key(), MPI_COMM_NULL);
        if (is_new) {
            MPI_Comm_dup(MPI_COMM_WORLD, &entry->second);
        }
        return entry->second;
    }

    bench::Operation operation(const bench::Command& command, std::span<float> buffer, MPI_Comm comm) {
        const std::string how = setting(command, "call", "blocking");
        const Bytes segment = parse_bytes(how == "pipelined" ? setting(command, "segment", "1M") : "0");
        const auto depth = how == "pipelined" ? std::stoul(setting(command, "depth", "4")) : 1UL;
        const bool yield = setting(command, "wait", "block") == "yield";
        const comm::SegmentPlan segments(buffer.size(), sizeof(float), segment);
        const Call call = make_call(command.collective, buffer, comm);
        bench::Operation made;
        made.result = result(command.collective, buffer, segments);
        made.description = how;
        const comm::Segment whole{0, buffer.size()};
        if (how == "blocking") {
            made.run = [call, whole] { call(whole, nullptr); };
        } else {
            const auto request = std::make_shared<MPI_Request>(MPI_REQUEST_NULL);
            made.start = [call, whole, request] { call(whole, request.get()); };
            made.wait = [request, yield] { wait(request.get(), yield); };
            made.run = [call, segments, yield,
                        requests = std::vector<MPI_Request>(depth, MPI_REQUEST_NULL)]() mutable {
                for (std::size_t i = 0; i < segments.size(); ++i) {
                    MPI_Request& slot = requests[i % requests.size()];
                    wait(&slot, yield);
                    call(segments[i], &slot);
                }
                for (MPI_Request& slot : requests) {
                    wait(&slot, yield);
                }
            };
        }
        return made;
    }

    Call make_call(const std::string& collective, std::span<float> buffer, MPI_Comm comm) {
        float* const data = buffer.data();
        if (collective == "allreduce") {
            return [data, comm](const comm::Segment& s, MPI_Request* request) {
                const int count = checked_cast<int>(s.count, "segment");
                request == nullptr
                    ? MPI_Allreduce(MPI_IN_PLACE, data + s.offset, count, MPI_FLOAT, MPI_SUM, comm)
                    : MPI_Iallreduce(MPI_IN_PLACE, data + s.offset, count, MPI_FLOAT, MPI_SUM, comm, request);
            };
        }
        if (collective == "broadcast") {
            return [data, comm](const comm::Segment& s, MPI_Request* request) {
                const int count = checked_cast<int>(s.count, "segment");
                request == nullptr ? MPI_Bcast(data + s.offset, count, MPI_FLOAT, 0, comm)
                                   : MPI_Ibcast(data + s.offset, count, MPI_FLOAT, 0, comm, request);
            };
        }
        if (collective == "reduce-scatter") {
            float* const received = shares_.get(buffer.size()).data();
            const auto ranks = static_cast<std::size_t>(size_);
            return [data, received, ranks, comm](const comm::Segment& s, MPI_Request* request) {
                float* const from = data + s.offset;
                float* const to = received + s.offset / ranks;
                const int count = checked_cast<int>(s.count / ranks, "segment");
                request == nullptr
                    ? MPI_Reduce_scatter_block(from, to, count, MPI_FLOAT, MPI_SUM, comm)
                    : MPI_Ireduce_scatter_block(from, to, count, MPI_FLOAT, MPI_SUM, comm, request);
            };
        }
        throw Error(ExitCode::usage, "unknown collective '" + collective + "'");
    }

    std::vector<bench::ResultPart> result(const std::string& collective, std::span<float> buffer,
                                          const comm::SegmentPlan& segments) {
        if (collective != "reduce-scatter") {
            return {{buffer, 0}};
        }
        const auto ranks = static_cast<std::size_t>(size_);
        const std::span<float> received = shares_.get(buffer.size());
        std::vector<bench::ResultPart> parts;
        for (std::size_t i = 0; i < segments.size(); ++i) {
            const auto [offset, count] = segments[i];
            if (count % ranks != 0) {
                throw Error(ExitCode::usage, "a segment of the reduce-scatter is not divisible by the ranks");
            }
            const std::size_t share = count / ranks;
            parts.push_back(
                {received.subspan(offset / ranks, share), offset + static_cast<std::size_t>(rank_) * share});
        }
        return parts;
    }

    int rank_ = 0;
    int size_ = 0;
    ControlVariables controls_;
    bench::PrivateMemory shares_;  // what a reduce-scatter leaves here
    std::map<std::string, MPI_Comm> communicators_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_side(argc, argv, [] { return std::make_unique<MpiSide>(); });
}
