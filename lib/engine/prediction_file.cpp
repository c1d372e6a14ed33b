#include <mastic/engine/prediction_file.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <string>

#include <hdf5.h>
#include <hdf5_hl.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/hdf5_mutex.hpp>

namespace mastic::engine {
namespace {

std::int64_t index_of_largest(std::span<const float> row) {
    return std::max_element(row.begin(), row.end()) - row.begin();
}

class CsvPredictions : public PredictionFile {
  public:
    CsvPredictions(std::filesystem::path path, bool classes) : path_(std::move(path)), classes_(classes) {}

    void append(const std::vector<float>& values, std::size_t rows, std::size_t columns) override {
        if (text_.empty()) {
            write_header(columns);
        }
        char buffer[32];
        for (std::size_t row = 0; row < rows; ++row) {
            const std::span<const float> line(values.data() + row * columns, columns);
            text_ += std::to_string(sample_++);
            if (classes_) {
                text_.append(",").append(std::to_string(index_of_largest(line)));
            }
            for (const float value : line) {
                const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
                text_.append(",").append(buffer, end);
            }
            text_ += "\n";
        }
    }

    void close() override { write_file_atomically(path_, text_); }

  private:
    void write_header(std::size_t columns) {
        text_ = classes_ ? "sample,class" : "sample";
        for (std::size_t i = 0; i < columns; ++i) {
            text_.append(",output").append(std::to_string(i));
        }
        text_ += "\n";
    }

    std::filesystem::path path_;
    bool classes_;
    std::string text_;
    std::uint64_t sample_ = 0;
};

// Built in memory and written by our own code: HDF5 1.10 crashes at exit when a disk was full.
class Hdf5Predictions : public PredictionFile {
  public:
    Hdf5Predictions(std::filesystem::path path, bool classes) : path_(std::move(path)), classes_(classes) {}

    void append(const std::vector<float>& values, std::size_t rows, std::size_t columns) override {
        columns_ = columns;
        rows_ += rows;
        values_.insert(values_.end(), values.begin(), values.end());
        for (std::size_t row = 0; classes_ && row < rows; ++row) {
            best_.push_back(index_of_largest({values.data() + row * columns, columns}));
        }
    }

    void close() override {
        std::vector<std::byte> image;
        {
            const std::scoped_lock lock(hdf5_mutex());
            image = build_image();
        }
        write_file_atomically(path_, image);
    }

  private:
    std::vector<std::byte> build_image() const {
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_fapl_core(access, 1 << 20, false);
        const hid_t file = H5Fcreate("predictions", H5F_ACC_TRUNC, H5P_DEFAULT, access);
        const hsize_t shape[2] = {rows_, columns_};
        herr_t failed = H5LTmake_dataset_float(file, "outputs", 2, shape, values_.data());
        if (classes_ && failed >= 0) {
            failed = H5LTmake_dataset(file, "class", 1, shape, H5T_NATIVE_INT64, best_.data());
        }
        std::vector<std::byte> image;
        if (failed >= 0 && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0) {
            image.resize(static_cast<std::size_t>(std::max<ssize_t>(0, H5Fget_file_image(file, nullptr, 0))));
            failed = H5Fget_file_image(file, image.data(), image.size()) < 0 ? -1 : 0;
        }
        H5Fclose(file);
        H5Pclose(access);
        if (failed < 0 || image.empty()) {
            throw Error(ExitCode::io, "HDF5 could not build the image of " + path_.string(), "try .csv");
        }
        return image;
    }

    std::filesystem::path path_;
    bool classes_;
    std::size_t rows_ = 0, columns_ = 0;
    std::vector<float> values_;
    std::vector<std::int64_t> best_;
};

}  // namespace

std::unique_ptr<PredictionFile> create_prediction_file(const std::filesystem::path& path, bool classes) {
    const std::string ending = path.extension().string();
    if (ending == ".csv") {
        return std::make_unique<CsvPredictions>(path, classes);
    }
    if (ending == ".h5" || ending == ".hdf5") {
        return std::make_unique<Hdf5Predictions>(path, classes);
    }
    throw Error(ExitCode::usage, "predictions cannot be written to " + path.string(), "end the name in .csv or .h5");
}

}  // namespace mastic::engine
