// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The ad lists: their ads, where they are used, and the buttons that put and remove them.

import { addressOf } from "./address.js";
import { Refused } from "./client.js";
import { $, Part, announce, client, onDraw, state } from "./model.js";
import { count, element, moment, say, showIn, span, tableOf } from "./plots.js";
import { actions } from "./stream.js";

/// How often the lists are asked for while they are in view: no event tells of them.
const RELOAD_MS = 10_000;
/// So many breaks with an ad are shown, the newest first.
const BREAKS_WITH_AD_MAX = 10;

/// All lists, and the rules of the cue policy; nothing: not loaded.
let known = null;
/// The rules once they are loaded. They change with the configuration only, and are not asked for every time.
let rules;
/// The chosen list with its ads; nothing: not loaded.
let chosen = null;
/// The parts of the document that was put last that are not in its list.
let leftOut = null;
/// The breaks with an ad that were asked for, by the ad's id.
let uses = new Map();
let wanted = "";
let asked = 0;

/// The rules of the cue policy: the streams of each, and its list.
function rulesOf(text) {
  return text.split(";").map((rule) => rule.trim().split(/\s+/)).filter(([streams]) => streams)
    .map(([streams, ...fields]) => ({ streams, list: fields.find((field) => field.startsWith("list="))?.slice(5) }));
}

const part = new Part(async () => {
  const { list } = state;
  if (state.view !== "lists" || !client.mayPublishEverywhere()) return null;
  asked = performance.now();
  const isPolicyAsked = rules === undefined;
  const [all, configuration, one] = await Promise.all([client.get("v1/lists"), isPolicyAsked ? policy() : rules, list ? oneList(list) : null]);
  if (state.view !== "lists" || list !== state.list) return null;
  return () => {
    if (isPolicyAsked) rules = configuration;
    known = { lists: all.lists, rules: configuration };
    chosen = list ? { name: list, list: one } : null;
  };
});

/// The cue policy; nothing: this token may not read the configuration.
async function policy() {
  try {
    const { settings } = await client.get("v1/configuration");
    return rulesOf(settings.find((each) => each.key === "breaks.cues")?.value ?? "");
  } catch (error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) return null;
    throw error;
  }
}

async function oneList(name) {
  try {
    return await client.get(`v1/lists/${encodeURIComponent(name)}`);
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

function reloadLists() { part.load(); }
for (const name of ["opened", "resync", "token"]) client.addEventListener(name, () => {
  if (name === "token") { known = null; chosen = null; uses = new Map(); }
  rules = undefined;
  part.load();
});

/// The streams whose breaks a list fills, as the cue policy writes them.
function streamsOf(name) { return known.rules?.filter((rule) => rule.list === name).map((rule) => rule.streams) ?? []; }
function useOf(name) {
  if (!known.rules) return "not told to this token";
  const streams = streamsOf(name);
  return streams.length ? streams.join(", ") : "none";
}

function drawLists() {
  if (state.view !== "lists") {
    wanted = "";
    rules = undefined;
    return;
  }
  if (wanted !== `lists ${state.list}`) {
    wanted = `lists ${state.list}`;
    uses = new Map();
    if (leftOut?.name !== state.list) leftOut = null;
    part.load();
  } else if (!document.hidden && client.link.state === "live" && performance.now() - asked > RELOAD_MS) {
    part.load();
  }
  const may = client.mayPublishEverywhere();
  $("lists-put").hidden = !may;
  say($("lists-about"), may && known ? `${count(known.lists.length)} ${known.lists.length === 1 ? "list" : "lists"}` : "");
  const now = client.now();
  showIn($("lists-table"), JSON.stringify([may, known, state.list, client.token ? 1 : 0]), () => {
    if (!may) {
      return [element("p", { class: "empty" }, client.token ? "This token may not see ad lists: they need the scope publish:*." : "Ad lists are for holders of a token with the scope publish:*."),
        client.token ? "" : element("button", { type: "button", class: "primary", data: { key: "token" }, on: { click: () => actions.askForToken() } }, "Enter a token")];
    }
    if (!known) return [element("p", { class: "empty" }, "Loading")];
    if (!known.lists.length) return [element("p", { class: "empty" }, "No ad list yet. The cue policy fills the breaks that signals open from ad lists.")];
    return [listTable(now)];
  });
  drawList(may, now);
}

function cell(label, ...children) { return element("td", { role: "cell", data: { label } }, ...children); }

function listTable(now) {
  return tableOf("Ad lists, in the order of their names", [["List"], ["Ads", "number"], ["Last", "number"], ["Fills breaks of"], ["Changed"], ["By"], ["Revision", "number"]], known.lists.map((each) =>
    element("tr", { role: "row", class: each.name === state.list ? "chosen" : null },
      element("th", { scope: "row", role: "rowheader" }, element("a", { class: "name", href: addressOf({ view: "lists", list: each.name }), data: { key: `list ${each.name}` }, "aria-current": each.name === state.list ? "true" : null }, each.name)),
      element("td", { class: "number", role: "cell", data: { label: "ads" } }, count(each.adCount)), element("td", { class: "number", role: "cell", data: { label: "last" } }, span(each.durationMilliseconds)),
      cell("fills breaks of", useOf(each.name)), cell("changed", moment(Date.parse(each.changed), now)), cell("by", element("bdi", {}, each.broadcaster ?? "–")),
      element("td", { class: "number", role: "cell", data: { label: "revision" } }, count(each.revision)))));
}

function drawList(may, now) {
  const panel = $("list");
  panel.hidden = !may || !state.list;
  if (panel.hidden) return;
  const isThere = known && chosen?.name === state.list;
  say($("list-title"), `Ad list ${state.list}`);
  const list = isThere ? chosen.list : null;
  say($("list-about"), !isThere ? "Loading" : list ? "" : `There is no ad list ${state.list}.`);
  showIn($("list-body"), JSON.stringify([state.list, list, known?.rules, leftOut, [...uses], list ? moment(Date.parse(list.changed), now) : ""]), () => list ? [
    element("dl", { class: "facts-grid" }, [
      ["Ads", `${count(list.adCount)}, together ${span(list.durationMilliseconds)}`], ["Fills breaks of", known.rules ? streamsOf(list.name).join(", ") || "none: no rule of the cue policy names it" : useOf(list.name)],
      ["Revision", count(list.revision)], ["Changed", `${moment(Date.parse(list.changed), now)}${list.broadcaster ? ` by ${list.broadcaster}` : ""}`],
    ].map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, element("bdi", {}, value))))),
    leftOut ? element("div", { class: "notice" }, element("strong", {}, "Left out of the document"), element("ul", { class: "sentences" }, leftOut.parts.map((each) => element("li", {}, element("bdi", {}, each))))) : "",
    element("div", { class: "buttons" },
      element("button", { type: "button", class: "quiet", data: { key: "replace" }, "aria-label": `Replace: ${list.name}`, on: { click: () => put(list) } }, "Replace"),
      element("button", { type: "button", class: "danger", data: { key: "remove" }, "aria-label": `Remove: ${list.name}`, on: { click: () => remove(list) } }, "Remove")),
    tableOf(`Ads of the list ${list.name}`, [["Ad"], ["Lasts", "number"], ["Advertiser"], ["Media"], ["Breaks with this ad"]], (list.ads ?? []).map((ad) => element("tr", { role: "row" },
      element("th", { scope: "row", role: "rowheader" }, element("bdi", {}, ad.title || ad.id), element("span", { class: "note" }, " ", element("bdi", {}, ad.id))),
      element("td", { class: "number", role: "cell", data: { label: "lasts" } }, ad.duration), cell("advertiser", element("bdi", {}, ad.advertiser ?? "–")),
      cell("media", element("span", {}, count(ad.media.length), element("span", { class: "note" }, ` ${[...new Set(ad.media.map((file) => file.type).filter(Boolean))].join(", ")}`))),
      cell("breaks with this ad", useNode(ad))))),
    element("p", { class: "note" }, "A break has ads, and no list: when a list changes, breaks that are there keep theirs. The breaks are found by the ads’ ids, on all streams."),
  ] : []);
}

/// The breaks that have an ad, once they were asked for.
function useNode(ad) {
  const found = uses.get(ad.id);
  if (!found) return element("button", { type: "button", class: "quiet", data: { key: `use ${ad.id}` }, "aria-label": `Find breaks with ${ad.id}`, on: { click: () => findUse(ad.id) } }, "Find");
  if (found.sentence) return element("span", { class: "note" }, found.sentence);
  if (!found.breaks.length) return element("span", { class: "note" }, found.isAll ? "none" : "none of the newest ones");
  return element("span", {}, found.breaks.flatMap((each, place) => [place ? ", " : "",
    element("a", { href: addressOf({ view: "break", stream: each.stream, pageBreak: each.name }), data: { key: `use ${ad.id} ${each.stream}/${each.name}` } }, `${each.stream}/${each.name}`)]), found.isAll ? "" : element("span", { class: "note" }, " and older ones"));
}

async function findUse(id) {
  const { list } = state;
  let found;
  try {
    const answer = await client.get("v1/reports", { ad: id, limit: BREAKS_WITH_AD_MAX });
    found = { breaks: answer.breaks.map((each) => ({ stream: each.stream, name: each.break })), isAll: answer.before === undefined };
  } catch (error) {
    found = { sentence: error.message };
  }
  if (list !== state.list) return;
  uses.set(id, found);
  // The button goes: its focus moves on, and a person who is elsewhere by now stays there.
  const hadFocus = document.activeElement?.dataset.key === `use ${id}`;
  drawLists();
  announce(found.sentence ?? foundWords(id, found));
  if (hadFocus) (document.querySelector(`#list-body a[data-key^="use ${CSS.escape(id)} "]`) ?? $("list-title")).focus({ preventScroll: true });
}

function foundWords(id, { breaks, isAll }) {
  if (!breaks.length) return isAll ? `No break with ${id}` : `None of the newest breaks has ${id}`;
  return `${count(breaks.length)} ${breaks.length === 1 ? "break" : "breaks"} with ${id}${isAll ? "" : ", and older ones"}`;
}

// MARK: Changes

/// Whether a person is still where a change was asked for: a late answer changes the address only then.
function isStillAt(list) { return state.view === "lists" && state.list === list; }

function put(list) {
  const shown = state.list;
  actions.putList(list, list ? useOf(list.name) : "", (answer) => {
    if (!isStillAt(shown)) return reloadLists();
    leftOut = answer.leftOut ? { name: answer.name, parts: answer.leftOut } : null;
    // Another address loads them.
    if (state.list !== answer.name) location.hash = addressOf({ view: "lists", list: answer.name });
    else reloadLists();
  }, reloadLists);
}

function remove(list) {
  actions.removeList(list, useOf(list.name), () => {
    if (!isStillAt(list.name)) return reloadLists();
    location.hash = addressOf({ view: "lists" });
  }, reloadLists);
}

$("lists-put").addEventListener("click", () => put(null));

onDraw(drawLists);
