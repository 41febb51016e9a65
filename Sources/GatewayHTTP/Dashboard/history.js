// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The history: breaks and their books, and the requested changes.

import { $, Part, STATE_WORDS, client, disable, draw, endOf, later, state } from "./model.js";
import { OUTCOMES, count, element, mark, moment, showIn, span } from "./plots.js";

const HISTORY_PER_PAGE = 8;
const AUDIT_PER_PAGE = 12;
/// How often it is looked whether books are settled.
const UNSETTLED_MS = 60_000;

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
  loadPast();
}

/// Loads the page of history that is in view.
export function loadPast() {
  if (!state.chosen) return drawPast();
  parts[state.tab].load();
}

/// A part of the history, by the name of its tab: where it is, and how many lines a page of it has.
function partOf(name, path, limit) {
  return new Part(async () => {
    const { chosen } = state, before = state[`${name}Before`].at(-1);
    const page = await client.get(path, { stream: chosen, before, limit });
    if (chosen !== state.chosen || before !== state[`${name}Before`].at(-1)) return null;
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
  if (performance.now() - unsettledAsked < UNSETTLED_MS || state.tab !== "books") return;
  if (!state.books?.breaks.some((each) => !each.settled && endOf(each) !== null && endOf(each) <= now)) return;
  unsettledAsked = performance.now();
  loadPast();
}
function reloadNewest() { if (state.booksBefore.length === 0 && state.auditBefore.length === 0) loadPast(); }
/// Soon after a break has changed; not so soon while outcomes come in: what is counted each second is shown without asking.
export const reloadPast = later(reloadNewest, 500);
export const reloadCounts = later(reloadNewest, 5_000);

/// The totals of a break: those of the last second where it is the one that is counted.
function totalOf(each) {
  const counts = state.counts.get(state.chosen);
  return counts?.break === each.break && counts.funnel ? { ...each.total, ...counts.funnel } : each.total;
}

export function drawPast() {
  const books = $("books"), audit = $("audit");
  showIn(books, JSON.stringify([state.chosen, state.books?.breaks, state.books?.breaks.map(totalOf), state.books?.before, state.openBreak]), () => {
    if (!state.books?.breaks.length) {
      return [element("p", { class: "empty" }, !state.chosen ? "Choose a stream to see its books." : state.books ? "No break has been published on this stream yet." : "Loading")];
    }
    return [booksTable(), pager("breaks", state.booksBefore, state.books.before)];
  });
  showIn(audit, JSON.stringify([state.chosen, state.audit?.entries, state.audit?.before]), () => {
    if (!state.audit?.entries.length) {
      return [element("p", { class: "empty" }, !state.chosen ? "Choose a stream to see who changed what." : state.audit ? "This stream’s breaks have no requested changes yet." : "Loading")];
    }
    return [auditTable(), pager("lines", state.auditBefore, state.audit.before)];
  });
}

/// The books of a break in a word: the state for its badge, the word, and what it means.
function verdictOf(each, fate) {
  if (fate) return [fate, STATE_WORDS[fate]];
  if (!each.balanced) return ["unbalanced", "Not balanced"];
  return each.settled ? ["balanced", "Balanced", "what is unknown stays unknown"] : ["open", "Not settled", "outcomes may still come"];
}

function booksTable() {
  const now = client.now();
  const body = element("tbody");
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
    body.append(element("tr", {}, element("th", { scope: "row" }, button, badge("when-narrow")),
      element("td", {}, each.start ? moment(Date.parse(each.start), now) : fate || "not started"),
      ...["delivered", ...OUTCOMES].map((kind) => element("td", { class: "number" }, count(totalOf(each)[kind]))),
      element("td", { class: "when-wide" }, badge(""))));
    if (isShown) {
      for (const ad of each.ads) {
        body.append(element("tr", { class: "ad" }, element("th", { scope: "row" }, element("bdi", {}, ad.title || ad.id), element("span", { class: "note" }, " ", element("bdi", {}, ad.id))),
          element("td", {}, span(ad.durationMilliseconds)),
          ...["delivered", ...OUTCOMES].map((kind) => element("td", { class: "number" }, count(ad.counts[kind]))),
          element("td", { class: "when-wide" }, ad.counts.balanced ? "" : "Not balanced")));
      }
      const facts = [
        `${count(each.sessions)} ${each.sessions === 1 ? "session" : "sessions"}`, each.broadcaster && `published by ${each.broadcaster}`,
        each.total.clicked && `${count(each.total.clicked)} clicked`, each.total.repeats && `${count(each.total.repeats)} repeats`,
        each.total.contradictions && `${count(each.total.contradictions)} contradictions`,
        ...Object.entries(each.total.ignoredBy).map(([reason, number]) => `ignored ${reason}: ${count(number)}`),
        each.settled ? "settled" : "outcomes may still come", !each.complete && each.missing,
      ].filter(Boolean).join(" · ");
      body.append(element("tr", { class: "ad" }, element("td", { colspan: 8, class: "note" }, facts)));
    }
  }
  return element("div", { class: "table-box" }, element("table", { class: "rows" },
    element("caption", { class: "hidden-text" }, `Breaks of ${state.chosen}, the newest first`),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Break"), element("th", { scope: "col" }, "Start"),
      ...["Delivered", "Played", "Ignored", "Failed", "Unknown"].map((word) => element("th", { scope: "col", class: "number" }, word)),
      element("th", { scope: "col", class: "when-wide" }, "Books"))), body));
}

function auditTable() {
  const now = client.now();
  return element("div", { class: "table-box" }, element("table", { class: "rows" },
    element("caption", { class: "hidden-text" }, `Who asked for which change of ${state.chosen}, the newest first`),
    element("thead", {}, element("tr", {}, ...["When", "Who", "From", "Asked for", "Break", "Outcome"].map((word) => element("th", { scope: "col" }, word)))),
    element("tbody", {}, ...state.audit.entries.map((each) => element("tr", {},
      element("td", {}, moment(Date.parse(each.at), now)), element("td", {}, each.by ?? "–"),
      element("td", {}, each.entrance, each.address ? element("span", { class: "note" }, ` ${each.address}`) : ""),
      element("td", {}, each.action), element("td", {}, each.break ?? "–"),
      element("td", {}, element("span", { class: "badge", "data-state": each.outcome }, each.outcome),
        element("span", { class: "note" }, each.outcome === "refused" ? ` ${[each.code, each.sentence].filter(Boolean).join(": ")}` : each.revision ? ` revision ${each.revision}` : "")))))));
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
