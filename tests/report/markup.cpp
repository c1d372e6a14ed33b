#include "report/markup.hpp"

#include <gtest/gtest.h>
#include <cstdlib>
#include <map>
#include <sstream>

namespace mastic::test {
namespace {

const std::map<std::string, char, std::less<>> entities{
    {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"#39", '\''}};

std::string unescaped(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '&') {
            result += text[i];
            continue;
        }
        const auto end = text.find(';', i);
        const auto found = entities.find(text.substr(i + 1, end - i - 1));
        if (end == std::string_view::npos || found == entities.end()) {
            ADD_FAILURE() << "'&' that is no entity in: " << text.substr(i, 40);
            return result;
        }
        result += found->second;
        i = end;
    }
    return result;
}

// " a="1" b="2"" -> attributes.
void parse_attributes(std::string_view text, Element& element) {
    while (true) {
        const auto name = text.find_first_not_of(" \n");
        if (name == std::string_view::npos) {
            return;
        }
        const auto equals = text.find("=\"", name);
        const auto end = equals == std::string_view::npos ? equals : text.find('"', equals + 2);
        if (end == std::string_view::npos) {
            ADD_FAILURE() << "attribute without quotes: " << text;
            return;
        }
        const std::string_view value = text.substr(equals + 2, end - equals - 2);
        EXPECT_EQ(value.find('<'), std::string_view::npos) << value;
        element.attributes.emplace_back(text.substr(name, equals - name), unescaped(value));
        text.remove_prefix(end + 1);
    }
}

bool is_void(std::string_view name) {
    return name == "meta";
}

}  // namespace

std::string Element::attribute(std::string_view wanted) const {
    for (const auto& [key, value] : attributes) {
        if (key == wanted) {
            return value;
        }
    }
    return "";
}

double Element::number(std::string_view wanted) const {
    return std::strtod(attribute(wanted).c_str(), nullptr);
}

std::vector<Element> parse_markup(std::string_view markup) {
    std::vector<Element> elements;
    std::vector<std::size_t> open;
    while (!markup.empty()) {
        const auto start = markup.find('<');
        const std::string_view text = markup.substr(0, start);
        if (!open.empty() && elements[open.back()].name != "style") {
            elements[open.back()].text += unescaped(text);
        }
        if (start == std::string_view::npos) {
            break;
        }
        const auto end = markup.find('>', start);
        if (end == std::string_view::npos) {
            ADD_FAILURE() << "'<' that starts no tag: " << markup.substr(start, 40);
            return elements;
        }
        std::string_view tag = markup.substr(start + 1, end - start - 1);
        markup.remove_prefix(end + 1);
        if (tag.starts_with('!') || tag.starts_with('?')) {
            continue;
        }
        if (tag.starts_with('/')) {
            if (open.empty() || elements[open.back()].name != tag.substr(1)) {
                ADD_FAILURE() << "unbalanced </" << tag.substr(1) << ">";
                return elements;
            }
            open.pop_back();
            continue;
        }
        const bool closed = tag.ends_with('/');
        tag.remove_suffix(closed ? 1 : 0);
        Element element;
        element.name = std::string(tag.substr(0, tag.find_first_of(" \n")));
        parse_attributes(tag.substr(element.name.size()), element);
        elements.push_back(element);
        if (!closed && !is_void(element.name)) {
            open.push_back(elements.size() - 1);
        }
    }
    EXPECT_TRUE(open.empty()) << "not closed: " << elements[open.empty() ? 0 : open.back()].name;
    return elements;
}

std::vector<Element> select(const std::vector<Element>& elements, std::string_view name,
                            std::string_view style) {
    std::vector<Element> result;
    for (const Element& element : elements) {
        const std::string words = " " + element.attribute("class") + " ";
        if (element.name == name &&
            (style.empty() || words.find(" " + std::string(style) + " ") != std::string::npos)) {
            result.push_back(element);
        }
    }
    return result;
}

std::vector<std::pair<double, double>> path_points(const std::string& data) {
    std::vector<std::pair<double, double>> points;
    std::string spaced;
    for (const char c : data) {
        spaced += c == 'M' || c == 'L'   ? std::string(" ")
                  : c == 'Z' || c == 'h' ? std::string(" # ")
                                         : std::string(1, c);
    }
    std::istringstream words(spaced);
    std::string x;
    std::string y;
    while (words >> x >> y) {
        if (x != "#") {
            points.emplace_back(std::stod(x), std::stod(y));
        }
    }
    return points;
}

}  // namespace mastic::test
