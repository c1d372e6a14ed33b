#include <mastic/comm/nccl/watched_operation.hpp>

#include <thread>
#include <utility>

#include <mastic/comm/request.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {
namespace {

[[noreturn]] void throw_overdue(const std::string& what, Seconds limit) {
    throw Error(ExitCode::collective, "NCCL: " + what + " within " + human(limit),
                "a rank is stopped or lost, or its network is: look at the other ranks' logs; "
                "NCCL_DEBUG=INFO says more; raise "
                "--allreduce.timeout if a rank is only slow");
}

class WatchedOperation : public Operation {
  public:
    WatchedOperation(std::unique_ptr<Operation> work, std::shared_ptr<NcclCommunicator> communicator,
                     std::string name, Seconds limit)
        : work_(std::move(work)),
          communicator_(std::move(communicator)),
          name_(std::move(name)),
          limit_(limit) {}

    void start() override {
        deadline_ = Clock::now() + to_ticks(limit_);
        guarded([this] { work_->start(); });
    }

    Step step() override {
        Step step = Step::waiting;
        guarded([this, &step] {
            step = work_->step();
            if (step != Step::waiting) {
                return;
            }
            if (communicator_) {
                communicator_->ready();  // throws what went wrong on any rank
            }
            if (Clock::now() > deadline_) {
                throw_overdue("'" + name_ + "' did not complete", limit_);
            }
        });
        return step;
    }

  private:
    template <class Action>
    void guarded(const Action& action) {
        try {
            action();
        } catch (...) {
            if (communicator_) {
                communicator_->abort();
            }
            throw;
        }
    }

    std::unique_ptr<Operation> work_;
    std::shared_ptr<NcclCommunicator> communicator_;
    const std::string name_;
    const Seconds limit_;
    Clock::time_point deadline_{};
};

}  // namespace

std::unique_ptr<Operation> make_watched_operation(std::unique_ptr<Operation> work,
                                                  std::shared_ptr<NcclCommunicator> communicator,
                                                  std::string name, Seconds limit) {
    return std::make_unique<WatchedOperation>(std::move(work), std::move(communicator), std::move(name),
                                              limit);
}

void wait_until_ready(NcclCommunicator& communicator, const std::string& what, Seconds limit) {
    const auto deadline = Clock::now() + to_ticks(limit);
    while (!communicator.ready()) {
        if (Clock::now() > deadline) {
            throw_overdue(what, limit);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

}  // namespace mastic::comm
