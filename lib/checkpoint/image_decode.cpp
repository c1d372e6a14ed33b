#include <atomic>

#include <mastic/checkpoint/hdf5_handle.hpp>
#include <mastic/checkpoint/image.hpp>
#include <mastic/checkpoint/shape.hpp>
#include <mastic/core/checksum.hpp>

namespace mastic::checkpoint {
namespace {

struct Source {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
    std::string file_name;
};

// HDF5 asks these for the memory of an image. All hand out the one buffer that `source` views, so that
// nothing is copied or freed; it is opened read-only, so nothing is written. (H5LTopen_file_image does the
// same, but leaks at each call.)
void* lend_memory(std::size_t, H5FD_file_image_op_t, void* source) {
    return const_cast<std::byte*>(static_cast<const Source*>(source)->bytes.data());
}
void* copy_nothing(void* to, const void*, std::size_t, H5FD_file_image_op_t, void*) {
    return to;
}
void* never_grow(void*, std::size_t, H5FD_file_image_op_t, void*) {
    return nullptr;
}
herr_t keep_memory(void*, H5FD_file_image_op_t, void*) {
    return 0;
}
void* same_source(void* source) {
    return source;
}
herr_t keep_source(void*) {
    return 0;
}

// `source` must outlive the file.
Hdf5Handle open_image(const Source& source) {
    static std::atomic<unsigned> counter = 0;
    void* memory = const_cast<std::byte*>(source.bytes.data());
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    constexpr std::size_t increment = 64 << 10;
    H5FD_file_image_callbacks_t callbacks{lend_memory,
                                          copy_nothing,
                                          never_grow,
                                          keep_memory,
                                          same_source,
                                          keep_source,
                                          const_cast<Source*>(&source)};
    const std::string what = source.file_name + ": not readable as HDF5";
    check_hdf5(H5Pset_fapl_core(access.id(), increment, 0), what);
    check_hdf5(H5Pset_file_image_callbacks(access.id(), &callbacks), what);
    check_hdf5(H5Pset_file_image(access.id(), memory, source.bytes.size()), what);
    const std::string name = "/dev/null/mastic-restored-" + std::to_string(counter++);  // never opened
    return Hdf5Handle(check_hdf5(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), what), H5Fclose);
}

herr_t keep_link_name(hid_t, const char* name, const H5L_info_t*, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

std::string text_attribute(hid_t dataset, const char* name) {
    const Hdf5Handle attribute(check_hdf5(H5Aopen(dataset, name, H5P_DEFAULT), name), H5Aclose);
    const Hdf5Handle type(check_hdf5(H5Aget_type(attribute.id()), name), H5Tclose);
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0) {
        throw Error(ExitCode::checkpoint, std::string("attribute ") + name + " is not a fixed text");
    }
    std::string text(H5Tget_size(type.id()), '\0');
    check_hdf5(H5Aread(attribute.id(), type.id(), text.data()), name);
    return text;
}

std::vector<std::int64_t> extents_attribute(hid_t dataset, const char* name) {
    const Hdf5Handle attribute(check_hdf5(H5Aopen(dataset, name, H5P_DEFAULT), name), H5Aclose);
    const Hdf5Handle space(check_hdf5(H5Aget_space(attribute.id()), name), H5Sclose);
    const hssize_t count = check_hdf5(H5Sget_simple_extent_npoints(space.id()), name);
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    if (count > 0) {
        check_hdf5(H5Aread(attribute.id(), H5T_NATIVE_INT64, values.data()), name);
    }
    return values;
}

std::vector<std::int64_t> shape_of(hid_t dataset) {
    const Hdf5Handle space(check_hdf5(H5Dget_space(dataset), "data space"), H5Sclose);
    const int dimensions = H5Sget_simple_extent_ndims(space.id());
    check_hdf5(dimensions, "data space");
    std::vector<hsize_t> extents(static_cast<std::size_t>(dimensions));
    if (dimensions > 0) {
        check_hdf5(H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr), "data space");
    }
    return {extents.begin(), extents.end()};
}

void require(bool condition, const char* why) {
    if (!condition) {
        throw Error(ExitCode::checkpoint, why);
    }
}

StateEntry read_entry(const Source& source, hid_t dataset, const std::string& path) {
    StateEntry entry;
    entry.owner = source.owner;
    entry.type = parse_data_type(text_attribute(dataset, "mastic_type"));
    entry.shape = shape_of(dataset);
    entry.global_shape = extents_attribute(dataset, "global_shape");
    entry.offset = extents_attribute(dataset, "offset");
    entry.name = entry.is_slice() ? path.substr(0, path.rfind('@')) : path;
    const Hdf5Handle stored(check_hdf5(H5Dget_type(dataset), "type"), H5Tclose);
    require(H5Tequal(stored.id(), file_type(entry.type).id()) > 0,
            "its type is not the one that mastic_type says");

    const std::uint64_t bytes = static_cast<std::uint64_t>(element_count(entry.shape)) * size_of(entry.type);
    if (bytes > 0) {
        const haddr_t position = H5Dget_offset(dataset);
        require(position != HADDR_UNDEF, "it is not stored contiguously");
        require(position <= source.bytes.size() && bytes <= source.bytes.size() - position,
                "it leaves the file");
        entry.bytes = source.bytes.subspan(position, bytes);
    }
    check_entry(entry);
    require(to_hex(checksum(entry.bytes)) == text_attribute(dataset, "xxh3"), "its checksum does not hold");
    return entry;
}

}  // namespace

std::vector<StateEntry> decode_image(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                     std::uint64_t expected_checksum, const std::string& file_name) {
    if (checksum(bytes) != expected_checksum) {
        throw Error(ExitCode::checkpoint, file_name + ": the checksum of the file does not hold");
    }
    const Hdf5Section section;
    const Source source{bytes, std::move(owner), file_name};
    const Hdf5Handle file = open_image(source);
    std::vector<std::string> paths;
    check_hdf5(H5Lvisit(file.id(), H5_INDEX_NAME, H5_ITER_INC, keep_link_name, &paths), file_name);
    std::vector<StateEntry> entries;
    for (const std::string& path : paths) {
        const Hdf5Handle object(check_hdf5(H5Oopen(file.id(), path.c_str(), H5P_DEFAULT), file_name),
                                H5Oclose);
        if (H5Iget_type(object.id()) != H5I_DATASET) {
            continue;
        }
        try {
            entries.push_back(read_entry(source, object.id(), path));
        } catch (const Error& error) {
            throw Error(ExitCode::checkpoint, file_name + ": data set " + path + ": " + error.what());
        }
    }
    return entries;
}

}  // namespace mastic::checkpoint
