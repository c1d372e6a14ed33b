#include <mastic/data/batch_loader.hpp>

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <condition_variable>
#include <exception>
#include <mutex>

#include <mastic/core/error.hpp>

namespace mastic::data {

PlanSource endless_plans(DistributedSampler sampler, int rank, int world_size) {
    return [sampler = std::move(sampler), rank, world_size](StepPlan& plan) mutable {
        sampler.next_into(plan, rank, world_size);
        return true;
    };
}

PlanSource epoch_plans(DistributedSampler sampler, int rank, int world_size) {
    return [sampler = std::move(sampler), rank, world_size, ended = false](StepPlan& plan) mutable {
        if (!ended) {
            sampler.next_into(plan, rank, world_size);
            ended = plan.last_of_epoch;
            return true;
        }
        return false;
    };
}

// What both threads see. The loader thread owns it too: if a read hangs, the thread can be left behind
// safely.
struct BatchLoader::Shared {
    std::shared_ptr<const Dataset> dataset;
    PlanSource plans;
    std::optional<Augmentation> augmentation;
    std::vector<LoadedBatch> slots;  // a ring: batch n is in slot n % size

    mutable std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t produced = 0;
    std::uint64_t taken = 0;  // the newest of these is still in use by the taker
    bool stopping = false;
    bool ended = false;  // the thread has left
    std::exception_ptr error;

    void run() {
        try {
            while (wait_for_slot() && load(slots[produced % slots.size()])) {
                const std::lock_guard lock(mutex);
                ++produced;
                changed.notify_all();
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            error = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        ended = true;
        changed.notify_all();
    }

    bool wait_for_slot() {
        std::unique_lock lock(mutex);
        // One slot is left out: the batch taken last is still in use.
        changed.wait(lock, [&] { return stopping || produced - taken + 1 < slots.size(); });
        return !stopping;
    }

    bool load(LoadedBatch& slot) {
        if (!plans(slot.plan)) {
            return false;
        }
        dataset->read(slot.plan.ids, slot.batch);
        if (augmentation) {
            augmentation->apply(slot.batch, slot.plan.epoch);
        }
        return true;
    }
};

BatchLoader::BatchLoader(std::shared_ptr<const Dataset> dataset, PlanSource plans,
                         std::optional<Augmentation> augmentation, SamplerPosition start,
                         const LoaderOptions& options)
    : shared_(std::make_shared<Shared>()), position_(start), options_(options) {
    if (options.depth == 0) {
        throw Error(ExitCode::usage, "data.prefetch must be at least 1");
    }
    shared_->dataset = std::move(dataset);
    shared_->plans = std::move(plans);
    shared_->augmentation = std::move(augmentation);
    shared_->slots.resize(options.depth + 1);
    thread_ = std::thread([shared = shared_] { shared->run(); });
    pthread_setname_np(thread_.native_handle(), "mastic-loader");
}

BatchLoader::~BatchLoader() {
    if (stop()) {
        thread_.join();
    } else {
        spdlog::warn("the loader thread still waits for {}", shared_->dataset->description());
        thread_.detach();
    }
}

bool BatchLoader::stop() {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->changed.notify_all();
    return shared_->changed.wait_for(lock, options_.stop_timeout, [&] { return shared_->ended; });
}

const LoadedBatch* BatchLoader::next() {
    auto& shared = *shared_;
    std::unique_lock lock(shared.mutex);
    const auto ready = [&] { return shared.produced > shared.taken || shared.ended; };
    if (!shared.changed.wait_for(lock, options_.timeout, ready)) {
        throw Error(ExitCode::io,
                    "no batch came in " + human(options_.timeout) + " from " + shared.dataset->description(),
                    "check the file system that holds the data");
    }
    if (shared.produced == shared.taken) {
        if (shared.error) {
            std::rethrow_exception(shared.error);
        }
        return nullptr;
    }
    const auto& slot = shared.slots[shared.taken % shared.slots.size()];
    ++shared.taken;
    shared.changed.notify_all();
    position_ = slot.plan.after;
    return &slot;
}

std::size_t BatchLoader::ready() const {
    const std::lock_guard lock(shared_->mutex);
    return static_cast<std::size_t>(shared_->produced - shared_->taken);
}

}  // namespace mastic::data
