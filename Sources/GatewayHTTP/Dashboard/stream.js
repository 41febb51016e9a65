// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The chosen stream: its breaks with countdowns and buttons, and what listeners do.

import { Actions } from "./actions.js";
import { addressOf } from "./address.js";
import { Refused } from "./client.js";
import { loadPast } from "./history.js";
import { $, Part, STATE_WORDS, announce, client, draw, endOf, isOpen, later, onDraw, startOf, state, stateNow, tell, titleOfView, watch } from "./model.js";
import { Bar, Course, count, element, left, mark, moment, say, share, span } from "./plots.js";
import { loadSignals } from "./signals.js";

/// Courses of breaks that are kept, so that going back to a stream shows what was seen of it.
const COURSES_MAX = 24;
/// The steps: listeners first, then ads, of which each listener may get several. The last member says what a share is of.
const FUNNEL = [
  ["notified", "Notified", "listeners", ""], ["asked", "Asked", "listeners", "notified"],
  ["delivered", "Delivered", "ads", ""], ["played", "Played", "ads", "delivered"], ["ignored", "Ignored", "ads", "delivered"],
  ["failed", "Failed", "ads", "delivered"], ["unknown", "Unknown", "ads", "delivered"],
];

export const actions = new Actions(client, $("dialog"), tell, titleOfView);

/// Chooses a stream in the view that is shown; the page of a break gives way to what its stream does now.
export function choose(stream, byHand) {
  if (byHand && state.view === "break") state.view = "now";
  if (stream === state.chosen && state.breaks.size) {
    showAddress();
    draw();
    if (byHand) showDetail();
    return;
  }
  state.chosen = stream;
  state.breaks = new Map();
  state.books = null;
  state.booksBefore = [];
  state.audit = null;
  state.auditBefore = [];
  state.signals = null;
  state.openBreak = "";
  showAddress();
  watch();
  loadDetail();
  loadPast();
  loadSignals();
  draw();
  if (byHand) {
    announce(`Stream ${stream}`);
    showDetail();
  }
}

/// Writes the address of what is shown.
function showAddress() {
  const address = addressOf({ ...state, stream: state.chosen });
  if (location.hash !== address) history.replaceState(null, "", address);
}

/// On a narrow screen the detail stands below the list.
function showDetail() {
  if (!matchMedia("(max-width: 899px)").matches) return;
  const name = state.view === "day" ? "day" : "stream";
  $(name).scrollIntoView({ block: "start" });
  $(`${name}-title`).focus({ preventScroll: true });
}

/// The breaks of the chosen stream that are not over.
const detail = new Part(async () => {
  const stream = state.chosen, heardBefore = state.heard;
  const found = new Map();
  let after;
  do {
    const page = await client.get(`v1/streams/${encodeURIComponent(stream)}/breaks`, { open: "true", after, limit: 100 });
    for (const each of page.breaks) found.set(each.break, each);
    after = page.after;
  } while (after);
  if (stream !== state.chosen) return null;
  return () => {
    for (const [name, each] of state.breaks) {
      // What an event has told since this was asked for is newer, an end too. What was told before may be out of date: events may have been missed.
      if (each.heard > heardBefore && each.revision >= (found.get(name)?.revision ?? 0)) found.set(name, each);
    }
    state.breaks = found;
  };
});

export function loadDetail() { if (state.chosen) detail.load(); }
export const reloadDetail = later(loadDetail, 300);

const cards = new Map();
function drawBreaks() {
  say($("stream-title"), state.chosen || "No stream chosen");
  const counts = state.counts.get(state.chosen);
  const line = state.lines.find((each) => each.stream === state.chosen);
  const listeners = counts?.listeners ?? line?.listeners;
  say($("stream-listeners"), !state.chosen || listeners === undefined ? "" : `${count(listeners)} ${listeners === 1 ? "listener" : "listeners"}`);
  $("publish").hidden = !state.chosen || !client.mayPublish(state.chosen);
  const now = client.now();
  const open = [...state.breaks.values()].filter((each) => isOpen(each) && stateNow(each, now) !== "complete");
  const order = { live: 0, cued: 1, announced: 2, scheduled: 3 };
  open.sort((one, other) => (order[stateNow(one, now)] - order[stateNow(other, now)])
    || ((startOf(one) ?? 0) - (startOf(other) ?? 0)) || one.break.localeCompare(other.break));
  const box = $("breaks");
  const focused = box.contains(document.activeElement) ? document.activeElement : null;
  const wanted = [];
  for (const each of open) {
    const key = `${each.stream}/${each.break}`;
    let card = cards.get(key);
    if (!card) cards.set(key, card = makeCard());
    drawCard(card, each, now);
    wanted.push(card.node);
  }
  for (const key of cards.keys()) if (!open.some((each) => `${each.stream}/${each.break}` === key)) cards.delete(key);
  if (!wanted.length) {
    drawBreaks.empty ??= element("p", { class: "empty" });
    say(drawBreaks.empty, state.chosen ? "No break is on air or to come. What was is below." : "Choose a stream to see its breaks.");
    wanted.push(drawBreaks.empty);
  }
  if (wanted.length !== box.children.length || wanted.some((node, place) => box.children[place] !== node)) box.replaceChildren(...wanted);
  if (focused && !box.contains(document.activeElement)) keepFocus(focused);
}

/// Keeps the focus of a keyboard user: on the same link or button if it is still there, else on the stream's name.
function keepFocus(focused) {
  if (focused.isConnected) return focused.focus({ preventScroll: true });
  const label = focused.getAttribute("aria-label");
  const same = [...$("breaks").querySelectorAll("button")].find((each) => each.getAttribute("aria-label") === label);
  (same ?? $("stream-title")).focus({ preventScroll: true });
}

function makeCard() {
  const card = {
    badge: element("span", { class: "badge" }), name: element("a", { class: "name" }), title: element("p", { class: "title", dir: "auto" }),
    time: element("p", { class: "countdown", role: "timer" }), timeNote: element("p", { class: "note" }),
    bar: new Bar("time"), facts: element("p", { class: "facts" }), buttons: element("div", { class: "buttons" }),
  };
  card.node = element("article", { class: "break" },
    element("div", { class: "break-head" }, card.badge, element("h3", {}, card.name)),
    element("div", { class: "break-time" }, card.time, card.timeNote), card.bar.node, card.title, card.facts, card.buttons);
  return card;
}

function drawCard(card, each, now) {
  const current = stateNow(each, now), start = startOf(each), end = endOf(each);
  mark(card.node, "data-state", current);
  mark(card.badge, "data-state", current);
  say(card.badge, STATE_WORDS[current] ?? current);
  say(card.name, each.break);
  mark(card.name, "href", addressOf({ view: "break", stream: each.stream, pageBreak: each.break }));
  mark(card.node, "aria-label", `Break ${each.break}, ${STATE_WORDS[current] ?? current}`);
  const length = each.durationMilliseconds ? span(each.durationMilliseconds) : "no fixed length";
  let time = "", note = "", part = 0;
  if (each.preStream) {
    time = each.holdUntil ? left(Date.parse(each.holdUntil) - now) : "open";
    note = each.holdUntil ? "still open for listeners that join" : "for every listener that joins";
  } else if (current === "live") {
    time = end === null ? span(now - start) : left(end - now);
    note = end === null ? "on air, until it is ended" : "left";
    part = end === null || start === null ? 1 : (now - start) / (end - start);
  } else if (start !== null) {
    time = left(start - now);
    note = `to its start at ${moment(start, now)}`;
  } else {
    time = each.holdUntil ? left(Date.parse(each.holdUntil) - now) : "–";
    note = "held until it is punched";
  }
  say(card.time, time);
  say(card.timeNote, note);
  mark(card.bar.node, "hidden", current === "live" && !each.preStream ? null : "");
  card.bar.show(part);
  say(card.title, each.firstAdTitle || "");
  say(card.facts, [`${count(each.ads)} ${each.ads === 1 ? "ad" : "ads"}`, length, each.preStream && "pre-stream", each.exact && "exact",
    each.broadcaster && `by ${each.broadcaster}`, signalled(each), `revision ${each.revision}`].filter(Boolean).join(" · "));
  const may = client.mayPublish(each.stream) ? actions.allowed(each, current) : [];
  const key = may.map(([name]) => name).join();
  card.current = each;
  if (card.key !== key) {
    card.key = key;
    card.buttons.replaceChildren(...may.map(([name, word, kind]) => element("button", {
      type: "button", class: kind, "aria-label": `${word}: ${each.break}`,
      on: { click: () => actions.open(name, card.current, () => listenersOf(each.stream)) },
    }, word)));
  }
}

/// Which sources made a break: the one that goes first stands first.
function signalled(each) {
  const sources = new Set((each.signals || []).filter(signal => !signal.cancelled).map(signal => signal.source));
  return sources.size > 0 && `signalled by ${[...sources].join(", ")}`;
}

/// How many listeners a change of a stream reaches now; asked anew, because the page may not count that stream.
export async function listenersOf(stream) {
  try {
    return (await client.get(`v1/streams/${encodeURIComponent(stream)}`)).listeners;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return 0;
    throw error;
  }
}

$("publish").addEventListener("click", () => actions.publish(state.chosen, listenersOf));
$("token").addEventListener("click", () => actions.askForToken());

// MARK: The funnel

const funnelRows = FUNNEL.map(([name, word, unit, whole]) => {
  const row = { name, unit, whole, bar: new Bar(name), number: element("td", { class: "number", role: "cell" }, "0"), share: element("td", { class: "number share", role: "cell" }) };
  row.node = element("tr", { class: `row-${name}`, role: "row" }, element("th", { scope: "row", role: "rowheader" }, word, " ", whole && name !== "asked" ? "" : element("span", { class: "note" }, unit)),
    element("td", { class: "bar-cell", role: "cell" }, row.bar.node), row.number, row.share);
  $("funnel-rows").append(row.node);
  return row;
});

export function courseOf(key) {
  let course = state.courses.get(key);
  if (!course) {
    state.courses.set(key, course = new Course());
    if (state.courses.size > COURSES_MAX) state.courses.delete(state.courses.keys().next().value);
  }
  return course;
}

/// A break that ended so recently is of more interest than one that is cued, which listeners only hold.
const ENDED_RECENTLY_MS = 300_000;
/// A break that starts later than this, and was not announced, has no timeline yet.
const FAR_AHEAD_MS = 600_000;

/// The break that is shown: the one that was opened in the books, else one that has just ended, else the one that is counted.
function shownBreak() {
  const counts = state.counts.get(state.chosen);
  const books = state.books?.breaks?.length === undefined ? [] : state.books.breaks;
  const now = client.now();
  let found = books.find((each) => each.break === state.openBreak);
  const isOpened = found !== undefined;
  if (!isOpened && counts?.break && state.breaks.get(counts.break)?.state === "cued") {
    found = books.find((each) => !each.cancelled && !each.expired && endOf(each) !== null && endOf(each) <= now && now - endOf(each) < ENDED_RECENTLY_MS);
  }
  const name = found?.break ?? counts?.break;
  if (!name) return null;
  const isCounted = name === counts?.break;
  const { delivered, played, ignored, failed, unknown } = found?.total ?? {};
  return {
    name, isCounted, isOpened, about: state.breaks.get(name) ?? books.find((each) => each.break === name),
    // Who was notified is not in the books.
    funnel: isCounted ? counts.funnel ?? {} : { asked: found.sessions, delivered, played, ignored, failed, unknown },
  };
}

function drawFunnel() {
  const shown = shownBreak();
  const funnel = shown?.funnel;
  const most = { listeners: Math.max(1, funnel?.notified ?? 0, funnel?.asked ?? 0), ads: Math.max(1, funnel?.delivered ?? 0) };
  for (const row of funnelRows) {
    const value = funnel?.[row.name];
    say(row.number, funnel ? count(value ?? NaN) : "–");
    row.bar.show(funnel ? (value ?? 0) / most[row.unit] : 0);
    say(row.share, funnel && row.whole ? share(value ?? 0, funnel[row.whole]) : "");
  }
  say($("funnel-about"), !state.chosen ? "" : shown ? `break ${shown.name}${shown.isOpened ? ", opened below" : ""}` : "no break yet");
  if (!shown) return showNoCourse("The course of the next break is drawn here while it happens.");
  const key = `${state.chosen}/${shown.name}`;
  // Only what is counted gets a course: a look into the books pushes none out.
  const course = shown.isCounted ? courseOf(key) : state.courses.get(key);
  const isToCome = isOpen(state.breaks.get(shown.name) ?? {});
  if (!course || (course.samples.length < 2 && !isToCome)) {
    return showNoCourse("It was over before anybody looked. The course of the next break is drawn here while it happens.");
  }
  const startMs = startOf(shown.about), now = client.now();
  if (shown.about?.state === "scheduled" && startMs - now > FAR_AHEAD_MS && !funnel.delivered) {
    return showNoCourse("It is drawn from its announcement on.");
  }
  const box = $("course");
  if (box.firstChild !== course.node) box.replaceChildren(course.node);
  course.draw(Math.max(240, box.clientWidth), Math.max(120, box.clientHeight), now, { startMs, endMs: endOf(shown.about) });
  say($("course-caption"), `Outcomes of ads since ${course.isWhole ? "the break was announced" : "this page saw it first"}; ${
    startMs === null ? "it has no start yet." : "the shaded time is when it is on air."}`);
}

/// A sentence in the place of the course.
function showNoCourse(sentence) {
  drawFunnel.empty ??= element("p", { class: "empty" });
  say(drawFunnel.empty, sentence);
  if ($("course").firstChild !== drawFunnel.empty) $("course").replaceChildren(drawFunnel.empty);
  say($("course-caption"), "");
}
addEventListener("resize", draw);

onDraw(drawBreaks);
onDraw(drawFunnel);
