// What mastic knows about a communicator of the program, kept as an attribute of it: MPI frees it with the communicator.
//
// Every decision is the same on all ranks: it rests on what MPI requires to be equal (bytes, type, operation, the order of
// calls), on the environment, and on what the ranks agreed upon in the set-up, never on a rank's own buffers. A transport
// is set up inside a collective call, when all ranks are there.
//
// One thread at a time has a collective call on a communicator (MPI's rule), so there is no lock; different communicators
// have nothing in common.
#pragma once

#include <cstddef>
#include <memory>

#include <mpi.h>

#include <mastic/comm/collective/setup.hpp>
#include <mastic/comm/drive.hpp>
#include <mastic/interposer/mpi_progress.hpp>
#include <mastic/interposer/report.hpp>
#include <mastic/interposer/reserved_descriptors.hpp>

namespace mastic::interposer {

class Communicator {
  public:
    // Null if `comm` is none: then `code` is what its error handler returned.
    static Communicator* find(MPI_Comm comm, int& code);

    Communicator(MPI_Comm comm, int rank, int size, bool inter);
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool inter() const { return inter_; }

    struct Decision {
        const comm::Choice* choice = nullptr;  // null: to MPI
        Reason reason = Reason::none;          // why
    };
    // Collective. May set up the transports, and may find that there are none.
    Decision decide(comm::Collective collective, std::size_t bytes);

    // Valid after a decision for mastic.
    comm::Collectives& collectives() { return *engine_->setup.collectives; }
    // Runs the operation in this thread. Throws what it throws.
    void run(std::unique_ptr<comm::Operation> operation);
    // After a failure the ranks no longer agree where they are. Says `what`, calls the error handler of the communicator
    // and returns its code, now and in every later call.
    int fail(const char* what = "");
    bool failed() const { return failed_; }

  private:
    // In the order in which they are made: sockets leave the loop before it goes.
    struct Engine {
        explicit Engine(int most_descriptors) : descriptors(most_descriptors) {}

        ReservedDescriptors descriptors;
        comm::EventLoop loop;
        comm::CollectiveSetup setup;
        MpiProgress progress;
        comm::DriveOptions drive;
    };

    std::unique_ptr<Engine> set_up();
    std::unique_ptr<Engine> make_engine();

    MPI_Comm comm_;
    int rank_;
    int size_;
    bool inter_;
    bool failed_ = false;
    bool given_up_ = false;
    std::size_t traffic_ = 0;  // bytes that mastic could have moved before the set-up
    std::unique_ptr<Engine> engine_;
};

}  // namespace mastic::interposer
