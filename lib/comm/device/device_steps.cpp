#include <mastic/comm/device/device_steps.hpp>

#include <utility>

namespace mastic::comm {
namespace {

class StreamStep : public Operation {
  public:
    StreamStep(CopyStream& stream, std::function<void()> enqueue)
        : stream_(stream), enqueue_(std::move(enqueue)) {}
    void start() override {
        enqueue_();
        done_ = stream_.record();
    }
    Step step() override { return done_->reached() ? Step::complete : Step::waiting; }

  private:
    CopyStream& stream_;
    std::function<void()> enqueue_;
    std::unique_ptr<DeviceEvent> done_;
};

class EventStep : public Operation {
  public:
    explicit EventStep(std::unique_ptr<DeviceEvent> event) : event_(std::move(event)) {}
    void start() override {}
    Step step() override { return event_->reached() ? Step::complete : Step::waiting; }

  private:
    std::unique_ptr<DeviceEvent> event_;
};

class RequestStep : public Operation {
  public:
    explicit RequestStep(std::function<Request()> begin) : begin_(std::move(begin)) {}
    void start() override { request_ = begin_(); }
    Step step() override { return request_.test() ? Step::complete : Step::waiting; }

  private:
    std::function<Request()> begin_;
    Request request_;
};

}  // namespace

std::unique_ptr<Operation> make_stream_step(CopyStream& stream, std::function<void()> enqueue) {
    return std::make_unique<StreamStep>(stream, std::move(enqueue));
}

std::unique_ptr<Operation> make_event_step(std::unique_ptr<DeviceEvent> event) {
    return std::make_unique<EventStep>(std::move(event));
}

std::unique_ptr<Operation> make_request_step(std::function<Request()> begin) {
    return std::make_unique<RequestStep>(std::move(begin));
}

}  // namespace mastic::comm
