#include <algorithm>
#include <atomic>
#include <set>

#include <mastic/checkpoint/hdf5_handle.hpp>
#include <mastic/checkpoint/image.hpp>
#include <mastic/core/checksum.hpp>

namespace mastic::checkpoint {
namespace {

// The open file whose memory is the image; closed under the HDF5 lock.
class CoreFile {
  public:
    CoreFile() {
        static std::atomic<unsigned> counter = 0;
        const Hdf5Section section;
        const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        constexpr std::size_t increment = 64 << 10;
        check_hdf5(H5Pset_fapl_core(access.id(), increment, 0), "choosing the core driver");
        // Never opened; the name only keeps images of one process apart. A path that cannot exist, since HDF5
        // looks.
        const std::string name = "/dev/null/mastic-image-" + std::to_string(counter++);
        file_ = Hdf5Handle(check_hdf5(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()),
                                      "creating an HDF5 image in memory"),
                           H5Fclose);
    }
    ~CoreFile() {
        const Hdf5Section section;
        file_ = Hdf5Handle();
    }
    hid_t id() const { return file_.id(); }

    // The memory of the driver itself: H5Fget_file_image would need a second copy.
    std::span<const std::byte> flushed_bytes() {
        const Hdf5Section section;
        check_hdf5(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "flushing an HDF5 image", ExitCode::memory);
        const ssize_t size = H5Fget_file_image(file_.id(), nullptr, 0);
        check_hdf5(size, "the size of an HDF5 image");
        void* handle = nullptr;
        check_hdf5(H5Fget_vfd_handle(file_.id(), H5P_DEFAULT, &handle), "the memory of an HDF5 image");
        return {*static_cast<const std::byte* const*>(handle), static_cast<std::size_t>(size)};
    }

  private:
    Hdf5Handle file_;
};

std::string dataset_path(const StateEntry& entry) {
    std::string path = entry.name;
    if (entry.is_slice()) {
        char separator = '@';
        for (const std::int64_t offset : entry.offset) {
            path += separator + std::to_string(offset);
            separator = ',';
        }
    }
    return path;
}

void add_attribute(hid_t dataset, const char* name, const std::vector<std::int64_t>& values) {
    const hsize_t count = values.size();
    const Hdf5Handle space(check_hdf5(H5Screate_simple(1, &count, nullptr), name), H5Sclose);
    const Hdf5Handle attribute(
        check_hdf5(H5Acreate2(dataset, name, H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT), name),
        H5Aclose);
    if (count > 0) {
        check_hdf5(H5Awrite(attribute.id(), H5T_NATIVE_INT64, values.data()), name);
    }
}

void add_attribute(hid_t dataset, const char* name, const std::string& text) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    check_hdf5(H5Tset_size(type.id(), text.size()), name);
    check_hdf5(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), name);  // all bytes are text, none a terminator
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Handle attribute(
        check_hdf5(H5Acreate2(dataset, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), name),
        H5Aclose);
    check_hdf5(H5Awrite(attribute.id(), type.id(), text.data()), name);
}

Hdf5Handle create_dataset(hid_t file, const StateEntry& entry) {
    const std::vector<hsize_t> extents(entry.shape.begin(), entry.shape.end());
    const Hdf5Handle space(extents.empty()
                               ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                           H5Sclose);
    const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.id(), 1);
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
    H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
    H5Pset_obj_track_times(creation.id(), false);  // equal states give equal files
    const Hdf5Handle type = file_type(entry.type);
    return Hdf5Handle(check_hdf5(H5Dcreate2(file, dataset_path(entry).c_str(), type.id(),
                                            check_hdf5(space.id(), "the shape of " + entry.name), links.id(),
                                            creation.id(), H5P_DEFAULT),
                                 "adding data set " + entry.name + " to an image", ExitCode::usage),
                      H5Dclose);
}

DatasetRecord add_dataset(hid_t file, const StateEntry& entry) {
    DatasetRecord record{entry.name,         entry.type, entry.shape,        entry.offset,
                         entry.global_shape, 0,          entry.bytes.size(), checksum(entry.bytes)};
    const Hdf5Section section;
    const Hdf5Handle dataset = create_dataset(file, entry);
    add_attribute(dataset.id(), "mastic_type", std::string(to_string(entry.type)));
    add_attribute(dataset.id(), "global_shape", entry.global_shape);
    add_attribute(dataset.id(), "offset", entry.offset);
    add_attribute(dataset.id(), "xxh3", to_hex(record.checksum));
    if (!entry.bytes.empty()) {
        const Hdf5Handle type = file_type(entry.type);
        check_hdf5(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, entry.bytes.data()),
                   "writing data set " + entry.name + " into an image", ExitCode::memory);
        record.position = H5Dget_offset(dataset.id());
    }
    return record;
}

}  // namespace

Image encode_image(std::span<const StateEntry> entries) {
    std::set<std::string> paths;
    for (const StateEntry& entry : entries) {
        check_entry(entry);
        if (!paths.insert(dataset_path(entry)).second) {
            throw Error(ExitCode::usage, "state entry \"" + entry.name + "\" occurs twice");
        }
    }
    const auto file = std::make_shared<CoreFile>();
    Image image;
    image.datasets.reserve(entries.size());
    for (const StateEntry& entry : entries) {
        image.datasets.push_back(add_dataset(file->id(), entry));
    }
    image.bytes = file->flushed_bytes();
    image.owner = file;
    return image;
}

}  // namespace mastic::checkpoint
