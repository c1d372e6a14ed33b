// Who is missing in an operation that stalls.
//
// Operations of a group are numbered in order of submission, the same on all ranks. A rank whose oldest operation has
// waited for long asks the others where they are. Their progress threads answer, also while nothing is in flight there:
// with the number of their own oldest operation or, if they have none, of the one that they will start next. Below the
// number asked about, a rank is missing; without an answer it is blocked, stopped or lost.
//
// At most one question from a rank to another is open at a time, so nothing piles up at a rank that does not read.
// An answer repeats the number asked about, so that one to an earlier stall is not taken for news; positions only
// grow, so a position beyond the number is always news.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::comm {

// What travels, as these bytes.
struct RollWord {
    enum class Kind : std::uint32_t {
        question,     // "I wait in operation `about`"
        waiting,      // answer: "the oldest of mine is `position`, `name`"
        not_started,  // answer: "I have none; the next will be `position`"
        not_open,     // answer: "I do not have that group"
    };
    std::uint64_t group = 0;
    std::uint64_t about = 0;
    std::uint64_t position = 0;
    std::int32_t from = 0;     // rank in the group
    std::int32_t to = 0;       // rank in the group
    std::int32_t process = 0;  // of the sender
    Kind kind = Kind::question;
    std::array<char, 48> name{};  // cut off; ends with a zero
};

struct RollLetter {
    int process = 0;  // to whom
    RollWord word;
};

// Carries words between processes. On the progress thread only; neither function waits for another process, and what
// cannot be sent is dropped.
class RollPost {
  public:
    virtual ~RollPost() = default;
    virtual void send(const std::vector<RollLetter>& letters) = 0;
    virtual std::vector<RollWord> receive() = 0;
    // Whether the progress thread may call it while nothing is in flight.
    virtual bool works_when_idle() const = 0;
};

struct RollMembers {
    std::uint64_t group = 0;     // the same on all its ranks, of no other group of these processes
    int rank = 0;                // this one
    std::vector<int> processes;  // by rank, as the post knows them
};

class RollCall {
  public:
    struct Position {
        std::uint64_t number = 0;
        std::string_view name{};
        bool waiting = false;  // else `number` is the next to be submitted
    };

    explicit RollCall(RollMembers members) : members_(std::move(members)) {}

    std::uint64_t group() const { return members_.group; }
    // This rank has waited for long. Questions to those that may be missing and owe no answer.
    void ask(const Position& here, std::vector<RollLetter>& out);
    // A word of this group; the answer to it, if it was a question.
    void hear(const RollWord& word, const Position& here, std::vector<RollLetter>& out);
    // "missing in 'bucket 3': rank 1 (not started), ranks 4-6,9 (no answer: busy, stopped or lost)"; empty if nobody
    // was asked about `here` yet.
    std::string describe(const Position& here) const;

  private:
    struct Peer {
        bool owes_answer = false;
        bool heard = false;  // about `asked_`
        RollWord last;
    };
    bool has_come(const Peer& peer) const;
    std::string excuse_of(const Peer& peer, const Position& here) const;

    RollMembers members_;
    std::uint64_t asked_ = 0;
    std::vector<Peer> peers_;  // by rank; empty until the first stall
};

// The answer of a process that does not have the group of this question.
RollLetter not_open_answer(const RollWord& question);

// "rank 3", "ranks 1-3,7"; of more than ten ranges the first ten, "and 17 more". `ascending` is not empty.
std::string name_ranks(const std::vector<int>& ascending);

}  // namespace mastic::comm
