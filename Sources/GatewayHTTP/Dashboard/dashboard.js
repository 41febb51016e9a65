// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The dashboard: the state of the gateway, the outcomes of its breaks, and the buttons that change them.
//
// Only what is in view is asked for: one page of streams, one stream in detail, one page of its history. Numbers arrive by the
// gateway's events, at most once a second; each frame writes only what has changed.

import "./health.js";
import { drawPast, loadPast, reloadCounts, reloadPast, reloadUnsettled } from "./history.js";
import { loadPins, reloadPinSoon } from "./pins.js";
import { loadHistory } from "./timeline.js";
import { $, Part, announce, client, draw, endOf, isOpen, onDraw, startOf, state, titleOfView } from "./model.js";
import { clockTime, element, mark, say, zonedTime } from "./plots.js";
import { loadSignals, reloadSignals } from "./signals.js";
import { actions, courseOf, loadDetail, reloadDetail } from "./stream.js";
import { loadStreams, reloadLineSoon, reloadStreams } from "./streams.js";
import { showFirst, viewWords } from "./views.js";

/// For developers who inspect the page with the browser's tools.
window.cuecast = { state, client };

// The address names the chosen stream: the way past the head must leave it alone.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  ($("streams").checkVisibility() ? $("streams") : titleOfView()).focus();
});

// MARK: Colours

const THEMES = ["auto", "light", "dark"];
let theme = "auto";
try { theme = localStorage.getItem("cuecast.theme") ?? "auto"; } catch { /* Then it is as the system. */ }
function showTheme() {
  if (!THEMES.includes(theme)) theme = "auto";
  mark(document.documentElement, "data-theme", theme === "auto" ? null : theme);
  say($("theme"), `Colours: ${theme}`);
}
$("theme").addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  try { localStorage.setItem("cuecast.theme", theme); } catch { /* It lasts until the next load. */ }
  showTheme();
});
showTheme();

// MARK: The link

function drawLink() {
  const { state: link, sentence, since } = client.link;
  document.body.dataset.link = link;
  $("link").dataset.state = link;
  const isDraining = link === "live" && state.gateway?.draining;
  say($("link-text"), isDraining ? "Draining" : { connecting: "Connecting", live: "Live", gone: "Gateway gone", locked: "Token needed", refused: "No events" }[link]);
  if (isDraining) $("link").dataset.state = "draining";
  if (client.hasClock) {
    const now = new Date(client.now()), utc = now.toISOString().slice(0, 19);
    say($("clock"), zonedTime(now));
    mark($("clock"), "datetime", `${utc}Z`);
    mark($("clock"), "title", `${utc.replace("T", " ")} UTC`);
  }
  say($("host"), client.base.host);
  say($("version"), state.gateway?.version ? `· ${state.gateway.version}` : "");
  const notices = [];
  if (link === "gone") {
    notices.push(["bad", "The gateway does not answer", `Since ${clockTime(since)}. All figures are from then; countdowns go on by this page’s estimate. It tries again by itself.`]);
  } else if (link === "locked") {
    notices.push(["warn", client.token ? "The token is not taken" : "This gateway asks for a token", sentence]);
  } else if (link === "refused") {
    notices.push(["warn", "No events at present", `${sentence} This page tries again by itself.`]);
  } else if (client.tokenProblem) {
    notices.push(["warn", "The token is not taken", client.tokenProblem]);
  }
  if (link !== "gone" && state.gateway) {
    if (state.gateway.draining) notices.push(["warn", "The gateway is draining", "It takes no new breaks and no new listeners, and is about to stop."]);
    for (const alarm of state.gateway.alarms ?? []) notices.push(["warn", alarm.title, alarm.sentence]);
  }
  const key = JSON.stringify(notices);
  if (drawLink.key !== key) {
    drawLink.key = key;
    // Only what is new is put in: a screen reader reads what comes, not what was there.
    const kept = new Map([...$("notices").children].map((node) => [node.dataset.key, node]));
    $("notices").replaceChildren(...notices.map(([kind, title, text]) => kept.get(title + text) ?? element("div", { class: `notice ${kind}`, data: { key: title + text } },
      element("strong", {}, title), element("span", {}, text))));
  }
  const title = link === "gone" ? "⚠ gone" : notices.length ? `⚠ ${notices[0][1]}` : "";
  document.title = [title, ...viewWords(), "Cuecast"].filter(Boolean).join(" · ");
  say($("token"), client.token ? `Token of ${client.claims?.subject || "an unnamed subject"}` : "Enter a token");
}

onDraw(drawLink);

// MARK: What the gateway tells

/// The streams whose counts this connection has told: they hold until others come.
const told = new Set();

/// Takes the counts of a stream as those of this moment into the course of its break.
function followCourse(counts) {
  if (!counts.break) return;
  const line = state.lines.find((each) => each.stream === counts.stream);
  const goesOn = counts.stream === state.chosen ? isOpen(state.breaks.get(counts.break) ?? {})
    : [line?.running, line?.next].some((each) => each?.break === counts.break);
  courseOf(`${counts.stream}/${counts.break}`).push(client.now(), counts.funnel ?? {}, goesOn);
}

client.addEventListener("token", draw);
client.addEventListener("link", () => {
  announce({ live: "Connected to the gateway", gone: "", locked: "", refused: "", connecting: "" }[client.link.state] ?? "");
  draw();
});

// Whatever happened before is loaded anew: events tell only what comes.
client.addEventListener("opened", () => {
  told.clear();
  loadAll();
});
client.addEventListener("resync", loadAll);

const offer = new Part(async () => {
  const { operations } = await client.get("v1");
  return () => { state.operations = actions.operations = operations ?? {}; };
});

function loadAll() {
  loadStreams();
  loadDetail();
  loadPast();
  loadSignals();
  loadPins();
  loadHistory();
  offer.load();
}

client.addEventListener("gateway", ({ detail }) => {
  const before = state.gateway;
  state.gateway = detail;
  if (!before || before.streams !== detail.streams) reloadStreams();
  // Counts that did not change are not told again: they are the same as of now.
  for (const stream of told) followCourse(state.counts.get(stream));
  draw();
});

client.addEventListener("counts", ({ detail }) => {
  const before = state.counts.get(detail.stream);
  state.counts.set(detail.stream, detail);
  told.add(detail.stream);
  followCourse(detail);
  if (detail.stream === state.chosen && JSON.stringify(before?.funnel) !== JSON.stringify(detail.funnel)) {
    drawPast();
    reloadCounts();
  }
  draw();
});

client.addEventListener("break", ({ detail }) => {
  reloadLineSoon(detail.stream);
  reloadPinSoon(detail.stream);
  if (detail.stream === state.chosen) {
    const known = state.breaks.get(detail.break);
    if (known && known.revision > detail.revision) return;
    if (known?.state !== detail.state) {
      const told = { live: "is on air", complete: "is over", cancelled: "was cancelled", cued: "is cued", announced: "is announced", expired: "has expired" }[detail.state];
      if (told) announce(`Break ${detail.break} ${told}`);
    }
    state.heard += 1;
    state.breaks.set(detail.break, { ...detail, heard: state.heard });
    reloadPast();
    reloadSignals();
  }
  draw();
});

// MARK: The tick: once in each second of the gateway's clock

let due = new Set();
function tick() {
  const now = client.now();
  // What has started or ended by the clock is asked for anew, once.
  for (const line of state.lines) {
    for (const [each, instant] of [[line.running, endOf(line.running)], [line.next, startOf(line.next)]]) {
      const key = each && `${line.stream}/${each.break}/${each.revision}/${instant}`;
      if (!each || instant === null || instant > now - 300 || due.has(key)) continue;
      due.add(key);
      reloadLineSoon(line.stream);
      if (line.stream === state.chosen) {
        reloadDetail();
        reloadPast();
      }
    }
  }
  if (due.size > 1_000) due = new Set();
  reloadUnsettled();
  draw();
  setTimeout(tick, 1_000 - client.now() % 1_000);
}

if (!showFirst()) loadStreams().finally(() => { if (!state.isLoaded) client.reopen(); });
drawPast();
tick();
