// A reader of markup for tests: is it well formed, and what does it contain?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mastic::test {

struct Element {
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes;  // values unescaped
    std::string text;                                             // directly inside, unescaped
    std::string attribute(std::string_view name) const;           // empty if there is none
    double number(std::string_view name) const;
};

// All elements in order of their start. Fails the test (and returns what it read so far) if tags are not balanced, an attribute is
// not quoted, a '<' or '&' stands alone. Void elements of HTML (meta) may stay open.
std::vector<Element> parse_markup(std::string_view markup);

// Those of this name whose class attribute contains `style` as a word; an empty style takes all.
std::vector<Element> select(const std::vector<Element>& elements, std::string_view name,
                            std::string_view style = "");

// The points of a path made of M and L, as x, y; "h0" and Z are skipped.
std::vector<std::pair<double, double>> path_points(const std::string& data);

}  // namespace mastic::test
