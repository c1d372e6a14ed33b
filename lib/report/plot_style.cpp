#include <mastic/report/plot_style.hpp>

namespace mastic::report {
namespace {

constexpr const char* style_sheet = R"css(
svg.plot{--ink:#1f2328;--muted:#656d76;--grid:#e4e7eb;--axis:#8c959f;--surface:#fff;--limit:#b3261e;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b5588c;--c4:#c98a00;--c5:#7250b5;--c6:#6b7280;--c7:#8c5a2b;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-size:11px;fill:var(--ink);
display:block;max-width:100%;height:auto}
@media (prefers-color-scheme:dark){svg.plot{--ink:#e6edf3;--muted:#9aa4af;--grid:#2b323b;--axis:#6e7781;
--surface:#161b22;--limit:#ff8a80;--c0:#4da6e0;--c1:#f58a4b;--c2:#2fc49a;--c3:#e093c0;--c4:#f0b840;--c5:#b497f0;
--c6:#a0a8b4;--c7:#c99b6c}}
.plot .title{font-size:14px;font-weight:600}
.plot .muted{fill:var(--muted)}
.plot .halo{paint-order:stroke;stroke:var(--surface);stroke-width:3px;stroke-linejoin:round}
.plot .grid{stroke:var(--grid)}
.plot .axis{stroke:var(--axis)}
.plot .curve{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.plot .faint{opacity:.3;stroke-width:1}
.plot line.faint{opacity:.5;stroke-width:1.8}
.plot .area{fill-opacity:.82;stroke:var(--surface);stroke-width:.6}
.plot .on-colour{fill:#fff;paint-order:stroke;stroke:#0006;stroke-width:2px}
.plot .dot{stroke:var(--surface);stroke-width:1}
.plot .limit{stroke:var(--limit);stroke-dasharray:5 4}
.plot .limit-text{fill:var(--limit)}
.plot .event{stroke:var(--muted);stroke-dasharray:2 3}
.plot .event-mark{fill:var(--muted)}
.plot .hover{fill:transparent}
.plot .hover:hover{fill:var(--ink);fill-opacity:.07}
)css";

std::string colour_rules() {
    std::string rules;
    for (int colour = 0; colour < colour_count; ++colour) {
        const std::string variable = "var(--c" + std::to_string(colour) + ")";
        rules += ".plot ." + stroke_class(colour) + "{stroke:" + variable + "}";
        rules += ".plot ." + fill_class(colour) + "{fill:" + variable + "}\n";
    }
    return rules;
}

}  // namespace

std::string plot_style() {
    return style_sheet + colour_rules();
}

std::string stroke_class(int colour) {
    return "s" + std::to_string(colour % colour_count);
}

std::string fill_class(int colour) {
    return "f" + std::to_string(colour % colour_count);
}

std::string svg_file(const Svg& svg) {
    std::string text = svg.markup;
    text.insert(text.find('>') + 1, "<style>" + plot_style() +
                                        "</style><rect width=\"100%\" height=\"100%\" " +
                                        "style=\"fill:var(--surface)\"/>");
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + text + "\n";
}

}  // namespace mastic::report
