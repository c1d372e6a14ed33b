#include <mastic/data/npy_header.hpp>

#include <algorithm>
#include <charconv>

#include <mastic/core/error.hpp>

namespace mastic::data {

namespace {

class HeaderParser {
  public:
    HeaderParser(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

    NpyHeader parse() {
        NpyHeader header;
        int keys = 0;
        expect('{');
        while (!accept('}')) {
            parse_entry(header);
            ++keys;
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (keys != 3) {
            fail("it must have the keys descr, fortran_order and shape");
        }
        return header;
    }

  private:
    void parse_entry(NpyHeader& header) {
        const auto key = parse_string();
        expect(':');
        if (key == "descr") {
            parse_type(header);
        } else if (key == "fortran_order") {
            header.fortran_order = parse_boolean();
        } else if (key == "shape") {
            header.shape = parse_shape();
        } else {
            fail("unknown key '" + std::string(key) + "'");
        }
    }

    void parse_type(NpyHeader& header) {
        skip_blanks();
        if (rest_.starts_with('[')) {
            throw Error(ExitCode::data, source_ + ": holds a structured array",
                        "save each field as its own .npy file");
        }
        const auto name = parse_string();
        header.byte_order = name.empty() ? '?' : name.front();
        header.kind = name.size() < 2 ? '?' : name[1];
        header.element_size = name.size() == 3 ? static_cast<std::size_t>(name[2] - '0') : 0;
        if (!is_known(header)) {
            const bool object = header.kind == 'O';
            throw Error(ExitCode::data,
                        source_ + ": holds elements of NumPy type '" + std::string(name) +
                            (object ? "', Python objects" : "', which cannot be read"),
                        "save the array as numbers: float32, uint8, int64, ...");
        }
    }

    static bool is_known(const NpyHeader& header) {
        const auto size = header.element_size;
        const bool power = size == 1 || size == 2 || size == 4 || size == 8;
        const bool order = std::string_view("<>|=").find(header.byte_order) != std::string_view::npos;
        switch (header.kind) {
            case 'f':
                return order && power && size > 1;
            case 'i':
            case 'u':
                return order && power;
            case 'b':
                return order && size == 1;
            default:
                return false;
        }
    }

    bool parse_boolean() {
        skip_blanks();
        for (const bool value : {false, true}) {
            const std::string_view word = value ? "True" : "False";
            if (rest_.starts_with(word)) {
                rest_.remove_prefix(word.size());
                return value;
            }
        }
        fail("fortran_order must be True or False");
    }

    Shape parse_shape() {
        Shape shape;
        expect('(');
        while (!accept(')')) {
            shape.push_back(parse_extent());
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return shape;
    }

    std::int64_t parse_extent() {
        skip_blanks();
        std::int64_t extent = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
        if (error != std::errc() || extent < 0) {
            fail("an extent of the shape is no number");
        }
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        accept('L');  // written by Python 2
        return extent;
    }

    std::string_view parse_string() {
        skip_blanks();
        if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) {
            fail("a quoted word is missing");
        }
        const auto end = rest_.find(rest_[0], 1);
        if (end == std::string_view::npos) {
            fail("a quote is not closed");
        }
        const auto word = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return word;
    }

    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size())); }

    bool accept(char wanted) {
        skip_blanks();
        const bool found = rest_.starts_with(wanted);
        rest_.remove_prefix(found ? 1 : 0);
        return found;
    }

    void expect(char wanted) {
        if (!accept(wanted)) {
            fail(std::string("'") + wanted + "' is missing");
        }
    }

    [[noreturn]] void fail(const std::string& reason) const {
        throw Error(ExitCode::data, source_ + ": the .npy header cannot be understood: " + reason,
                    "the file is damaged: write it again with numpy.save");
    }

    std::string_view rest_;
    const std::string& source_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& source) {
    return HeaderParser(text, source).parse();
}

}  // namespace mastic::data
