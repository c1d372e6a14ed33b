// tuning.json as it is read. Nothing is taken on trust: a key that is missing, unknown or of the wrong type, a number
// out of its range, a name that this version does not know, each is an error with its path.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

#include <nlohmann/json.hpp>

#include <mastic/comm/options.hpp>
#include <mastic/comm/shm_method.hpp>
#include <mastic/core/error.hpp>
#include <mastic/tuning/table.hpp>

namespace mastic::tuning {
namespace {

using Json = nlohmann::ordered_json;
using comm::Choice;
using comm::Collective;
using comm::TransportKind;
using comm::Wire;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50;
constexpr double most_us = 1e12;
constexpr std::size_t most_items = 100'000;  // of one list

// A value of the file with its path, for messages: "tuning.json: shapes[0].nodes".
class Node {
  public:
    Node(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

    [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
        throw Error(ExitCode::data, path_ + " " + what,
                    hint.empty() ? "let `mastic-tune run` write the table anew" : hint);
    }

    // This is an object of exactly these keys, and perhaps `optional` ones.
    void require_keys(std::initializer_list<const char*> keys, std::initializer_list<const char*> optional = {}) const {
        require(json_.is_object(), "is not an object");
        for (const char* key : keys) {
            require(json_.contains(key), std::string("has no key '") + key + "'");
        }
        for (const auto& item : json_.items()) {
            const auto is_it = [&item](const char* key) { return item.key() == key; };
            const bool known = std::ranges::any_of(keys, is_it) || std::ranges::any_of(optional, is_it);
            require(known, "has the unknown key '" + item.key() + "'");
        }
    }

    bool has(const char* key) const { return json_.contains(key); }

    Node at(const char* key) const {
        require(json_.is_object() && json_.contains(key), std::string("has no key '") + key + "'");
        return {json_.at(key), path_ + (path_.ends_with(": ") ? "" : ".") + key};
    }

    std::vector<Node> items() const {
        require(json_.is_array(), "is not a list");
        require(json_.size() <= most_items, "is too long");
        std::vector<Node> nodes;
        for (std::size_t i = 0; i < json_.size(); ++i) {
            nodes.emplace_back(json_[i], path_ + "[" + std::to_string(i) + "]");
        }
        return nodes;
    }

    std::string text() const {
        require(json_.is_string(), "is not a text");
        return json_.get<std::string>();
    }

    bool boolean() const {
        require(json_.is_boolean(), "is neither true nor false");
        return json_.get<bool>();
    }

    std::uint64_t integer(std::uint64_t low, std::uint64_t high) const {
        const bool fits = json_.is_number_unsigned() && json_.get<std::uint64_t>() >= low &&
                          json_.get<std::uint64_t>() <= high;
        require(fits, "is not a whole number from " + std::to_string(low) + " to " + std::to_string(high));
        return json_.get<std::uint64_t>();
    }

    double number(double high) const {
        require(json_.is_number(), "is not a number");
        const double value = json_.get<double>();
        require(std::isfinite(value) && value >= 0 && value <= high, "is out of range");
        return value;
    }

    // What a parser of names makes of it; the parser throws Error(usage).
    template <class Parse>
    auto named(const Parse& parse) const {
        try {
            return parse(text());
        } catch (const Error& error) {
            fail("is an " + std::string(error.what()), error.hint());
        }
    }

  private:
    void require(bool holds, const std::string& what) const {
        if (!holds) {
            fail(what);
        }
    }

    const Json& json_;
    std::string path_;
};

Machine read_machine(const Node& node) {
    node.require_keys({"cpu", "cores", "network", "network_bits_per_s", "mpi", "mastic"});
    return {.cpu = node.at("cpu").text(),
            .cores = static_cast<int>(node.at("cores").integer(1, 1'000'000)),
            .network = node.at("network").text(),
            .network_bits_per_second = node.at("network_bits_per_s").integer(0, std::uint64_t{1} << 60),
            .mpi = node.at("mpi").text(),
            .mastic = node.at("mastic").text()};
}

TransportKind read_transport(const Node& node) {
    const TransportKind kind = node.named(comm::parse_transport);
    if (kind == TransportKind::automatic) {
        node.fail("is 'auto', which is no choice");
    }
    return kind;
}

LinkFit read_link(const Node& node) {
    node.require_keys({"transport", "level", "alpha_us", "beta_us_per_byte", "gamma_us_per_byte", "samples",
                       "typical_error"});
    const std::string level = node.at("level").text();
    if (level != "node" && level != "network") {
        node.at("level").fail("is neither node nor network");
    }
    return {.transport = read_transport(node.at("transport")),
            .level = level == "node" ? Level::node : Level::network,
            .cost = {node.at("alpha_us").number(most_us), node.at("beta_us_per_byte").number(most_us),
                     node.at("gamma_us_per_byte").number(most_us)},
            .samples = static_cast<int>(node.at("samples").integer(0, 1'000'000'000)),
            .typical_error = node.at("typical_error").number(1e9)};
}

bool is_known(Collective collective, const Choice& choice) {
    if (choice.transport == TransportKind::native) {
        return choice.algorithm == "native-pipelined" ||
               (choice.algorithm == "native-blocking" && collective == Collective::allreduce);
    }
    const bool method = choice.transport == TransportKind::shm && collective == Collective::allreduce &&
                        comm::find_shm_method(choice.algorithm) != nullptr;
    return method || find_plan_algorithm(collective, choice.algorithm) != nullptr;
}

Verdict read_verdict(const Node& node) {
    const std::string name = node.text();
    for (const Verdict verdict : {Verdict::chosen, Verdict::measured, Verdict::dropped, Verdict::wrong}) {
        if (name == to_string(verdict)) {
            return verdict;
        }
    }
    node.fail("is none of chosen, measured, dropped, wrong");
}

Timing read_timing(const Node& node) {
    const Timing timing{node.at("median_us").number(most_us), node.at("q1_us").number(most_us),
                        node.at("q3_us").number(most_us),
                        static_cast<int>(node.at("repetitions").integer(0, 1'000'000'000))};
    if (timing.q1_us > timing.median_us || timing.median_us > timing.q3_us) {
        node.fail("has a median outside of its quartiles");
    }
    return timing;
}

Candidate read_candidate(const Node& node, Collective collective, Wire wire) {
    node.require_keys({"transport", "algorithm", "hierarchical", "segment_bytes", "depth", "verdict",
                       "median_us", "q1_us", "q3_us", "repetitions"});
    Candidate candidate;
    candidate.choice = {.transport = read_transport(node.at("transport")),
                        .algorithm = node.at("algorithm").text(),
                        .hierarchical = node.at("hierarchical").boolean(),
                        .segment = Bytes{node.at("segment_bytes").integer(0, most_bytes)},
                        .depth = static_cast<int>(node.at("depth").integer(1, 1024)),
                        .wire = wire};
    if (!is_known(collective, candidate.choice)) {
        node.at("algorithm")
            .fail("'" + candidate.choice.algorithm + "' is unknown for " + to_string(collective) + " over " +
                  to_string(candidate.choice.transport));
    }
    candidate.verdict = read_verdict(node.at("verdict"));
    candidate.timing = read_timing(node);
    if (candidate.verdict != Verdict::wrong && !(candidate.timing.median_us > 0)) {
        node.at("median_us").fail("is 0");
    }
    return candidate;
}

SizeResult read_size(const Node& node, Collective collective, Wire wire) {
    node.require_keys({"bytes", "up_to_bytes", "candidates"});
    SizeResult size{Bytes{node.at("bytes").integer(1, most_bytes)},
                    Bytes{node.at("up_to_bytes").integer(1, most_bytes)},
                    {}};
    for (const Node& item : node.at("candidates").items()) {
        size.candidates.push_back(read_candidate(item, collective, wire));
    }
    if (std::ranges::count(size.candidates, Verdict::chosen, &Candidate::verdict) != 1) {
        node.at("candidates").fail("has not exactly one that is chosen");
    }
    return size;
}

CollectiveResult read_collective(const Node& node) {
    node.require_keys({"collective", "wire", "sizes"}, {"memory"});
    CollectiveResult result{
        node.at("collective").named(comm::parse_collective), node.at("wire").named(comm::parse_wire), {}};
    if (node.has("memory")) {
        if (node.at("memory").text() != to_string(comm::MemoryKind::device)) {
            node.at("memory").fail("is not 'device'; without it the buffers are in the host's memory");
        }
        result.memory = comm::MemoryKind::device;
    }
    if (result.wire != Wire::exact && result.collective != Collective::allreduce) {
        node.at("wire").fail("is not exact, and only an allreduce may round");
    }
    for (const Node& item : node.at("sizes").items()) {
        SizeResult size = read_size(item, result.collective, result.wire);
        const bool ascends = result.sizes.empty() || (size.bytes.count > result.sizes.back().bytes.count &&
                                                      size.up_to.count > result.sizes.back().up_to.count);
        if (!ascends) {
            item.at("up_to_bytes").fail("does not ascend");
        }
        result.sizes.push_back(std::move(size));
    }
    if (result.sizes.empty()) {
        node.at("sizes").fail("is empty");
    }
    return result;
}

ShapeResult read_shape(const Node& node) {
    node.require_keys({"nodes", "ranks_per_node", "collectives"});
    ShapeResult result{{static_cast<int>(node.at("nodes").integer(1, 1'000'000)),
                        static_cast<int>(node.at("ranks_per_node").integer(1, 1'000))},
                       {}};
    for (const Node& item : node.at("collectives").items()) {
        CollectiveResult collective = read_collective(item);
        if (result.find(collective.collective, collective.wire, collective.memory) != nullptr) {
            item.fail("is there twice");
        }
        result.collectives.push_back(std::move(collective));
    }
    return result;
}

void require_format(const Node& root) {
    const std::uint64_t format = root.at("format").integer(0, 1'000'000);
    if (format != table_format) {
        root.at("format").fail(
            "is " + std::to_string(format) + ", and this program reads " + std::to_string(table_format),
            "read it with the mastic that wrote it, or run `mastic-tune run` with this one");
    }
}

TuningTable read_table(const Node& root) {
    require_format(root);
    root.require_keys({"format", "created", "machine", "shapes", "links", "notes"});
    TuningTable table;
    table.created = root.at("created").text();
    table.machine = read_machine(root.at("machine"));
    std::set<GroupShape> seen;
    for (const Node& item : root.at("shapes").items()) {
        table.shapes.push_back(read_shape(item));
        if (!seen.insert(table.shapes.back().shape).second) {
            item.fail("is there twice");
        }
    }
    for (const Node& item : root.at("links").items()) {
        table.links.push_back(read_link(item));
    }
    for (const Node& item : root.at("notes").items()) {
        table.notes.push_back(item.text());
    }
    return table;
}

}  // namespace

TuningTable TuningTable::parse(std::string_view text, const std::string& name) {
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::exception& error) {
        throw Error(ExitCode::data, name + " is not JSON: " + error.what(),
                    "name the tuning.json that mastic-tune run wrote");
    }
    try {
        return read_table({json, name + ": "});
    } catch (const Json::exception& error) {
        throw Error(ExitCode::data, name + " is damaged: " + error.what(),
                    "let `mastic-tune run` write the table anew");
    }
}

}  // namespace mastic::tuning
