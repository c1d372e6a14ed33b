#include <mastic/schedule/manager/training_order.hpp>

#include <algorithm>

#include <mastic/config/problems.hpp>
#include <mastic/config/sources.hpp>
#include <mastic/config/toml_document.hpp>
#include <mastic/core/file.hpp>
#include <mastic/schedule/manager/detail/json_fields.hpp>

namespace mastic::schedule {
namespace {

namespace fs = std::filesystem;

template <class Order, class Field>
void order_fields(Order& order, Field&& field) {
    field("name", order.name);
    field("config", order.config);
    field("run_directory", order.run_directory);
    field("directory", order.directory);
    field("min_nodes", order.least);
    field("max_nodes", order.most);
    field("weight", order.weight);
    field("total_samples", order.total_samples);
    field("arguments", order.arguments);
    field("sweep", order.sweep);
    field("keep_best", order.keep_best);
    field("submitted_s", order.submitted_s);
}

bool configures_a_training(const std::vector<config::TomlEntry>& entries) {
    return std::ranges::any_of(entries, [](const config::TomlEntry& entry) {
        return entry.key == "model" || entry.key == "data" || entry.key == "train";
    });
}

// Flags and variables win over the file.
void apply_given(config::Schema& schema, const config::Schema& given) {
    for (config::OptionBase* option : schema.options()) {
        const config::OptionBase* other = given.find(option->key());
        if (other != nullptr && other->origin() >= config::Origin::environment) {
            const std::vector<std::string> texts = {other->text()};
            option->set(texts, other->origin(), other->origin_text());
        }
    }
}

// The value that follows `--run.dir` last, else that of the file. Also finds out whether the file is TOML.
std::string configured_run_directory(const TrainingOrder& order) {
    const std::string flag = "--run.dir";
    std::string found;
    for (const config::TomlEntry& entry : config::read_toml(read_text_file(order.config), order.config)) {
        if (entry.key == "run.dir" && entry.kind == config::TomlEntry::Kind::value) {
            found = config::read_value<std::string>(entry.value);
        }
    }
    for (std::size_t i = 0; i < order.arguments.size(); ++i) {
        const std::string& word = order.arguments[i];
        if (word.starts_with(flag + "=")) {
            found = word.substr(flag.size() + 1);
        } else if (word == flag && i + 1 < order.arguments.size()) {
            found = order.arguments[i + 1];
        }
    }
    return found;
}

std::string absolute_from(const fs::path& directory, const std::string& path) {
    const fs::path absolute = fs::weakly_canonical(directory / path);  // two names of one directory are one
    return (absolute.has_filename() ? absolute : absolute.parent_path()).string();
}

}  // namespace

void declare_training_order(config::Schema& schema, TrainingOrder& order) {
    schema.section("training", "An order: a training that may have any number of nodes between two limits.");
    schema.option("training.config", order.config, "its configuration, as for mastic-train").metavar("FILE");
    schema.option("training.name", order.name, "what to call it; empty: as its configuration");
    schema.option("training.run_dir", order.run_directory, "empty: run.dir of its configuration")
        .metavar("DIR");
    schema.option("training.min_nodes", order.least, "with fewer it does not run")
        .range(1, most_nodes_of_a_training);
    schema.option("training.max_nodes", order.most, "more do not help it").range(1, most_nodes_of_a_training);
    schema
        .option("training.weight", order.weight,
                "what a sample of it counts, against one of a training of weight 1")
        .range(1e-6, 1e6);
    schema.option("training.total_samples", order.total_samples, "0: until its configuration's own end")
        .at_least(0);
    schema
        .option("training.arguments", order.arguments,
                "further ones of mastic-train: [\"--train.epochs\", \"6\"]")
        .metavar("WORD");
}

TrainingOrder read_training_order(const fs::path& file, const config::Schema& given) {
    TrainingOrder order;
    config::Schema schema;
    declare_training_order(schema, order);
    config::Problems problems;
    if (configures_a_training(config::read_toml(read_text_file(file), file.string()))) {
        order.config = file.string();
    } else {
        config::apply_file(schema, file.string(), problems);
    }
    problems.throw_if_any("an order has the section [training]; mastic-rescale --help lists its keys");
    apply_given(schema, given);
    if (order.config.empty()) {
        throw Error(ExitCode::usage, file.string() + ": no training.config",
                    "name the configuration of mastic-train there: config = \"my.toml\" below [training]");
    }
    return order;
}

TrainingOrder completed(TrainingOrder order, const fs::path& directory) {
    order.directory = fs::absolute(directory).lexically_normal().string();
    if (order.directory.find('\n') != std::string::npos) {  // it stands in a line of the pilots' script
        throw Error(ExitCode::usage, "the path of this directory has a line break in it", "submit from another one");
    }
    order.config = absolute_from(order.directory, order.config);
    if (order.least > order.most) {
        throw Error(ExitCode::usage,
                    "training.min_nodes (" + std::to_string(order.least) + ") is above training.max_nodes (" +
                        std::to_string(order.most) + ")",
                    "make it smaller");
    }
    const std::string configured = configured_run_directory(order);
    const std::string run_directory = order.run_directory.empty() ? configured : order.run_directory;
    if (run_directory.empty()) {
        throw Error(ExitCode::usage, order.config + " does not say where its run is",
                    "set dir below [run] there, or training.run_dir");
    }
    order.run_directory = absolute_from(order.directory, run_directory);
    if (order.name.empty()) {
        order.name = fs::path(order.config).stem().string();
    }
    return order;
}

std::string to_json(const TrainingOrder& order) {
    Json content;
    order_fields(order, Store{content});
    return text_of(std::move(content));
}

TrainingOrder parse_training_order(std::string_view json, const std::string& where) {
    TrainingOrder order;
    parse_state(json, where, [&order](const Json& content) { order_fields(order, Load{content}); });
    return order;
}

}  // namespace mastic::schedule
