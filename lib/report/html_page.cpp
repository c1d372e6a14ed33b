#include <mastic/report/html_page.hpp>

#include <algorithm>

#include <mastic/report/html_style.hpp>
#include <mastic/report/plot_style.hpp>

namespace mastic::report {
namespace {

constexpr int wide_plot = 700;

const char* class_of(Tone tone) {
    switch (tone) {
        case Tone::good:
            return "good";
        case Tone::warning:
            return "warning";
        case Tone::bad:
            return "bad";
        case Tone::neutral:
            break;
    }
    return "neutral";
}

std::string element(std::string_view name, std::string_view style, std::string_view text) {
    const std::string attribute = style.empty() ? "" : " class=\"" + std::string(style) + "\"";
    return "<" + std::string(name) + attribute + ">" + escape_markup(text) + "</" + std::string(name) + ">";
}

std::string markup(const HtmlTable& table) {
    const auto style = [&](std::size_t column) {
        return std::find(table.numeric.begin(), table.numeric.end(), column) == table.numeric.end()
                   ? ""
                   : "number";
    };
    std::string html = "<div class=\"scroll\"><table>";
    if (!table.header.empty()) {
        html += "<thead><tr>";
        for (std::size_t i = 0; i < table.header.size(); ++i) {
            html += element("th", style(i), table.header[i]);
        }
        html += "</tr></thead>";
    }
    html += "<tbody>";
    for (const auto& row : table.rows) {
        html += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) {
            html += element(i == 0 && table.header.empty() ? "th" : "td", style(i), row[i]);
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
}

std::string folded(std::string_view summary, const std::string& content) {
    return "<details><summary>" + escape_markup(summary) + "</summary>" + content + "</details>\n";
}

}  // namespace

HtmlPage::HtmlPage(std::string_view title, std::string_view subtitle)
    : title_(escape_markup(title)), subtitle_(escape_markup(subtitle)) {}

void HtmlPage::badge(std::string_view text, Tone tone) {
    badge_ = element("span", std::string("badge ") + class_of(tone), text);
}

void HtmlPage::tiles(const std::vector<Tile>& tiles) {
    body_ += "<div class=\"tiles\">";
    for (const Tile& tile : tiles) {
        body_ += "<div class=\"tile\">" + element("div", "label", tile.label) +
                 element("div", "value", tile.value) +
                 (tile.note.empty() ? "" : element("div", "remark", tile.note)) + "</div>\n";
    }
    body_ += "</div>\n";
}

void HtmlPage::section(std::string_view heading) {
    body_ += element("h2", "", heading) + "\n";
}

void HtmlPage::plots(const std::vector<Svg>& plots) {
    body_ += "<div class=\"plots\">\n";
    for (const Svg& plot : plots) {
        body_ += std::string("<div class=\"card") + (plot.width > wide_plot ? " wide" : "") + "\">" +
                 plot.markup + "</div>\n";
    }
    body_ += "</div>\n";
}

void HtmlPage::table(const HtmlTable& table) {
    body_ += markup(table);
}

void HtmlPage::note(std::string_view text, Tone tone) {
    body_ += element("p", std::string("note ") + class_of(tone), text) + "\n";
}

void HtmlPage::details(std::string_view summary, const HtmlTable& table) {
    body_ += folded(summary, markup(table));
}

void HtmlPage::details(std::string_view summary, std::string_view preformatted) {
    body_ += folded(summary, element("pre", "", preformatted));
}

std::string HtmlPage::str() const {
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
           title_ + "</title>\n<style>" + page_style() + plot_style() +
           "</style></head>\n<body><main>\n<header><h1>" + title_ + badge_ + "</h1>" +
           (subtitle_.empty() ? "" : "<p class=\"subtitle\">" + subtitle_ + "</p>") + "</header>\n" + body_ +
           "</main></body></html>\n";
}

}  // namespace mastic::report
