// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Elements and plots, made by script: text is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

/// An element with attributes and children; texts become text, never markup.
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    else if (key === "data") Object.assign(node.dataset, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

/// Sets a text where it is another: what stays the same costs nothing, and is not read out again.
export function say(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

export function mark(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/// Replaces what a panel shows where it is something else, and keeps the focus where it was.
export function showIn(panel, key, make) {
  if (panel.dataset.shown === key) return;
  panel.dataset.shown = key;
  const focused = panel.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  panel.replaceChildren(...make());
  if (focused) [...panel.querySelectorAll("[data-key]")].find((node) => node.dataset.key === focused)?.focus();
}

/// A table whose rows are stacked on narrow screens.
///
/// - caption: for screen readers.
/// - columns: the word of each, and its class.
export function tableOf(caption, columns, rows) {
  return element("div", { class: "table-box" }, element("table", { class: "rows stacked", role: "table" }, element("caption", { class: "hidden-text" }, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, columns.map(([word, kind]) => element("th", { scope: "col", role: "columnheader", class: kind }, word)))),
    element("tbody", { role: "rowgroup" }, rows)));
}

// MARK: Numbers as people read them

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1, minimumFractionDigits: 1 });

export function count(number) { return Number.isFinite(number) ? whole.format(number) : "–"; }

export function rate(number) {
  if (!Number.isFinite(number)) return "–";
  return number > 0 && number < 10 ? tenths.format(number) : whole.format(number);
}

export function share(part, all) {
  if (!all) return "";
  const percent = part / all * 100;
  return percent > 0 && percent < 1 ? "< 1 %" : percent < 100 && percent > 99 ? "> 99 %" : `${Math.round(percent)} %`;
}

export function bytes(number) {
  if (!Number.isFinite(number)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  while (number >= 1_024 && place < units.length - 1) { number /= 1_024; place += 1; }
  return `${place === 0 || number >= 100 ? whole.format(number) : tenths.format(number)} ${units[place]}`;
}

/// A duration in milliseconds as `0:09`, `12:30` or `1:02:03`.
export function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/// The time until an instant; a second that has begun counts as a whole one.
export function left(milliseconds) { return span(Math.ceil(Math.max(0, milliseconds) / 1_000) * 1_000); }

/// A foreign text inside a sentence: it does not change the direction of the text around it (Unicode UAX #9).
export function isolated(text) { return `\u2068${String(text).replace(/[\u202A-\u202E\u2066-\u2069]/g, "\uFFFD")}\u2069`; }

const clockFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minuteFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const zoneFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });
const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export function clockTime(instant) { return clockFormat.format(instant); }
export function minuteTime(instant) { return minuteFormat.format(instant); }
/// The time of day with the zone that all times of the page are in.
export function zonedTime(instant) { return zoneFormat.format(instant); }

/// The time of day, and the day where it is not today.
export function moment(instant, now) {
  const date = new Date(instant);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? clockTime(date) : `${dayFormat.format(date)}, ${clockTime(date)}`;
}

/// A duration in microseconds as people say it.
export function latency(microseconds) {
  if (!Number.isFinite(microseconds)) return "–";
  if (microseconds < 1_000) return `${whole.format(microseconds)} µs`;
  if (microseconds < 1_000_000) return `${microseconds < 100_000 ? tenths.format(microseconds / 1_000) : whole.format(microseconds / 1_000)} ms`;
  return `${tenths.format(microseconds / 1_000_000)} s`;
}

// MARK: Plots

/// A bar of a table: its length moves, its number stands beside it as text.
export class Bar {
  constructor(kind) {
    this.rect = shape("rect", { class: `bar bar-${kind}`, width: "100%", height: "100%", rx: 2 });
    this.node = shape("svg", { class: "bar-box", "aria-hidden": "true", focusable: "false" },
      shape("rect", { class: "bar-track", width: "100%", height: "100%", rx: 2 }), this.rect);
    this.show(0);
  }

  show(part) {
    const scale = Math.max(0, Math.min(1, part || 0));
    if (scale === this.scale) return;
    this.scale = scale;
    this.rect.style.transform = `scaleX(${scale})`;
  }
}

/// How many values fill a small line at least.
const SPARK_VALUES_MIN = 20;

/// A small line of what a number was in the last minutes.
export class Spark {
  constructor(valuesMax = 120) {
    this.valuesMax = valuesMax;
    this.values = [];
    this.area = shape("path", { class: "spark-area" });
    this.line = shape("path", { class: "spark-line" });
    this.node = shape("svg", {
      class: "spark", viewBox: "0 0 120 28", preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false",
    }, this.area, this.line);
  }

  push(value) {
    this.values.push(Number.isFinite(value) ? value : 0);
    if (this.values.length > this.valuesMax) this.values.shift();
  }

  draw() {
    if (this.values.length < 2) return;
    const most = Math.max(...this.values) || 1;
    // It grows from the right until there is enough to fill it.
    const shown = Math.max(SPARK_VALUES_MIN, this.values.length);
    const step = 120 / (shown - 1);
    const first = shown - this.values.length;
    const points = this.values.map((value, place) => `${((first + place) * step).toFixed(1)} ${(26 - value / most * 24).toFixed(1)}`);
    this.line.setAttribute("d", `M${points.join("L")}`);
    this.area.setAttribute("d", `M${(first * step).toFixed(1)} 28L${points.join("L")}L120 28Z`);
  }
}

export const OUTCOMES = ["played", "ignored", "failed", "unknown"];
/// Samples that the course of one break keeps; beyond it every second one goes.
const SAMPLES_MAX = 240;

/// The course of one break: its outcomes over time, stacked up to what was delivered.
export class Course {
  constructor() {
    this.samples = [];
    this.node = shape("svg", { class: "plot", role: "img", "aria-label": "No outcomes yet" });
    this.areas = new Map([...OUTCOMES].map((kind) => [kind, shape("path", { class: `area area-${kind}` })]));
    this.axis = shape("g", { class: "axis" });
    this.window = shape("g", { class: "window" });
    this.node.append(this.window, ...this.areas.values(), this.axis);
  }

  /// Whether it was looked at before anybody had told an outcome: then nothing is missing.
  get isWhole() { return this.samples.length > 0 && OUTCOMES.every((kind) => kind === "unknown" || this.samples[0][kind] === 0); }

  /// - at: milliseconds by the gateway's clock.
  /// - goesOn: whether time goes on although nothing moves: not after the break is over.
  push(at, funnel, goesOn) {
    const last = this.samples.at(-1);
    if (last && at <= last.at) return;
    const isAsBefore = last && OUTCOMES.every((kind) => last[kind] === (funnel[kind] ?? 0));
    if (isAsBefore && !goesOn) return;
    // After the end what stays the same is not kept: it stood still until now.
    if (last && !isAsBefore && !goesOn && at - last.at > 2_000) this.samples.push({ ...last, at: at - 1_000 });
    // Nothing moves: the last sample is drawn out.
    const isSame = isAsBefore && this.samples.length > 1 && OUTCOMES.every((kind) => this.samples.at(-2)[kind] === last[kind]);
    const sample = { at, ...Object.fromEntries(OUTCOMES.map((kind) => [kind, funnel[kind] ?? 0])) };
    if (isSame) this.samples[this.samples.length - 1] = sample;
    else this.samples.push(sample);
    if (this.samples.length > SAMPLES_MAX) this.samples = this.samples.filter((_, place) => place % 2 === 0 || place > SAMPLES_MAX - 20);
  }

  /// - about: {startMs, endMs} of the break, as far as they are known.
  draw(width, height, now, { startMs, endMs } = {}) {
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const most = niceTop(Math.max(1, ...this.samples.map((sample) => OUTCOMES.reduce((sum, kind) => sum + sample[kind], 0))));
    const [leftEdge, rightEdge, top, bottom] = [10 + 7 * count(most).length, width - 18, 8, height - 20];
    const first = this.samples[0];
    const from = Math.min(first?.at ?? now, startMs ?? now) - 1_000;
    const to = Math.max(this.samples.at(-1)?.at ?? now, Math.min(endMs ?? now, now + 600_000), from + 20_000);
    const x = (at) => leftEdge + (at - from) / (to - from) * (rightEdge - leftEdge);
    const y = (value) => bottom - value / most * (bottom - top);
    let base = this.samples.map(() => 0);
    for (const [kind, area] of this.areas) {
      const upper = this.samples.map((sample, place) => base[place] + sample[kind]);
      const place = (value, each) => `${x(this.samples[each].at).toFixed(1)} ${y(value).toFixed(1)}`;
      area.setAttribute("d", this.samples.length < 2 ? "" :
        `M${upper.map(place).join("L")}L${base.map(place).reverse().map((_, each) => place(base[base.length - 1 - each], base.length - 1 - each)).join("L")}Z`);
      base = upper;
    }
    this.window.replaceChildren();
    if (startMs !== undefined && startMs !== null && startMs >= from) {
      const end = Math.min(endMs ?? to, to);
      this.window.append(shape("rect", { x: x(startMs), y: top, width: Math.max(1, x(end) - x(startMs)), height: bottom - top, class: "on-air" }));
    }
    const lines = [0, most / 2, most].filter((value) => Number.isInteger(value)).flatMap((value) => [
      shape("line", { x1: leftEdge, x2: rightEdge, y1: y(value), y2: y(value) }),
      shape("text", { x: leftEdge - 6, y: y(value) + 4, "text-anchor": "end" }, count(value)),
    ]);
    // What has no start is told from when this page saw it first.
    const zero = startMs ?? from + 1_000;
    const zeroWord = startMs === undefined || startMs === null ? "first seen" : "start";
    const step = niceStep((to - from) / Math.max(2, Math.floor(width / 90)));
    for (let at = zero - Math.floor((zero - from) / step) * step; at <= to; at += step) {
      const seconds = Math.round((at - zero) / 1_000);
      const word = seconds === 0 ? zeroWord : `${seconds < 0 ? "−" : "+"}${span(Math.abs(seconds) * 1_000)}`;
      // A long word at the edge begins there, so that all of it is seen.
      const isCut = x(at) < 4 * word.length;
      lines.push(shape("text", { x: isCut ? 2 : x(at), y: height - 4, "text-anchor": isCut ? "start" : "middle" }, word));
    }
    this.axis.replaceChildren(...lines);
    const lastSample = this.samples.at(-1);
    mark(this.node, "aria-label", lastSample
      ? `Outcomes over time; so far ${OUTCOMES.map((kind) => `${kind} ${count(lastSample[kind])}`).join(", ")}`
      : "No outcomes yet");
  }
}

export function niceTop(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 5, 10].map((each) => each * power).find((each) => each >= most) ?? most;
}

function niceStep(milliseconds) {
  const steps = [5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 86_400].map((each) => each * 1_000);
  return steps.find((step) => step >= milliseconds) ?? steps.at(-1);
}
