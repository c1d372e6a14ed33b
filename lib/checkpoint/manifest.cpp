#include <mastic/checkpoint/manifest.hpp>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include <mastic/checkpoint/shape.hpp>
#include <mastic/core/checksum.hpp>
#include <mastic/core/error.hpp>

namespace mastic::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view frame_head = R"({"format":"mastic-checkpoint","xxh3":")";
constexpr std::string_view frame_middle = R"(","body":)";
constexpr std::string_view frame_tail = "}\n";
constexpr std::size_t digits = 16;

std::uint64_t checksum_of_text(std::string_view text) {
    return checksum(std::as_bytes(std::span(text)));
}

std::uint64_t parse_checksum(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (text.size() != digits || problem != std::errc() || end != text.data() + text.size()) {
        throw Error(ExitCode::checkpoint, "\"" + text + "\" is no checksum");
    }
    return value;
}

Json to_json(const DatasetRecord& dataset) {
    return {
        {"name", dataset.name},     {"type", to_string(dataset.type)},      {"shape", dataset.shape},
        {"offset", dataset.offset}, {"global_shape", dataset.global_shape}, {"position", dataset.position},
        {"bytes", dataset.bytes},   {"xxh3", to_hex(dataset.checksum)}};
}

Json to_json(const std::vector<FileRecord>& files) {
    Json list = Json::array();
    for (const FileRecord& file : files) {
        Json datasets = Json::array();
        for (const DatasetRecord& dataset : file.datasets) {
            datasets.push_back(to_json(dataset));
        }
        list.push_back({{"name", file.name},
                        {"bytes", file.bytes},
                        {"xxh3", to_hex(file.checksum)},
                        {"data_sets", std::move(datasets)}});
    }
    return list;
}

DatasetRecord dataset_from_json(const Json& json) {
    DatasetRecord dataset;
    json.at("name").get_to(dataset.name);
    dataset.type = parse_data_type(json.at("type").get<std::string>());
    json.at("shape").get_to(dataset.shape);
    json.at("offset").get_to(dataset.offset);
    json.at("global_shape").get_to(dataset.global_shape);
    json.at("position").get_to(dataset.position);
    json.at("bytes").get_to(dataset.bytes);
    dataset.checksum = parse_checksum(json.at("xxh3").get<std::string>());
    return dataset;
}

void check_file_record(const FileRecord& file) {
    const bool inside_directory = !file.name.empty() && file.name.front() != '.' &&
                                  file.name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (!inside_directory) {
        throw Error(ExitCode::checkpoint, "\"" + file.name + "\" is no name of a shard");
    }
    for (const DatasetRecord& dataset : file.datasets) {
        const std::string problem = box_problem({dataset.shape, dataset.offset, dataset.global_shape});
        if (!problem.empty()) {
            throw Error(ExitCode::checkpoint, "data set " + dataset.name + ": " + problem);
        }
        if (dataset.position > file.bytes || dataset.bytes > file.bytes - dataset.position) {
            throw Error(ExitCode::checkpoint, "data set " + dataset.name + " leaves its file " + file.name);
        }
    }
}

std::vector<FileRecord> files_from_json(const Json& json) {
    std::vector<FileRecord> files;
    for (const Json& item : json) {
        FileRecord file;
        item.at("name").get_to(file.name);
        item.at("bytes").get_to(file.bytes);
        file.checksum = parse_checksum(item.at("xxh3").get<std::string>());
        for (const Json& dataset : item.at("data_sets")) {
            file.datasets.push_back(dataset_from_json(dataset));
        }
        check_file_record(file);
        files.push_back(std::move(file));
    }
    return files;
}

// Runs `parse`, turning what the JSON library throws into our error.
template <class Parse>
auto parsing(const char* what, Parse parse) {
    try {
        return parse();
    } catch (const nlohmann::json::exception& error) {
        throw Error(ExitCode::checkpoint, std::string(what) + " is malformed: " + error.what());
    }
}

Json parse_facts(const std::string& facts) {
    try {
        return Json::parse(facts);
    } catch (const nlohmann::json::exception& error) {
        throw Error(ExitCode::usage, std::string("the facts of a checkpoint are no JSON: ") + error.what());
    }
}

}  // namespace

std::uint64_t CheckpointManifest::bytes() const {
    std::uint64_t sum = 0;
    for (const FileRecord& file : files) {
        sum += file.bytes;
    }
    return sum;
}

std::string to_text(const ShardRecord& record) {
    const Json json = {
        {"writer", record.writer}, {"writers", record.writers}, {"files", to_json(record.files)}};
    return json.dump();
}

ShardRecord parse_shard_record(std::string_view text) {
    return parsing("a shard record", [&] {
        const Json json = Json::parse(text);
        ShardRecord record;
        json.at("writer").get_to(record.writer);
        json.at("writers").get_to(record.writers);
        record.files = files_from_json(json.at("files"));
        return record;
    });
}

std::string frame_json(std::string_view body) {
    std::string text(frame_head);
    text += to_hex(checksum_of_text(body));
    text += frame_middle;
    text += body;
    text += frame_tail;
    return text;
}

std::string_view unframe_json(std::string_view text) {
    const std::size_t body_begin = frame_head.size() + digits + frame_middle.size();
    if (text.size() < body_begin + frame_tail.size()) {
        throw Error(ExitCode::checkpoint, "is cut short: " + std::to_string(text.size()) + " bytes");
    }
    const std::string_view body = text.substr(body_begin, text.size() - body_begin - frame_tail.size());
    const bool frame_holds = text.starts_with(frame_head) && text.ends_with(frame_tail) &&
                             text.substr(frame_head.size() + digits, frame_middle.size()) == frame_middle;
    if (!frame_holds || text.substr(frame_head.size(), digits) != to_hex(checksum_of_text(body))) {
        throw Error(ExitCode::checkpoint, "its checksum does not hold");
    }
    return body;
}

std::string to_text(const CheckpointManifest& manifest) {
    const Json json = {{"version", manifest.version},       {"step", manifest.step},
                       {"samples", manifest.samples},       {"created", manifest.created},
                       {"world_size", manifest.world_size}, {"facts", parse_facts(manifest.facts)},
                       {"files", to_json(manifest.files)}};
    return frame_json(json.dump());
}

CheckpointManifest parse_manifest(std::string_view text) {
    return parsing("the manifest", [&] {
        const Json json = Json::parse(unframe_json(text));
        CheckpointManifest manifest;
        json.at("version").get_to(manifest.version);
        if (manifest.version != CheckpointManifest::current_version) {
            throw Error(ExitCode::checkpoint, "is of version " + std::to_string(manifest.version) +
                                                  ", this program reads version " +
                                                  std::to_string(CheckpointManifest::current_version));
        }
        json.at("step").get_to(manifest.step);
        json.at("samples").get_to(manifest.samples);
        json.at("created").get_to(manifest.created);
        json.at("world_size").get_to(manifest.world_size);
        manifest.facts = json.at("facts").dump();
        manifest.files = files_from_json(json.at("files"));
        return manifest;
    });
}

void check_coverage(const CheckpointManifest& manifest) {
    struct Tensor {
        DataType type;
        std::vector<Box> boxes;
    };
    std::map<std::string, Tensor> tensors;
    for (const FileRecord& file : manifest.files) {
        for (const DatasetRecord& dataset : file.datasets) {
            Tensor& tensor = tensors.try_emplace(dataset.name, Tensor{dataset.type, {}}).first->second;
            const bool same = tensor.type == dataset.type &&
                              (tensor.boxes.empty() || tensor.boxes[0].global_shape == dataset.global_shape);
            if (!same) {
                throw Error(ExitCode::checkpoint,
                            "tensor " + dataset.name + ": its slices differ in type or shape");
            }
            tensor.boxes.push_back({dataset.shape, dataset.offset, dataset.global_shape});
        }
    }
    for (const auto& [name, tensor] : tensors) {
        if (!boxes_fill_tensor(tensor.boxes)) {
            throw Error(ExitCode::checkpoint, "tensor " + name + " of shape " +
                                                  to_string(tensor.boxes[0].global_shape) +
                                                  ": its slices leave a gap or overlap");
        }
    }
}

}  // namespace mastic::checkpoint
