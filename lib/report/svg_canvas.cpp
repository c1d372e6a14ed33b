#include <mastic/report/svg_canvas.hpp>

#include <cmath>

#include <mastic/report/number_format.hpp>
#include <mastic/report/utf8.hpp>

namespace mastic::report {
namespace {

// One decimal is a tenth of a pixel; ".0" is left out because long lines are most of a report's size.
std::string pixels(double value) {
    std::string text = fixed(value, 1);
    if (text.ends_with(".0")) {
        text.resize(text.size() - 2);
    }
    return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, double value) {
    return " " + std::string(name) + "=\"" + pixels(value) + "\"";
}

std::string class_attribute(std::string_view style) {
    return style.empty() ? "" : " class=\"" + escape_markup(style) + "\"";
}

std::string pair(const PixelPoint& point) {
    return pixels(point.x) + " " + pixels(point.y);
}

}  // namespace

std::string escape_markup(std::string_view text) {
    std::string escaped;
    for (const char c : valid_utf8(text)) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            case '\'':
                escaped += "&#39;";
                break;
            default:
                escaped += c;
        }
    }
    return escaped;
}

double text_width(std::string_view text, double font_size) {
    return static_cast<double>(character_count(text)) * font_size * 0.58;
}

SvgCanvas::SvgCanvas(int width, std::string_view description) : width_(width), description_(description) {}

void SvgCanvas::close_shape(std::string_view style, std::string_view tooltip, std::string_view element) {
    body_ += class_attribute(style);
    if (tooltip.empty()) {
        body_ += "/>";
        return;
    }
    body_ += "><title>" + escape_markup(tooltip) + "</title></" + std::string(element) + ">";
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view style,
                     std::string_view tooltip) {
    body_ += "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2);
    close_shape(style, tooltip, "line");
}

void SvgCanvas::rectangle(double x, double y, double width, double height, std::string_view style,
                          std::string_view tooltip, double corner) {
    body_ += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
             attribute("height", height);
    if (corner > 0) {
        body_ += attribute("rx", corner);
    }
    close_shape(style, tooltip, "rect");
}

void SvgCanvas::circle(double x, double y, double radius, std::string_view style, std::string_view tooltip) {
    body_ += "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius);
    close_shape(style, tooltip, "circle");
}

void SvgCanvas::mark(double x, double y, std::string_view style, std::string_view tooltip) {
    body_ += "<path d=\"M" + pair({x - 4, y - 6}) + "h8l-4 6Z\"";
    close_shape(style, tooltip, "path");
}

void SvgCanvas::text(double x, double y, std::string_view text, std::string_view style, Anchor anchor) {
    body_ += "<text" + attribute("x", x) + attribute("y", y);
    if (anchor != Anchor::start) {
        body_ += anchor == Anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
    }
    body_ += class_attribute(style) + ">" + escape_markup(text) + "</text>";
}

void SvgCanvas::title(double x, double y, std::string_view text, std::string_view addition) {
    body_ += "<text" + attribute("x", x) + attribute("y", y) + "><tspan class=\"title\">" +
             escape_markup(text) + "</tspan>";
    if (!addition.empty()) {
        body_ += "<tspan class=\"muted\" dx=\"8\">" + escape_markup(addition) + "</tspan>";
    }
    body_ += "</text>";
}

void SvgCanvas::path(const std::vector<PixelPoint>& points, std::string_view style) {
    std::string data;
    bool pen_down = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (std::isnan(points[i].y)) {
            pen_down = false;
            continue;
        }
        const bool alone = !pen_down && (i + 1 == points.size() || std::isnan(points[i + 1].y));
        data += (pen_down ? "L" : "M") + pair(points[i]) + (alone ? "h0" : "");
        pen_down = true;
    }
    if (!data.empty()) {
        body_ += "<path d=\"" + data + "\"";
        close_shape(style, "", "path");
    }
}

void SvgCanvas::polygon(const std::vector<PixelPoint>& points, std::string_view style) {
    std::string data;
    for (const PixelPoint& point : points) {
        data += (data.empty() ? "M" : "L") + pair(point);
    }
    if (!data.empty()) {
        body_ += "<path d=\"" + data + "Z\"";
        close_shape(style, "", "path");
    }
}

void SvgCanvas::enter_clip(double x, double y, double width, double height) {
    // A nested <svg> cuts off by itself, without an id that must be unique in the page.
    body_ += "<svg" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
             attribute("height", height) + " viewBox=\"" + pixels(x) + " " + pixels(y) + " " + pixels(width) +
             " " + pixels(height) + "\">";
    open_.push_back("</svg>");
}

void SvgCanvas::enter_group(std::string_view style) {
    body_ += "<g" + class_attribute(style) + ">";
    open_.push_back("</g>");
}

void SvgCanvas::leave() {
    body_ += open_.back();
    open_.pop_back();
}

Svg SvgCanvas::finish(int height) {
    while (!open_.empty()) {
        leave();
    }
    const std::string size = std::to_string(width_) + " " + std::to_string(height);
    return {"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 " + size + "\" width=\"" +
                std::to_string(width_) + "\" height=\"" + std::to_string(height) +
                "\" role=\"img\" aria-label=\"" + escape_markup(description_) + "\">" + body_ + "</svg>",
            width_};
}

}  // namespace mastic::report
