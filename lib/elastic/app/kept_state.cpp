#include <mastic/elastic/app/kept_state.hpp>

#include <algorithm>
#include <cstring>

#include <mastic/core/error.hpp>

namespace mastic::app {

void KeptState::add(const std::string& name, comm::BufferView values) {
    if (std::ranges::find(names_, name) != names_.end()) {
        throw Error(ExitCode::usage, "'" + name + "' is kept twice");
    }
    const auto count = static_cast<std::int64_t>(values.count);
    checkpoint::check_entry(checkpoint::whole_entry(
        name, values.type, {count}, {static_cast<const std::byte*>(values.data), values.bytes()}));
    names_.push_back(name);
    views_.push_back(values);
}

std::uint64_t KeptState::bytes() const {
    std::uint64_t bytes = 0;
    for (const comm::BufferView& view : views_) {
        bytes += view.bytes();
    }
    return bytes;
}

std::string KeptState::layout() const {
    std::string text;
    for (std::size_t i = 0; i < views_.size(); ++i) {
        text += names_[i] + ": " + std::to_string(views_[i].count) + " x " +
                std::string(to_string(views_[i].type)) + "\n";
    }
    return text;
}

std::vector<std::byte> KeptState::copy() const {
    std::vector<std::byte> bytes(this->bytes());
    std::byte* to = bytes.data();
    for (const comm::BufferView& view : views_) {
        std::memcpy(to, view.data, view.bytes());
        to += view.bytes();
    }
    return bytes;
}

void KeptState::restore(std::span<const std::byte> copy) {
    if (copy.size() != bytes()) {
        throw Error(ExitCode::collective, "what another member sent is not the state of this app",
                    "do all members run the same program on the same data?");
    }
    const std::byte* from = copy.data();
    for (const comm::BufferView& view : views_) {
        std::memcpy(view.data, from, view.bytes());
        from += view.bytes();
    }
}

checkpoint::State KeptState::as_checkpoint(std::span<const std::byte> copy) const {
    checkpoint::State state;
    for (std::size_t i = 0; i < views_.size(); ++i) {
        state.entries.push_back(checkpoint::whole_entry(names_[i], views_[i].type,
                                                        {static_cast<std::int64_t>(views_[i].count)},
                                                        copy.first(views_[i].bytes())));
        copy = copy.subspan(views_[i].bytes());
    }
    return state;
}

void KeptState::restore(const checkpoint::State& stored) {
    for (std::size_t i = 0; i < views_.size(); ++i) {
        const checkpoint::StateEntry* entry = stored.find(names_[i]);
        if (entry == nullptr || entry->type != views_[i].type || entry->bytes.size() != views_[i].bytes()) {
            throw Error(ExitCode::checkpoint,
                        "the checkpoint has no '" + names_[i] + "' of " + std::to_string(views_[i].count) +
                            " x " + std::string(to_string(views_[i].type)),
                        "it belongs to another program or other data; choose another --run.dir");
        }
        std::memcpy(views_[i].data, entry->bytes.data(), entry->bytes.size());
    }
}

}  // namespace mastic::app
