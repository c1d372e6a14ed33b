// The functions of MPI that the interposer takes over. Their contract is MPI's; what mastic does not do, and what looks
// like a mistake, goes to MPI as it came.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>

#include <mpi.h>

#include <mastic/interposer/broadcast_buffer.hpp>
#include <mastic/interposer/communicator.hpp>
#include <mastic/interposer/element.hpp>
#include <mastic/interposer/pmpi.hpp>
#include <mastic/interposer/report.hpp>
#include <mastic/interposer/settings.hpp>

namespace mastic::interposer {

using namespace comm;

namespace {

// What a call is about, or why it goes to MPI.
struct Verdict {
    Reason reason = Reason::none;
    std::size_t bytes = 0;  // of the whole buffer, as in SelectionRow
};

bool mpi_is_up() {
    int started = 0;
    int ended = 0;
    return pmpi().initialized(&started) == MPI_SUCCESS && started != 0 &&
           pmpi().finalized(&ended) == MPI_SUCCESS && ended == 0;
}

Collective collective_of(Function function) {
    switch (function) {
        case Function::allreduce:
            return Collective::allreduce;
        case Function::bcast:
            return Collective::broadcast;
        case Function::reduce_scatter:
        case Function::reduce_scatter_block:
            break;
    }
    return Collective::reduce_scatter;
}

template <class Native>
int leave_to_mpi(Function function, const Verdict& verdict, const Native& native) {
    if (!settings().report) {
        return native();
    }
    const auto begin = Clock::now();
    const int code = native();
    report().count_mpi(function, verdict.reason, verdict.bytes, Clock::now() - begin);
    return code;
}

// One call of the program. `judge(communicator)` gives its verdict, `perform(communicator, choice)` does it and returns
// MPI's code, `native()` makes it with MPI.
template <class Judge, class Perform, class Native>
int intercept(Function function, MPI_Comm comm, const Judge& judge, const Perform& perform,
              const Native& native) {
    if (!mpi_is_up() || comm == MPI_COMM_NULL) {
        return native();
    }
    Communicator* communicator = nullptr;
    try {
        int code = MPI_SUCCESS;
        communicator = Communicator::find(comm, code);
        if (communicator == nullptr) {
            return code;
        }
        Verdict verdict = communicator->inter()       ? Verdict{Reason::inter}
                          : communicator->size() == 1 ? Verdict{Reason::alone}
                                                      : judge(*communicator);
        if (verdict.reason != Reason::none) {
            return leave_to_mpi(function, verdict, native);
        }
        if (communicator->failed()) {
            return communicator->fail();
        }
        const auto decision = communicator->decide(collective_of(function), verdict.bytes);
        if (decision.choice == nullptr) {
            verdict.reason = decision.reason;
            return leave_to_mpi(function, verdict, native);
        }
        if (!settings().report) {
            return perform(*communicator, *decision.choice);
        }
        const auto begin = Clock::now();
        code = perform(*communicator, *decision.choice);
        report().count_mastic(function, to_string(*decision.choice), verdict.bytes, Clock::now() - begin);
        return code;
    } catch (const std::exception& error) {
        // Without a communicator nothing has begun.
        return communicator == nullptr ? native() : communicator->fail(error.what());
    }
}

bool in_place(const void* send) {
    return send == MPI_IN_PLACE;
}

bool is_buffer(const void* data) {
    return data != nullptr && data != MPI_IN_PLACE;
}

// `parts`: of `count` items each, in the contribution.
Verdict judge_reduction(const void* send, const void* receive, int count, MPI_Datatype type, MPI_Op op,
                        int parts) {
    if (count < 0 || !is_buffer(receive) || send == nullptr || send == receive || type == MPI_DATATYPE_NULL) {
        return {count == 0 ? Reason::empty : Reason::arguments};
    }
    if (count == 0) {
        return {Reason::empty};
    }
    if (!find_op(op)) {
        return {Reason::operation};
    }
    const auto element = find_element(type, op);
    if (!element) {
        return {Reason::type};
    }
    return {.bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(parts) * element->per_item *
                     size_of(element->type)};
}

BufferView view(const void* data, std::size_t items, const Element& element) {
    return {const_cast<void*>(data), items * element.per_item, element.type};
}

int perform_allreduce(Communicator& communicator, const Choice& choice, const void* send, void* receive,
                      int count, MPI_Datatype type, MPI_Op op) {
    const Element element = *find_element(type, op);
    const BufferView result = view(receive, static_cast<std::size_t>(count), element);
    if (!in_place(send)) {
        std::memcpy(receive, send, result.bytes());
    }
    communicator.run(communicator.collectives().make_allreduce(0, result, *find_op(op), choice));
    return MPI_SUCCESS;
}

int perform_reduce_scatter(Communicator& communicator, const Choice& choice, const void* send, void* receive,
                           int count, MPI_Datatype type, MPI_Op op) {
    const Element element = *find_element(type, op);
    const auto part = static_cast<std::size_t>(count);
    const auto ranks = static_cast<std::size_t>(communicator.size());
    const BufferView whole = view(in_place(send) ? receive : send, part * ranks, element);
    communicator.run(communicator.collectives().make_reduce_scatter(0, whole, view(receive, part, element),
                                                                    *find_op(op), choice));
    return MPI_SUCCESS;
}

// Ranks may describe the same bytes by different types, so nothing but their number decides.
Verdict judge_bcast(const BroadcastBuffer& buffer, int root, int ranks) {
    constexpr std::size_t longest = std::numeric_limits<int>::max();  // MPI_Pack counts in int
    if (!buffer.valid() || root < 0 || root >= ranks) {
        return {Reason::arguments};
    }
    if (buffer.bytes() == 0) {
        return {Reason::empty};
    }
    return {buffer.bytes() > longest ? Reason::too_long : Reason::none, buffer.bytes()};
}

int perform_bcast(Communicator& communicator, const Choice& choice, const BroadcastBuffer& buffer, int root,
                  MPI_Comm comm) {
    const bool sends = communicator.rank() == root;
    const PackedBytes packed(buffer, comm);
    if (const int code = sends ? packed.pack() : MPI_SUCCESS; code != MPI_SUCCESS) {
        return code;
    }
    communicator.run(communicator.collectives().make_broadcast(
        0, {packed.data(), buffer.bytes(), DataType::uint8}, root, choice));
    return sends ? MPI_SUCCESS : packed.unpack();
}

// A rank with an empty part may have no buffer for it, so the parts are looked at first: they are the same on all ranks.
Verdict judge_parts(const void* send, const void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                    int ranks) {
    if (counts == nullptr) {
        return {Reason::arguments};
    }
    if (!std::all_of(counts, counts + ranks, [counts](int count) { return count == counts[0]; })) {
        return {Reason::parts};
    }
    return judge_reduction(send, receive, counts[0], type, op, ranks);
}

}  // namespace

}  // namespace mastic::interposer

namespace interposer = mastic::interposer;
using interposer::Communicator;
using interposer::Function;
using interposer::pmpi;
using mastic::comm::Choice;

extern "C" {

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return interposer::intercept(
        Function::allreduce, comm,
        [&](const Communicator&) { return interposer::judge_reduction(send, receive, count, type, op, 1); },
        [&](Communicator& communicator, const Choice& choice) {
            return interposer::perform_allreduce(communicator, choice, send, receive, count, type, op);
        },
        [&] { return pmpi().allreduce(send, receive, count, type, op, comm); });
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    std::optional<interposer::BroadcastBuffer> buffer;
    return interposer::intercept(
        Function::bcast, comm,
        [&](const Communicator& communicator) {
            buffer.emplace(data, count, type);
            return interposer::judge_bcast(*buffer, root, communicator.size());
        },
        [&](Communicator& communicator, const Choice& choice) {
            return interposer::perform_bcast(communicator, choice, *buffer, root, comm);
        },
        [&] { return pmpi().bcast(data, count, type, root, comm); });
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
    return interposer::intercept(
        Function::reduce_scatter_block, comm,
        [&](const Communicator& communicator) {
            return interposer::judge_reduction(send, receive, count, type, op, communicator.size());
        },
        [&](Communicator& communicator, const Choice& choice) {
            return interposer::perform_reduce_scatter(communicator, choice, send, receive, count, type, op);
        },
        [&] { return pmpi().reduce_scatter_block(send, receive, count, type, op, comm); });
}

int MPI_Reduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
    return interposer::intercept(
        Function::reduce_scatter, comm,
        [&](const Communicator& communicator) {
            return interposer::judge_parts(send, receive, counts, type, op, communicator.size());
        },
        [&](Communicator& communicator, const Choice& choice) {
            return interposer::perform_reduce_scatter(communicator, choice, send, receive, counts[0], type,
                                                      op);
        },
        [&] { return pmpi().reduce_scatter(send, receive, counts, type, op, comm); });
}

int MPI_Finalize() {
    interposer::print_report();
    return pmpi().finalize();
}

}  // extern "C"
