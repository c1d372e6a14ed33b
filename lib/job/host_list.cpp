#include <mastic/job/host_list.hpp>

#include <charconv>
#include <cstdint>

#include <mastic/core/caret.hpp>
#include <mastic/core/error.hpp>

namespace mastic::job {
namespace {

constexpr std::size_t most_hosts = 65536;
constexpr std::size_t most_digits = 18;  // fits into 64 bits

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_name(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
}

std::string padded(std::uint64_t number, std::size_t width) {
    const auto digits = std::to_string(number);
    return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    std::vector<std::string> parse() {
        std::vector<std::string> hosts;
        do {
            for (auto& host : parse_host()) {
                hosts.push_back(std::move(host));
            }
            check_size(hosts.size());
        } while (take(','));
        if (!at_end()) {
            fail("this character cannot be part of a host name");
        }
        return hosts;
    }

  private:
    bool at_end() const { return position_ == text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[position_]; }
    bool take(char c) {
        const bool found = !at_end() && peek() == c;
        position_ += found;
        return found;
    }
    [[noreturn]] void fail(const std::string& reason) const { fail_at(position_, reason); }
    [[noreturn]] void fail_at(std::size_t position, const std::string& reason) const {
        throw Error(ExitCode::usage, "invalid host list: " + reason + with_caret(text_, position),
                    "expected something like node[01-03,07],gpu1");
    }
    void check_size(std::size_t hosts) const {
        if (hosts > most_hosts) {
            fail("more than " + std::to_string(most_hosts) + " hosts");
        }
    }

    std::vector<std::string> parse_host() {
        std::vector<std::string> hosts = {""};
        const auto begin = position_;
        for (;;) {
            if (is_name(peek())) {
                for (auto& host : hosts) {
                    host += peek();
                }
                ++position_;
            } else if (take('[')) {
                hosts = product(hosts, parse_group());
            } else {
                break;
            }
        }
        if (position_ == begin) {
            fail(at_end() ? "a host name is missing" : "a host name cannot begin here");
        }
        return hosts;
    }

    std::vector<std::string> product(const std::vector<std::string>& left,
                                     const std::vector<std::string>& right) {
        check_size(left.size() * right.size());
        std::vector<std::string> hosts;
        hosts.reserve(left.size() * right.size());
        for (const auto& l : left) {
            for (const auto& r : right) {
                hosts.push_back(l + r);
            }
        }
        return hosts;
    }

    std::vector<std::string> parse_group() {
        const auto open = position_ - 1;
        std::vector<std::string> numbers;
        do {
            parse_range(open, numbers);
        } while (take(','));
        if (at_end()) {
            fail_at(open, "this bracket is never closed");
        }
        if (!take(']')) {
            fail("expected ',' or ']'");
        }
        return numbers;
    }

    void parse_range(std::size_t open, std::vector<std::string>& numbers) {
        const auto first_begin = position_;
        const auto first = parse_number(open);
        const auto digits = position_ - first_begin;
        auto last = first;
        const auto last_begin = position_ + 1;
        if (take('-')) {
            last = parse_number(open);
        }
        if (last < first) {
            fail_at(last_begin, "the range ends before it begins");
        }
        check_size(numbers.size() + (last - first >= most_hosts ? most_hosts : last - first) + 1);
        const auto width = text_[first_begin] == '0' ? digits : 0;
        for (auto number = first; number <= last; ++number) {
            numbers.push_back(padded(number, width));
        }
    }

    std::uint64_t parse_number(std::size_t open) {
        const auto begin = position_;
        while (is_digit(peek())) {
            ++position_;
        }
        if (position_ == begin) {
            if (at_end()) {
                fail_at(open, "this bracket is never closed");
            }
            fail("expected a number");
        }
        if (position_ - begin > most_digits) {
            fail_at(begin, "this number is too long");
        }
        std::uint64_t number = 0;
        std::from_chars(text_.data() + begin, text_.data() + position_, number);
        return number;
    }

    std::string_view text_;
    std::size_t position_ = 0;
};

// "gpu-1n03" = "gpu-1n" + 3 in width 2.
struct NumberedHost {
    std::string_view prefix;
    std::uint64_t number = 0;
    std::size_t width = 0;  // 0: not padded
    std::string_view digits;
};

NumberedHost split(std::string_view host) {
    auto begin = host.size();
    while (begin > 0 && is_digit(host[begin - 1]) && host.size() - begin < most_digits) {
        --begin;
    }
    NumberedHost result{host.substr(0, begin), 0, 0, host.substr(begin)};
    std::from_chars(result.digits.data(), result.digits.data() + result.digits.size(), result.number);
    result.width = !result.digits.empty() && result.digits[0] == '0' ? result.digits.size() : 0;
    return result;
}

// A range "07-12" keeps the width of its first number, so 12 follows 11 in it although 12 itself has no
// leading zero.
bool continues(const NumberedHost& first, const NumberedHost& previous, const NumberedHost& next) {
    return next.number == previous.number + 1 && padded(next.number, first.width) == next.digits;
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view text) {
    return Parser(text).parse();
}

std::vector<std::string> expand_or_none(std::string_view text) {
    try {
        return text.empty() ? std::vector<std::string>{} : expand_host_list(text);
    } catch (const Error&) {
        return {};
    }
}

std::string compress_host_list(std::span<const std::string> hosts) {
    std::string list;
    for (std::size_t i = 0; i < hosts.size();) {
        const auto prefix = split(hosts[i]).prefix;
        std::string ranges;
        const auto group_begin = i;
        while (i < hosts.size() && split(hosts[i]).prefix == prefix && !split(hosts[i]).digits.empty()) {
            const auto first = split(hosts[i]);
            auto last = first;
            for (++i; i < hosts.size() && split(hosts[i]).prefix == prefix &&
                      continues(first, last, split(hosts[i]));
                 ++i) {
                last = split(hosts[i]);
            }
            ranges.append(ranges.empty() ? "" : ",").append(first.digits);
            if (last.number != first.number) {
                ranges.append("-").append(last.digits);
            }
        }
        list.append(list.empty() ? "" : ",");
        if (i - group_begin <= 1) {
            list += hosts[group_begin];
            i = group_begin + 1;
        } else {
            list.append(prefix).append("[").append(ranges).append("]");
        }
    }
    return list;
}

}  // namespace mastic::job
