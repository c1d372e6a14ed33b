#include <mastic/model/weights_file.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <set>

#include <torch/torch.h>
#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::model {

namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::uint64_t max_header_bytes = 100'000'000;  // the limit of the reference implementation
constexpr std::uint64_t alignment = 8;

struct TypeName {
    const char* name;
    torch::ScalarType type;
};
constexpr TypeName type_names[] = {
    {"F32", torch::kFloat}, {"F64", torch::kDouble}, {"F16", torch::kHalf},  {"BF16", torch::kBFloat16},
    {"I64", torch::kLong},  {"I32", torch::kInt},    {"I16", torch::kShort}, {"I8", torch::kChar},
    {"U8", torch::kByte},   {"BOOL", torch::kBool},
};

struct Entry {
    std::string name;
    torch::ScalarType type;
    std::vector<std::int64_t> shape;
    std::uint64_t begin, end;  // in the data part
};

// The header of one file, with its name in every error.
class Header {
  public:
    Header(std::filesystem::path path, std::uint64_t data_bytes)
        : path_(std::move(path)), data_bytes_(data_bytes) {}

    std::vector<Entry> parse(const std::string& text) const {
        const auto json = parse_json(text);
        std::vector<Entry> entries;
        for (const auto& [name, value] : json.items()) {
            if (name != "__metadata__") {
                entries.push_back(parse_entry(name, value));
            }
        }
        std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
            return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
        });
        require_cover(entries);
        return entries;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw Error(ExitCode::data, path_.string() + " is not a valid safetensors file: " + what,
                    "write it again, or give another file");
    }

  private:
    nlohmann::json parse_json(const std::string& text) const {
        std::set<std::string> names;
        const auto check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
            if (depth > 3) {
                fail("the header is nested too deeply");
            }
            if (depth == 1 && event == nlohmann::json::parse_event_t::key &&
                !names.insert(value.get<std::string>()).second) {
                fail("the header names '" + value.get<std::string>() + "' twice");
            }
            return true;
        };
        nlohmann::json json;
        try {
            json = nlohmann::json::parse(text, check);
        } catch (const nlohmann::json::exception& error) {
            fail(std::string("the header is not JSON: ") + error.what());
        }
        if (!json.is_object()) {
            fail("the header is not a JSON object");
        }
        return json;
    }

    Entry parse_entry(const std::string& name, const nlohmann::json& value) const {
        Entry entry{.name = name, .type = {}, .shape = {}, .begin = 0, .end = 0};
        const std::string where = "tensor '" + name + "': ";
        if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
            !value.contains("data_offsets")) {
            fail(where + "dtype, shape or data_offsets is missing");
        }
        const auto type = std::find_if(std::begin(type_names), std::end(type_names),
                                       [&](const TypeName& known) { return value["dtype"] == known.name; });
        if (type == std::end(type_names)) {
            fail(where + "unknown dtype " + value["dtype"].dump());
        }
        entry.type = type->type;
        const auto offsets = unsigned_list(where + "data_offsets", value["data_offsets"]);
        if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes_) {
            fail(where + "data_offsets " + value["data_offsets"].dump() + " do not lie in the " +
                 std::to_string(data_bytes_) + " bytes of data");
        }
        entry.begin = offsets[0];
        entry.end = offsets[1];
        std::uint64_t bytes = c10::elementSize(entry.type);
        for (const std::uint64_t extent : unsigned_list(where + "shape", value["shape"])) {
            if (__builtin_mul_overflow(bytes, extent, &bytes) || extent > std::uint64_t(INT64_MAX)) {
                fail(where + "shape " + value["shape"].dump() + " is too large");
            }
            entry.shape.push_back(static_cast<std::int64_t>(extent));
        }
        if (bytes != entry.end - entry.begin) {
            fail(where + "shape " + value["shape"].dump() + " needs " + std::to_string(bytes) +
                 " bytes, not " + std::to_string(entry.end - entry.begin));
        }
        return entry;
    }

    std::vector<std::uint64_t> unsigned_list(const std::string& what, const nlohmann::json& value) const {
        std::vector<std::uint64_t> numbers;
        if (!value.is_array()) {
            fail(what + " is not a list");
        }
        for (const auto& number : value) {
            if (!number.is_number_unsigned()) {
                fail(what + " holds " + number.dump() + " instead of a size");
            }
            numbers.push_back(number.get<std::uint64_t>());
        }
        return numbers;
    }

    void require_cover(const std::vector<Entry>& entries) const {
        std::uint64_t covered = 0;
        for (const Entry& entry : entries) {
            if (entry.begin != covered) {
                fail("tensor '" + entry.name + "' " +
                     (entry.begin < covered ? "overlaps another" : "follows a hole"));
            }
            covered = entry.end;
        }
        if (covered != data_bytes_) {
            fail(std::to_string(data_bytes_ - covered) + " bytes at its end belong to no tensor");
        }
    }

    std::filesystem::path path_;
    std::uint64_t data_bytes_;
};

const char* name_of(const std::string& tensor, torch::ScalarType type) {
    for (const TypeName& known : type_names) {
        if (known.type == type) {
            return known.name;
        }
    }
    throw Error(ExitCode::usage, "safetensors cannot hold tensor '" + tensor + "' of type " +
                                     std::string(c10::toString(type)));
}

}  // namespace

void write_weights(const std::filesystem::path& path, const NamedTensors& tensors,
                   const std::map<std::string, std::string>& metadata) {
    auto header = nlohmann::ordered_json::object();
    if (!metadata.empty()) {
        header["__metadata__"] = metadata;
    }
    std::uint64_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
        const std::uint64_t end = offset + tensor.nbytes();
        header[name] = {{"dtype", name_of(name, tensor.scalar_type())},
                        {"shape", tensor.sizes().vec()},
                        {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump();
    text.append((alignment - text.size() % alignment) % alignment, ' ');

    std::string content(sizeof(std::uint64_t), '\0');
    const std::uint64_t header_bytes = text.size();
    std::memcpy(content.data(), &header_bytes, sizeof header_bytes);
    content.reserve(content.size() + text.size() + offset);
    content += text;
    for (const auto& entry : tensors) {
        const auto plain = entry.second.detach().cpu().contiguous();
        content.append(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
    }
    write_file_atomically(path, std::string_view(content));
}

NamedTensors read_weights(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::error_code error;
    const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
    if (!file || error) {
        throw Error(ExitCode::data, "cannot read the weights " + path.string(),
                    "check the path and its permissions");
    }
    const Header no_data(path, 0);
    std::uint64_t header_bytes = 0;
    if (file_bytes < sizeof header_bytes ||
        !file.read(reinterpret_cast<char*>(&header_bytes), sizeof header_bytes)) {
        no_data.fail("it has only " + std::to_string(file_bytes) + " bytes");
    }
    if (header_bytes > std::min(max_header_bytes, file_bytes - sizeof header_bytes)) {
        no_data.fail("its header of " + std::to_string(header_bytes) + " bytes does not fit into " +
                     std::to_string(file_bytes) + " bytes");
    }
    std::string text(header_bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));

    const Header header(path, file_bytes - sizeof header_bytes - header_bytes);
    NamedTensors tensors;
    for (const Entry& entry : header.parse(text)) {
        auto tensor = torch::empty(entry.shape, entry.type);
        file.read(static_cast<char*>(tensor.data_ptr()),
                  static_cast<std::streamsize>(entry.end - entry.begin));
        if (!file) {
            header.fail("tensor '" + entry.name + "' cannot be read");
        }
        tensors.emplace_back(entry.name, std::move(tensor));
    }
    return tensors;
}

}  // namespace mastic::model
