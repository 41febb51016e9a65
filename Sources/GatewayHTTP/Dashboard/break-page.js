// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The page of one break: what it is, its books, its variants with their ads, why it is so, its sources, and its revisions.

import { addressOf } from "./address.js";
import { Refused } from "./client.js";
import { SETTLES_AFTER_MS, totalOf } from "./history.js";
import { $, Part, STATE_WORDS, client, endOf, later, onDraw, startOf, state, stateNow } from "./model.js";
import { dayOf, fillFindings, fillsOf, rowOf, stateOfBooks } from "./planning.js";
import { Bar, OUTCOMES, count, element, mark, moment, say, share, showIn, span, tableOf } from "./plots.js";
import { actions, listenersOf } from "./stream.js";

const AUDIT_LINES_MAX = 50;
/// How often the page asks anew, while the books may still change and no event tells.
const RELOAD_MS = 60_000;

/// The loaded data: the break on the board, its books, its lines of the audit; the first two may be missing.
let known = null;
let wanted = "";
let asked = 0;
/// Counts the questions for the report: of two answers the page keeps the one that it asked for later.
let reportsAsked = 0;

/// An answer; nothing where the gateway has none, or none any more. A refusal that may pass is one of the whole page.
async function answerOf(path, query) {
  try {
    return await client.get(path, query);
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.code === "BREAK_TOO_OLD")) return null;
    throw error;
  }
}

/// The lines of the audit of all gateways, or the sentence why there are none.
async function auditOf(stream, name) {
  try {
    return await client.get("v1/audit", { stream, break: name, limit: AUDIT_LINES_MAX, allGateways: "true" });
  } catch (error) {
    if (error instanceof Refused && !error.isRetryable) return { entries: [], sentence: error.message };
    throw error;
  }
}

function pathOf(stream, name) { return `v1/streams/${encodeURIComponent(stream)}/breaks/${encodeURIComponent(name)}`; }

const part = new Part(async () => {
  const { chosen: stream, pageBreak: name } = state;
  if (state.view !== "break") return null;
  asked = performance.now();
  const question = reportsAsked += 1;
  const path = pathOf(stream, name);
  const [live, report, audit] = await Promise.all([answerOf(path), answerOf(`${path}/report`), auditOf(stream, name)]);
  // A break that was published by another id has its books and its audit by its own one.
  const own = live?.break ?? report?.breaks[0].break ?? name;
  const lines = own === name ? audit : await auditOf(stream, own);
  if (state.view !== "break" || stream !== state.chosen || name !== state.pageBreak) return null;
  return () => {
    const newest = known?.stream === stream && known.name === name && known.question > question ? known : { question, report };
    known = { stream, name, own, live, ...booksOf(newest), audit: lines };
  };
});

function booksOf({ question, report }) { return { question, report, books: report?.breaks[0] ?? null }; }

/// The report alone: counts change nothing else.
const reportPart = new Part(async () => {
  const { chosen: stream, pageBreak: name } = state;
  if (state.view !== "break") return null;
  const question = reportsAsked += 1;
  const report = await answerOf(`${pathOf(stream, name)}/report`);
  return () => { if (known?.stream === stream && known.name === name && known.question < question) known = { ...known, ...booksOf({ question, report }) }; };
});

const reloadSoon = later(() => part.load(), 500);
/// A line of the audit may come a moment after the change.
const reloadLate = later(() => part.load(), 3_000);
const reloadCounts = later(() => reportPart.load(), 5_000);
for (const name of ["opened", "resync"]) client.addEventListener(name, () => part.load());
client.addEventListener("break", ({ detail }) => {
  if (!isShown(detail)) return;
  reloadSoon();
  reloadLate();
});
client.addEventListener("counts", ({ detail }) => { if (isShown(detail)) reloadCounts(); });
function isShown({ stream, break: name }) { return state.view === "break" && stream === state.chosen && (name === state.pageBreak || name === known?.own); }

/// The break as it is now: what an event has told is newer than what was loaded.
function breakNow() {
  const heard = state.breaks.get(known.own);
  return heard && heard.revision >= (known.live?.revision ?? 0) ? { ...known.live, ...heard } : known.live;
}

const SECTIONS = ["break-facts", "break-books", "break-variants", "break-why", "break-sources", "break-revisions"];
function drawBreakPage() {
  if (state.view !== "break") {
    wanted = "";
    return;
  }
  const now = client.now();
  const question = `${state.chosen}/${state.pageBreak}`;
  if (question !== wanted) {
    wanted = question;
    part.load();
  } else if (performance.now() - asked > RELOAD_MS && client.link.state === "live" && !document.hidden && known?.books?.settled !== true) {
    part.load();
  }
  const isThere = known?.stream === state.chosen && known.name === state.pageBreak;
  const each = isThere ? breakNow() : null;
  const books = isThere ? known.books : null;
  const current = each ? stateNow(each, now) : books ? stateOfBooks(books, now) : "";
  say($("break-title"), `Break ${state.pageBreak}`);
  mark($("break-badge"), "data-state", current);
  say($("break-badge"), STATE_WORDS[current] ?? "");
  const isMissing = isThere && !each && !books;
  say($("break-about"), !isThere ? "Loading" : isMissing ? `The gateway has no break ${state.pageBreak} of the stream ${state.chosen}.` : `of ${state.chosen}`);
  for (const name of SECTIONS) $(name).hidden = !isThere || isMissing;
  const start = startOf(each ?? books);
  mark($("break-day"), "href", addressOf({ view: "day", stream: state.chosen, day: start === null || dayOf(start) === dayOf(now) ? "" : dayOf(start) }));
  mark($("break-now"), "href", addressOf({ view: "now", stream: state.chosen }));
  drawButtons(each, current);
  if (!isThere || isMissing) return;
  drawFacts(each, books, current, now);
  drawBooks(books, current, now);
  drawVariants(each, books);
  drawWhy(each, books, current, now);
  drawSources(each, now);
  drawRevisions(each, now);
}

function drawButtons(each, current) {
  const may = each && client.mayPublish(each.stream) ? actions.allowed(each, current) : [];
  const box = $("break-buttons"), hadFocus = box.contains(document.activeElement);
  showIn(box, `${state.pageBreak} ${may.map(([name]) => name)}`, () => may.map(([name, word, kind]) => element("button", {
    type: "button", class: kind, data: { key: name }, "aria-label": `${word}: ${each.break}`,
    on: { click: () => actions.open(name, breakNow(), () => listenersOf(state.chosen)) },
  }, word)));
  if (hadFocus && !box.contains(document.activeElement)) $("break-title").focus({ preventScroll: true });
}

// MARK: Facts

function drawFacts(each, books, current, now) {
  const about = each ?? books;
  const instant = (text) => text ? moment(Date.parse(text), now) : "";
  const start = startOf(about), end = endOf(about);
  const facts = [
    ["Start", start === null ? "when it is punched" : instant(about.start)],
    ["End", end === null ? "when it is ended" : instant(about.end)],
    ["Lasts", each ? each.durationMilliseconds ? `${span(each.durationMilliseconds)} at most` : "until it is ended" : start !== null && end !== null ? span(end - start) : ""],
    ["Announcement", each?.announce && current === "scheduled" ? `due at ${instant(each.announce)}` : ""],
    ["Held until", each?.holdUntil && ["cued", "announced"].includes(current) ? instant(each.holdUntil) : ""],
    ["Published", [instant(about.published), about.broadcaster && `by ${about.broadcaster}`].filter(Boolean).join(" ")],
    ["Published as", each?.publishedAs ?? ""],
    ["Revision", each ? count(each.revision) : ""],
    ["Kind", [about.preStream && "pre-stream: for every listener that joins", each?.exact && "exact: late listeners get only what fits"].filter(Boolean).join("; ")],
  ].filter(([, value]) => value);
  showIn($("break-facts"), JSON.stringify(facts), () => facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, element("bdi", {}, value)))));
}

// MARK: Books

function drawBooks(books, current, now) {
  const total = books ? totalOf(books) : null;
  const notified = state.counts.get(state.chosen)?.break === known.own ? state.counts.get(state.chosen).funnel?.notified : undefined;
  const sentences = books ? bookSentences(books, total, current, now) : [];
  showIn($("break-books"), JSON.stringify([known.own, total, books?.settled, notified, books?.sessions, sentences]), () => {
    const head = element("h3", {}, "Books");
    if (!books) return [head, element("p", { class: "note" }, "The ledger has no books of it yet, or no more.")];
    const row = (kind, word, number, whole, note) => {
      const bar = new Bar(kind);
      bar.show(whole ? number / whole : 0);
      return element("tr", { role: "row", class: `row-${kind}` }, element("th", { scope: "row", role: "rowheader" }, word, note ? element("span", { class: "note" }, ` ${note}`) : ""),
        element("td", { class: "bar-cell", role: "cell" }, bar.node), element("td", { class: "number", role: "cell" }, count(number)),
        element("td", { class: "number share", role: "cell" }, kind === "delivered" ? "" : share(number, whole)));
    };
    const unknown = books.settled ? ["Unknown", "no outcome came"] : ["Pending", "no outcome yet"];
    return [head, element("table", { class: "funnel", role: "table" }, element("caption", { class: "hidden-text" }, `Deliveries of the break ${known.own} and their outcomes`),
      element("thead", { class: "hidden-text", role: "rowgroup" }, element("tr", { role: "row" }, ["Outcome", "Share as a bar", "Ads", "Share"].map((word) => element("th", { scope: "col", role: "columnheader" }, word)))),
      element("tbody", { role: "rowgroup" }, row("delivered", "Delivered", total.delivered, total.delivered, "ads"), row("played", "Played", total.played, total.delivered),
        row("ignored", "Ignored", total.ignored, total.delivered), row("failed", "Failed", total.failed, total.delivered), row("unknown", unknown[0], total.unknown, total.delivered, unknown[1]))),
    element("ul", { class: "sentences" }, sentences.map((each) => element("li", {}, each)))];
  });
}

/// The sentences beside the numbers.
function bookSentences(books, total, current, now) {
  const end = endOf(books), sentences = [];
  const behind = Object.values(known.report.lanes).reduce((sum, lane) => sum + Math.max(0, (lane.head ?? lane.offset) - lane.offset), 0);
  sentences.push(`${count(books.sessions)} ${books.sessions === 1 ? "session" : "sessions"} got its ads or told an outcome.`);
  const reasons = Object.entries(books.total.ignoredBy);
  if (reasons.length) sentences.push(`Ignored: ${reasons.map(([reason, number]) => `${count(number)} ${reason}`).join(", ")}.`);
  const more = [["clicked", total.clicked], ["muted", total.muted], ["inferred from the time that passed", total.inferred]].filter(([, number]) => number);
  if (more.length) sentences.push(`Of them: ${more.map(([word, number]) => `${count(number)} ${word}`).join(", ")}.`);
  if (total.repeats) sentences.push(`${count(total.repeats)} outcomes came again and count once.`);
  if (total.contradictions) sentences.push(`${count(total.contradictions)} outcomes said something else than what stands, and do not count.`);
  if (!books.balanced) sentences.push("The books are not balanced: delivered is not the sum of the outcomes and of those without one.");
  if (books.settled) sentences.push("The counts are final.");
  else if (end !== null && end <= now && current === "complete") sentences.push(`Outcomes may still come; the counts are final at ${moment(end + SETTLES_AFTER_MS, now)}.`);
  if (!books.complete && books.missing) sentences.push(books.missing);
  if (behind) sentences.push(`The ledger has ${count(behind)} records of the log before it: counts may grow.`);
  if (known.report.pending?.length) sentences.push("The ledger is compared with the log at present: counts may still change.");
  return sentences;
}

// MARK: Variants

function drawVariants(each, books) {
  const variants = each?.variants ?? [];
  const settled = books?.settled;
  showIn($("break-variants"), JSON.stringify([known.own, variants, books?.ads, settled, each?.ads]), () => {
    const fills = books ? fillsOf(books.ads) : [];
    const head = element("h3", {}, fills.length > 1 ? "Variants and their ads" : "Ads");
    if (!fills.length) return [head, element("p", { class: "note" }, each ? `It has ${count(each.ads)} ${each.ads === 1 ? "ad" : "ads"}; the ledger does not name them yet.` : "No ads are known.")];
    // In the order in which they are tried: the break's own ads are for all whom none fits.
    const order = [...fills.filter(({ number }) => number > 0), ...fills.filter(({ number }) => number === 0)];
    return [head, ...order.map((fill, place) => variantNode(fill, place, fills.length, variants[fill.number - 1], books.ads.filter((ad) => (ad.variant ?? 0) === fill.number), settled))];
  });
}

/// The listeners that get a variant, in a sentence.
function ruleOf(fill, place, number, variant) {
  if (number === 1) return ["All listeners get them."];
  if (fill.number === 0) return ["Listeners that no variant above fits."];
  if (!variant) return ["Its rule is not kept any more."];
  const rule = variant.conditions.flatMap((condition, each) => [each ? " and " : "", element("code", {}, condition)]);
  return [place ? "Listeners that no variant above fits, with " : "Listeners with ", ...(rule.length ? rule : ["any attributes"]), "."];
}

function variantNode(fill, place, number, variant, ads, settled) {
  const sum = (kind) => ads.reduce((total, ad) => total + ad.counts[kind], 0);
  const kinds = ["delivered", ...OUTCOMES];
  const words = { delivered: "Delivered", played: "Played", ignored: "Ignored", failed: "Failed", unknown: settled ? "Unknown" : "Pending" };
  const cells = (value) => kinds.map((kind) => element("td", { class: "number", role: "cell", data: { label: words[kind].toLowerCase() } }, count(value(kind))));
  const row = (ad) => element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, element("bdi", {}, ad.title || ad.id), element("span", { class: "note" }, " ", element("bdi", {}, ad.id))),
    element("td", { class: "number", role: "cell", data: { label: "lasts" } }, span(ad.durationMilliseconds)), ...cells((kind) => ad.counts[kind]));
  const all = element("tr", { class: "sum", role: "row" }, element("th", { scope: "row", role: "rowheader" }, "Together"),
    element("td", { class: "number", role: "cell", data: { label: "lasts" } }, span(fill.milliseconds)), ...cells(sum));
  return element("section", { class: "variant", "aria-label": number > 1 ? `Variant ${fill.name}` : "Ads" },
    number > 1 ? element("h4", {}, element("bdi", {}, fill.name)) : "", element("p", { class: "note" }, ...ruleOf(fill, place, number, variant)),
    tableOf(number > 1 ? `Ads of the variant ${fill.name}, in the order in which they play` : "Ads in the order in which they play",
      [["Ad"], ["Lasts", "number"], ...kinds.map((kind) => [words[kind], "number"])], [...ads.map(row), ads.length > 1 ? all : ""]));
}

// MARK: Why

const ENTRANCE_WORDS = { zeromq: "on the broadcasters’ socket", http: "over HTTP" };

/// Why the break is as it is, as far as the gateway knows.
function drawWhy(each, books, current, now) {
  const lines = [...known.audit.entries].reverse().filter((line) => line.outcome === "changed");
  const by = (line) => `${line.by ? `by ${line.by} ` : ""}${ENTRANCE_WORDS[line.entrance] ?? `by ${line.entrance}`} at ${moment(Date.parse(line.at), now)}`;
  const sentences = [];
  const { before, to, sentence, unanswered = [] } = known.audit;
  const isCut = (before ?? to) !== undefined;
  // Where lines are missing, a publication may have come later than the beginning.
  const first = lines.find((line) => line.revision === 1) ?? (isCut || unanswered.length ? undefined : lines.find((line) => line.action === "publish"));
  const isSignalled = first?.action === "signal";
  if (isSignalled) sentences.push(`A signal opened it, brought ${by(first)}: ${first.sentence} The gateway filled it from the ad list that the stream’s cue policy named then.`);
  else if (first?.action === "publish") sentences.push(`Its ads came with its publication, ${by(first)}: the gateway chose none of them.`);
  else if (sentence) sentences.push(sentence);
  else if (isCut) sentences.push(`How it began is older than the newest ${AUDIT_LINES_MAX} lines of the audit.`);
  else if (unanswered.length) sentences.push("How it began is not in the audit of the gateways that answered.");
  else sentences.push("How it began is not in the audit, or not any more.");
  for (const line of lines.filter((line) => line.action === "publish" && line !== first && isSignalled)) sentences.push(`It was published ${by(line)}, and has the ads of the publication since.`);
  const updates = lines.filter((line) => line.action === "update");
  if (updates.length) sentences.push(`It was changed ${updates.length === 1 ? "once" : `${count(updates.length)} times`}, the last time ${by(updates.at(-1))}: a change may bring other ads.`);
  if (books) {
    const found = fillFindings(rowOf(books, each, current));
    if (found.length) sentences.push(...found.map((finding) => finding.sentence));
    else if (books.ads.length) sentences.push("Its ads fill its time.");
  }
  if (books && fillsOf(books.ads).length > 1) sentences.push("The fallback is the variant default: a listener gets it if no other variant fits.");
  for (const [action, word] of [["end", "It was ended"], ["cancel", "It was cancelled"], ["postpone", "It was moved to a later start"]]) {
    const line = lines.filter((one) => one.action === action).at(-1);
    if (line) sentences.push(`${word} ${by(line)}.`);
  }
  if (current === "expired") sentences.push("It expired: it was not started, or not announced, in time.");
  if (!isSignalled && (first || !isCut)) sentences.push("If cuecast publish --choose, an ad server or a schedule chose the ads, that command printed the reason for each candidate; cuecast dry-run prints it again.");
  showIn($("break-why"), JSON.stringify(sentences), () => [element("h3", {}, "Why"), element("ul", { class: "sentences" }, sentences.map((one) => element("li", {}, element("bdi", {}, one))))]);
}

// MARK: Sources

function drawSources(each, now) {
  const claims = each?.signals ?? [];
  const found = state.signals?.stream === state.chosen ? state.signals.signals.filter((signal) => signal.break === known.own) : [];
  showIn($("break-sources"), JSON.stringify([known.own, claims, found]), () => {
    const head = element("h3", {}, "Signals");
    if (!claims.length && !found.length) return [head, element("p", { class: "note" }, "No signal said anything about it.")];
    const cell = (label, ...children) => element("td", { role: "cell", data: { label } }, ...children);
    return [head, claims.length ? tableOf("What each source says of the break, by precedence", [["Source"], ["Event"], ["Start"], ["Lasts"], ["Counts"]], claims.map((claim, place) => element("tr", { role: "row" },
      element("th", { scope: "row", role: "rowheader" }, element("bdi", {}, claim.source)), cell("event", element("bdi", {}, claim.event)),
      cell("start", moment(Date.parse(claim.start), now), claim.programmeTime ? element("span", { class: "note" }, " in programme time") : ""),
      cell("lasts", claim.end ? `ended at ${moment(Date.parse(claim.end), now)}` : claim.durationMilliseconds ? span(claim.durationMilliseconds) : "–"),
      cell("counts", claim.cancelled ? "no: taken back" : claims.slice(0, place).every((before) => before.cancelled) ? "goes first" : "after those above")))) : "",
    found.length ? element("ul", { class: "sentences" }, found.map((signal) => element("li", {}, `${moment(Date.parse(signal.last), now)} `, element("bdi", {}, signal.source), `: ${[signal.kind?.toUpperCase(), signal.effect ?? signal.result, signal.times > 1 ? `${count(signal.times)} times` : "", signal.reason].filter(Boolean).join(" · ")}`))) : ""];
  });
}

// MARK: Revisions

function drawRevisions(each, now) {
  const { entries, before, to, sentence, unanswered = [] } = known.audit;
  // With several gateways the next page is named by an instant.
  const next = before ?? to;
  const missing = unanswered.map(({ gateway, reason }) => `The lines of the gateway ${gateway} are missing: ${reason}`);
  showIn($("break-revisions"), JSON.stringify([known.own, entries, next, sentence, missing, each?.revision]), () => {
    const head = element("h3", {}, "Revisions");
    if (!entries.length) return [head, element("p", { class: "note" }, [sentence ?? "The audit has no line about it.", ...missing].join(" "))];
    const cell = (label, ...children) => element("td", { role: "cell", data: { label } }, ...children);
    return [head, tableOf(`Requested changes of the break ${known.own}, the newest first`, [["When"], ["Revision"], ["Asked for"], ["Who"], ["Outcome"]], entries.map((line) => element("tr", { role: "row" },
        cell("when", moment(Date.parse(line.at), now)), cell("revision", line.revision ? count(line.revision) : "–"), cell("asked for", line.action),
        cell("who", element("span", {}, element("bdi", {}, line.by ?? "–"), element("span", { class: "note" }, ` ${line.entrance}`))),
        cell("outcome", element("span", {}, element("span", { class: "badge", data: { state: line.outcome } }, line.outcome), line.code || line.sentence ? element("span", { class: "note" }, " ", element("bdi", {}, [line.code, line.sentence].filter(Boolean).join(": "))) : ""))))),
    element("p", { class: "note" }, [next === undefined ? "" : `These are the newest ${AUDIT_LINES_MAX} lines.`, ...missing, "The gateway’s own announcement of a break takes a revision too, and has no line here."].filter(Boolean).join(" "))];
  });
}

onDraw(drawBreakPage);
