// A Chrome trace (chrome://tracing, Perfetto) of this process, written as it happens: the file opens even if
// the run was killed, because the JSON array format allows the closing bracket to be missing.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace mastic {

class Trace {
  public:
    using Clock = std::chrono::steady_clock;

    Trace();  // disabled: every call is one branch
    // `process` is shown as the process row: the rank.
    Trace(const std::filesystem::path& path, int process, std::string_view process_name);
    ~Trace();
    Trace(Trace&&) noexcept;
    Trace& operator=(Trace&&) noexcept;

    bool enabled() const { return writer_ != nullptr; }
    // A finished span on a named row ("train", "communication", "checkpoint"). Thread-safe. Events are
    // buffered and written at the latest every second.
    void complete(std::string_view row, std::string_view name, Clock::time_point begin,
                  Clock::time_point end);
    void flush();

  private:
    class Writer;
    std::unique_ptr<Writer> writer_;
};

}  // namespace mastic
