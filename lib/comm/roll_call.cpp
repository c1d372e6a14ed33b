#include <mastic/comm/roll_call.hpp>

#include <algorithm>
#include <map>
#include <type_traits>

#include <mastic/job/binding.hpp>

namespace mastic::comm {

static_assert(std::is_trivially_copyable_v<RollWord>);

namespace {

std::string_view cut(std::string_view name) {
    return name.substr(0, RollWord{}.name.size() - 1);
}

std::string quoted(std::string_view name) {
    return "'" + std::string(name) + "'";
}

}  // namespace

void RollCall::ask(const Position& here, std::vector<RollLetter>& out) {
    peers_.resize(members_.processes.size());
    if (asked_ != here.number) {
        asked_ = here.number;
        for (Peer& peer : peers_) {
            peer.heard = false;
        }
    }
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
        Peer& peer = peers_[rank];
        if (static_cast<int>(rank) == members_.rank || peer.owes_answer || has_come(peer)) {
            continue;
        }
        peer.owes_answer = true;
        out.push_back({members_.processes[rank],
                       {.group = members_.group,
                        .about = asked_,
                        .position = asked_,
                        .from = members_.rank,
                        .to = static_cast<int>(rank),
                        .process = members_.processes[static_cast<std::size_t>(members_.rank)]}});
    }
}

void RollCall::hear(const RollWord& word, const Position& here, std::vector<RollLetter>& out) {
    if (word.from < 0 || static_cast<std::size_t>(word.from) >= members_.processes.size()) {
        return;
    }
    const auto from = static_cast<std::size_t>(word.from);
    if (word.kind == RollWord::Kind::question) {
        RollWord answer{.group = members_.group,
                        .about = word.about,
                        .position = here.number,
                        .from = members_.rank,
                        .to = word.from,
                        .kind = here.waiting ? RollWord::Kind::waiting : RollWord::Kind::not_started};
        const auto name = cut(here.name);
        std::copy(name.begin(), name.end(), answer.name.begin());
        out.push_back({word.process, answer});
        return;
    }
    if (from >= peers_.size()) {
        return;
    }
    Peer& peer = peers_[from];
    peer.owes_answer = false;
    if (word.about == asked_ || word.position > asked_) {
        peer.heard = true;
        peer.last = word;
    }
}

bool RollCall::has_come(const Peer& peer) const {
    if (!peer.heard || peer.last.kind == RollWord::Kind::not_open) {
        return false;
    }
    return peer.last.position > asked_ ||
           (peer.last.position == asked_ && peer.last.kind == RollWord::Kind::waiting);
}

// Empty for a rank that needs none.
std::string RollCall::excuse_of(const Peer& peer, const Position& here) const {
    if (!peer.heard) {
        return "no answer: busy, stopped or lost";
    }
    const std::string_view name = peer.last.name.data();
    if (has_come(peer)) {
        const bool same = peer.last.position > asked_ || name == cut(here.name);
        return same ? "" : "in " + quoted(name) + " instead";
    }
    switch (peer.last.kind) {
        case RollWord::Kind::waiting:
            return "still in " + quoted(name);
        case RollWord::Kind::not_open:
            return "group not open";
        default:
            return "not started";
    }
}

std::string RollCall::describe(const Position& here) const {
    constexpr std::size_t most = 10;
    if (peers_.empty() || asked_ != here.number) {
        return {};
    }
    std::map<std::string, std::vector<int>> by_excuse;
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
        if (static_cast<int>(rank) != members_.rank) {
            by_excuse[excuse_of(peers_[rank], here)].push_back(static_cast<int>(rank));
        }
    }
    by_excuse.erase("");
    if (by_excuse.empty()) {
        return "all ranks are in " + quoted(here.name);
    }
    std::string text;
    std::size_t listed = 0;
    for (const auto& [excuse, ranks] : by_excuse) {
        if (++listed <= most) {
            text += (text.empty() ? "" : ", ") + name_ranks(ranks) + " (" + excuse + ")";
        }
    }
    return "missing in " + quoted(here.name) + ": " + text + (listed > most ? " and others" : "");
}

RollLetter not_open_answer(const RollWord& question) {
    return {question.process,
            {.group = question.group,
             .about = question.about,
             .from = question.to,
             .to = question.from,
             .kind = RollWord::Kind::not_open}};
}

std::string name_ranks(const std::vector<int>& ascending) {
    constexpr int most = 10;
    int ranges = 0;
    std::size_t named = 0;
    for (; named < ascending.size(); ++named) {
        const bool begins = named == 0 || ascending[named] != ascending[named - 1] + 1;
        if (begins && ++ranges > most) {
            break;
        }
    }
    const auto end = ascending.begin() + static_cast<std::ptrdiff_t>(named);
    std::string text = ascending.size() == 1 ? "rank " : "ranks ";
    text += job::compact_ranges({ascending.begin(), end});
    if (named < ascending.size()) {
        text += " and " + std::to_string(ascending.size() - named) + " more";
    }
    return text;
}

}  // namespace mastic::comm
