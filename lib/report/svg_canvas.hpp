// Writing SVG: shapes, text and tooltips as markup, with everything escaped. Coordinates in pixels of the
// view box, y down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/report/downsample.hpp>

namespace mastic::report {

// Finished <svg> markup, to be put into a page as it is. Its colours come from plot_style().
struct Svg {
    std::string markup;
    int width = 0;
};

// Safe as text and as a quoted attribute, in HTML and XML: & < > " ' escaped, broken UTF-8 and control
// characters replaced.
std::string escape_markup(std::string_view text);

// Width of a text in pixels, a little generously, for a proportional font of this size.
double text_width(std::string_view text, double font_size);

enum class Anchor { start, middle, end };

class SvgCanvas {
  public:
    // `description` is read to people who cannot see the picture. The height is given at the end.
    SvgCanvas(int width, std::string_view description);

    // `style` are names of classes of plot_style(). An empty tooltip is none.
    void line(double x1, double y1, double x2, double y2, std::string_view style,
              std::string_view tooltip = "");
    void rectangle(double x, double y, double width, double height, std::string_view style,
                   std::string_view tooltip = "", double corner = 0);
    void circle(double x, double y, double radius, std::string_view style, std::string_view tooltip = "");
    // A small triangle that points down to (x, y).
    void mark(double x, double y, std::string_view style, std::string_view tooltip = "");
    void text(double x, double y, std::string_view text, std::string_view style,
              Anchor anchor = Anchor::start);
    // A heading with a muted addition beside it.
    void title(double x, double y, std::string_view text, std::string_view addition);
    // A gap (y not a number) starts a new piece; a piece of one point becomes a dot.
    void path(const std::vector<PixelPoint>& points, std::string_view style);
    void polygon(const std::vector<PixelPoint>& points, std::string_view style);

    // What follows is cut off outside the rectangle, until leave().
    void enter_clip(double x, double y, double width, double height);
    void enter_group(std::string_view style);
    void leave();

    Svg finish(int height);

  private:
    void close_shape(std::string_view style, std::string_view tooltip, std::string_view element);
    int width_;
    std::string description_;
    std::string body_;
    std::vector<std::string_view> open_;
};

}  // namespace mastic::report
