#include <mastic/data/dataset_open.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>
#include <mastic/data/array_dataset.hpp>
#include <mastic/data/content_kind.hpp>
#include <mastic/data/csv_file.hpp>
#include <mastic/data/file_content.hpp>
#include <mastic/data/hdf5_file.hpp>
#include <mastic/data/idx_file.hpp>
#include <mastic/data/npy_file.hpp>
#include <mastic/data/synthetic_dataset.hpp>
#include <mastic/data/targets.hpp>
#include <mastic/data/token_dataset.hpp>

namespace mastic::data {

namespace {

struct StoredSamples {
    Array inputs;
    std::optional<Array> targets;
};

void check_word(const std::string& word, const std::vector<std::string>& known, const std::string& option) {
    if (std::find(known.begin(), known.end(), word) != known.end()) {
        return;
    }
    std::string list;
    for (const auto& name : known) {
        list += (list.empty() ? "" : ", ") + name;
    }
    const auto nearest = nearest_word(word, known);
    throw Error(ExitCode::usage, option + ": '" + word + "' is none of " + list,
                nearest.empty() ? "" : "did you mean '" + nearest + "'?");
}

// By the first bytes; an HDF5 file that begins with a user block needs its format named.
std::string format_of(const std::string& path, bool tokens) {
    const auto prefix = read_prefix(path, 512);
    switch (kind_of(prefix)) {
        case ContentKind::idx:
            return "idx";
        case ContentKind::npy:
            return "npy";
        case ContentKind::hdf5:
            return "hdf5";
        case ContentKind::text:
            return tokens ? "bytes" : "csv";
        default:
            throw Error(ExitCode::data, path + ": no data file: the content " + describe_content(prefix),
                        "data files are IDX, NPY, CSV or HDF5; name the format with --data.format");
    }
}

Array read_bytes(const std::string& path) {
    auto content = read_content(path);
    const auto count = static_cast<std::int64_t>(content.bytes.size());
    return {DataType::uint8, {count}, content.bytes, std::move(content.owner)};
}

Array read_array(const std::string& path, const std::string& format, const std::string& name) {
    if (format == "idx") {
        return read_idx_file(path);
    }
    if (format == "npy") {
        return read_npy_file(path);
    }
    if (format == "bytes") {
        return read_bytes(path);
    }
    if (format == "hdf5") {
        return read_hdf5_dataset(path, name);
    }
    throw Error(ExitCode::data, path + ": a CSV file cannot be used here", "use IDX, NPY or HDF5");
}

Array array_of_doubles(Shape shape, const std::vector<double>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return make_array(DataType::float64, std::move(shape), {bytes.begin(), bytes.end()});
}

// The column that holds the targets, if any: for prediction a table may come without.
std::optional<std::size_t> target_column(const CsvTable& table, const DatasetOptions& options) {
    const bool named =
        std::find(table.header.begin(), table.header.end(), options.target_name) != table.header.end();
    const bool by_default = options.target_name == DatasetOptions().target_name && !named;
    if (by_default && !options.with_targets) {
        return std::nullopt;
    }
    return column_index(table, by_default ? "" : options.target_name, options.inputs);
}

StoredSamples read_table(const DatasetOptions& options) {
    const auto table = read_csv_file(options.inputs);
    const auto target = target_column(table, options);
    std::vector<double> inputs;
    std::vector<double> targets;
    inputs.reserve(table.values.size());
    for (std::size_t i = 0; i < table.values.size(); ++i) {
        (target == i % table.columns ? targets : inputs).push_back(table.values[i]);
    }
    const auto rows = static_cast<std::int64_t>(table.rows);
    const auto columns = static_cast<std::int64_t>(table.columns) - (target ? 1 : 0);
    StoredSamples samples{array_of_doubles({rows, columns}, inputs), std::nullopt};
    if (options.with_targets) {
        samples.targets = array_of_doubles({rows}, targets);
    }
    return samples;
}

StoredSamples read_samples(const DatasetOptions& options, const std::string& format) {
    if (format == "csv") {
        return read_table(options);
    }
    StoredSamples samples{read_array(options.inputs, format, options.input_name), std::nullopt};
    if (options.with_targets) {
        const auto& path = options.targets.empty() && format == "hdf5" ? options.inputs : options.targets;
        if (path.empty()) {
            throw Error(ExitCode::usage, "the targets of " + options.inputs + " are not named",
                        "set data.train_targets or data.test_targets to the file with its labels");
        }
        const auto target_format = options.format == "auto" ? format_of(path, false) : format;
        samples.targets = read_array(path, target_format, options.target_name);
    }
    return samples;
}

Shape sample_shape(const Array& inputs, const DatasetOptions& options) {
    auto stored = inputs.sample_shape();
    if (options.input_shape.empty()) {
        if (stored.size() == 2) {
            stored.insert(stored.begin(), 1);
        }
        return stored.empty() ? Shape{1} : stored;
    }
    const auto& wanted = options.input_shape;
    const bool positive = std::all_of(wanted.begin(), wanted.end(), [](auto extent) { return extent > 0; });
    if (!positive || byte_count(wanted, 1, "data.input_shape") != byte_count(stored, 1, options.inputs)) {
        throw Error(ExitCode::usage,
                    "data.input_shape " + to_string(wanted) + " does not hold one sample of " +
                        options.inputs + ", which is " + to_string(stored),
                    "the products must be equal");
    }
    return wanted;
}

void check_counts(const StoredSamples& samples, const DatasetOptions& options) {
    const auto count = samples.inputs.samples();
    if (count == 0 || samples.inputs.bytes.empty()) {
        throw Error(ExitCode::data, options.inputs + ": holds no samples", "check that it is the right file");
    }
    if (samples.targets && samples.targets->samples() != count) {
        throw Error(ExitCode::data,
                    options.inputs + " has " + std::to_string(count) + " samples, but there are " +
                        std::to_string(samples.targets->samples()) + " targets" +
                        (options.targets.empty() ? "" : " in " + options.targets),
                    "inputs and targets must belong together");
    }
}

void limit_samples(Array& array, std::int64_t limit) {
    if (limit > 0 && limit < array.samples()) {
        array.bytes = array.bytes.first(array.bytes.size() / static_cast<std::size_t>(array.samples()) *
                                        static_cast<std::size_t>(limit));
        array.shape[0] = limit;
    }
}

std::string describe(std::int64_t count, const SampleLayout& layout, const std::string& path) {
    const bool images = layout.input_shape.size() == 3;
    const auto classes = layout.classes > 0 ? ", " + std::to_string(layout.classes) + " classes" : "";
    return std::to_string(count) + (images ? " images " : " samples ") + to_string(layout.input_shape) +
           classes + ", from " + std::filesystem::path(path).filename().string();
}

std::unique_ptr<Dataset> open_samples(const DatasetOptions& options, const std::string& format) {
    auto samples = read_samples(options, format);
    check_counts(samples, options);
    SampleLayout layout;
    layout.input_shape = sample_shape(samples.inputs, options);
    Array targets;
    if (samples.targets) {
        const auto& source = options.targets.empty() ? options.inputs : options.targets;
        if (options.task == "regress") {
            targets = value_targets(*samples.targets, source);
            layout.target_shape = targets.sample_shape();
        } else {
            layout.classes = options.classes;
            targets = class_targets(*samples.targets, layout.classes, source);
        }
    }
    layout.target_type = options.task == "regress" ? DataType::float32 : DataType::int64;
    limit_samples(samples.inputs, options.limit);
    limit_samples(targets, options.limit);
    auto description = describe(samples.inputs.samples(), layout, options.inputs);
    return std::make_unique<ArrayDataset>(std::move(samples.inputs),
                                          Normalization{options.scale, options.mean, options.stddev},
                                          std::move(targets), std::move(layout), std::move(description));
}

std::unique_ptr<Dataset> open_tokens(const DatasetOptions& options, const std::string& format) {
    auto tokens = read_array(options.inputs, format, options.input_name);
    const auto vocabulary = options.classes == 0 && format == "bytes" ? 256 : options.classes;
    auto dataset = std::make_unique<TokenDataset>(std::move(tokens), options.sequence_length, vocabulary,
                                                  options.inputs);
    if (options.limit > 0) {
        dataset->limit_to(static_cast<std::uint64_t>(options.limit));
    }
    return dataset;
}

std::unique_ptr<Dataset> open_synthetic(const DatasetOptions& options) {
    SyntheticOptions synthetic;
    synthetic.size = options.limit > 0 ? static_cast<std::uint64_t>(options.limit) : synthetic.size;
    synthetic.seed = options.seed;
    auto& layout = synthetic.layout;
    layout.classes = options.classes > 0 ? options.classes : 10;
    layout.input_shape = options.input_shape.empty() ? Shape{1, 28, 28} : options.input_shape;
    if (options.task == "next-token") {
        layout.input_type = DataType::int64;
        layout.input_shape = {options.sequence_length > 0 ? options.sequence_length : 64};
        layout.target_shape = layout.input_shape;
    } else if (options.task == "regress") {
        layout.target_shape = {options.classes > 0 ? options.classes : 1};
        layout.target_type = DataType::float32;
        layout.classes = 0;
    }
    return make_synthetic_dataset(synthetic);
}

void check_options(const DatasetOptions& options) {
    check_word(options.format, {"auto", "idx", "npy", "csv", "hdf5", "bytes", "synthetic"}, "data.format");
    check_word(options.task, {"classify", "regress", "next-token"}, "data.task");
    if (options.inputs.empty() && options.format != "synthetic") {
        throw Error(ExitCode::usage, "data.inputs is not set", "name the file with the samples");
    }
    if (options.classes < 0 || options.limit < 0 || options.sequence_length < 0) {
        throw Error(ExitCode::usage,
                    "data.classes, data.limit and data.sequence_length must not be negative");
    }
}

}  // namespace

std::unique_ptr<Dataset> open_dataset(const DatasetOptions& options) {
    check_options(options);
    if (options.format == "synthetic") {
        return open_synthetic(options);
    }
    const bool tokens = options.task == "next-token";
    const auto format = options.format == "auto" ? format_of(options.inputs, tokens) : options.format;
    return tokens ? open_tokens(options, format) : open_samples(options, format);
}

}  // namespace mastic::data
