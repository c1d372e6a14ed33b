// Files that are either there whole or not at all. All errors are Error(io) with path and reason; a full disk
// says how much was needed and how much is free.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/bytes.hpp>
#include <mastic/core/descriptor.hpp>

namespace mastic {

std::vector<std::byte> read_file(const std::filesystem::path& path);
std::string read_text_file(const std::filesystem::path& path);

// Writes PATH.tmp-PID-N in the same directory, fsyncs it, renames it over PATH and fsyncs the directory. If
// anything fails, the temporary file is removed and the old PATH stays as it was. `mode` is exact (umask is
// not applied).
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> content,
                           unsigned mode = 0644);
void write_file_atomically(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644);

// Throws Error(io): "cannot open /path: Permission denied". Without a hint: one that fits the error number.
[[noreturn]] void throw_file_error(const std::string& action, const std::filesystem::path& path, int error_number,
                                   const std::string& hint = "");

// For an output of long work, before it begins: throws Error(io) if no file could be made or replaced there.
void require_writable_place(const std::filesystem::path& path);

// Makes a rename or unlink in this directory durable.
void sync_directory(const std::filesystem::path& directory);

// Space available to this user on the file system that holds `path` (or its nearest existing parent).
Bytes free_space(const std::filesystem::path& path);

// An open append-only text file; each line is written with one write(2), so that lines of a killed process
// stay whole. If the file ends within a line all the same (a crash of the machine), the next line starts on
// its own.
class LineWriter {
  public:
    explicit LineWriter(const std::filesystem::path& path);
    // If it fails (full disk), nothing of the line remains. Error(io) also if the file has been deleted meanwhile.
    void write_line(std::string_view line);

  private:
    std::filesystem::path path_;
    Descriptor descriptor_;
};

}  // namespace mastic
