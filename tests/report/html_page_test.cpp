#include <mastic/report/html_page.hpp>

#include <gmock/gmock.h>

#include <mastic/report/svg_plot.hpp>

#include "report/markup.hpp"

namespace mastic::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* hostile =
    "</style></title></pre><script src='http://evil/x.js'></script><img src=x onerror=\"a\">&lt;\xc3";

HtmlPage page_of(const std::string& text) {
    HtmlPage page(text, text);
    page.badge(text, Tone::good);
    page.tiles({{text, text, text}});
    page.section(text);
    page.plots({to_svg(LinePlot{})});
    page.table({{text}, {{text, text}}, {1}});
    page.table({{}, {{text, text}}, {}});
    page.note(text, Tone::bad);
    page.details(text, HtmlTable{{text}, {{text}}, {}});
    page.details(text, text);
    return page;
}

TEST(HtmlPage, IsWellFormedAndHasAllParts) {
    const auto elements = test::parse_markup(page_of("words").str());
    EXPECT_EQ(test::select(elements, "h1").at(0).text, "words");
    EXPECT_EQ(test::select(elements, "title").at(0).text, "words");
    EXPECT_EQ(test::select(elements, "span", "good").size(), 1u);
    EXPECT_EQ(test::select(elements, "div", "tile").size(), 1u);
    EXPECT_EQ(test::select(elements, "svg", "plot").size(), 1u);
    EXPECT_EQ(test::select(elements, "table").size(), 3u);
    EXPECT_EQ(test::select(elements, "td", "number").size(), 1u);
    EXPECT_EQ(test::select(elements, "p", "bad").at(0).text, "words");
    EXPECT_EQ(test::select(elements, "details").size(), 2u);
    EXPECT_EQ(test::select(elements, "pre").at(0).text, "words");
}

TEST(HtmlPage, HostileTextStaysText) {
    const auto elements = test::parse_markup(page_of(hostile).str());
    for (const char* name : {"script", "img"}) {
        EXPECT_TRUE(test::select(elements, name).empty()) << name;
    }
    for (const auto& element : elements) {
        for (const auto& [key, value] : element.attributes) {
            EXPECT_FALSE(key.starts_with("on")) << key;
        }
    }
    EXPECT_THAT(test::select(elements, "pre").at(0).text, HasSubstr("<script src='http://evil/x.js'>"));
    EXPECT_EQ(elements.size(), test::parse_markup(page_of("words").str()).size());
}

TEST(HtmlPage, FetchesNothing) {
    const std::string html = page_of("words").str();
    for (const char* part : {"http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link"}) {
        std::string without_namespace = html;
        const std::string name = "http://www.w3.org/2000/svg";
        for (auto at = without_namespace.find(name); at != std::string::npos;
             at = without_namespace.find(name)) {
            without_namespace.erase(at, name.size());
        }
        EXPECT_THAT(without_namespace, Not(HasSubstr(part)));
    }
    EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(HtmlPage, FollowsLightAndDark) {
    EXPECT_THAT(page_of("words").str(), HasSubstr("prefers-color-scheme:dark"));
}

TEST(HtmlPage, WidePlotsTakeARow) {
    HtmlPage page("t", "");
    LinePlot wide;
    wide.width = 1144;
    page.plots({to_svg(LinePlot{}), to_svg(wide)});
    const auto elements = test::parse_markup(page.str());
    EXPECT_EQ(test::select(elements, "div", "card").size(), 2u);
    EXPECT_EQ(test::select(elements, "div", "wide").size(), 1u);
}

}  // namespace
}  // namespace mastic::report
