#include <mastic/tuning/candidates.hpp>

#include <algorithm>

#include <mastic/comm/options.hpp>

namespace mastic::tuning {
namespace {

using comm::Choice;
using comm::Collective;
using comm::TransportKind;
using comm::Wire;

class Listing {
  public:
    Listing(Collective collective, Wire wire, const GroupShape& shape, Bytes size,
            const CandidateLimits& limits)
        : collective_(collective), wire_(wire), shape_(shape), size_(size), limits_(limits) {}

    std::vector<Choice> run() {
        if (wants(TransportKind::native) && wire_ == Wire::exact) {
            add_native();
        }
        if (wants(TransportKind::shm) && shape_.nodes == 1) {
            add_methods();
            add_plans(TransportKind::shm, false);
        }
        for (const TransportKind transport : {TransportKind::mpi, TransportKind::tcp}) {
            const bool loopback =
                transport == TransportKind::tcp && shape_.nodes == 1 && limits_.transports.size() > 1;
            if (wants(transport) && !loopback) {
                add_plans(transport, false);
                if (collective_ == Collective::allreduce && shape_.nodes > 1 && shape_.ranks_per_node > 1) {
                    add_plans(transport, true);
                }
            }
        }
        return std::move(choices_);
    }

  private:
    bool wants(TransportKind transport) const {
        return std::ranges::count(limits_.transports, transport) > 0;
    }
    bool wants(const std::string& algorithm) const {
        return limits_.algorithms.empty() || std::ranges::count(limits_.algorithms, algorithm) > 0;
    }

    void add(Choice choice) {
        if (wants(choice.algorithm)) {
            choice.wire = wire_;
            choices_.push_back(std::move(choice));
        }
    }

    // As they are, and with the segments that cut the buffer.
    void add_segmented(const Choice& choice) {
        add(choice);
        for (const Bytes segment : limits_.segments) {
            if (segment.count > 0 && segment < size_) {
                Choice cut = choice;
                cut.segment = segment;
                add(cut);
            }
        }
    }

    void add_native() {
        if (collective_ == Collective::allreduce) {
            add({.transport = TransportKind::native, .algorithm = "native-blocking"});
        }
        const Choice pipelined{.transport = TransportKind::native, .algorithm = "native-pipelined"};
        add_segmented(pipelined);
        const std::vector<Choice> segmented(choices_);
        for (const Choice& base : segmented) {
            const std::uint64_t segment =
                base.segment.count > 0 ? base.segment.count : comm::native_segment.count;
            const std::uint64_t pieces = (size_.count + segment - 1) / segment;
            for (const int depth : limits_.depths) {
                const bool differs =
                    depth != base.depth && pieces > std::uint64_t(std::min(depth, base.depth));
                if (base.algorithm == "native-pipelined" && differs) {
                    Choice deep = base;
                    deep.depth = depth;
                    add(deep);
                }
            }
        }
    }

    // A method of shared memory reads the buffers themselves: there is nothing that a wire could round.
    void add_methods() {
        constexpr Bytes largest_one_shot{256u << 10};
        if (collective_ != Collective::allreduce || wire_ != Wire::exact) {
            return;
        }
        for (const char* method : {"auto", "one-shot", "copy"}) {
            if (method != std::string("one-shot") || size_ <= largest_one_shot) {
                add({.transport = TransportKind::shm, .algorithm = method});
            }
        }
    }

    void add_plans(TransportKind transport, bool hierarchical) {
        for (const comm::PlanAlgorithm& plan : comm::plan_algorithms()) {
            if (plan.collective == collective_) {
                add_segmented({.transport = transport, .algorithm = plan.name, .hierarchical = hierarchical});
            }
        }
    }

    Collective collective_;
    Wire wire_;
    GroupShape shape_;
    Bytes size_;
    const CandidateLimits& limits_;
    std::vector<Choice> choices_;
};

}  // namespace

std::vector<Choice> candidates(Collective collective, Wire wire, const GroupShape& shape, Bytes size,
                               const CandidateLimits& limits) {
    return Listing(collective, wire, shape, size, limits).run();
}

}  // namespace mastic::tuning
