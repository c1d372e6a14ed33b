// Our side: mastic's Group, one for each choice of options. Settings are the group's options; memory=library is memory
// from Group::allocate.
#include <map>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/error.hpp>

#include "bench/collective/server.hpp"

namespace {

using namespace mastic;

// The one place that maps "key=value" to an option of the group.
void apply(comm::GroupOptions& options, const std::string& key, const std::string& value) {
    if (key == "transport") {
        options.transport = comm::parse_transport(value);
    } else if (key == "algorithm") {
        options.algorithm = value;
    } else if (key == "wire") {
        options.wire = comm::parse_wire(value);
    } else if (key == "network") {
        options.network = value;
    } else if (key == "segment") {
        options.segment = parse_bytes(value);
    } else if (key == "depth") {
        options.depth = std::stoi(value);
    } else if (key == "poll") {
        options.poll = comm::parse_poll_policy(value);
    } else {
        throw Error(ExitCode::usage, "a group has no option '" + key + "'");
    }
}

class OurSide : public bench::Side {
  public:
    OurSide() : control_(session_.make_group({})) {}

    int rank() const override { return session_.rank(); }
    int size() const override { return session_.size(); }
    std::string description() const override { return control_->description(); }
    void barrier() override { control_->barrier(); }

    std::span<float> buffer(const bench::Command& command) override {
        if (command.memory != "library") {
            return Side::buffer(command);
        }
        Entry& entry = entry_of(command);
        if (entry.count < command.count()) {
            entry.memory.reset();
            entry.memory = entry.group->allocate(command.bytes);
            entry.count = command.count();
        }
        return {static_cast<float*>(entry.memory.get()), entry.count};
    }

    bench::Operation prepare(const bench::Command& command, std::span<float> buffer) override {
        comm::Group& group = *entry_of(command).group;
        const comm::BufferView view = comm::view_of(buffer);
        bench::Operation made{{}, {{buffer, 0}}, group.description()};
        if (command.collective == "allreduce") {
            const auto request = std::make_shared<comm::Request>();
            made.run = [&group, view] { group.allreduce(view, comm::ReduceOp::sum); };
            made.start = [&group, view, request] {
                *request = group.start_allreduce(view, comm::ReduceOp::sum);
            };
            made.wait = [request] { request->wait(); };
        } else if (command.collective == "broadcast") {
            made.run = [&group, view] { group.broadcast(view, 0); };
        } else if (command.collective == "reduce-scatter") {
            const std::size_t part = buffer.size() / static_cast<std::size_t>(size());
            const std::span<float> whole = buffer.first(part * static_cast<std::size_t>(size()));
            const auto received = std::make_shared<std::vector<float>>(part);
            made.run = [&group, whole, received] {
                group.reduce_scatter(comm::view_of(whole), comm::view_of(std::span(*received)),
                                     comm::ReduceOp::sum);
            };
            made.result = {{*received, part * static_cast<std::size_t>(rank())}};
        } else {
            throw Error(ExitCode::usage, "a group has no " + command.collective);
        }
        return made;
    }

    void finish() override {
        entries_.clear();
        control_.reset();
        session_.finish(0);
    }

  private:
    struct Entry {
        std::unique_ptr<comm::Group> group;
        std::shared_ptr<void> memory;
        std::size_t count = 0;
    };

    Entry& entry_of(const bench::Command& command) {
        const auto found = entries_.find(command.key());
        if (found != entries_.end()) {
            return found->second;
        }
        comm::GroupOptions options;
        for (const auto& [key, value] : command.settings) {
            apply(options, key, value);
        }
        return entries_.emplace(command.key(), Entry{session_.make_group(options), nullptr, 0}).first->second;
    }

    comm::MpiSession session_;
    std::unique_ptr<comm::Group> control_;
    std::map<std::string, Entry> entries_;  // by settings
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_side(argc, argv, [] { return std::make_unique<OurSide>(); });
}
