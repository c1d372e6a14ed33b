// The ranks of ending_test.cpp: each way in which a run ends, by name.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>
#include <unistd.h>

#include <mastic/comm/fingerprint.hpp>
#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/error.hpp>

namespace {

using namespace mastic;
using namespace mastic::comm;

GroupOptions impatient(const std::string& algorithm) {
    return {.algorithm = algorithm, .limits = {.stall_report = Seconds(0.2), .timeout = Seconds(0.8)}};
}

void sum_once(Group& group) {
    std::vector<float> values(100'000, 1);
    group.allreduce(view_of(std::span(values)), ReduceOp::sum, {.name = "bucket 0"});
}

// Rank 1 never starts bucket 7, since it sleeps or since it is stopped.
void stall(MpiSession& session, const std::string& algorithm, bool stopped = false) {
    const auto group = session.make_group(impatient(algorithm));
    sum_once(*group);
    if (session.rank() == 1) {
        if (stopped) {
            raise(SIGSTOP);
        }
        std::this_thread::sleep_for(std::chrono::seconds(60));
    }
    std::vector<float> values(100'000, 1);
    group->allreduce(view_of(std::span(values)), ReduceOp::sum, {.name = "bucket 7"});
}

int hang_forever(MPI_Comm, int, void*, void*) {
    std::this_thread::sleep_for(std::chrono::seconds(60));
    return MPI_SUCCESS;
}

// MPI_Finalize first deletes what is attached to MPI_COMM_SELF: a place to hang in.
void attach_hang() {
    int key = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, hang_forever, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

void disagree(MpiSession& session) {
    const auto group = session.make_group({});
    check_agreement(*group, std::vector<OperationFingerprint>{{"bucket 0", session.rank() == 1 ? 8u : 9u,
                                                               DataType::float32, ReduceOp::average}});
}

const std::map<std::string, std::function<void(MpiSession&)>> ways = {
    {"good", [](MpiSession& session) { sum_once(*session.make_group({})); }},
    {"late",
     [](MpiSession& session) {
         std::this_thread::sleep_for(std::chrono::milliseconds(400 * session.rank()));
     }},
    {"stall-pipelined", [](MpiSession& session) { stall(session, "native-pipelined"); }},
    {"stopped", [](MpiSession& session) { stall(session, "native-pipelined", true); }},
    {"stall-blocking", [](MpiSession& session) { stall(session, "native-blocking"); }},
    {"disagree", disagree},
    {"hang-everywhere", [](MpiSession&) { attach_hang(); }},
    {"hang-on-one",
     [](MpiSession& session) {
         if (session.rank() == 1) {
             attach_hang();
         }
     }},
    {"abort",
     [](MpiSession& session) {
         if (session.rank() == 0) {
             session.abort(8);
         }
         std::this_thread::sleep_for(std::chrono::seconds(60));
     }},
    {"killed-over-tcp",
     [](MpiSession& session) {
         const auto group = session.make_group({.transport = TransportKind::tcp});
         for (int round = 0;; ++round) {
             sum_once(*group);
             if (round == 3 && session.rank() == 1) {
                 raise(SIGKILL);
             }
         }
     }},
    {"one-fails",
     [](MpiSession& session) {
         if (session.rank() == 0) {
             throw Error(ExitCode::data, "rank 0 found bad data");
         }
         std::this_thread::sleep_for(std::chrono::seconds(60));
     }},
};

}  // namespace

int main(int, char** argv) {
    MpiSession session({.last_barrier = Seconds(20), .finalize = Seconds(1)});
    int code = std::atoi(argv[2]);
    try {
        ways.at(argv[1])(session);
    } catch (const Error& error) {
        std::fprintf(stderr, "[rank %d] %s\n", session.rank(), error.full_message().c_str());
        code = static_cast<int>(error.code());
    }
    std::printf("rank %d ends\n", session.rank());
    session.finish(code);
}
