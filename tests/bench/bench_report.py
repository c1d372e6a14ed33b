"""What the Python benchmarks share: comparisons with quartiles, the table, the JSON file (as bench_report.hpp)."""

import json
import os
import statistics
from dataclasses import asdict, dataclass


@dataclass
class Comparison:
    """One line of the table. ratio = ours / peer, over the repetitions."""

    case: str
    ours: float
    peer: float
    peer_name: str
    ratio: float
    q1: float
    q3: float
    unit: str


def quartiles(values):
    """First quartile, median, third quartile; interpolated, all equal for one value."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    q1, median, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return q1, median, q3


def compare(case, ours, peer, peer_name, unit):
    """`ours` and `peer` hold one number a repetition, in the same order: ratios are taken inside a repetition."""
    q1, ratio, q3 = quartiles([a / b for a, b in zip(ours, peer, strict=True)])
    return Comparison(case, statistics.median(ours), statistics.median(peer), peer_name, ratio, q1, q3, unit)


def table(headings, rows):
    """Columns as wide as their content; text to the left, numbers to the right."""
    cells = [[f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *cells)]
    numeric = [bool(rows) and isinstance(rows[0][i], (int, float)) for i in range(len(headings))]
    lines = []
    for row in [headings, *cells]:
        aligned = [c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric)]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def report(comparisons, json_path):
    rows = [(c.case, c.ours, c.peer, c.peer_name, c.ratio, c.q1, c.q3, c.unit) for c in comparisons]
    print(table(("case", "ours", "peer", "peer is", "ratio", "q1", "q3", "unit"), rows))
    if json_path:
        temporary = f"{json_path}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump([asdict(c) for c in comparisons], file, indent=1)
            file.write("\n")
        os.replace(temporary, json_path)
