// A sparse file in shared memory, mapped as a whole.
//
// Pages are reserved before they are touched: touching one that the file system has no room for is a SIGBUS.
#pragma once

#include <cstddef>
#include <string>

#include <mastic/core/descriptor.hpp>

namespace mastic::comm::detail {

class SharedFile {
  public:
    // A new file, 0600, with a random name in `directory`; all of it a hole. Throws Error(environment).
    static SharedFile create(const std::string& directory, std::size_t bytes);
    // A file of another process of the same user. Throws Error(environment), also if it is shorter than `bytes`.
    static SharedFile open(const std::string& path, std::size_t bytes);

    SharedFile(SharedFile&& other) noexcept;
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;
    ~SharedFile();  // unmaps; removes the name, if create() gave it and unlink() has not

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    const std::string& path() const { return path_; }
    // The name goes, the memory stays.
    void unlink();

    // Whole pages: `offset` and `bytes` are multiples of page_bytes(). False: no room, and nothing was reserved.
    bool reserve(std::size_t offset, std::size_t bytes);
    // Gives the pages back; they read as zeros when they are reserved again.
    void release(std::size_t offset, std::size_t bytes);

  private:
    SharedFile(std::string path, Descriptor descriptor, std::size_t bytes, bool named_here);

    std::string path_;
    Descriptor descriptor_;
    std::size_t bytes_;
    bool named_here_;  // the name is still there and ours to remove
    std::byte* data_ = nullptr;
};

std::size_t page_bytes();
std::size_t whole_pages(std::size_t bytes);  // rounded up

}  // namespace mastic::comm::detail
