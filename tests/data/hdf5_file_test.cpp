#include <gtest/gtest.h>
#include <hdf5.h>

#include <mastic/core/file.hpp>
#include <mastic/data/hdf5_file.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

// HDF5 1.10 leaks a little of its own when it refuses a damaged file; read by LeakSanitizer in the asan preset.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libhdf5";
}

namespace mastic::data {
namespace {

using mastic::test::expect_error;
using mastic::test::TempDir;
using test::values_of;

struct Layout {
    std::vector<hsize_t> chunk;
    bool compress = false;
    hid_t memory_type = H5I_INVALID_HID;  // if data is to be written
};

// Writes one dataset with HDF5 itself.
void write_hdf5(const std::filesystem::path& path, const std::string& name, hid_t type,
                const std::vector<hsize_t>& shape, const void* data, const Layout& layout) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (!layout.chunk.empty()) {
        H5Pset_chunk(creation, static_cast<int>(layout.chunk.size()), layout.chunk.data());
    }
    if (layout.compress) {
        H5Pset_deflate(creation, 6);
    }
    const hid_t dataset = H5Dcreate2(file, name.c_str(), type, space, links, creation, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    if (data != nullptr) {
        ASSERT_GE(H5Dwrite(dataset, layout.memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
    }
    H5Dclose(dataset);
    H5Pclose(links);
    H5Pclose(creation);
    H5Sclose(space);
    H5Fclose(file);
}

const std::vector<float> ramp = [] {
    std::vector<float> values(600);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i) * 0.25f;
    }
    return values;
}();

class Hdf5File : public ::testing::Test {
  protected:
    static void SetUpTestSuite() { H5dont_atexit(); }
    Array read(const std::string& name) { return read_hdf5_dataset(path_, name); }

    TempDir directory_;
    std::filesystem::path path_ = directory_ / "data.h5";
};

TEST_F(Hdf5File, ReadsEveryLayout) {
    for (const Layout& layout :
         {Layout{{}, false, H5T_NATIVE_FLOAT}, Layout{{7, 11}, false, H5T_NATIVE_FLOAT},
          Layout{{7, 11}, true, H5T_NATIVE_FLOAT}}) {
        for (const hid_t stored : {H5T_IEEE_F32LE, H5T_IEEE_F32BE}) {
            write_hdf5(path_, "group/inputs", stored, {30, 20}, ramp.data(), layout);
            const auto array = read("group/inputs");
            EXPECT_EQ(array.type, DataType::float32);
            EXPECT_EQ(array.shape, (Shape{30, 20}));
            EXPECT_EQ(values_of<float>(array), ramp);
        }
    }
}

TEST_F(Hdf5File, IntegersKeepTheirValues) {
    const std::vector<std::int64_t> small = {0, 1, 100, 127};
    const std::vector<std::pair<hid_t, DataType>> types = {
        {H5T_STD_U8LE, DataType::uint8},  {H5T_STD_I8LE, DataType::int8},   {H5T_STD_I16BE, DataType::int16},
        {H5T_STD_U16LE, DataType::int32}, {H5T_STD_I32BE, DataType::int32}, {H5T_STD_U32LE, DataType::int64},
        {H5T_STD_I64LE, DataType::int64}, {H5T_STD_U64BE, DataType::int64}};
    for (const auto& [stored, type] : types) {
        write_hdf5(path_, "labels", stored, {4}, small.data(), {{}, false, H5T_NATIVE_INT64});
        const auto array = read("labels");
        ASSERT_EQ(array.type, type);
        std::int64_t first_two = 0;
        std::memcpy(&first_two, array.bytes.data() + size_of(type), size_of(type));
        EXPECT_EQ(first_two, 1);
        EXPECT_EQ(array.bytes.size(), 4 * size_of(type));
    }
}

TEST_F(Hdf5File, DoublesStayDoubles) {
    const std::vector<double> values = {1e300, -2.5};
    write_hdf5(path_, "x", H5T_IEEE_F64BE, {2}, values.data(), {{}, false, H5T_NATIVE_DOUBLE});
    EXPECT_EQ(values_of<double>(read("x")), values);
}

TEST_F(Hdf5File, AWrongNameListsTheDatasets) {
    write_hdf5(path_, "train/images", H5T_IEEE_F32LE, {30, 20}, ramp.data(), {{}, false, H5T_NATIVE_FLOAT});
    expect_error(ExitCode::data, "no dataset 'train/image'; there are: train/images",
                 [&] { read("train/image"); });
    expect_error(ExitCode::data, "did you mean 'train/images'?", [&] { read("train/image"); });
    expect_error(ExitCode::data, "no dataset 'train'", [&] { read("train"); });
}

TEST_F(Hdf5File, PromisesWithoutDataTakeNoMemory) {
    const std::vector<hsize_t> huge = {1ull << 40, 1ull << 10};
    write_hdf5(path_, "x", H5T_IEEE_F32LE, huge, nullptr, {{1024, 1024}, false, H5I_INVALID_HID});
    expect_error(ExitCode::data, "not all of its elements were ever written", [&] { read("x"); });
    write_hdf5(path_, "x", H5T_IEEE_F32LE, huge, nullptr, {{1024, 1024}, true, H5I_INVALID_HID});
    expect_error(ExitCode::data, "not all of its elements were ever written", [&] { read("x"); });
    write_hdf5(path_, "x", H5T_IEEE_F32LE, huge, nullptr, {});
    expect_error(ExitCode::data, "not all of its elements were ever written", [&] { read("x"); });
}

TEST_F(Hdf5File, StringsAreRefused) {
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 8);
    write_hdf5(path_, "names", text, {4}, nullptr, {});
    H5Tclose(text);
    expect_error(ExitCode::data, "not plain numbers", [&] { read("names"); });
}

TEST_F(Hdf5File, OtherContentIsNamedAndNothingIsPrinted) {
    mastic::test::write_file(path_, "<html>gone</html>");
    ::testing::internal::CaptureStderr();
    expect_error(ExitCode::data, "starts with '<html>gone</html>': looks like a web page",
                 [&] { read("x"); });
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Hdf5File, CutFilesAreRefused) {
    for (const Layout& layout :
         {Layout{{}, false, H5T_NATIVE_FLOAT}, Layout{{7, 11}, true, H5T_NATIVE_FLOAT}}) {
        write_hdf5(path_, "x", H5T_IEEE_F32LE, {30, 20}, ramp.data(), layout);
        const auto whole = read_text_file(path_);
        for (std::size_t length = 0; length < whole.size(); length += 97) {
            mastic::test::write_file(path_, whole.substr(0, length));
            expect_error(ExitCode::data, path_.string(), [&] { read("x"); });
        }
    }
}

TEST_F(Hdf5File, DamageNeverCrashes) {
    for (const Layout& layout :
         {Layout{{}, false, H5T_NATIVE_FLOAT}, Layout{{7, 11}, true, H5T_NATIVE_FLOAT}}) {
        write_hdf5(path_, "x", H5T_IEEE_F32LE, {30, 20}, ramp.data(), layout);
        const auto read_x = [](const std::filesystem::path& path) { read_hdf5_dataset(path, "x"); };
        EXPECT_GT(test::feed_damaged(read_text_file(path_), 200, read_x), 100);
    }
}

}  // namespace
}  // namespace mastic::data
