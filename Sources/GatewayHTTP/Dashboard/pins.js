// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Pinned streams, side by side: who steers several programmes sees all of them, whatever page of the list is shown.

import { ID } from "./address.js";
import { $, announce, client, complain, disable, draw, onDraw, startOf, endOf, state, watch } from "./model.js";
import { Bar, OUTCOMES, count, element, left, mark, say, share } from "./plots.js";
import { choose } from "./stream.js";

/// More would not stand side by side.
const PINS_MAX = 6;
const PINS_KEY = "cuecast.pins";
const RELOAD_MS = 200;

try {
  const kept = JSON.parse(localStorage.getItem(PINS_KEY) ?? "[]");
  if (Array.isArray(kept)) state.pins = kept.filter((each) => ID.test(each)).slice(0, PINS_MAX);
} catch { /* Then none is pinned. */ }

/// The lines of pinned streams, by their names.
const lines = new Map();
const asked = new Map();

async function load(stream) {
  const turn = (asked.get(stream) ?? 0) + 1;
  asked.set(stream, turn);
  try {
    const line = await client.get(`v1/streams/${encodeURIComponent(stream)}`);
    if (asked.get(stream) === turn) lines.set(stream, line);
  } catch (error) {
    // A stream without a listener and a break is none: it stays pinned.
    if (error.status === 404 && asked.get(stream) === turn) lines.set(stream, { stream, listeners: 0 });
    complain(error);
  }
  draw();
}
const timers = new Map();
export function reloadPinSoon(stream) {
  if (!state.pins.includes(stream) || timers.has(stream)) return;
  timers.set(stream, setTimeout(() => {
    timers.delete(stream);
    load(stream);
  }, RELOAD_MS));
}
export function loadPins() { for (const stream of state.pins) load(stream); }

function setPins(pins) {
  state.pins = pins;
  try {
    if (pins.length) localStorage.setItem(PINS_KEY, JSON.stringify(pins));
    else localStorage.removeItem(PINS_KEY);
  } catch { /* They last until the next load. */ }
  watch();
  draw();
}

function unpin(stream) {
  setPins(state.pins.filter((each) => each !== stream));
  announce(`${stream} is not pinned any more`);
}

$("pin").addEventListener("click", () => {
  const stream = state.chosen;
  if (state.pins.includes(stream)) return unpin(stream);
  if (state.pins.length >= PINS_MAX) return announce(`${PINS_MAX} streams are pinned: take one away first.`);
  setPins([...state.pins, stream]);
  announce(`${stream} is pinned`);
  load(stream);
});

const cards = new Map();
function makeCard(stream) {
  const card = {
    name: element("button", { type: "button", class: "name", on: { click: () => choose(stream, true) } }, stream),
    badge: element("span", { class: "badge" }), time: element("p", { class: "countdown" }), note: element("p", { class: "note" }),
    listeners: element("p", { class: "facts" }), bar: new Bar("time"), list: element("dl", { class: "pin-counts" }), numbers: new Map(),
  };
  for (const kind of ["delivered", ...OUTCOMES]) {
    const value = element("dd", {});
    card.numbers.set(kind, value);
    card.list.append(element("div", { class: `pin-${kind}` }, element("dt", {}, kind), value));
  }
  card.away = element("button", { type: "button", class: "quiet", "aria-label": `Unpin ${stream}`, on: { click: () => {
    unpin(stream);
    (document.querySelector("#pins button.name") ?? $("stream-title")).focus();
  } } }, "Unpin");
  card.node = element("article", { class: "pin", "aria-label": `Stream ${stream}` },
    element("div", { class: "pin-head" }, element("h3", {}, card.name), card.badge, card.away),
    element("div", { class: "break-time" }, card.time, card.note), card.bar.node, card.listeners, card.list);
  return card;
}

function drawPins() {
  const now = client.now();
  const box = $("pins");
  box.hidden = state.pins.length === 0;
  for (const stream of [...cards.keys()]) {
    if (state.pins.includes(stream)) continue;
    cards.get(stream).node.remove();
    cards.delete(stream);
  }
  for (const stream of state.pins) {
    let card = cards.get(stream);
    if (!card) {
      cards.set(stream, card = makeCard(stream));
      box.append(card.node);
    }
    drawCard(card, stream, now);
  }
  const isPinned = state.pins.includes(state.chosen);
  $("pin").hidden = !state.chosen;
  mark($("pin"), "aria-pressed", String(isPinned));
  say($("pin"), isPinned ? "Pinned" : "Pin");
  disable($("pin"), !isPinned && state.pins.length >= PINS_MAX);
}

function drawCard(card, stream, now) {
  const line = lines.get(stream), counts = state.counts.get(stream);
  const listeners = counts?.listeners ?? line?.listeners;
  // A break starts and ends without a message.
  const running = line?.running && (endOf(line.running) ?? Infinity) > now ? line.running : startOf(line?.next) !== null && startOf(line?.next) <= now ? line.next : null;
  const next = running === line?.next ? null : line?.next;
  const start = startOf(running), end = endOf(running);
  mark(card.node, "data-state", running ? "live" : null);
  mark(card.node, "aria-current", stream === state.chosen ? "true" : null);
  mark(card.badge, "data-state", running ? "live" : next?.state);
  say(card.badge, running ? "On air" : next ? (next.start ? "Next" : "Cued") : "");
  say(card.time, running ? (end === null ? "open" : left(end - now)) : next?.start ? left(startOf(next) - now) : "–");
  say(card.note, running ? `${end === null ? "until it is ended" : "left"} · ${running.break}` : next ? `${next.start ? "to its start" : "held"} · ${next.break}` : "no break to come");
  mark(card.bar.node, "hidden", running ? null : "");
  card.bar.show(end === null || start === null ? 1 : (now - start) / (end - start));
  say(card.listeners, listeners === undefined ? "" : `${count(listeners)} ${listeners === 1 ? "listener" : "listeners"}${counts?.break ? ` · counts of ${counts.break}` : ""}`);
  for (const [kind, node] of card.numbers) {
    const number = counts?.funnel?.[kind];
    const part = kind === "delivered" || number === undefined ? "" : share(number, counts.funnel.delivered);
    say(node, number === undefined ? "–" : part ? `${count(number)} (${part})` : count(number));
  }
}

onDraw(drawPins);
