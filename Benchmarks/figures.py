# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The arithmetic of comparing: interleaved pairs, ratios and their spread, goals, and the table of it all.

Nothing here measures.
"""
import dataclasses

OURS, BASELINE = "ours", "baseline"


def interleaved(pairs):
    """The order of the sides, pair by pair, A B | B A | A B …, so that a drift of the machine hits both alike."""
    return [(OURS, BASELINE) if number % 2 == 0 else (BASELINE, OURS) for number in range(pairs)]


def quantile(values, share):
    """Between the two nearest values, as most tools do it (type 7)."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values):
    return quantile(values, 0.5)


@dataclasses.dataclass(frozen=True)
class Spread:
    min: float
    q1: float
    median: float
    q3: float
    max: float

    @classmethod
    def of(cls, values):
        return cls(*(quantile(values, share) for share in (0, 0.25, 0.5, 0.75, 1)))


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a figure should reach.

    `of`: the median of the pairs' ratios (`ratio`, ours over the baseline), of their differences (`difference`, ours less
    the baseline), or of our values (`ours`).
    """
    relation: str
    limit: float
    of: str = "ratio"

    def __post_init__(self):
        if self.relation not in ("<=", "<", ">=") or self.of not in ("ratio", "difference", "ours"):
            raise ValueError(f"no such goal: {self}")

    def met_by(self, value):
        return {"<=": value <= self.limit, "<": value < self.limit, ">=": value >= self.limit}[self.relation]

    def text(self, unit):
        sign = {"<=": "≤", "<": "<", ">=": "≥"}[self.relation]
        if self.of == "ratio":
            return f"{sign} {self.limit:.2f}"
        return f"{sign} {'baseline + ' if self.of == 'difference' else ''}{shown(self.limit)} {unit}".rstrip()


@dataclasses.dataclass
class Figure:
    """One line of the table: our values and the baseline's, pair by pair (one side may be empty)."""
    name: str
    unit: str
    goal: Goal = None
    ours: list = dataclasses.field(default_factory=list)
    baseline: list = dataclasses.field(default_factory=list)
    # CPU seconds of the server for a million operations, likewise.
    cpu: dict = dataclasses.field(default_factory=lambda: {OURS: [], BASELINE: []})
    # What stands in for the baseline, where it is not bare C.
    against: str = ""
    notes: list = dataclasses.field(default_factory=list)
    # Curves to draw, by side.
    curves: dict = dataclasses.field(default_factory=dict)

    def add(self, side, value, cpu=None):
        getattr(self, side).append(value)
        if cpu is not None:
            self.cpu[side].append(cpu)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def ratios(self):
        return [ours / base for ours, base in zip(self.ours, self.baseline) if base]

    def differences(self):
        return [ours - base for ours, base in zip(self.ours, self.baseline)]

    def judged(self):
        """The values of which the goal judges the median."""
        of = self.goal.of if self.goal else "ratio"
        return {"ratio": self.ratios, "difference": self.differences, "ours": lambda: self.ours}[of]()

    def comparison(self):
        """The spread of the ratios, or of the differences where those are what the goal is about."""
        if self.goal and self.goal.of == "difference":
            return f"difference {shown_spread(self.differences())} {self.unit}"
        return shown_spread(self.ratios())

    def met(self):
        """Whether the goal is met; None where there is none, or nothing was measured."""
        values = self.judged()
        return self.goal.met_by(median(values)) if self.goal and values else None

    def as_json(self):
        ratios = self.ratios()
        values = self.judged()
        return dataclasses.asdict(self) | {
            "ratios": ratios,
            "ratio": dataclasses.asdict(Spread.of(ratios)) if ratios else None,
            "judged": dataclasses.asdict(Spread.of(values)) if values else None,
            "goal_text": self.goal.text(self.unit) if self.goal else "",
            "met": self.met(),
        }

    @classmethod
    def from_json(cls, fields):
        names = {field.name for field in dataclasses.fields(cls)}
        kept = {name: value for name, value in fields.items() if name in names}
        return cls(**kept | {"goal": Goal(**fields["goal"]) if fields["goal"] else None})


def shown(value):
    """A number with three digits that count, thousands apart."""
    if value is None:
        return "–"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    digits = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:.{digits}f}"


def shown_spread(values):
    """`1.02 [1.00–1.03; 0.98–1.05]`: the median, the quartiles, the least and the most."""
    if not values:
        return "–"
    spread = Spread.of(values)
    return (f"{spread.median:.3f} [{spread.q1:.3f}–{spread.q3:.3f}; "
            f"{spread.min:.3f}–{spread.max:.3f}]")


COLUMNS = ("row", "ours", "baseline", "ours / baseline: median [quartiles; range]", "goal", "met",
           "CPU s per million: ours, baseline")


def cells(row, figure):
    """A figure as one line of the table."""
    def value(values):
        return f"{shown(median(values))} {figure.unit}".rstrip() if values else "–"

    cpu = [f"{median(figure.cpu[side]):.2f}" if figure.cpu[side] else "–" for side in (OURS, BASELINE)]
    met = {True: "yes", False: "NO", None: "–"}[figure.met()]
    return (f"{row}: {figure.name}" if figure.name else row, value(figure.ours), value(figure.baseline),
            figure.comparison(), figure.goal.text(figure.unit) if figure.goal else "–", met,
            ", ".join(cpu) if cpu != ["–", "–"] else "–")


def table(lines, columns=COLUMNS):
    """A Markdown table, its columns aligned for people."""
    lines = [columns, *lines]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    rule = "|".join("-" * (width + 2) for width in widths)
    shown_lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    return "\n".join([shown_lines[0], f"|{rule}|", *shown_lines[1:]])
