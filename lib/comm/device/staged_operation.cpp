#include <mastic/comm/device/staged_operation.hpp>

#include <cstddef>
#include <deque>
#include <utility>

namespace mastic::comm {
namespace {

class StagedOperation : public Operation {
  public:
    explicit StagedOperation(StagedWork work) : work_(std::move(work)) {}

    ~StagedOperation() override {
        if (started_ > put_back_) {
            drain();
        }
    }

    void start() override {}

    Step step() override {
        try {
            const bool advanced = advance();
            return complete() ? Step::complete : advanced ? Step::advanced : Step::waiting;
        } catch (...) {
            drain();
            throw;
        }
    }

    // Of copies nobody announces anything.
    bool event_driven() const override {
        return running_ && fetches_.empty() && puts_.empty() && current().event_driven();
    }

  private:
    std::size_t count() const { return work_.chunks.size(); }
    bool complete() const { return put_back_ == count(); }
    Operation& current() const { return *work_.chunks[reduced_].operation; }

    bool advance() {
        while (!work_.ready.empty()) {
            if (!work_.ready.back()->reached()) {
                return false;
            }
            work_.ready.pop_back();
        }
        // Not short-circuited: each of these has a look at its part of the pipeline.
        const bool put = retire(puts_, put_back_);
        const bool started = start_fetches();
        const bool fetched = retire(fetches_, fetched_);
        const bool reduced = reduce();
        return put || started || fetched || reduced;
    }

    // Takes the copies that are done out of `copies`, and counts them in `done`.
    static bool retire(std::deque<std::unique_ptr<DeviceEvent>>& copies, std::size_t& done) {
        const std::size_t before = done;
        while (!copies.empty() && copies.front()->reached()) {
            copies.pop_front();
            ++done;
        }
        return done > before;
    }

    bool start_fetches() {
        const std::size_t before = started_;
        while (started_ < count() && started_ < put_back_ + work_.slots.size()) {
            fetches_.push_back(enqueue(*work_.to_host, work_.chunks[started_].fetch));
            ++started_;
        }
        return started_ > before;
    }

    bool reduce() {
        if (!running_) {
            if (reduced_ == fetched_) {
                return false;
            }
            running_ = true;
            current().start();
        }
        const Step step = current().step();
        if (step == Step::complete) {
            puts_.push_back(enqueue(*work_.to_device, work_.chunks[reduced_].put));
            work_.chunks[reduced_].operation.reset();
            running_ = false;
            ++reduced_;
        }
        return step != Step::waiting;
    }

    static std::unique_ptr<DeviceEvent> enqueue(CopyStream& stream, const DeviceCopy& copy) {
        if (copy.bytes > 0) {
            stream.copy(copy.to, copy.from, copy.bytes);
        }
        return stream.record();
    }

    void drain() noexcept {
        work_.to_host->drain();
        work_.to_device->drain();
    }

    StagedWork work_;
    std::deque<std::unique_ptr<DeviceEvent>> fetches_;  // of chunks fetched_ to started_
    std::deque<std::unique_ptr<DeviceEvent>> puts_;     // of chunks put_back_ to reduced_
    // Chunks so far, each at most the one before it.
    std::size_t started_ = 0;  // whose fetch is in its stream
    std::size_t fetched_ = 0;
    std::size_t reduced_ = 0;
    std::size_t put_back_ = 0;
    bool running_ = false;  // the operation of chunk reduced_
};

}  // namespace

std::unique_ptr<Operation> make_staged_operation(StagedWork work) {
    return std::make_unique<StagedOperation>(std::move(work));
}

}  // namespace mastic::comm
