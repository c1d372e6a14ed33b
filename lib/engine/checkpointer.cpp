#include <mastic/engine/checkpointer.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include <spdlog/spdlog.h>

#include <mastic/checkpoint/async_writer.hpp>
#include <mastic/core/agreed_error.hpp>

namespace mastic::engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Seconds write_patience{600};

// The first rank of each host, in the order of their ranks.
std::vector<int> writer_ranks(const std::vector<std::string>& hosts) {
    std::vector<int> writers;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        if (std::find(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(rank), hosts[rank]) ==
            hosts.begin() + static_cast<std::ptrdiff_t>(rank)) {
            writers.push_back(static_cast<int>(rank));
        }
    }
    return writers;
}

// What a rank tells the others about its part: nothing, a record or an error.
std::string outcome_text(const std::optional<checkpoint::WriteOutcome>& outcome) {
    nlohmann::json text = nlohmann::json::object();
    if (outcome) {
        try {
            text["record"] = to_text(outcome->value());
            text["write_s"] = outcome->timing.write.count();
        } catch (const Error& error) {
            text["error"] = error.what();
            text["hint"] = error.hint();
        } catch (const std::exception& error) {
            text["error"] = error.what();
            text["hint"] = "";
        }
    }
    return text.dump();
}

}  // namespace

std::vector<int> assign_writers(const std::vector<std::uint64_t>& entry_bytes, int writers) {
    std::uint64_t total = 0;
    for (const std::uint64_t bytes : entry_bytes) {
        total += bytes;
    }
    std::vector<int> assigned;
    std::uint64_t before = 0;
    for (const std::uint64_t bytes : entry_bytes) {
        // By the middle of the entry, so that rounding favours neither end.
        const double middle = static_cast<double>(before) + static_cast<double>(bytes) / 2;
        const double share = total > 0 ? middle / static_cast<double>(total) : 0.0;
        assigned.push_back(std::min(writers - 1, static_cast<int>(share * writers)));
        before += bytes;
    }
    return assigned;
}

struct Checkpointer::Implementation {
    checkpoint::CheckpointStore store;
    comm::Group& group;
    Trace& trace;
    std::vector<int> writers;  // ranks
    int writer = -1;           // index of this rank among them, or -1
    std::unique_ptr<checkpoint::AsyncCheckpointWriter> async;
    std::optional<SaveRequest> current;  // the same on all ranks
    std::string current_facts;
    std::optional<checkpoint::WriteOutcome> outcome;
    std::future<checkpoint::CommitReport> commit;  // rank 0's
    std::optional<SaveRequest> committing;
    Clock::time_point started = Clock::now();
    std::optional<Seconds> last_save;
    std::int64_t committed = -1;

    Implementation(const std::filesystem::path& directory, const checkpoint::StoreOptions& options,
                   const std::vector<std::string>& hosts, comm::Group& g, Trace& t)
        : store(directory, options), group(g), trace(t), writers(writer_ranks(hosts)) {
        const auto mine = std::find(writers.begin(), writers.end(), group.rank());
        if (mine != writers.end()) {
            writer = static_cast<int>(mine - writers.begin());
            async = std::make_unique<checkpoint::AsyncCheckpointWriter>(store, writer,
                                                                       static_cast<int>(writers.size()));
        }
        if (group.rank() == 0 && !writers.empty()) {
            store.remove_leftovers();
        }
    }

    checkpoint::State my_part(const checkpoint::State& state) const {
        std::vector<std::uint64_t> bytes;
        for (const checkpoint::StateEntry& entry : state.entries) {
            bytes.push_back(entry.bytes.size());
        }
        const std::vector<int> assigned = assign_writers(bytes, static_cast<int>(writers.size()));
        checkpoint::State part;
        for (std::size_t i = 0; i < assigned.size(); ++i) {
            if (assigned[i] == writer) {
                part.entries.push_back(state.entries[i]);
            }
        }
        return part;
    }

    void save(const SaveRequest& request, const checkpoint::State& state) {
        if (writers.empty()) {
            return;
        }
        finish_shards();
        finish_commit();
        current = request;
        current_facts = state.facts;
        outcome.reset();
        started = Clock::now();
        if (async && !async->start(request.step, my_part(state), write_patience)) {
            throw Error(ExitCode::io, "the checkpoint before step " + std::to_string(request.step) +
                                          " is not written after " + human(write_patience),
                        "check the file system of the run directory");
        }
    }

    bool shard_finished() {
        if (current && async && !outcome) {
            outcome = async->poll();
        }
        return current && async && outcome;
    }

    // Collective.
    void exchange_records() {
        const std::vector<std::string> texts = group.allgather_strings(outcome_text(outcome));
        std::vector<checkpoint::ShardRecord> records;
        Seconds slowest{0};
        for (std::size_t rank = 0; rank < texts.size(); ++rank) {
            const auto text = nlohmann::json::parse(texts[rank]);
            if (text.contains("error")) {
                const std::uint64_t step = current->step;
                abandon();
                throw AgreedError(ExitCode::io,
                                  "rank " + std::to_string(rank) + " could not write the checkpoint of step " +
                                      std::to_string(step) + ": " + text.at("error").get<std::string>(),
                                  text.at("hint").get<std::string>());
            }
            if (text.contains("record")) {
                records.push_back(checkpoint::parse_shard_record(text.at("record").get<std::string>()));
                slowest = std::max(slowest, Seconds(text.at("write_s").get<double>()));
            }
        }
        last_save = slowest;
        trace.complete("checkpoint", "write step " + std::to_string(current->step), started, Clock::now());
        start_commit(std::move(records));
        current.reset();
    }

    void abandon() {
        if (group.rank() == 0) {
            store.abandon(current->step);
        }
        current.reset();
    }

    void start_commit(std::vector<checkpoint::ShardRecord> records) {
        finish_commit();
        committing = current;
        if (group.rank() != 0) {
            committed = static_cast<std::int64_t>(current->step);
            return;
        }
        commit = std::async(std::launch::async, [this, request = *current, records = std::move(records),
                                                 info = checkpoint::GenerationInfo{current->step, current->samples,
                                                                                   group.size(), current_facts}] {
            // The new one is proven and visible before the pin moves: the former best stays until then.
            checkpoint::CommitReport report = store.commit(info, records);
            if (request.best) {
                store.pin_best(request.step);
            }
            return report;
        });
    }

    // Rank 0 waits for its background commit; a no-op elsewhere.
    void finish_commit() {
        if (!commit.valid()) {
            return;
        }
        const std::uint64_t step = committing->step;
        const checkpoint::CommitReport report = commit.get();
        committed = static_cast<std::int64_t>(step);
        spdlog::debug("checkpoint of step {} is durable", step);
        if (!report.note.empty()) {
            spdlog::warn("checkpoints: {}", report.note);
        }
    }

    void finish_shards() {
        if (!current) {
            return;
        }
        if (async && !outcome) {
            outcome = async->wait(write_patience);
            if (!outcome) {
                throw Error(ExitCode::io, "writing the checkpoint of step " + std::to_string(current->step) +
                                              " takes longer than " + human(write_patience),
                            "check the file system of the run directory");
            }
        }
        exchange_records();
    }
};

Checkpointer::Checkpointer(const std::filesystem::path& directory, const checkpoint::StoreOptions& options,
                           const std::vector<std::string>& hosts, comm::Group& group, Trace& trace)
    : implementation_(std::make_unique<Implementation>(directory, options, hosts, group, trace)) {}
Checkpointer::~Checkpointer() = default;

void Checkpointer::reserve(const checkpoint::State& state) {
    if (implementation_->async) {
        implementation_->async->reserve(implementation_->my_part(state).bytes());
    }
}

void Checkpointer::save(const SaveRequest& request, const checkpoint::State& state) {
    implementation_->save(request, state);
}

void Checkpointer::wait_copied() {
    if (implementation_->async && !implementation_->async->wait_copied(write_patience)) {
        throw Error(ExitCode::io, "the state is not copied for its checkpoint after " + human(write_patience),
                    "the node is overloaded: check what else runs there");
    }
}

bool Checkpointer::in_flight() const { return implementation_->current.has_value(); }

bool Checkpointer::shard_finished() { return implementation_->shard_finished(); }

void Checkpointer::advance(int shards_finished) {
    Implementation& self = *implementation_;
    if (self.current && shards_finished == static_cast<int>(self.writers.size())) {
        self.exchange_records();
    }
    if (self.commit.valid() && self.commit.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
        self.finish_commit();
    }
}

void Checkpointer::finish() {
    implementation_->finish_shards();
    implementation_->finish_commit();
    if (!implementation_->writers.empty()) {
        implementation_->group.barrier();
    }
}

std::optional<Seconds> Checkpointer::last_save_time() const { return implementation_->last_save; }
Seconds Checkpointer::since_save() const { return Clock::now() - implementation_->started; }
std::int64_t Checkpointer::committed_step() const { return implementation_->committed; }

}  // namespace mastic::engine
