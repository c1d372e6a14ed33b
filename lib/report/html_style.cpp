#include <mastic/report/html_style.hpp>

namespace mastic::report {

std::string page_style() {
    return R"css(
:root{--page:#f6f8fa;--card:#fff;--text:#1f2328;--quiet:#656d76;--border:#d8dee4;--good:#116329;--good-back:#dafbe1;
--warn:#7d4e00;--warn-back:#fff3cd;--bad:#a40e26;--bad-back:#ffe3e3;--plain-back:#eaeef2}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--card:#161b22;--text:#e6edf3;--quiet:#9aa4af;
--border:#30363d;--good:#7ee2a0;--good-back:#12361f;--warn:#f2cc60;--warn-back:#3a2d0b;--bad:#ff9d95;
--bad-back:#4b1519;--plain-back:#21262d}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);line-height:1.45;
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1200px;margin:0 auto;padding:24px 16px 48px}
h1{font-size:22px;margin:0;display:flex;flex-wrap:wrap;align-items:center;gap:12px;overflow-wrap:anywhere}
h2{font-size:16px;margin:28px 0 10px}
.subtitle{margin:4px 0 0;color:var(--quiet);overflow-wrap:anywhere}
.badge{font-size:12px;font-weight:600;padding:3px 10px;border-radius:999px}
.neutral{background:var(--plain-back);color:var(--quiet)}
.good{background:var(--good-back);color:var(--good)}
.warning{background:var(--warn-back);color:var(--warn)}
.bad{background:var(--bad-back);color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));gap:12px;margin:18px 0}
.tile,.card,.scroll,details{background:var(--card);border:1px solid var(--border);border-radius:8px}
.tile{padding:11px 12px}
.tile .label,.tile .remark{color:var(--quiet);font-size:12px}
.tile .value{font-size:19px;letter-spacing:-.01em;font-weight:600;margin:2px 0;font-variant-numeric:tabular-nums;white-space:nowrap}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(480px,100%),1fr));gap:12px;margin:12px 0}
.card{padding:14px 14px 8px;min-width:0;overflow-x:auto}
.card.wide{grid-column:1/-1}
.card.wide svg{min-width:760px}
.scroll{overflow-x:auto;margin:12px 0}
table{border-collapse:collapse;width:100%;font-size:13px}
th,td{text-align:left;padding:6px 14px;border-top:1px solid var(--border);vertical-align:top}
tr:first-child>*{border-top:0}
thead+tbody tr:first-child>*{border-top:1px solid var(--border)}
thead th{color:var(--quiet);font-weight:600;white-space:nowrap}
tbody th{color:var(--quiet);font-weight:500;white-space:nowrap;width:1%}
td{overflow-wrap:anywhere}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.note{padding:10px 14px;border-radius:8px;margin:12px 0;overflow-wrap:anywhere}
details{margin:12px 0}
details .scroll{border:0;margin:0}
summary{cursor:pointer;padding:10px 14px;font-weight:600}
pre{margin:0;padding:4px 14px 14px;overflow-x:auto;font:12px/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
@media print{body{background:#fff}details{display:none}}
)css";
}

}  // namespace mastic::report
