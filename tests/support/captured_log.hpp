// The log of a test, while it is written.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

namespace mastic::test {

// Takes the place of the default logger.
class CapturedLog {
  public:
    CapturedLog() : sink_(std::make_shared<Sink>()), before_(spdlog::default_logger()) {
        spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink_));
    }
    ~CapturedLog() { spdlog::set_default_logger(before_); }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;

    std::string text() const {
        const std::lock_guard lock(sink_->text_mutex);
        return sink_->text;
    }
    // False if `part` is not written within a time that is long for any machine.
    bool comes_to_say(const std::string& part) const {
        std::unique_lock lock(sink_->text_mutex);
        return sink_->grown.wait_for(lock, std::chrono::seconds(20),
                                     [&] { return sink_->text.find(part) != std::string::npos; });
    }

  private:
    struct Sink : spdlog::sinks::base_sink<std::mutex> {
        void sink_it_(const spdlog::details::log_msg& message) override {
            const std::lock_guard lock(text_mutex);
            text.append(message.payload.data(), message.payload.size()).append("\n");
            grown.notify_all();
        }
        void flush_() override {}

        std::mutex text_mutex;
        std::condition_variable grown;
        std::string text;
    };

    std::shared_ptr<Sink> sink_;
    std::shared_ptr<spdlog::logger> before_;
};

}  // namespace mastic::test
