#include <mastic/elastic/blob.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mastic::elastic {

Blob::Blob(std::vector<std::span<const std::byte>> pieces, std::shared_ptr<const void> owner)
    : pieces_(std::move(pieces)), owner_(std::move(owner)) {
    for (const auto& piece : pieces_) {
        size_ += piece.size();
    }
}

Blob Blob::of(std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    const std::span<const std::byte> all(*owner);
    return Blob({all}, std::move(owner));
}

void Blob::read(std::uint64_t offset, std::span<std::byte> into) const {
    for (const auto& piece : pieces_) {
        if (offset >= piece.size()) {
            offset -= piece.size();
            continue;
        }
        const auto part = piece.subspan(offset, std::min<std::size_t>(piece.size() - offset, into.size()));
        if (part.empty()) {
            return;
        }
        std::memcpy(into.data(), part.data(), part.size());
        into = into.subspan(part.size());
        offset = 0;
    }
}

}  // namespace mastic::elastic
