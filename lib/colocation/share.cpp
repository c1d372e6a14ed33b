#include <mastic/colocation/share.hpp>

#include <algorithm>
#include <charconv>

#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

std::optional<int> percent(std::string_view text) {
    if (text.ends_with('%')) {
        text.remove_suffix(1);
    }
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end && value >= 1 && value <= 100 ? std::optional(value)
                                                                             : std::nullopt;
}

// What the driver reads: whole megabytes.
std::string megabytes(Bytes size) {
    return std::to_string(std::max<std::uint64_t>(size.count >> 20, 1)) + "M";
}

}  // namespace

ThreadPercentage parse_thread_percentage(std::string_view text) {
    if (text == "auto" || text == "none") {
        return {text == "auto", std::nullopt};
    }
    if (const auto value = percent(text)) {
        return {false, value};
    }
    throw Error(ExitCode::usage,
                "'" + std::string(text) + "' is neither auto, none nor a percentage from 1 to 100");
}

MemoryLimit parse_memory_limit(std::string_view text) {
    if (text == "auto" || text == "none") {
        return {text == "auto", std::nullopt};
    }
    const Bytes size = parse_bytes(text);
    if (size.count < (1u << 20)) {
        throw Error(ExitCode::usage, "'" + std::string(text) + "' is less than a megabyte");
    }
    return {false, size};
}

std::optional<int> thread_percentage(const ThreadPercentage& wish, int sharers, std::optional<int> granted) {
    std::optional<int> own = wish.fixed;
    if (wish.automatic && sharers > 1) {
        own = std::min(100, (125 + sharers - 1) / sharers);
    }
    if (!granted) {
        return own;
    }
    return own ? std::max(1, *granted * *own / 100) : *granted;
}

std::optional<Bytes> memory_limit(const MemoryLimit& wish, int sharers, Bytes device) {
    if (wish.automatic && device.count > 0) {
        return Bytes{device.count / 10 * 9 / static_cast<std::uint64_t>(std::max(1, sharers))};
    }
    return wish.fixed;
}

EnvironmentChange environment_of(const RankPlace& place, const Device& device, const Share& share,
                                 const Environment& present) {
    EnvironmentChange change;
    if (!present("OMP_NUM_THREADS")) {
        change["OMP_NUM_THREADS"] = std::to_string(place.threads);
    }
    if (device.kind == DeviceKind::cores) {
        change["CUDA_VISIBLE_DEVICES"] = "";  // a program that takes a GPU where it sees one would not use these cores
        return change;
    }
    change["CUDA_VISIBLE_DEVICES"] = device.id;
    if (!share.mps) {
        return change;
    }
    change["CUDA_MPS_PIPE_DIRECTORY"] = share.mps->pipe.string();
    if (!share.mps->log.empty()) {
        change["CUDA_MPS_LOG_DIRECTORY"] = share.mps->log.string();
    }
    const auto granted = percent(present("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE").value_or(""));
    if (const auto percentage = thread_percentage(share.percentage, place.sharers, granted)) {
        change["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = std::to_string(*percentage);
    }
    if (const auto limit = memory_limit(share.memory, place.sharers, device.memory)) {
        change["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] =
            "0=" + megabytes(*limit);  // its only visible device is number 0
    }
    return change;
}

}  // namespace mastic::colocation
