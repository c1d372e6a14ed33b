#include <algorithm>
#include <map>

#include <mastic/checkpoint/generation.hpp>
#include <mastic/checkpoint/shape.hpp>
#include <mastic/core/error.hpp>

namespace mastic::checkpoint {
namespace {

using Buffer = std::shared_ptr<std::byte[]>;

std::vector<StateEntry> read_entries(const GenerationPath& generation, const FileRecord& record) {
    const auto content = std::make_shared<std::vector<std::byte>>();
    const std::vector<Finding> findings = read_and_check(generation, record, *content);
    if (!findings.empty()) {
        throw Error(ExitCode::checkpoint, to_text(findings.front()));
    }
    return decode_image(*content, content, record.checksum, record.name);
}

// Whole tensors, in the order of their first appearance, filled by slices in any order.
class Assembly {
  public:
    explicit Assembly(const CheckpointManifest& manifest, const NameFilter& wanted) {
        for (const FileRecord& file : manifest.files) {
            for (const DatasetRecord& dataset : file.datasets) {
                if ((!wanted || wanted(dataset.name)) &&
                    index_.try_emplace(dataset.name, entries_.size()).second) {
                    entries_.push_back(whole_entry(dataset.name, dataset.type, dataset.global_shape, {}));
                }
            }
        }
    }
    bool wants(const FileRecord& file) const {
        return std::ranges::any_of(
            file.datasets, [&](const DatasetRecord& dataset) { return index_.contains(dataset.name); });
    }
    void add(const StateEntry& part) {
        const auto place = index_.find(part.name);
        if (place == index_.end()) {
            return;
        }
        StateEntry& whole = entries_[place->second];
        if (part.type != whole.type || part.global_shape != whole.global_shape) {
            throw Error(ExitCode::checkpoint,
                        "data set " + part.name + " is not the one that the manifest names");
        }
        if (!part.is_slice()) {
            whole.bytes = part.bytes;
            whole.owner = part.owner;
            return;
        }
        copy_into_whole({part.shape, part.offset, part.global_shape}, size_of(part.type), part.bytes,
                        room_for(whole));
    }
    std::vector<StateEntry> take() {
        for (const StateEntry& entry : entries_) {
            check_entry(entry);
        }
        return std::move(entries_);
    }

  private:
    std::span<std::byte> room_for(StateEntry& whole) {
        Buffer& buffer = buffers_[whole.name];
        const std::size_t size =
            static_cast<std::size_t>(element_count(whole.global_shape)) * size_of(whole.type);
        if (buffer == nullptr) {
            buffer = std::make_shared_for_overwrite<std::byte[]>(size);
            whole.bytes = {buffer.get(), size};
            whole.owner = buffer;
        }
        return {buffer.get(), size};
    }

    std::map<std::string, std::size_t> index_;
    std::map<std::string, Buffer> buffers_;
    std::vector<StateEntry> entries_;
};

}  // namespace

State load_generation(const GenerationPath& generation, const CheckpointManifest& manifest,
                      const NameFilter& wanted) {
    check_coverage(manifest);
    Assembly assembly(manifest, wanted);
    for (const FileRecord& record : manifest.files) {
        if (!assembly.wants(record)) {
            continue;
        }
        for (const StateEntry& entry : read_entries(generation, record)) {
            assembly.add(entry);
        }
    }
    State state;
    state.entries = assembly.take();
    state.facts = manifest.facts;
    return state;
}

}  // namespace mastic::checkpoint
