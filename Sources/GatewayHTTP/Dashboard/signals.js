// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The signals of the chosen stream: what each source said, what became of it, and why.

import { $, Part, client, later, onDraw, state } from "./model.js";
import { count, element, moment, say, showIn, span, tableOf } from "./plots.js";

/// How often they are asked for: a signal that changes no break is told by no event.
const RELOAD_MS = 5_000;
/// From so many refused ones in a row a source is marked.
const REFUSED_IN_A_ROW = 5;

const EFFECT_WORDS = {
  opened: "opened", followed: "changed", ended: "ended", takenBack: "taken back", repeated: "repeat", over: "over", goneBefore: "taken back before",
  refused: "refused", ignored: "ignored", unusable: "unusable",
};
/// The colours that badges have for results.
const RESULT_STATES = { changed: "changed", unchanged: "none", refused: "refused", ignored: "none", unusable: "warn" };

/// Whether a view shows them: the stream now, and the page of a break.
function areShown() { return state.view === "now" || state.view === "break"; }

let asked = 0;
const part = new Part(async () => {
  const stream = state.chosen;
  if (!stream || !areShown()) return null;
  asked = performance.now();
  const found = await client.get(`v1/streams/${encodeURIComponent(stream)}/signals`);
  if (stream !== state.chosen) return null;
  return () => { state.signals = found; };
});

export function loadSignals() { part.load(); }
export const reloadSignals = later(loadSignals, 500);

function drawSignals() {
  if (!areShown()) {
    // They are loaded anew when they are looked at again.
    asked = -Infinity;
    return;
  }
  if (!document.hidden && client.link.state === "live" && performance.now() - asked >= RELOAD_MS) loadSignals();
  const found = state.signals?.stream === state.chosen ? state.signals : null;
  const panel = $("signals");
  panel.hidden = !found || (!found.signals.length && !found.sources.length && !found.watchers.length);
  if (panel.hidden) return;
  say($("signals-about"), `${count(found.sources.length)} ${found.sources.length === 1 ? "source" : "sources"}`);
  showIn($("signal-sources"), JSON.stringify([found.sources, found.watchers]), () => [
    ...found.sources.map(sourceNode), ...found.watchers.map((each) => watcherNode(each, client.now())),
  ]);
  showIn($("signal-list"), JSON.stringify(found.signals), () => [table(found)]);
}

function sourceNode(each) {
  const parts = ["changed", "unchanged", "refused", "ignored", "unusable"].filter((name) => each[name]).map((name) => `${count(each[name])} ${name}`);
  const isBad = each.refusedInARow >= REFUSED_IN_A_ROW;
  return element("p", { class: "facts" }, element("strong", {}, element("bdi", {}, each.source)), " ",
    isBad ? element("span", { class: "badge", "data-state": "refused" }, `${count(each.refusedInARow)} refused in a row`) : "", ` ${parts.join(" · ")}`);
}

/// A watcher of a source: whether it is there, when something came last, and its trouble.
function watcherNode(each, now) {
  const isGone = each.state === "gone";
  const facts = [each.kind, each.address ?? "", isGone ? `reported ${moment(Date.parse(each.reported), now)}` : "",
    each.heard ? `heard ${moment(Date.parse(each.heard), now)}` : "nothing came yet"];
  return element("p", { class: "facts" }, "watched by ", element("bdi", {}, each.watcher), " for ", element("bdi", {}, each.source), " ",
    isGone ? element("span", { class: "badge", "data-state": "warn" }, "gone") : "", ` ${facts.filter(Boolean).join(" · ")}`,
    each.problem ? element("span", { class: "note" }, " ", element("bdi", {}, each.problem)) : "");
}

/// The event of a signal, its moment, and its duration.
function said(each, now) {
  const parts = [each.event ? `event ${each.event}` : ""];
  if (each.at) parts.push(`at ${moment(Date.parse(each.at), now)}`);
  else if (each.inMilliseconds) parts.push(`in ${span(each.inMilliseconds)}`);
  if (each.durationMilliseconds) parts.push(span(each.durationMilliseconds));
  return parts.filter(Boolean).join(" · ");
}

function table(found) {
  const now = client.now();
  const cell = (label, ...children) => element("td", { role: "cell", data: { label } }, ...children);
  return tableOf(`Signals of ${found.stream}, the newest first, and what became of each`, [["When"], ["Source"], ["Signal"], ["Break"], ["Result"]],
    found.signals.map((each) => element("tr", { role: "row" },
      cell("when", element("span", {}, moment(Date.parse(each.last), now), each.times > 1 ? element("span", { class: "note" }, ` ${count(each.times)} times`) : "")),
      cell("source", element("bdi", {}, each.source)),
      cell("signal", element("span", {}, each.kind ? element("strong", {}, each.kind.toUpperCase()) : "", ` ${said(each, now)}`,
        each.decoded ? element("span", { class: "note", title: each.raw ?? "" }, " ", element("bdi", {}, each.decoded)) : "")),
      cell("break", each.break ?? "–"),
      cell("result", element("span", {}, element("span", { class: "badge", "data-state": RESULT_STATES[each.result] ?? "none" },
        EFFECT_WORDS[each.effect ?? each.result] ?? each.result),
      each.reason ? element("span", { class: "note" }, ` ${[each.code, each.reason].filter(Boolean).join(": ")}`) : "")))));
}

onDraw(drawSignals);
