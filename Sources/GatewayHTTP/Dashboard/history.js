// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The history: breaks and their books, and the requested changes.

import { addressOf } from "./address.js";
import { Refused } from "./client.js";
import { $, Part, STATE_WORDS, announce, client, complain, disable, draw, endOf, later, onDraw, state } from "./model.js";
import { boundsOf } from "./planning.js";
import { OUTCOMES, count, element, mark, minuteTime, moment, say, showIn, span, tableOf } from "./plots.js";

const HISTORY_PER_PAGE = 8;
const AUDIT_PER_PAGE = 12;
/// How often it is looked whether books are settled.
export const UNSETTLED_MS = 60_000;
/// After so long the counts of a break that is over are final.
export const SETTLES_AFTER_MS = 600_000;
/// The most pages of one file: 500 breaks on each.
const CSV_PAGES_MAX = 100;
const CSV_PAGE = 500;

for (const name of ["books", "audit"]) {
  const tab = $(`tab-${name}`);
  tab.addEventListener("click", () => showTab(name));
  tab.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const other = name === "books" ? "audit" : "books";
    showTab(other);
    $(`tab-${other}`).focus();
  });
}

function showTab(name) {
  state.tab = name;
  for (const each of ["books", "audit"]) {
    mark($(`tab-${each}`), "aria-selected", String(each === name));
    mark($(`tab-${each}`), "tabindex", each === name ? null : "-1");
    $(each).hidden = each !== name;
  }
  // The audit knows no ads, and has no table of its own to download.
  for (const each of ["past-ad-field", "past-tools"]) $(each).hidden = name === "audit";
  loadPast();
}

// MARK: Search

/// One of the two bounds of a day; nothing where no day is said.
function boundAt(day, place) { return day ? new Date(boundsOf(day)[place]).toISOString() : undefined; }

/// The search, as parameters of a request. The last day is part of it.
function searched(withAd = true) {
  const { break: name, ad, from, until } = state.filter;
  return { break: name, ...(withAd ? { ad } : {}), from: boundAt(from, 0), to: boundAt(until, 1) };
}
export function isSearching() { return Object.values(state.filter).some(Boolean); }

function search() {
  const [from, until] = [$("past-from").value, $("past-until").value];
  const isTurned = from && until && until < from;
  $("past-until").setCustomValidity(isTurned ? "The last day is before the first." : "");
  say($("past-problem"), isTurned ? "The last day is before the first." : $("past-break").checkValidity() ? "" : "A break has letters, digits, dots, lines and hyphens.");
  if (!$("past-search").checkValidity()) return;
  state.filter = { break: $("past-break").value.trim(), ad: $("past-ad").value.trim(), from, until };
  startAgain();
}

/// The newest page of what is searched for now.
function startAgain() {
  state.booksBefore = [];
  state.auditBefore = [];
  state.books = null;
  state.audit = null;
  state.openBreak = "";
  drawPast();
  loadPast();
}

$("past-search").addEventListener("input", later(search, 300));
$("past-search").addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
$("past-by-ad").addEventListener("click", () => {
  state.isByAd = !state.isByAd;
  mark($("past-by-ad"), "aria-pressed", String(state.isByAd));
  announce(state.isByAd ? "Totals by ad" : "Breaks one by one");
  startAgain();
});
$("past-csv").addEventListener("click", async () => {
  if (!state.chosen || $("past-csv").getAttribute("aria-disabled")) return;
  disable($("past-csv"), true);
  try {
    await download();
  } catch (error) {
    complain(error);
    say($("past-problem"), error.message);
  }
  disable($("past-csv"), false);
});

/// Saves all that is searched for as one table.
async function download() {
  const { chosen, isByAd } = state;
  const parts = [];
  let path = isByAd ? "v1/reports/ads" : "v1/reports";
  let query = { stream: chosen, ...searched(), ...(isByAd ? {} : { limit: CSV_PAGE }) };
  for (let page = 0; path && page < CSV_PAGES_MAX; page += 1) {
    const { text, next } = await client.ask("GET", path, { query, headers: { Accept: "text/csv" } });
    // Each page begins with the names of the columns.
    parts.push(page ? text.slice(text.indexOf("\n") + 1) : text);
    path = next?.replace(/^\//, "");
    query = {};
  }
  if (path) say($("past-problem"), "The file has the newest breaks only: search for less at a time.");
  // The mark tells spreadsheets that it is UTF-8.
  const address = URL.createObjectURL(new Blob(["\uFEFF", ...parts], { type: "text/csv;charset=utf-8" }));
  element("a", { href: address, download: `cuecast-${chosen}${isByAd ? "-ads" : ""}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  announce("The table is downloaded");
}

// MARK: Pages

/// Whether a reload waits until the history is in view again.
let isDue = false;

/// Loads the page of history that is in view.
export function loadPast() {
  isDue = state.view !== "now";
  if (!state.chosen || isDue) return drawPast();
  parts[state.tab].load();
}
onDraw(() => { if (isDue && state.view === "now") loadPast(); });

/// A part of the history, by the name of its tab: where it is, and how many lines a page of it has.
function partOf(name, path, limit) {
  return new Part(async () => {
    const { chosen, filter, isByAd } = state, before = state[`${name}Before`].at(-1);
    const isAds = name === "books" && isByAd;
    let page;
    try {
      page = await client.get(isAds ? "v1/reports/ads" : path, { stream: chosen, ...searched(name === "books"), before, ...(isAds ? {} : { limit }) });
    } catch (error) {
      if (error instanceof Refused && error.status === 400) say($("past-problem"), error.message);
      throw error;
    }
    if (chosen !== state.chosen || before !== state[`${name}Before`].at(-1) || filter !== state.filter || isByAd !== state.isByAd) return null;
    return () => {
      state[name] = page;
      drawPast();
    };
  });
}
const parts = { books: partOf("books", "v1/reports", HISTORY_PER_PAGE), audit: partOf("audit", "v1/audit", AUDIT_PER_PAGE) };

let unsettledAsked = 0;
/// Looks now and then whether the books of a break that is over are settled: no event tells.
export function reloadUnsettled() {
  const now = client.now();
  if (performance.now() - unsettledAsked < UNSETTLED_MS || state.tab !== "books" || state.view !== "now") return;
  if (state.isByAd || !state.books?.breaks.some((each) => !each.settled && endOf(each) !== null && endOf(each) <= now)) return;
  unsettledAsked = performance.now();
  loadPast();
}
function reloadNewest() { if (state.booksBefore.length === 0 && state.auditBefore.length === 0) loadPast(); }
/// Soon after a break has changed; not so soon while outcomes come in: what is counted each second is shown without asking.
export const reloadPast = later(reloadNewest, 500);
export const reloadCounts = later(reloadNewest, 5_000);

/// The totals of a break: those of the last second where it is the one that is counted.
export function totalOf(each) {
  const counts = state.counts.get(state.chosen);
  return counts?.break === each.break && counts.funnel ? { ...each.total, ...counts.funnel } : each.total;
}

export function drawPast() {
  const books = $("books"), audit = $("audit");
  const list = state.books?.ads ?? state.books?.breaks;
  showIn(books, JSON.stringify([state.chosen, list, state.isByAd ? "" : list?.map(totalOf), state.books?.before, state.openBreak, unsettledLine()]), () => {
    const pages = state.books ? pager("breaks", state.booksBefore, state.books.before) : "";
    if (!list?.length) {
      const none = isSearching() ? "No break of this page fits the search." : "No break has been published on this stream yet.";
      return [element("p", { class: "empty" }, !state.chosen ? "Choose a stream to see its books." : state.books ? none : "Loading"), isSearching() ? pages : ""];
    }
    if (state.books.ads) return [adsTable(), pages];
    return [element("p", { class: "note settles" }, unsettledLine()), booksTable(), pages];
  });
  showIn(audit, JSON.stringify([state.chosen, state.audit?.entries, state.audit?.before]), () => {
    if (!state.audit?.entries.length) {
      return [element("p", { class: "empty" }, !state.chosen ? "Choose a stream to see who changed what." : state.audit ? isSearching() ? "No requested change of this page fits the search." : "This stream’s breaks have no requested changes yet." : "Loading"),
        isSearching() && state.audit ? pager("lines", state.auditBefore, state.audit.before) : ""];
    }
    return [auditTable(), pager("lines", state.auditBefore, state.audit.before)];
  });
}

/// The books of a break in a word: the state for its badge, the word, and what it means.
function verdictOf(each, fate) {
  if (fate) return [fate, STATE_WORDS[fate]];
  if (!each.balanced) return ["unbalanced", "Not balanced"];
  // Of those that are not final one line above the table tells.
  return each.settled ? ["balanced", "Balanced", "what is unknown stays unknown"] : ["open", ""];
}

/// Which counts may still change, and until when: said once for all rows.
function unsettledLine() {
  if (state.isByAd) return "";
  const now = client.now();
  const over = (state.books?.breaks ?? []).filter((each) => !each.settled && !each.cancelled && !each.expired && endOf(each) !== null && endOf(each) <= now);
  if (!over.length) return "";
  const ends = over.map(endOf);
  const who = `Outcomes of ${over.length === 1 ? over[0].break : `${count(over.length)} breaks that are over`} may still come`;
  return `${who}; final at ${minuteTime(Math.max(...ends) + SETTLES_AFTER_MS)}.`;
}

/// The cells of counts, each with the name that stands before it where rows are stacked.
function countCells(counts) {
  return ["delivered", ...OUTCOMES].map((kind) => element("td", { class: "number", role: "cell", data: { label: kind } }, count(counts[kind])));
}

const COUNTED = ["Delivered", "Played", "Ignored", "Failed", "Unknown"].map((word) => [word, "number"]);

/// The totals of each ad over all breaks that are searched for.
function adsTable() {
  const { ads, breaks } = state.books;
  return tableOf(`Ads of ${state.chosen} over ${count(breaks)} breaks, those that were delivered most first`, [["Ad"], ["Breaks", "number"], ...COUNTED],
    ads.map((each) => element("tr", { role: "row" },
      element("th", { scope: "row", role: "rowheader" }, element("bdi", {}, each.title || each.id), element("span", { class: "note" }, " ", element("bdi", {}, each.id))),
      element("td", { class: "number", role: "cell", data: { label: "breaks" } }, count(each.breaks)), ...countCells(each.counts))));
}

function booksTable() {
  const now = client.now();
  const rows = [];
  for (const each of state.books.breaks) {
    const isShown = state.openBreak === each.break;
    const button = element("button", {
      type: "button", class: "name", "aria-expanded": String(isShown), data: { key: `break ${each.break}` },
      on: { click: () => { state.openBreak = isShown ? "" : each.break; drawPast(); draw(); } },
    }, each.break);
    const fate = each.cancelled ? "cancelled" : each.expired ? "expired" : "";
    const [verdict, word, title] = verdictOf(each, fate);
    const badge = (kind) => element("span", { class: `badge ${kind}`, "data-state": verdict, title }, word);
    // On a phone the verdict stands below the name: the last column is far away there.
    rows.push(element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, button, badge("when-narrow")),
      element("td", { role: "cell", data: { label: "start" } }, each.start ? moment(Date.parse(each.start), now) : fate || "not started"),
      ...countCells(totalOf(each)), element("td", { class: "when-wide", role: "cell" }, badge(""))));
    if (isShown) {
      for (const ad of each.ads) {
        rows.push(element("tr", { class: "ad", role: "row" }, element("th", { scope: "row", role: "rowheader" }, element("bdi", {}, ad.title || ad.id), element("span", { class: "note" }, " ", element("bdi", {}, ad.id),
          ad.variantName ? " of the variant " : "", element("bdi", {}, ad.variantName ?? ""))),
          element("td", { role: "cell", data: { label: "lasts" } }, span(ad.durationMilliseconds)),
          ...countCells(ad.counts),
          element("td", { class: "when-wide", role: "cell" }, ad.counts.balanced ? "" : "Not balanced")));
      }
      const facts = [
        `${count(each.sessions)} ${each.sessions === 1 ? "session" : "sessions"}`, each.broadcaster && `published by ${each.broadcaster}`,
        each.total.clicked && `${count(each.total.clicked)} clicked`, each.total.repeats && `${count(each.total.repeats)} repeats`,
        each.total.contradictions && `${count(each.total.contradictions)} contradictions`,
        ...Object.entries(each.total.ignoredBy).map(([reason, number]) => `ignored ${reason}: ${count(number)}`),
        each.settled ? "settled" : "outcomes may still come", !each.complete && each.missing,
      ].filter(Boolean).join(" · ");
      rows.push(element("tr", { class: "ad", role: "row" }, element("td", { colspan: 8, class: "note", role: "cell" }, facts, " · ",
        element("a", { href: addressOf({ view: "break", stream: state.chosen, pageBreak: each.break }), data: { key: `page of ${each.break}` } }, "Page of the break"))));
    }
  }
  return tableOf(`Breaks of ${state.chosen}, the newest first`, [["Break"], ["Start"], ...COUNTED, ["Books", "when-wide"]], rows);
}

function auditTable() {
  const now = client.now();
  const cell = (label, ...children) => element("td", { role: "cell", data: { label } }, ...children);
  return tableOf(`Who asked for which change of ${state.chosen}, the newest first`, [["When"], ["Who"], ["From"], ["Asked for"], ["Break"], ["Outcome"]],
    state.audit.entries.map((each) => element("tr", { role: "row" },
      cell("when", moment(Date.parse(each.at), now)), cell("who", each.by ?? "–"),
      cell("from", each.entrance, each.address ? element("span", { class: "note" }, ` ${each.address}`) : ""),
      cell("asked for", each.action), cell("break", each.break ?? "–"),
      cell("outcome", element("span", { class: "badge", "data-state": each.outcome }, each.outcome),
        element("span", { class: "note" }, each.outcome === "refused" ? ` ${[each.code, each.sentence].filter(Boolean).join(": ")}` : each.revision ? ` revision ${each.revision}` : "")))));
}

/// Older and newer pages of a list that is told newest first.
function pager(what, stack, before) {
  if (before === undefined && stack.length === 0) return "";
  const go = (change) => () => { change(); loadPast(); };
  const newer = element("button", { type: "button", class: "quiet", data: { key: "newer" }, on: { click: go(() => stack.pop()) } }, "Newer");
  const older = element("button", { type: "button", class: "quiet", data: { key: "older" }, on: { click: go(() => { if (before !== undefined) stack.push(before); }) } }, "Older");
  disable(newer, stack.length === 0);
  disable(older, before === undefined);
  return element("nav", { class: "pager", "aria-label": `Pages of ${what}` }, newer, element("span", {}, stack.length ? `page ${stack.length + 1}` : "the newest"), older);
}
