#include <mastic/data/hdf5_file.hpp>

#include <hdf5.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <mastic/core/error.hpp>
#include <mastic/core/hdf5_mutex.hpp>
#include <mastic/core/suggest.hpp>
#include <mastic/data/content_kind.hpp>
#include <mastic/data/file_content.hpp>

namespace mastic::data {

namespace {

// Keeps HDF5 from printing its error stack; restores what was set.
class SilentErrors {
  public:
    SilentErrors() {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~SilentErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
    SilentErrors(const SilentErrors&) = delete;
    SilentErrors& operator=(const SilentErrors&) = delete;

  private:
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

// The innermost description on HDF5's error stack.
std::string last_hdf5_error() {
    std::string text;
    const auto keep_first = [](unsigned, const H5E_error2_t* entry, void* data) -> herr_t {
        auto& kept = *static_cast<std::string*>(data);
        if (kept.empty() && entry->desc != nullptr) {
            kept = entry->desc;
        }
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
    return text.empty() ? "unknown HDF5 error" : text;
}

class Handle {
  public:
    using Close = herr_t (*)(hid_t);
    Handle(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
        if (id_ < 0) {
            throw Error(ExitCode::data, what + ": " + last_hdf5_error(), "check the file with h5dump -H");
        }
    }
    ~Handle() { close_(id_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator hid_t() const { return id_; }

  private:
    hid_t id_;
    Close close_;
};

struct ElementChoice {
    hid_t memory_type;
    DataType type;
};

ElementChoice choose_element(hid_t stored_type, const std::string& where) {
    const auto size = H5Tget_size(stored_type);
    const auto kind = H5Tget_class(stored_type);
    if (kind == H5T_FLOAT) {
        return size <= 4 ? ElementChoice{H5T_NATIVE_FLOAT, DataType::float32}
                         : ElementChoice{H5T_NATIVE_DOUBLE, DataType::float64};
    }
    if (kind != H5T_INTEGER) {
        throw Error(ExitCode::data, where + ": its elements are not plain numbers",
                    "store integers or floating-point numbers");
    }
    if (H5Tget_sign(stored_type) == H5T_SGN_NONE) {
        return size == 1   ? ElementChoice{H5T_NATIVE_UINT8, DataType::uint8}
               : size == 2 ? ElementChoice{H5T_NATIVE_INT32, DataType::int32}
                           : ElementChoice{H5T_NATIVE_INT64, DataType::int64};
    }
    return size == 1   ? ElementChoice{H5T_NATIVE_INT8, DataType::int8}
           : size == 2 ? ElementChoice{H5T_NATIVE_INT16, DataType::int16}
           : size <= 4 ? ElementChoice{H5T_NATIVE_INT32, DataType::int32}
                       : ElementChoice{H5T_NATIVE_INT64, DataType::int64};
}

std::vector<std::string> dataset_names(hid_t file) {
    std::vector<std::string> names;
    const auto collect = [](hid_t, const char* name, const H5O_info_t* info, void* data) -> herr_t {
        auto& found = *static_cast<std::vector<std::string>*>(data);
        if (info->type == H5O_TYPE_DATASET) {
            found.emplace_back(name);
        }
        return found.size() < 50 ? 0 : 1;
    };
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, collect, &names);
    return names;
}

[[noreturn]] void throw_no_dataset(hid_t file, const std::string& path, const std::string& name) {
    const auto names = dataset_names(file);
    std::string list;
    for (const auto& found : names) {
        list += (list.empty() ? "" : ", ") + found;
    }
    const auto nearest = nearest_word(name, names);
    throw Error(
        ExitCode::data,
        path + ": no dataset '" + name + "'; " + (list.empty() ? "the file has none" : "there are: " + list),
        nearest.empty() ? "name one of the file's datasets" : "did you mean '" + nearest + "'?");
}

Shape shape_of(hid_t space) {
    const int dimensions = H5Sget_simple_extent_ndims(space);
    std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(dimensions, 0)));
    H5Sget_simple_extent_dims(space, extents.data(), nullptr);
    Shape shape;
    std::transform(extents.begin(), extents.end(), std::back_inserter(shape), [](hsize_t extent) {
        return std::in_range<std::int64_t>(extent) ? static_cast<std::int64_t>(extent) : std::int64_t{-1};
    });
    return shape;
}

[[noreturn]] void throw_incomplete(const std::string& where) {
    throw Error(ExitCode::data, where + ": not all of its elements were ever written",
                "write the file again");
}

// How many chunks a complete dataset of this shape has.
std::uint64_t chunks_of(hid_t properties, const Shape& shape) {
    std::vector<hsize_t> chunk(shape.size());
    H5Pget_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const auto along =
            chunk[d] == 0 ? 0 : (static_cast<std::uint64_t>(shape[d]) + chunk[d] - 1) / chunk[d];
        if (__builtin_mul_overflow(count, along, &count)) {
            return 0;
        }
    }
    return count;
}

// Memory is taken only for data that exists: a header may promise anything.
void check_storage(hid_t dataset, hid_t properties, const Shape& shape, std::uint64_t stored_bytes,
                   const std::string& where) {
    switch (H5Pget_layout(properties)) {
        case H5D_COMPACT:
            return;
        case H5D_CONTIGUOUS:
            if (H5Pget_external_count(properties) > 0) {
                throw Error(ExitCode::data, where + ": its elements are in other files (external storage)",
                            "copy it into one file with h5repack");
            }
            if (H5Dget_storage_size(dataset) < stored_bytes) {
                throw_incomplete(where);
            }
            return;
        case H5D_CHUNKED: {
            const Handle space(H5Dget_space(dataset), H5Sclose, where);
            hsize_t written = 0;
            if (H5Dget_num_chunks(dataset, space, &written) < 0 || written != chunks_of(properties, shape)) {
                throw_incomplete(where);
            }
            return;
        }
        default:
            throw Error(ExitCode::data, where + ": virtual datasets are not supported",
                        "copy it with h5repack");
    }
}

class Hdf5Dataset {
  public:
    Hdf5Dataset(hid_t file, const std::filesystem::path& path, const std::string& name)
        : path_(path),
          where_(path.string() + ": dataset '" + name + "'"),
          dataset_(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, where_),
          type_(H5Dget_type(dataset_), H5Tclose, where_),
          space_(H5Dget_space(dataset_), H5Sclose, where_),
          properties_(H5Dget_create_plist(dataset_), H5Pclose, where_),
          element_(choose_element(type_, where_)),
          shape_(shape_of(space_)) {}

    Array read() const {
        const auto stored_bytes = byte_count(shape_, H5Tget_size(type_), where_);
        const auto bytes = byte_count(shape_, size_of(element_.type), where_);
        if (bytes == 0) {
            return make_array(element_.type, shape_, {});
        }
        check_storage(dataset_, properties_, shape_, stored_bytes, where_);
        if (H5Pget_layout(properties_) == H5D_CONTIGUOUS) {
            auto mapped = map_elements(stored_bytes);
            if (H5Tequal(type_, element_.memory_type) > 0) {
                return mapped;
            }
        }
        std::vector<std::byte> memory(bytes);
        if (H5Dread(dataset_, element_.memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory.data()) < 0) {
            throw Error(ExitCode::data, where_ + " cannot be read: " + last_hdf5_error(),
                        "check the file with h5dump; a compression plug-in may be missing");
        }
        return make_array(element_.type, shape_, std::move(memory));
    }

  private:
    // The elements as they lie in the file; this also proves that they are inside it.
    Array map_elements(std::uint64_t stored_bytes) const {
        const haddr_t offset = H5Dget_offset(dataset_);
        const auto content = map_file(path_);
        if (offset == HADDR_UNDEF || offset > content.bytes.size() ||
            stored_bytes > content.bytes.size() - offset) {
            throw Error(ExitCode::data, where_ + ": its elements lie outside of the file",
                        "the file is cut: fetch it again");
        }
        return {element_.type, shape_, content.bytes.subspan(offset, stored_bytes), content.owner};
    }

    std::filesystem::path path_;
    std::string where_;
    Handle dataset_;
    Handle type_;
    Handle space_;
    Handle properties_;
    ElementChoice element_;
    Shape shape_;
};

}  // namespace

Array read_hdf5_dataset(const std::filesystem::path& path, const std::string& name) {
    const std::scoped_lock hdf5_is_mine(hdf5_mutex());
    // After damaged files HDF5 1.10 miscounts its objects and complains at exit; ours are all closed by then.
    H5dont_atexit();
    const SilentErrors silent;
    const auto source = path.string();
    const auto prefix = read_prefix(path, 512);
    if (H5Fis_hdf5(source.c_str()) <= 0) {
        throw Error(ExitCode::data, source + ": no HDF5 file: the content " + describe_content(prefix),
                    "fetch the file again, or name its true format with --data.format");
    }
    const Handle file(H5Fopen(source.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, source);
    H5O_info_t info;
    if (H5Oget_info_by_name(file, name.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5O_TYPE_DATASET) {
        throw_no_dataset(file, source, name);
    }
    return Hdf5Dataset(file, path, name).read();
}

}  // namespace mastic::data
