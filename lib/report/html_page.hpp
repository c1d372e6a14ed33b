// One self-contained HTML page: style inside, no scripts, nothing fetched from anywhere (a content security
// policy says so), light or dark as the reader's system. All text is escaped here; callers pass plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/report/svg_canvas.hpp>

namespace mastic::report {

// A number that answers a question at a glance.
struct Tile {
    std::string label;
    std::string value;
    std::string note;  // small, below; may be empty
};

struct HtmlTable {
    std::vector<std::string> header;  // empty: the first column of each row is its heading
    std::vector<std::vector<std::string>> rows;
    std::vector<std::size_t> numeric;  // columns set to the right
};

enum class Tone { neutral, good, warning, bad };

class HtmlPage {
  public:
    HtmlPage(std::string_view title, std::string_view subtitle);

    // A coloured word beside the title, such as "finished".
    void badge(std::string_view text, Tone tone);
    void tiles(const std::vector<Tile>& tiles);
    void section(std::string_view heading);
    // Side by side if there is room; wide ones (above 700 pixels) take a row.
    void plots(const std::vector<Svg>& plots);
    void table(const HtmlTable& table);
    void note(std::string_view text, Tone tone = Tone::neutral);
    // Folded away until clicked.
    void details(std::string_view summary, const HtmlTable& table);
    void details(std::string_view summary, std::string_view preformatted);

    std::string str() const;

  private:
    std::string title_;
    std::string subtitle_;
    std::string badge_;
    std::string body_;
};

}  // namespace mastic::report
