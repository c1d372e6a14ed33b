#include <mastic/checkpoint/state.hpp>

#include <algorithm>

#include <mastic/checkpoint/shape.hpp>
#include <mastic/core/error.hpp>

namespace mastic::checkpoint {

StateEntry whole_entry(std::string name, DataType type, std::vector<std::int64_t> shape,
                       std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    StateEntry entry;
    entry.name = std::move(name);
    entry.type = type;
    entry.offset.assign(shape.size(), 0);
    entry.global_shape = shape;
    entry.shape = std::move(shape);
    entry.bytes = bytes;
    entry.owner = std::move(owner);
    return entry;
}

std::uint64_t State::bytes() const {
    std::uint64_t sum = 0;
    for (const StateEntry& entry : entries) {
        sum += entry.bytes.size();
    }
    return sum;
}

const StateEntry* State::find(std::string_view name) const {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const StateEntry& e) { return e.name == name; });
    return found == entries.end() ? nullptr : &*found;
}

namespace {

bool is_clean_path(std::string_view name) {
    const bool printable =
        std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        const std::string_view component = name.substr(begin, end - begin);
        if (component.empty() || component == "." || component == "..") {
            return false;
        }
        begin = end + 1;
    }
    constexpr std::size_t longest = 1024;  // HDF5 allows more; nobody reads more
    return printable && name.size() <= longest;
}

}  // namespace

void check_entry(const StateEntry& entry) {
    const auto refuse = [&](const std::string& why) {
        throw Error(ExitCode::usage, "state entry \"" + entry.name + "\": " + why);
    };
    if (!is_clean_path(entry.name)) {
        refuse("the name is not a path of non-empty components, or longer than 1024 bytes");
    }
    const std::string problem = box_problem({entry.shape, entry.offset, entry.global_shape});
    if (!problem.empty()) {
        refuse(problem);
    }
    const std::uint64_t expected =
        static_cast<std::uint64_t>(element_count(entry.shape)) * size_of(entry.type);
    if (entry.bytes.size() != expected) {
        refuse("has " + std::to_string(entry.bytes.size()) + " bytes where shape " + to_string(entry.shape) +
               " of " + to_string(entry.type) + " needs " + std::to_string(expected));
    }
}

}  // namespace mastic::checkpoint
