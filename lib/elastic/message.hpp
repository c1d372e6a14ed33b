// What members and their coordinator say to one another. Framed as four bytes of length (little-endian) and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mastic/elastic/generation.hpp>

namespace mastic::elastic {

enum class MessageKind {
    beat,   // "I am alive"
    hello,  // member: "I am `member`, in `generation`, and listen for the next one on `data_port`"
    join,  // newcomer: "I am `member`, of version and configuration `text`; I have a state from the member `names`"
    admitted,  // to a newcomer: "fetch the state from `member`; `table` is the present generation"
    refused,   // to a newcomer: why, in `text`
    unneeded,  // to a newcomer that is ready: the run would not get faster with it, in `text`
    busy,      // to a newcomer: "I coordinate nothing now; ask again"
    ready,  // newcomer: "I have the state of `step` from the member `names` and follow; I listen on `data_port`", and in `text`
             // what it says of itself
    leave,   // member: "I want to go"
    broken,  // member: "a step of `generation` failed; I have applied `step`, listen on `data_port`, miss `names`"; a newcomer
             // names in `text` the member that its state is from
    abandon,   // to members: "`generation` is over, since `text`: report"
    table,     // to members: "`table` is committed"; after a loss with `names`, who have the last step
    excluded,  // to a member: "the others go on without you, since `text`"
    wish,      // from a user, by way of a member: `text`
    wished,    // the answer: `text`
};

struct Message {
    MessageKind kind = MessageKind::beat;
    GenerationId generation = 0;
    Step step = 0;
    std::uint16_t data_port = 0;
    std::string text = {};
    std::vector<std::string> names{};
    std::optional<MemberRecord> member{};
    std::optional<Generation> table{};
};

// A frame. The largest that is accepted has most_frame_bytes.
std::string encode(const Message& message);
inline constexpr std::size_t most_frame_bytes = std::size_t{16} << 20;

// Puts frames together from what arrives in pieces.
class FrameReader {
  public:
    void feed(std::span<const std::byte> bytes);
    // The content of the next whole frame. Throws Error(collective) if it is too long.
    std::optional<std::string> next();

  private:
    std::string buffer_;
};
std::string frame(const std::string& content);

// Throws Error(collective).
Message decode_message(const std::string& content);

}  // namespace mastic::elastic
