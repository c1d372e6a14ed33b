#include <mastic/data/gzip_reader.hpp>

#include <zlib.h>

#include <algorithm>
#include <new>

#include <mastic/core/error.hpp>

namespace mastic::data {

namespace {

constexpr std::size_t largest_piece = std::size_t{1} << 30;  // zlib counts in 32 bits
constexpr int gzip_format = 16 + MAX_WBITS;

}  // namespace

struct GzipReader::Stream {
    z_stream zlib{};
    std::span<const std::byte> rest;
    std::string source;
    bool finished = false;

    void refill() {
        const auto piece = rest.first(std::min(rest.size(), largest_piece));
        zlib.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));
        zlib.avail_in = static_cast<uInt>(piece.size());
        rest = rest.subspan(piece.size());
    }

    std::size_t inflate_into(std::span<std::byte> out) {
        if (zlib.avail_in == 0) {
            refill();
        }
        zlib.next_out = reinterpret_cast<Bytef*>(out.data());
        zlib.avail_out = static_cast<uInt>(std::min(out.size(), largest_piece));
        const auto room = zlib.avail_out;
        const int result = inflate(&zlib, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            end_of_member();
        } else if (result == Z_BUF_ERROR) {
            throw Error(ExitCode::data, source + ": the gzip data ends too early",
                        "the file is cut: fetch it again");
        } else if (result != Z_OK) {
            throw Error(ExitCode::data,
                        source + ": the gzip data is damaged (" +
                            (zlib.msg != nullptr ? zlib.msg : "zlib error") + ")",
                        "fetch the file again");
        }
        return room - zlib.avail_out;
    }

    // A gzip file may be several members in a row.
    void end_of_member() {
        if (zlib.avail_in == 0) {
            refill();
        }
        if (zlib.avail_in == 0) {
            finished = true;
            return;
        }
        if (zlib.next_in[0] != 0x1F) {
            throw Error(
                ExitCode::data,
                source + ": " + std::to_string(zlib.avail_in + rest.size()) + " bytes after the gzip data",
                "the file is damaged: fetch it again");
        }
        inflateReset(&zlib);
    }
};

GzipReader::GzipReader(std::span<const std::byte> compressed, std::string source) : stream_(new Stream) {
    stream_->rest = compressed;
    stream_->source = std::move(source);
    if (inflateInit2(&stream_->zlib, gzip_format) != Z_OK) {
        throw std::bad_alloc();
    }
}

GzipReader::~GzipReader() {
    inflateEnd(&stream_->zlib);
}

std::size_t GzipReader::read(std::span<std::byte> out) {
    std::size_t done = 0;
    while (done < out.size() && !stream_->finished) {
        done += stream_->inflate_into(out.subspan(done));
    }
    return done;
}

}  // namespace mastic::data
