#include <mastic/core/trace.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>

namespace mastic {
namespace {

constexpr auto flush_interval = std::chrono::seconds(1);
constexpr std::size_t flush_size = 1 << 20;  // bytes

std::string quoted(std::string_view text) {
    using nlohmann::json;
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string metadata(const char* what, int process, int row, std::string_view name) {
    return "{\"ph\":\"M\",\"name\":\"" + std::string(what) + "\",\"pid\":" + std::to_string(process) +
           ",\"tid\":" + std::to_string(row) + ",\"args\":{\"name\":" + quoted(name) + "}}";
}

// The format's unit is the microsecond; the fraction keeps the nanoseconds.
std::string microseconds(std::chrono::nanoseconds span) {
    std::array<char, 48> text{};
    const long long count = std::max<long long>(span.count(), 0);
    std::snprintf(text.data(), text.size(), "%lld.%03lld", count / 1000, count % 1000);
    return text.data();
}

std::chrono::nanoseconds time_of_day_offset() {
    return std::chrono::system_clock::now().time_since_epoch() - Trace::Clock::now().time_since_epoch();
}

}  // namespace

class Trace::Writer {
  public:
    Writer(const std::filesystem::path& path, int process, std::string_view process_name)
        : process_(process), path_(path), file_(path, std::ios::binary) {
        if (!file_) {
            throw Error(ExitCode::io, "cannot write the trace " + path.string(),
                        "check that its directory exists and is writable");
        }
        pending_ = "[\n" + metadata("process_name", process, 0, process_name);
        flush();
        thread_ = std::thread([this] { flush_until_stopped(); });
    }

    ~Writer() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            pending_ += "\n]\n";
        }
        wake_.notify_all();
        thread_.join();
        flush();
    }

    void complete(std::string_view row, std::string_view name, Clock::time_point begin,
                  Clock::time_point end) {
        const auto start = begin.time_since_epoch() + offset_;
        std::string event = ",\n{\"ph\":\"X\",\"name\":" + quoted(name) + ",\"ts\":" + microseconds(start) +
                            ",\"dur\":" + microseconds(end - begin) + ",\"pid\":" + std::to_string(process_);
        const std::lock_guard lock(mutex_);
        event += ",\"tid\":" + std::to_string(row_number(row)) + "}";
        pending_ += event;
        if (pending_.size() >= flush_size) {
            wake_.notify_all();
        }
    }

    void flush() {
        const std::lock_guard file_lock(file_mutex_);
        std::string events;
        {
            const std::lock_guard lock(mutex_);
            events.swap(pending_);
        }
        if (broken_ || events.empty()) {
            return;
        }
        file_.write(events.data(), static_cast<std::streamsize>(events.size()));
        file_.flush();
        if (!file_) {
            broken_ = true;
            spdlog::warn("cannot write the trace {} any more: is the disk full? The run goes on without it",
                         path_.string());
        }
    }

  private:
    // The row's number; a new row is announced with its name. The caller holds mutex_.
    int row_number(std::string_view row) {
        const auto known = rows_.find(row);
        if (known != rows_.end()) {
            return known->second;
        }
        const int number = static_cast<int>(rows_.size()) + 1;
        rows_.emplace(row, number);
        pending_ += ",\n" + metadata("thread_name", process_, number, row);
        return number;
    }

    void flush_until_stopped() {
        std::unique_lock lock(mutex_);
        while (!stopping_) {
            wake_.wait_for(lock, flush_interval);
            lock.unlock();
            flush();
            lock.lock();
        }
    }

    const int process_;
    // Added to the steady clock it gives the time of day, so that the traces of several ranks lie side by
    // side.
    const std::chrono::nanoseconds offset_ = time_of_day_offset();

    std::mutex file_mutex_;  // keeps flushes in order; taken before mutex_
    std::filesystem::path path_;
    std::ofstream file_;
    bool broken_ = false;

    std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    std::string pending_;
    std::map<std::string, int, std::less<>> rows_;
    bool stopping_ = false;

    std::thread thread_;
};

Trace::Trace() = default;
Trace::Trace(const std::filesystem::path& path, int process, std::string_view process_name)
    : writer_(std::make_unique<Writer>(path, process, process_name)) {}
Trace::~Trace() = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;

void Trace::complete(std::string_view row, std::string_view name, Clock::time_point begin,
                     Clock::time_point end) {
    if (writer_) {
        writer_->complete(row, name, begin, end);
    }
}

void Trace::flush() {
    if (writer_) {
        writer_->flush();
    }
}

}  // namespace mastic
