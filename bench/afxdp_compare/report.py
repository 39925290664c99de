# SPDX-License-Identifier: Apache-2.0
"""Medians, spreads and ratios, as a table and as JSON."""

import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Summary:
    median: float
    minimum: float
    maximum: float


def summarize(values):
    return Summary(statistics.median(values), min(values), max(values))


@dataclasses.dataclass
class Row:
    """One quantity, measured for both builds once in each round."""
    name: str
    unit: str
    digits: int
    higher_is_better: bool
    target: float  # For the ratio ours/upstream.
    ours: list = dataclasses.field(default_factory=list)
    upstream: list = dataclasses.field(default_factory=list)

    def values(self, label):
        return self.ours if label == "ours" else self.upstream

    def ratios(self):
        """ours/upstream, round by round: what is slow for a while is slow for both."""
        return [ours / upstream for ours, upstream in zip(self.ours, self.upstream)]

    def meets_target(self):
        median = summarize(self.ratios()).median
        return median >= self.target if self.higher_is_better else median < self.target

    def to_json(self):
        return {
            "name": self.name, "unit": self.unit, "higher_is_better": self.higher_is_better,
            "ours": _series(self.ours), "upstream": _series(self.upstream),
            "ratio": _series(self.ratios()), "target": self.target,
            "target_met": self.meets_target(),
        }


def _series(values):
    return {**dataclasses.asdict(summarize(values)), "values": values}


def format_spread(values, digits):
    summary = summarize(values)
    return (f"{summary.median:.{digits}f} "
            f"({summary.minimum:.{digits}f}..{summary.maximum:.{digits}f})")


def comparison_table(rows):
    """Text for people; medians with (min..max) over the rounds."""
    lines = [["", "unit", "upstream", "ours", "ours/upstream", "target", ""]]
    for row in rows:
        lines.append([
            row.name, row.unit, format_spread(row.upstream, row.digits),
            format_spread(row.ours, row.digits), format_spread(row.ratios(), 3),
            f"{'>=' if row.higher_is_better else '<'} {row.target:.2f}",
            "met" if row.meets_target() else "missed"])
    return format_table(lines)


def format_table(lines):
    """Aligns columns; the first line is the head."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]

    def text(line):
        return "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()

    return "\n".join([text(lines[0]), "  ".join("-" * width for width in widths),
                      *map(text, lines[1:])])
