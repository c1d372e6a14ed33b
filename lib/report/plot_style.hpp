// Colours and classes of all plots, light and dark.
#pragma once

#include <string>

#include <mastic/report/svg_canvas.hpp>

namespace mastic::report {

// Style sheet for pages that show plots. The series colours are those of Okabe and Ito (2008), adjusted in
// lightness to stand out from a white and from a dark page; they stay apart for colour-blind readers.
std::string plot_style();

inline constexpr int colour_count = 8;
inline constexpr double label_size = 11;             // of labels on axes and in legends, in px
inline constexpr std::size_t label_characters = 24;  // the longest label before a row

// Names of classes: stroke_class(2) draws in colour 2, fill_class(2) fills with it. Colours repeat after
// colour_count.
std::string stroke_class(int colour);
std::string fill_class(int colour);

// The picture as a file of its own, style sheet included.
std::string svg_file(const Svg& svg);

}  // namespace mastic::report
