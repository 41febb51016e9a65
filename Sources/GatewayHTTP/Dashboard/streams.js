// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The list of streams: one page of it, with the listeners and the break of each.

import { $, Part, STATE_WORDS, announce, client, complain, disable, draw, later, mayPass, onDraw, state, watch } from "./model.js";
import { count, element, left, mark, say } from "./plots.js";
import { choose } from "./stream.js";

const STREAMS_PER_PAGE = 12;

/// How many times lines were asked for: each line keeps the number of its question, so that none is replaced by an older one.
let asked = 0;

const streams = new Part(async () => {
  const { search, after } = state, question = asked += 1;
  const page = await client.get("v1/streams", { search, after, limit: STREAMS_PER_PAGE });
  if (search !== state.search || after !== state.after) return null;
  return () => {
    const known = new Map(state.lines.map((line) => [line.stream, line]));
    state.lines = page.streams.map((line) => known.get(line.stream)?.asked > question ? known.get(line.stream) : { ...line, asked: question });
    state.next = page.after ?? null;
    state.total = page.total ?? null;
    state.isLoaded = true;
    if (!state.chosen && state.lines.length) choose((state.lines.find((line) => line.running) ?? state.lines[0]).stream, false);
    watch();
  };
});

export function loadStreams() { return streams.load(); }
export const reloadStreams = later(loadStreams, 400);

/// One stream's line anew, because something about its breaks changed.
async function reloadLine(stream) {
  const question = asked += 1;
  try {
    const line = await client.get(`v1/streams/${encodeURIComponent(stream)}`);
    const place = state.lines.findIndex((each) => each.stream === stream);
    if (place >= 0 && state.lines[place].asked < question) state.lines[place] = { ...line, asked: question };
    draw();
  } catch (error) {
    complain(error);
    if (mayPass(error)) reloadStreams();
  }
}
const lineTimers = new Map();
export function reloadLineSoon(stream) {
  if (lineTimers.has(stream)) return;
  lineTimers.set(stream, setTimeout(() => {
    lineTimers.delete(stream);
    if (state.lines.some((line) => line.stream === stream)) reloadLine(stream);
  }, 150));
}

const rows = [];
function drawStreams() {
  const body = $("stream-rows");
  while (rows.length < state.lines.length) {
    const row = { name: element("button", { type: "button", class: "name" }), about: element("td", { class: "about" }), listeners: element("td", { class: "number" }) };
    row.badge = element("span", { class: "badge" });
    row.time = element("span", { class: "time" });
    row.about.append(row.badge, " ", row.time);
    row.name.addEventListener("click", () => choose(row.stream, true));
    row.node = element("tr", {}, element("th", { scope: "row" }, row.name), row.about, row.listeners);
    row.node.addEventListener("click", (event) => { if (event.target !== row.name) choose(row.stream, true); });
    rows.push(row);
    body.append(row.node);
  }
  const now = client.now();
  rows.forEach((row, place) => {
    const line = state.lines[place];
    row.node.hidden = !line;
    if (!line) return;
    row.stream = line.stream;
    say(row.name, line.stream);
    mark(row.name, "aria-current", line.stream === state.chosen ? "true" : null);
    mark(row.node, "class", line.stream === state.chosen ? "chosen" : null);
    say(row.listeners, count(state.counts.get(line.stream)?.listeners ?? line.listeners));
    const [kind, word, time] = summary(line, now);
    mark(row.badge, "data-state", kind);
    say(row.badge, word);
    say(row.time, time);
  });
  const place = state.before.length * STREAMS_PER_PAGE;
  say($("streams-count"), state.total === null ? "" : state.search ? `${count(state.total)} found` : count(state.total));
  $("streams-pager").hidden = !state.next && state.before.length === 0;
  say($("streams-place"), state.lines.length ? `${count(place + 1)} – ${count(place + state.lines.length)}${state.total === null ? "" : ` of ${count(state.total)}`}` : "");
  disable($("streams-before"), state.before.length === 0);
  disable($("streams-after"), !state.next);
  const empty = $("streams-empty");
  empty.hidden = !state.isLoaded || state.lines.length > 0;
  $("stream-table").hidden = !empty.hidden || !state.isLoaded;
  say(empty, state.search ? `No stream has “${state.search}” in its name.`
    : "No stream yet. A stream appears when it has a listener or a break.");
}

/// A row's summary of the stream's breaks: the state for its badge, a word, and a time.
function summary(line, now) {
  const running = line.running, next = line.next;
  if (running) {
    const end = running.end ? Date.parse(running.end) : null;
    return ["live", "On air", end === null ? "until ended" : `${left(end - now)} left`];
  }
  if (next?.start) return [next.state, next.state === "announced" ? "Announced" : "Next", `in ${left(Date.parse(next.start) - now)}`];
  if (next) return [next.state, STATE_WORDS[next.state] ?? next.state, ""];
  return ["none", "", ""];
}

let searchTimer = null;
$("search").addEventListener("input", () => {
  clearTimeout(searchTimer);
  searchTimer = setTimeout(() => {
    state.search = $("search").value.trim();
    state.after = null;
    state.before = [];
    loadStreams().then(() => announce(state.lines.length ? `${count(state.total ?? state.lines.length)} streams found` : "No stream found"));
  }, 200);
});
$("search-form").addEventListener("submit", (event) => event.preventDefault());
$("streams-after").addEventListener("click", () => {
  if (!state.next) return;
  state.before.push(state.after);
  state.after = state.next;
  loadStreams();
});
$("streams-before").addEventListener("click", () => {
  if (!state.before.length) return;
  state.after = state.before.pop();
  loadStreams();
});

onDraw(drawStreams);
