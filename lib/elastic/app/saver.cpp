#include <mastic/elastic/app/saver.hpp>

#include <spdlog/spdlog.h>

namespace mastic::app {
namespace {

checkpoint::StoreOptions store_options(const AppOptions& options) {
    checkpoint::StoreOptions store;
    store.retention.keep_last = static_cast<int>(options.checkpoint_keep);
    return store;
}

void write(const checkpoint::CheckpointStore& store, const checkpoint::State& state, std::int64_t step) {
    const auto name = static_cast<std::uint64_t>(step);
    const checkpoint::ShardRecord record = store.write_shard(name, 0, 1, state);
    store.commit({.step = name}, std::span(&record, 1));
}

}  // namespace

Saver::Saver(const AppOptions& options, const std::string& host)
    : every_(options.checkpoint_every),
      directory_(job::RunDirectory::create_or_open(options.run_dir)),
      lock_(directory_.lock(job::this_process(host, ""))),
      store_(directory_.checkpoints(), store_options(options)) {
    store_.remove_leftovers();
}

Saver::~Saver() {
    try {
        finish();
    } catch (const std::exception& error) {
        spdlog::error("checkpoint: {}", error.what());
    }
}

std::optional<std::int64_t> Saver::restore(KeptState& state) const {
    const auto newest = store_.restore();
    if (!newest) {
        return std::nullopt;
    }
    for (const checkpoint::Skipped& skipped : newest->skipped) {
        spdlog::warn("checkpoint {} is not usable and skipped: {}", skipped.generation, skipped.reason);
    }
    state.restore(newest->state);
    return static_cast<std::int64_t>(newest->manifest.step);
}

bool Saver::has(std::int64_t step) const {
    const auto newest = store_.newest_valid();
    return newest && newest->manifest.step == static_cast<std::uint64_t>(step);
}

bool Saver::due() const {
    return every_.count() > 0 && std::chrono::steady_clock::now() - last_ >= every_;
}

void Saver::save(const KeptState& state, std::int64_t step) {
    finish();
    last_ = std::chrono::steady_clock::now();
    writing_ = std::async(std::launch::async, [this, step, copy = state.copy(), &state] {
        write(store_, state.as_checkpoint(copy), step);
    });
}

void Saver::finish() {
    if (writing_.valid()) {
        writing_.get();
    }
}

}  // namespace mastic::app
