// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// What the gateway did in the last hour, six hours, or day: the samples that it keeps, also of before this page was opened.

import { $, Part, announce, client, draw, onDraw, state } from "./model.js";
import { count, element, mark, minuteTime, niceTop, rate, say, shape } from "./plots.js";

const SPANS = { "1h": ["1 h", 3_600_000, 600_000], "6h": ["6 h", 21_600_000, 3_600_000], "24h": ["24 h", 86_400_000, 14_400_000] };
/// How often the gateway is asked for another sample.
const RELOAD_MS = 10_000;
/// A longer time without a sample is a gap: the gateway did not run.
const GAP_STEPS = 3;

let span = "1h";
let known = null;
let asked = 0;

const part = new Part(async () => {
  const wanted = span;
  const document = await client.get("v1/history", { span: wanted });
  return wanted !== span ? null : () => {
    known = { span: wanted, stepMs: document.stepSeconds * 1_000, samples: document.samples.map((each) => ({ ...each, at: Date.parse(each.at) })) };
    for (const listen of listeners.splice(0)) listen(known);
  };
});
const listeners = [];
/// Is told the first samples, once.
export function onFirstHistory(listener) { listeners.push(listener); }

/// Loads the samples. While they are hidden, only the first ones are asked for: the small lines above begin with them.
export function loadHistory() {
  if (state.view !== "now" && known) return;
  asked = performance.now();
  part.load();
}

/// A plot of one or more numbers over time, stacked.
class Timeline {
  constructor(box, kinds, name) {
    this.box = box;
    this.kinds = kinds;
    this.name = name;
    this.areas = kinds.map((kind) => shape("path", { class: `area area-${kind}` }));
    this.axis = shape("g", { class: "axis" });
    this.node = shape("svg", { class: "plot", role: "img", "aria-label": name }, ...this.areas, this.axis);
    box.append(this.node);
  }

  draw(samples, stepMs, from, to, tickMs) {
    const width = Math.max(200, this.box.clientWidth), height = Math.max(90, this.box.clientHeight);
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const sums = samples.map((sample) => this.kinds.reduce((sum, kind) => sum + sample[kind], 0));
    const most = niceTop(Math.max(1, ...sums));
    const [leftEdge, rightEdge, top, bottom] = [10 + 7 * count(most).length, width - 6, 8, height - 20];
    const x = (at) => leftEdge + (Math.max(from, at) - from) / (to - from) * (rightEdge - leftEdge);
    const y = (value) => bottom - value / most * (bottom - top);
    const runs = [];
    samples.forEach((sample, place) => {
      if (!place || sample.at - samples[place - 1].at > GAP_STEPS * stepMs) runs.push([{ ...sample, at: sample.at - stepMs }]);
      runs.at(-1).push(sample);
    });
    let base = (sample) => 0;
    this.kinds.forEach((kind, place) => {
      const below = base, upper = (sample) => below(sample) + sample[kind];
      this.areas[place].setAttribute("d", runs.map((run) => {
        const points = (value) => run.map((sample) => `${x(sample.at).toFixed(1)} ${y(value(sample)).toFixed(1)}`);
        return `M${points(upper).join("L")}L${points(below).reverse().join("L")}Z`;
      }).join(""));
      base = upper;
    });
    const lines = [0, most / 2, most].filter((value) => Number.isInteger(value)).flatMap((value) => [
      shape("line", { x1: leftEdge, x2: rightEdge, y1: y(value), y2: y(value) }),
      shape("text", { x: leftEdge - 6, y: y(value) + 4, "text-anchor": "end" }, count(value)),
    ]);
    for (let at = Math.ceil(from / tickMs) * tickMs; at < to; at += tickMs) {
      const place = x(at);
      if (place > leftEdge + 14 && place < rightEdge - 18) lines.push(shape("text", { x: place, y: height - 4, "text-anchor": "middle" }, minuteTime(at)));
    }
    this.axis.replaceChildren(...lines);
    const last = samples.at(-1);
    mark(this.node, "aria-label", last ? `${this.name}: ${this.kinds.map((kind) => `${kind} ${rate(last[kind])}`).join(", ")} now, ${rate(Math.max(...sums))} at most` : `${this.name}: nothing yet`);
  }
}

const plots = [
  new Timeline($("timeline-listeners"), ["listeners"], "Listeners"),
  new Timeline($("timeline-outcomes"), ["played", "ignored", "failed"], "Outcomes in a second"),
];
for (const [name, [word]] of Object.entries(SPANS)) {
  const button = element("button", { type: "button", class: "quiet", "aria-pressed": String(name === span), "aria-label": `The last ${word}` }, word);
  button.addEventListener("click", () => {
    span = name;
    known = null;
    for (const each of $("timeline-spans").children) mark(each, "aria-pressed", String(each === button));
    announce(`The last ${word}`);
    loadHistory();
    draw();
  });
  $("timeline-spans").append(button);
}

function drawTimeline() {
  if (state.view !== "now") {
    // It is loaded anew when it is looked at again.
    asked = -Infinity;
    return;
  }
  if (performance.now() - asked > RELOAD_MS && client.link.state === "live") loadHistory();
  const now = client.now(), [, length, tickMs] = SPANS[span];
  // The second that is now belongs to it: samples come later.
  const live = state.gateway && known?.span === "1h" && client.link.state === "live"
    ? [{ ...(known.samples.at(-1) ?? { played: 0, ignored: 0, failed: 0 }), listeners: state.gateway.listeners, at: now }] : [];
  const samples = [...(known?.samples ?? []), ...live];
  for (const plot of plots) plot.draw(samples, known?.stepMs ?? 10_000, now - length, now, tickMs);
  const first = known?.samples[0];
  say($("timeline-about"), !known ? "" : !first ? "kept from now on" : now - first.at < length - 2 * known.stepMs ? `since ${minuteTime(first.at - known.stepMs)}` : "");
}

onDraw(drawTimeline);
