#include <mastic/comm/sequence.hpp>

#include <utility>

namespace mastic::comm {

namespace {

class Sequence : public Operation {
  public:
    explicit Sequence(std::vector<std::unique_ptr<Operation>> operations) : operations_(std::move(operations)) {}

    void start() override {
        if (!operations_.empty()) {
            operations_.front()->start();
        }
    }

    Step step() override {
        if (current_ == operations_.size()) {
            return Step::complete;
        }
        const Step step = operations_[current_]->step();
        if (step != Step::complete) {
            return step;
        }
        if (++current_ == operations_.size()) {
            return Step::complete;
        }
        operations_[current_]->start();
        return Step::advanced;
    }

    bool event_driven() const override {
        return current_ < operations_.size() && operations_[current_]->event_driven();
    }

  private:
    std::vector<std::unique_ptr<Operation>> operations_;
    std::size_t current_ = 0;
};

class Call : public Operation {
  public:
    explicit Call(std::function<void()> function) : function_(std::move(function)) {}
    void start() override {}
    Step step() override {
        function_();
        return Step::complete;
    }

  private:
    std::function<void()> function_;
};

}  // namespace

std::unique_ptr<Operation> make_sequence(std::vector<std::unique_ptr<Operation>> operations) {
    return std::make_unique<Sequence>(std::move(operations));
}

std::unique_ptr<Operation> make_call(std::function<void()> function) {
    return std::make_unique<Call>(std::move(function));
}

}  // namespace mastic::comm
