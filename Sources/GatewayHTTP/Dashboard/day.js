// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The day of a stream: its breaks on a timeline and in a table, and the findings for a planner, in words.

import { addressOf, isDay } from "./address.js";
import { UNSETTLED_MS } from "./history.js";
import { $, Part, STATE_WORDS, client, disable, draw, later, onDraw, state, stateNow } from "./model.js";
import { FINDING_WORDS, boundsOf, dayOf, filledPart, hoursOf, look, rowOf, stateOfBooks } from "./planning.js";
import { clockTime, count, element, mark, minuteTime, say, showIn, span, tableOf } from "./plots.js";

/// A day shows so many breaks at most: those that were published last.
const DAY_BREAKS_MAX = 1_000;
/// So many breaks are asked for at a time, and so many times at most: a page of older breaks may have few of the day.
const BREAKS_PER_QUESTION = 500;
const QUESTIONS_MAX = 6;
/// The longest break: one that started before midnight may go on.
const BREAK_MAX_MS = 21_600_000;
const TABLE_ROWS_MAX = 100;
const FINDINGS_SHOWN_MAX = 12;
/// The parts of an hour: a shorter break has its name behind it, if there is so much room.
const SHORT_PART = 0.12;
const ROOM_PART_MIN = 0.06;
/// How long changes gather before the day is loaded anew.
const RELOAD_MS = 2_000;

const dayFormat = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });

/// The loaded data: the breaks of a stream and a day as the ledger has them.
let known = null;
let wanted = "";
let asked = 0;
/// The page of the table; nothing: the one with this moment.
let page = null;

function shownDay() { return state.day || dayOf(client.now()); }

const part = new Part(async () => {
  const stream = state.chosen, day = shownDay();
  if (!stream || state.view !== "day") return null;
  asked = performance.now();
  const [from, to] = boundsOf(day);
  const found = [];
  let before;
  for (let question = 0; question < QUESTIONS_MAX && found.length < DAY_BREAKS_MAX; question += 1) {
    const answer = await client.get("v1/reports", {
      stream, before, limit: BREAKS_PER_QUESTION, from: new Date(from - BREAK_MAX_MS).toISOString(), to: new Date(to).toISOString(),
    });
    found.push(...answer.breaks);
    before = answer.before;
    if (before === undefined) break;
  }
  if (stream !== state.chosen || day !== shownDay()) return null;
  return () => { known = { stream, day, breaks: found.slice(0, DAY_BREAKS_MAX), isCut: before !== undefined || found.length > DAY_BREAKS_MAX }; };
});

const reload = later(() => part.load(), RELOAD_MS);
for (const name of ["opened", "resync"]) client.addEventListener(name, () => part.load());
client.addEventListener("break", ({ detail }) => { if (detail.stream === state.chosen) reload(); });

/// Whether counts of the loaded day may still change: no event tells.
function isUnsettled(now) { return known?.breaks.some((books) => !books.settled && ["live", "complete"].includes(stateOfBooks(books, now))); }

/// The breaks of the day, and those without a place in it.
function rowsNow(now) {
  const [from, to] = boundsOf(shownDay());
  const isToday = from <= now && now < to;
  // The ledger may have an older break of the same name: the board's is the newest one, which comes first.
  const seen = new Set();
  const all = known.breaks.map((books) => {
    const live = seen.has(books.break) ? undefined : state.breaks.get(books.break);
    seen.add(books.break);
    return rowOf(books, live, live ? stateNow(live, now) : stateOfBooks(books, now));
  });
  for (const [name, live] of state.breaks) if (!seen.has(name)) all.push(rowOf(undefined, live, stateNow(live, now)));
  const placed = look(all.filter((row) => row.start !== null)).filter((row) => row.start < to && (row.end ?? row.start) >= from && (row.start >= from || row.end > from));
  const held = isToday ? all.filter((row) => row.start === null && row.state === "cued") : [];
  return { from, to, isToday, placed, held };
}

function drawDay() {
  if (state.view !== "day") {
    // It is loaded anew when it is looked at again.
    wanted = "";
    return;
  }
  const now = client.now(), day = shownDay();
  const question = `${state.chosen} ${day}`;
  if (question !== wanted) {
    wanted = question;
    page = null;
    part.load();
  } else if (performance.now() - asked > UNSETTLED_MS && client.link.state === "live" && !document.hidden && isUnsettled(now)) {
    part.load();
  }
  say($("day-title"), state.chosen ? `${state.chosen}, ${dayFormat.format(boundsOf(day)[0])}` : "No stream chosen");
  if ($("day-date").value !== day && document.activeElement !== $("day-date")) $("day-date").value = day;
  mark($("day-today"), "aria-pressed", String(day === dayOf(now)));
  const isThere = known?.stream === state.chosen && known.day === day;
  for (const name of ["day-plan", "day-key", "day-findings", "day-table"]) $(name).hidden = !isThere;
  say($("day-about"), isThere ? "" : state.chosen ? "Loading" : "Choose a stream to see its day.");
  if (!isThere) return;
  const plan = rowsNow(now);
  drawKey(plan);
  drawPlan(plan, now);
  drawFindings(plan);
  drawTable(plan, now);
  const about = [`${count(plan.placed.length)} ${plan.placed.length === 1 ? "break" : "breaks"}`];
  const findings = plan.placed.reduce((sum, row) => sum + row.findings.length, 0);
  if (findings) about.push(`${count(findings)} to look at`);
  say($("day-about"), about.join(" · "));
  say($("day-cut"), known.isCut ? `This day has more breaks than the ${count(DAY_BREAKS_MAX)} that a day shows: earlier published ones are missing.` : "");
}

// MARK: How many are in which state

function drawKey({ placed, held }) {
  const numbers = new Map();
  for (const row of [...placed, ...held]) numbers.set(row.state, (numbers.get(row.state) ?? 0) + 1);
  const shown = Object.keys(STATE_WORDS).filter((each) => numbers.has(each)).map((each) => [each, numbers.get(each)]);
  showIn($("day-key"), JSON.stringify(shown), () => shown.map(([each, number]) =>
    element("li", {}, element("span", { class: "plan-key", data: { state: each } }), `${STATE_WORDS[each]} ${count(number)}`)));
}

// MARK: The timeline, a line for each hour: the table says the same to screen readers

let nowMark = null;
let drawnHours = [];
function drawPlan({ from, to, placed }, now) {
  const lines = hoursOf([from, to], placed, now);
  const key = JSON.stringify(lines.map((line) => [line.from, line.to, line.isEmpty, line.pieces.map(({ row, ...piece }) =>
    [piece, row.name, row.state, filledPart(row), row.findings])]));
  showIn($("day-plan"), state.chosen + key, () => {
    nowMark = element("div", { class: "plan-now" });
    drawnHours = lines.map((line) => ({ ...line, lane: element("div", { class: "plan-lane" }, line.pieces.map(blockOf), line.isEmpty ? element("span", { class: "plan-empty" }, `no break until ${minuteTime(line.to)}`) : "") }));
    return [
      element("div", { class: "plan-scale" }, element("span", {}), element("div", {}, [":00", ":15", ":30", ":45"].map((word) => element("span", {}, word)))),
      ...drawnHours.map((line) => element("div", { class: line.isEmpty ? "plan-line is-empty" : "plan-line" }, element("span", { class: "plan-hour" }, minuteTime(line.from)), line.lane)),
    ];
  });
  const line = drawnHours.find((each) => !each.isEmpty && each.from <= now && now < each.to);
  if (!line) return nowMark.remove();
  if (nowMark.parentElement !== line.lane) line.lane.append(nowMark);
  nowMark.style.left = `${((now - line.from) / (line.to - line.from) * 100).toFixed(2)}%`;
}

/// A break on the line of an hour. The keyboard finds it in the table.
function blockOf({ row, from, to, room, isSecond, goesOn }) {
  const part = filledPart(row);
  const words = [row.name, STATE_WORDS[row.state] ?? row.state, `${clockTime(row.start)} – ${clockTime(row.end)}`, ...row.findings.map((each) => each.sentence)];
  const filled = element("span", { class: "plan-filled" });
  filled.style.width = `${(part ?? 1) * 100}%`;
  const name = element("span", { class: "plan-name" }, `${row.findings.length ? "⚠ " : ""}${goesOn ? "… " : ""}${row.name}`);
  // A name that would not fit into its break stands behind it, up to the next one.
  const isBehind = to - from < SHORT_PART && room - to > ROOM_PART_MIN;
  if (isBehind && to > from) name.style.width = `${(room - to) / (to - from) * 100}%`;
  const block = element("a", {
    class: ["plan-block", isSecond && "is-second", isBehind && "is-short"].filter(Boolean).join(" "), href: addressOf({ view: "break", stream: state.chosen, pageBreak: row.name }), tabindex: "-1", title: words.join("\n"),
    data: { state: row.state, ...(row.findings.length ? { finding: row.findings[0].kind } : {}) },
  }, filled, name);
  block.style.left = `${from * 100}%`;
  block.style.width = `${(to - from) * 100}%`;
  return block;
}

// MARK: Findings

function breakLink(name, key) {
  return element("a", { class: "name", href: addressOf({ view: "break", stream: state.chosen, pageBreak: name }), data: { key } }, name);
}

function drawFindings({ placed }) {
  const found = placed.flatMap((row) => row.findings.map((each) => ({ ...each, name: row.name, start: row.start })));
  showIn($("day-findings"), JSON.stringify([state.chosen, found]), () => {
    if (!placed.length) return [];
    const head = element("h3", {}, "To look at");
    if (!found.length) return [head, element("p", { class: "note" }, "Nothing: no break overlaps or comes close to another one, and all have ads for all of their time.")];
    const more = found.length - FINDINGS_SHOWN_MAX;
    return [head, element("ul", { class: "findings" }, found.slice(0, FINDINGS_SHOWN_MAX).map((each, place) => element("li", {},
      element("span", { class: "badge", data: { state: "warn" } }, FINDING_WORDS[each.kind]), " ", `${clockTime(each.start)} `, breakLink(each.name, `finding ${place} ${each.name}`), `: ${each.sentence}`))),
    more > 0 ? element("p", { class: "note" }, `and ${count(more)} more, in the table`) : ""];
  });
}

// MARK: The table

const COLUMNS = [["Start"], ["Break"], ["State"], ["Lasts", "number"], ["Ads for", "number"], ["Gap", "number"], ["Played", "number"], ["To look at"]];

function drawTable({ placed, held, isToday }, now) {
  const pages = Math.max(1, Math.ceil(placed.length / TABLE_ROWS_MAX));
  const present = isToday ? placed.findIndex((row) => (row.end ?? row.start) > now) : 0;
  const shown = Math.min(pages - 1, page ?? Math.floor((present < 0 ? placed.length - 1 : present) / TABLE_ROWS_MAX));
  const rows = placed.slice(Math.max(0, shown) * TABLE_ROWS_MAX, (Math.max(0, shown) + 1) * TABLE_ROWS_MAX);
  showIn($("day-table"), JSON.stringify([state.chosen, known.day, shown, pages, rows, held]), () => {
    if (!placed.length && !held.length) {
      return [element("p", { class: "empty" }, isToday || known.day > dayOf(now) ? "No break yet. The gateway takes a break only some hours ahead (breaks.startAheadMax): a schedule may have later ones." : "No break started on this day.")];
    }
    return [element("h3", {}, "Breaks of the day"),
      tableOf(`Breaks of ${state.chosen} on ${dayFormat.format(boundsOf(known.day)[0])}, in the order of their starts`, COLUMNS, [...rows, ...held].map(tableRow)),
      pages > 1 ? pager(Math.max(0, shown), pages) : ""];
  });
}

function tableRow(row) {
  const cell = (label, kind, ...children) => element("td", { role: "cell", class: kind, data: { label } }, ...children);
  const others = (row.fills ?? []).slice(1);
  return element("tr", { role: "row", data: { break: row.name } },
    cell("start", "", row.start === null ? "when it is punched" : clockTime(row.start)),
    element("th", { scope: "row", role: "rowheader" }, breakLink(row.name, `row ${row.name}`)),
    cell("state", "", element("span", { class: "badge", data: { state: row.state } }, STATE_WORDS[row.state] ?? row.state)),
    cell("lasts", "number", row.lasts === null ? "until it is ended" : span(row.lasts)),
    cell("ads for", "number", element("span", {}, row.fills ? span(row.fills[0]?.milliseconds ?? 0) : row.ads === null ? "–" : `${count(row.ads)} ${row.ads === 1 ? "ad" : "ads"}`,
      others.length ? element("span", { class: "note" }, ` and ${count(others.length)} ${others.length === 1 ? "variant" : "variants"}`) : "")),
    cell("gap", "number", row.gap === null || row.gap === undefined ? "–" : row.gap < 0 ? "none" : span(row.gap)),
    cell("played", "number", row.total?.delivered ? `${count(row.total.played)} of ${count(row.total.delivered)}` : "–"),
    cell("to look at", "", element("span", {}, (row.findings ?? []).flatMap((each, place) => [place ? " " : "", element("strong", {}, FINDING_WORDS[each.kind]), `: ${each.sentence}`]))));
}

function pager(shown, pages) {
  const go = (to) => () => { if (to >= 0 && to < pages) { page = to; draw(); } };
  const before = element("button", { type: "button", class: "quiet", data: { key: "earlier" }, on: { click: go(shown - 1) } }, "Earlier");
  const after = element("button", { type: "button", class: "quiet", data: { key: "later" }, on: { click: go(shown + 1) } }, "Later");
  disable(before, shown === 0);
  disable(after, shown === pages - 1);
  return element("nav", { class: "pager", "aria-label": "Pages of breaks of the day" }, before, element("span", {}, `page ${shown + 1} of ${pages}`), after);
}

// MARK: The choice of the day

/// Goes to a day; today has an address without a date.
function goTo(day) {
  location.hash = addressOf({ view: "day", stream: state.chosen, day: day === dayOf(client.now()) ? "" : day });
}
$("day-before").addEventListener("click", () => goTo(dayOf(boundsOf(shownDay())[0], -1)));
$("day-after").addEventListener("click", () => goTo(dayOf(boundsOf(shownDay())[0], 1)));
$("day-today").addEventListener("click", () => goTo(dayOf(client.now())));
$("day-date").addEventListener("change", () => { if (isDay($("day-date").value)) goTo($("day-date").value); });

onDraw(drawDay);
