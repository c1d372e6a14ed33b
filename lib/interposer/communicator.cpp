#include <mastic/interposer/communicator.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <sched.h>

#include <mastic/comm/collective/fabric.hpp>
#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/core/error.hpp>
#include <mastic/interposer/exchange_group.hpp>
#include <mastic/interposer/pmpi.hpp>
#include <mastic/interposer/settings.hpp>
#include <mastic/tuning/agreed_table.hpp>

namespace mastic::interposer {

using namespace comm;

namespace {

// MPI calls these; nothing may be thrown into it.
int forget_communicator(MPI_Comm, int, void* value, void*) {
    delete static_cast<Communicator*>(value);
    return MPI_SUCCESS;
}

int print_at_finalize(MPI_Comm, int, void*, void*) {
    print_report();
    return MPI_SUCCESS;
}

int create_key(MPI_Comm_delete_attr_function* on_delete) {
    int key = MPI_KEYVAL_INVALID;
    check(pmpi().comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, nullptr),
          "MPI_Comm_create_keyval");
    return key;
}

int communicator_key() {
    static const int key = [] {
        // MPI deletes the attributes of this communicator first in MPI_Finalize, whoever called that: the mpi_f08 module of
        // Fortran goes past the interposer.
        if (settings().report) {
            check(pmpi().comm_set_attr(MPI_COMM_SELF, create_key(print_at_finalize), nullptr),
                  "MPI_Comm_set_attr");
        }
        return create_key(forget_communicator);
    }();
    return key;
}

// Collective over `exchange`.
double find_cores_per_rank(Group& exchange, const Topology& topology) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof(mine), &mine);
    const auto masks = exchange.allgather_strings({reinterpret_cast<const char*>(&mine), sizeof(mine)});
    // Bound ranks have a core each, unbound ones share all: the union of their masks counts both rightly.
    cpu_set_t all = mine;
    for (const int peer : topology.local_ranks()) {
        cpu_set_t theirs;
        std::memcpy(&theirs, masks[static_cast<std::size_t>(peer)].data(), sizeof(theirs));
        CPU_OR(&all, &all, &theirs);
    }
    return static_cast<double>(CPU_COUNT(&all)) / topology.local_size();
}

bool goes_by(const SelectionMap& selection, TransportKind transport) {
    return std::ranges::any_of(selection.rows(),
                               [transport](const SelectionRow& row) { return row.choice.transport == transport; });
}

TransportKind choose_transport(Group& exchange, const Topology& topology) {
    if (settings().transport != TransportKind::automatic) {
        return settings().transport;
    }
    if (topology.nodes() == 1) {
        return TransportKind::shm;
    }
    std::int32_t fast = has_fast_fabric() ? 1 : 0;
    exchange.allreduce(view_of(std::span(&fast, 1)), ReduceOp::max);
    return fast != 0 ? TransportKind::native : TransportKind::tcp;
}

void say(const std::string& what) {
    std::fprintf(stderr, "mastic-pmpi: %s\n", what.c_str());
}

enum class Warning { setting, tuning, transport };

// One of a kind a program.
void warn_once(Warning kind, const std::string& what) {
    static std::array<std::atomic<bool>, 3> warned_of{};
    std::atomic<bool>& warned = warned_of[static_cast<std::size_t>(kind)];
    int rank = 0;
    pmpi().comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !warned.exchange(true)) {
        say(what);
    }
}

// Collective. Null: there is no table, or none for this machine and communicator, which is said once.
std::shared_ptr<const SelectionMap> find_tuning(Group& exchange, const Topology& topology) {
    if (settings().tuning.empty() || settings().transport != TransportKind::automatic) {
        return nullptr;
    }
    try {
        const tuning::TunedSelection tuned =
            tuning::agreed_selection(exchange, settings().tuning, tuning::shape_of(topology.size(), topology.nodes()));
        return tuned.selection ? std::make_shared<SelectionMap>(select_tuned(*tuned.selection, topology)) : nullptr;
    } catch (const AgreedError& error) {
        warn_once(Warning::tuning, std::string("MASTIC_PMPI_TUNING: ") + error.what() + ": goes on with what is built in");
        return nullptr;
    }
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, int rank, int size, bool inter)
    : comm_(comm), rank_(rank), size_(size), inter_(inter) {}

Communicator* Communicator::find(MPI_Comm comm, int& code) {
    void* value = nullptr;
    int found = 0;
    code = pmpi().comm_get_attr(comm, communicator_key(), static_cast<void*>(&value), &found);
    if (code != MPI_SUCCESS || found != 0) {
        return static_cast<Communicator*>(value);
    }
    int rank = 0;
    int size = 0;
    int inter = 0;
    check(pmpi().comm_rank(comm, &rank), "MPI_Comm_rank");
    check(pmpi().comm_size(comm, &size), "MPI_Comm_size");
    check(pmpi().comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
    auto made = std::make_unique<Communicator>(comm, rank, size, inter != 0);
    code = pmpi().comm_set_attr(comm, communicator_key(), made.get());
    return code == MPI_SUCCESS ? made.release() : nullptr;
}

Communicator::Decision Communicator::decide(Collective collective, std::size_t bytes) {
    if (given_up_) {
        return {.reason = Reason::unavailable};
    }
    if (!engine_) {
        traffic_ += bytes;
        if (settings().transport == TransportKind::automatic && traffic_ < set_up_after_bytes) {
            return {.reason = Reason::young};
        }
        engine_ = set_up();
        given_up_ = engine_ == nullptr;
        if (given_up_) {
            return {.reason = Reason::unavailable};
        }
    }
    const Choice* choice = engine_->setup.selection.find(collective, Bytes{bytes});
    if (choice == nullptr || choice->transport == TransportKind::native) {
        return {.reason = Reason::size};
    }
    return {.choice = choice};
}

// Null: on all ranks.
std::unique_ptr<Communicator::Engine> Communicator::set_up() {
    if (settings().transport == TransportKind::native) {
        if (!settings().complaint.empty()) {
            warn_once(Warning::setting, settings().complaint);
        }
        return nullptr;
    }
    try {
        return make_engine();
    } catch (const std::exception& error) {
        warn_once(Warning::transport, std::string("left to MPI, since there is no transport: ") + error.what());
        return nullptr;
    }
}

std::unique_ptr<Communicator::Engine> Communicator::make_engine() {
    const std::unique_ptr<Group> exchange = make_exchange_group(comm_);
    const Topology topology = find_topology(*exchange);
    const double cores_per_rank = find_cores_per_rank(*exchange, topology);
    const std::shared_ptr<const SelectionMap> tuned = find_tuning(*exchange, topology);
    const TransportKind transport = tuned ? TransportKind::automatic : choose_transport(*exchange, topology);
    if (transport == TransportKind::native) {
        return nullptr;
    }
    // An event loop, a listener and its timer; of each rank a file or a connection.
    const int descriptors = size_ + 5;
    std::unique_ptr<Engine> engine;
    run_together(*exchange, [&] { engine = std::make_unique<Engine>(descriptors); });
    const SetupSource source{.exchange = *exchange,
                             .split = [&](int color, int key) { return exchange->split(color, key); },
                             .make_message_transport = [] { return std::unique_ptr<Transport>(); },
                             .loop = engine->loop,
                             .allocates = false};
    engine->setup =
        set_up_collectives(source, topology, {.transport = transport, .network = settings().network, .selection = tuned});
    if (!engine->setup.collectives) {
        return nullptr;  // the table leaves everything to MPI
    }
    if (!tuned) {
        engine->setup.selection = select_calls(topology, transport, settings().transport != TransportKind::automatic);
    }
    engine->drive = {.policy = cores_per_rank >= 1 ? PollPolicy::spin : PollPolicy::yield,
                     .sockets = goes_by(engine->setup.selection, TransportKind::tcp),
                     .meanwhile = [made = engine.get()] { made->progress.advance(); }};
    return engine;
}

void Communicator::run(std::unique_ptr<Operation> operation) {
    drive_to_completion(*operation, engine_->loop, engine_->drive);
}

int Communicator::fail(const char* what) {
    if (!failed_) {
        say("rank " + std::to_string(rank_) + " of a communicator of " + std::to_string(size_) + ": " + what);
    }
    failed_ = true;
    pmpi().comm_call_errhandler(comm_, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

}  // namespace mastic::interposer
