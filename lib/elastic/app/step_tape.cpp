#include <mastic/elastic/app/step_tape.hpp>

#include <cstring>
#include <utility>

#include <mastic/core/error.hpp>

namespace mastic::app {
namespace {

using Length = std::uint64_t;

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(from);
    to.insert(to.end(), first, first + bytes);
}

std::span<const std::byte> cut(std::span<const std::byte>& from, Length bytes) {
    if (bytes > from.size()) {
        throw Error(ExitCode::collective,
                    "a step that is taken again has other collectives than it had on the other members",
                    "what a step does may depend on kept values, steps() and results of collectives only");
    }
    const auto taken = from.first(bytes);
    from = from.subspan(bytes);
    return taken;
}

Length cut_length(std::span<const std::byte>& from) {
    Length length = 0;
    std::memcpy(&length, cut(from, sizeof length).data(), sizeof length);
    return length;
}

}  // namespace

void StepTape::record(int size) {
    mode_ = Mode::record;
    recorded_.clear();
    const auto ranks = static_cast<Length>(size);
    append(recorded_, &ranks, sizeof ranks);
}

int StepTape::play(std::span<const std::byte> recorded) {
    mode_ = Mode::play;
    rest_ = recorded;
    return static_cast<int>(cut_length(rest_));
}

void StepTape::stop() {
    mode_ = Mode::off;
    rest_ = {};
}

void StepTape::pass(std::span<std::byte> result) {
    if (mode_ == Mode::record) {
        const Length length = result.size();
        append(recorded_, &length, sizeof length);
        append(recorded_, result.data(), result.size());
    } else if (mode_ == Mode::play) {
        const bool fits = cut_length(rest_) == result.size();
        const auto from = cut(rest_, fits ? result.size() : rest_.size() + 1);
        std::memcpy(result.data(), from.data(), from.size());
    }
}

std::vector<std::byte> StepTape::take() {
    mode_ = Mode::off;
    return std::exchange(recorded_, {});
}

}  // namespace mastic::app
