// Undoes gzip (RFC 1952) piece by piece, so that memory grows with what is really there.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace mastic::data {

class GzipReader {
  public:
    // `compressed` must outlive the reader; `source` is named in errors.
    GzipReader(std::span<const std::byte> compressed, std::string source);
    ~GzipReader();
    GzipReader(const GzipReader&) = delete;
    GzipReader& operator=(const GzipReader&) = delete;

    // Fills `out` as far as the data goes. Fewer bytes than asked: the end, and its checksum was right.
    // Error(data) if the data is cut, damaged or followed by something else.
    std::size_t read(std::span<std::byte> out);

  private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
};

}  // namespace mastic::data
