#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Draws the results of Benchmarks/compare.py as one SVG that needs nothing else: each figure against its goal.

    Benchmarks/plot.py --results .build/bench --output docs/images/performance.svg

A figure's place is what was measured over its goal, so that one axis serves all; beyond the goal's line is better on the
right. Bars are the range of the pairs, thick ones the quartiles, dots the medians.
"""
import argparse, os, sys
from xml.sax.saxutils import escape

sys.dont_write_bytecode = True

import compare
import measuring
from figures import BASELINE, OURS, Figure, Spread, shown

WIDTH, LEFT, RIGHT, LINE, TOP, BOTTOM = 960, 300, 250, 30, 76, 58
# The height of the panel with the fetch curve.
PANEL = 230
# Beyond these the axis ends; what lies there is drawn at its end with an arrow.
LEAST, MOST = 0.5, 1.5
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px; fill: #59636e } .title { font-size: 16px; font-weight: 600 }
  .grid { stroke: #d1d9e0 } .goal { stroke: #59636e; stroke-width: 2 }
  .met { stroke: #1a7f37; fill: #1a7f37 } .missed { stroke: #d1242f; fill: #d1242f }
  .range { stroke-width: 2 } .quartiles { stroke-width: 8; stroke-linecap: butt; opacity: 0.45 }
  .back { fill: #ffffff } .curve { fill: none; stroke-width: 2 } .ours { stroke: #0969da } .theirs { stroke: #9a6700 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .small { fill: #9198a1 } .grid { stroke: #3d444d } .goal { stroke: #9198a1 }
    .met { stroke: #3fb950; fill: #3fb950 } .missed { stroke: #f85149; fill: #f85149 } .back { fill: #0d1117 }
    .ours { stroke: #4493f8 } .theirs { stroke: #d29922 }
  }
"""


def toward_goal(goal, value):
    """A value over its goal, 1 at the goal and more where it is better."""
    if goal.relation == ">=":
        return value / goal.limit
    return goal.limit / value if value > 0 else MOST


def place(share):
    return LEFT + (min(max(share, LEAST), MOST) - LEAST) / (MOST - LEAST) * (WIDTH - LEFT - RIGHT)


def drawn(row, figure, top):
    """The elements of one figure."""
    values = figure.judged()
    # Differences may be negative, which no share of a goal is; they are shown as shares of the whole instead.
    if figure.goal.of == "difference":
        values = [ours / (base + figure.goal.limit) for ours, base in zip(figure.ours, figure.baseline)]
        shares = [1 / value for value in values]
    else:
        shares = [toward_goal(figure.goal, value) for value in values]
    spread = Spread.of(shares)
    kind = "met" if figure.met() else "missed"
    middle = top + LINE / 2
    label = f"{row}: {figure.name}" if figure.name else row
    text = shown(Spread.of(figure.judged()).median)
    text = f"{text}{'' if figure.goal.of == 'ratio' or not figure.unit else ' ' + figure.unit}, goal {figure.goal.text(figure.unit)}"
    parts = [
        f'<text x="{LEFT - 12}" y="{middle + 4}" text-anchor="end">{escape(label)}</text>',
        f'<line class="range {kind}" x1="{place(spread.min):.1f}" x2="{place(spread.max):.1f}" y1="{middle}" y2="{middle}"/>',
        f'<line class="quartiles {kind}" x1="{place(spread.q1):.1f}" x2="{place(spread.q3):.1f}" y1="{middle}" y2="{middle}"/>',
    ]
    x = place(spread.median)
    if LEAST <= spread.median <= MOST:
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{middle}" r="4"/>')
    else:
        tip = 8 if spread.median > MOST else -8
        parts.append(f'<path class="{kind}" d="M{x + tip:.1f} {middle}l{-tip} -6v12z"/>')
    parts.append(f'<text class="small" x="{WIDTH - RIGHT + 16}" y="{middle + 4}">{escape(text)}</text>')
    return parts


def fetch_panel(figure, top):
    """How the batches of one break were fetched, 100 ms by 100 ms, with slots and without."""
    longest = max(len(curve) for curve in figure.curves.values())
    peak = max(max(curve) for curve in figure.curves.values())
    right, bottom = WIDTH - 40, top + PANEL - 52
    parts = [f'<text class="title" x="16" y="{top + 16}">Requests for one break\'s batch, in each 100 ms</text>',
             f'<line class="goal" x1="64" x2="{right}" y1="{bottom}" y2="{bottom}"/>',
             f'<text class="small" x="56" y="{top + 44}" text-anchor="end">{peak:,}</text>',
             f'<text class="small" x="56" y="{bottom + 4}" text-anchor="end">0</text>']
    for index in range(0, longest + 1, max(10, longest // 80 * 10)):
        x = 64 + index / max(longest, 1) * (right - 64)
        parts.append(f'<text class="small" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{index / 10:g} s</text>')
    for number, (side, name, style) in enumerate(((OURS, "slots on", "ours"), (BASELINE, "slots off", "theirs"))):
        if side not in figure.curves:
            continue
        points = []
        for index, count in enumerate(figure.curves[side] + [0]):
            y = bottom - count / peak * (bottom - top - 40)
            points += [f"{64 + place / max(longest, 1) * (right - 64):.1f},{y:.1f}" for place in (index, index + 1)]
        parts.append(f'<polyline class="curve {style}" points="{" ".join(points[:-1])}"/>')
        x = right - 100 * (2 - number)
        parts.append(f'<line class="curve {style}" x1="{x}" x2="{x + 20}" y1="{top + 12}" y2="{top + 12}"/>')
        parts.append(f'<text class="small" x="{x + 26}" y="{top + 16}">{name}</text>')
    return parts


def svg(results):
    lines = []
    for result in results:
        for fields in result["figures"]:
            figure = Figure.from_json(fields)
            if figure.goal and figure.judged():
                lines.append((result["row"], figure))
    if not lines:
        raise measuring.MeasurementError("there are no results to draw")
    curves = [figure for _, figure in lines if any(any(curve) for curve in figure.curves.values())][-1:]
    height = TOP + LINE * len(lines) + BOTTOM + PANEL * len(curves)
    facts = results[-1]["machine"]
    pairs = sorted({result["pairs"] for result in results})
    below = (f"{facts['cores']} cores of {facts['cpu']}{', virtual machine' if facts['virtual'] else ''}; Linux "
             f"{facts['kernel']}; libzmq {facts['libzmq']}; SQLite {facts['sqlite']}; "
             f"{' or '.join(map(str, pairs))} interleaved pairs; server on one core, load on another")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="What was measured against its goals">',
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}"/>',
        '<text class="title" x="16" y="28">What was measured against its goals</text>',
        '<text class="small" x="16" y="48">right of the line: better than the goal; dot: median, thick: quartiles, '
        "thin: range of the pairs</text>",
    ]
    bottom = TOP + LINE * len(lines)
    for tenth in range(5, 16):
        share = tenth / 10
        parts.append(f'<line class="{"goal" if tenth == 10 else "grid"}" x1="{place(share):.1f}" x2="{place(share):.1f}" '
                     f'y1="{TOP}" y2="{bottom}"/>')
        if tenth % 5 == 0 or tenth in (8, 12):
            name = "goal" if tenth == 10 else f"{share:.1f} ×"
            parts.append(f'<text class="small" x="{place(share):.1f}" y="{bottom + 18}" text-anchor="middle">{name}</text>')
    for number, (row, figure) in enumerate(lines):
        parts += drawn(row, figure, TOP + LINE * number)
    for figure in curves:
        parts += fetch_panel(figure, bottom + BOTTOM - 20)
    parts += [f'<text class="small" x="16" y="{height - 12}">{escape(below)}</text>', "</svg>"]
    return "\n".join(parts) + "\n"


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=os.path.join(measuring.ROOT, ".build/bench"))
    parser.add_argument("--output", default=os.path.join(measuring.ROOT, "docs/images/performance.svg"))
    options = parser.parse_args(words)
    try:
        text = svg(compare.results_in(options.results))
    except measuring.MeasurementError as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 65
    os.makedirs(os.path.dirname(os.path.abspath(options.output)), exist_ok=True)
    with open(options.output, "w") as file:
        file.write(text)
    print(f"plot.py: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
