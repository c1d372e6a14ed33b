#include "sample_files.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <mastic/core/error.hpp>
#include <mastic/core/random.hpp>

#include "support/temp_dir.hpp"

namespace mastic::data::test {

std::string idx_file(int type_code, const std::vector<std::uint32_t>& shape, const std::string& payload) {
    std::string content{'\0', '\0', static_cast<char>(type_code), static_cast<char>(shape.size())};
    return content + raw(shape, true) + payload;
}

std::string npy_file(const std::string& type, const std::string& shape, const std::string& payload,
                     bool fortran_order, int version) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                         ", 'shape': " + shape + ", }";
    header.resize(117, ' ');
    header += '\n';
    std::string content = "\x93NUMPY";
    content += static_cast<char>(version);
    content += '\0';
    const auto length = header.size();
    content += version == 1 ? raw<std::uint16_t>({static_cast<std::uint16_t>(length)})
                            : raw<std::uint32_t>({static_cast<std::uint32_t>(length)});
    return content + header + payload;
}

std::string gzip(const std::string& content) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string compressed(deflateBound(&stream, content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    deflate(&stream, Z_FINISH);
    compressed.resize(stream.total_out);
    deflateEnd(&stream);
    return compressed;
}

int feed_damaged(const std::string& content, int count,
                 const std::function<void(const std::filesystem::path&)>& read) {
    const mastic::test::TempDir directory;
    CounterRandom random(20240229);
    int refused = 0;
    for (int i = 0; i < count; ++i) {
        auto damaged = content;
        if (i % 3 != 0) {
            damaged.resize(random.below(content.size() + 1));
        }
        for (int flips = i % 3 == 1 ? 0 : 1 + i % 4; flips > 0 && !damaged.empty(); --flips) {
            // Headers are where damage matters: half of the flips hit the first 128 bytes.
            const auto reach =
                random.below(2) == 0 ? std::min<std::size_t>(128, damaged.size()) : damaged.size();
            damaged[random.below(reach)] ^= static_cast<char>(1 << random.below(8));
        }
        const auto path = directory.write("damaged", damaged);
        try {
            read(path);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::data) << error.what();
            ++refused;
        } catch (const std::exception& error) {
            ADD_FAILURE() << "damage " << i << ": " << error.what();
        }
        std::filesystem::remove(path);
    }
    return refused;
}

}  // namespace mastic::data::test
