// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// DO NOT EDIT: made by scripts/embed-dashboard from Sources/GatewayHTTP/Dashboard.

extension DashboardFile {
    /// Every file of the dashboard, by its name.
    static let all: [DashboardFile] = [
        DashboardFile(
            name: "actions.js",
            type: "text/javascript; charset=utf-8",
            text: ##"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The actions for holders of a token: each change is confirmed in a dialog; that of a break shows how many listeners it reaches.

import { ID_PATTERN } from "./address.js";
import { GatewayGone, readToken } from "./client.js";
import { STATE_WORDS } from "./model.js";
import { count, element, isolated, moment, say, span } from "./plots.js";

const MEDIA_KEY = "cuecast.testMedia";
/// The longest tone that the gateway makes.
const TONE_SECONDS_MAX = 60;
/// The largest body that the gateway takes.
const AD_LIST_BYTES_MAX = 1_048_576;

/// Each change: the word of its button, what its dialog says, what it asks for, and the body that follows from it.
const CHANGES = {
  punch: {
    word: "Punch", kind: "primary", title: "Start this break?", confirm: "Punch the break",
    text: "Players hold its ads and begin to play them.",
    fields: [{
      name: "start", label: "It starts", options: [["", "after the gateway’s lead (breaks.punchLead: 2 s unless set)"], ["now", "now"], ["2s", "in 2 s"], ["5s", "in 5 s"], ["10s", "in 10 s"]],
    }],
    body: ({ start }) => start === "now" ? { now: true } : start ? { in: start } : undefined,
    done: "is punched",
  },
  update: {
    word: "Update", kind: "quiet", title: "Change this break?", confirm: "Change the break",
    text: "Players that have its ads are told what is different.",
    fields: [
      { name: "duration", label: "It lasts at most", placeholder: "30s", hint: "Such as 30s or 1m30s; none: until it is ended." },
      { name: "in", label: "It starts in", placeholder: "10s", hint: "Only before it has started; empty: as it stands.", until: "live" },
    ],
    body: (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value)),
    check: (values) => Object.values(values).some(Boolean) ? "" : "Say what is to be different.",
    done: "is changed",
  },
  postpone: {
    word: "Postpone", kind: "quiet", title: "Postpone this break?", confirm: "Postpone the break",
    text: "It starts later. Players keep the ads that they have.",
    fields: [{ name: "by", label: "Later by", value: "30s", hint: "Such as 30s or 5m.", isRequired: true }],
    body: (values, each) => ({ by: values.by, from: each.start }),
    done: "is postponed",
  },
  end: {
    word: "End", kind: "primary", title: "End this break now?", confirm: "End the break",
    text: "Players go back to the programme. Ads that were not heard count as ignored.",
    fields: [{ name: "endMode", label: "The ad that plays", options: [["", "as the break says"], ["cut", "is cut"], ["finishAd", "is finished"]] }],
    body: ({ endMode }) => endMode ? { endMode } : undefined,
    done: "is ended",
  },
  cancel: {
    word: "Cancel", kind: "danger", title: "Call this break off?", confirm: "Cancel the break",
    text: "No player plays more of it. It stays in the books as cancelled, and its id stays in use.",
    fields: [], body: () => undefined, done: "is cancelled",
  },
};

const POSTPONE = "POST /v1/streams/{stream}/breaks/{break}/postpone";
/// The facts that a person sees who confirms a change.
const LOOKED_AT = ["start", "end", "durationMilliseconds", "ads", "firstAdTitle", "preStream", "exact"];

/// A break differs from the one in the dialog: nothing was changed, and the dialog shows the present break.
class Differs extends Error {
  /// - facts: the facts that the dialog shows from now on.
  /// - state: that of the break now.
  /// - isOver: whether the change is none any more that the break takes.
  constructor(sentence, { facts, state, isOver }) {
    super(`${sentence} ${isOver ? "There is nothing left to confirm." : "What it is now stands above: look, and confirm again."}`);
    this.facts = facts;
    this.state = state;
    this.isOver = isOver;
  }
}

/// Whether nothing but the gateway's own announcement lies between two views of a break. Its revision goes on with that (decision 60), and what
/// a person has looked at is the same.
function isOnlyAnnounced(before, after) {
  return before.state === "scheduled" && after.state === "announced" && after.revision === before.revision + 1
    && LOOKED_AT.every((name) => before[name] === after[name]);
}

/// Why a text is no ads that the gateway could take; empty: it may be some. The gateway checks the rest.
function adsProblem(text) {
  if (new TextEncoder().encode(text).length > AD_LIST_BYTES_MAX) return `The ads have more than ${count(AD_LIST_BYTES_MAX)} bytes.`;
  if (text.startsWith("<")) return "";
  try {
    return Array.isArray(JSON.parse(text)?.ads) ? "" : "The JSON needs a member ads with the list of ads.";
  } catch (error) {
    return `This is neither JSON nor VAST: ${error.message}`;
  }
}

export class Actions {
  /// - tell: shows the result of a change.
  /// - home: the element that gets the focus if the button that opened a dialog is gone when the dialog closes.
  constructor(client, dialog, tell, home) {
    this.client = client;
    this.dialog = dialog;
    this.tell = tell;
    /// The operations that the gateway offers, by method and path.
    this.operations = {};
    dialog.addEventListener("close", () => {
      this.#turn += 1;
      dialog.replaceChildren();
      if (document.activeElement === null || document.activeElement === document.body) home().focus({ preventScroll: true });
    });
  }

  #turn = 0;

  /// The changes that a break in a state takes: name, word, kind of button.
  allowed(each, state = each.state) {
    const names = {
      cued: ["punch", "update", "cancel"], scheduled: ["update", "postpone", "cancel"],
      announced: ["update", "postpone", "cancel"], live: ["end", "update", "cancel"],
    }[state] ?? [];
    return names.filter((name) => name !== "postpone" || POSTPONE in this.operations)
      .filter((name) => name !== "punch" || !each.preStream)
      .map((name) => [name, CHANGES[name].word, CHANGES[name].kind]);
  }

  /// Asks for confirmation of a change of a break.
  ///
  /// The change applies to the break that was shown: another revision is refused. The dialog then shows the present and the former break, and takes
  /// another confirmation. A break that was only announced meanwhile counts as the same.
  open(name, each, listeners) {
    const change = CHANGES[name];
    const path = `v1/streams/${encodeURIComponent(each.stream)}/breaks/${encodeURIComponent(each.break)}`;
    let shown = each;
    const ask = (values) => this.client.ask("POST", `${path}/${name}`, {
      body: change.body(values, shown), headers: { "If-Match": `"${shown.revision}"` },
    });
    this.#confirm({
      title: change.title, confirm: change.confirm, kind: change.kind, text: change.text, facts: this.#facts(each),
      fields: change.fields.filter((field) => field.until !== each.state), listeners, check: change.check,
      run: async (values) => {
        try {
          return await ask(values);
        } catch (error) {
          if (error.code !== "REVISION_CONFLICT") throw error;
          const before = shown;
          shown = await this.client.get(path);
          // A break is announced once, so this is asked once more at most.
          if (isOnlyAnnounced(before, shown)) return await ask(values);
          throw new Differs(error.message, {
            facts: this.#facts(shown, before), state: shown.state, isOver: !this.allowed(shown).some(([allowed]) => allowed === name),
          });
        }
      },
      done: `Break ${each.break} ${change.done}.`,
    });
  }

  /// The facts about a break in a dialog; a changed fact also shows its former value.
  #facts(each, before) {
    const facts = (one) => [
      ["Stream", one.stream], ["Break", one.break], ["State", STATE_WORDS[one.state] ?? one.state],
      ["Ads", one.firstAdTitle ? `${count(one.ads)}, first “${isolated(one.firstAdTitle)}”` : count(one.ads)],
      ["Start", one.start ? moment(Date.parse(one.start), this.client.now()) : "when it is punched"],
      ["Lasts", one.durationMilliseconds ? `${span(one.durationMilliseconds)} at most` : "until it is ended"],
    ];
    if (!before) return facts(each);
    const old = facts(before);
    return facts(each).map(([name, value], place) => [name, value === old[place][1] ? value : `${value} (was: ${old[place][1]})`]);
  }

  /// Asks for what a test break needs, and for confirmation.
  publish(stream, listenersOf) {
    const now = new Date(this.client.now());
    const id = `test-${now.toISOString().slice(0, 19).replace(/[^0-9]/g, "")}`;
    let media = "";
    try { media = localStorage.getItem(MEDIA_KEY) ?? ""; } catch { /* It is asked for each time. */ }
    this.#confirm({
      title: "Publish a test break?", confirm: "Publish the break", kind: "primary",
      text: "It is a break like any other: every listener of the stream plays it, and it is counted.",
      facts: [["Stream", stream]],
      fields: [
        { name: "break", label: "Name of the break", value: id, isRequired: true, pattern: ID_PATTERN, hint: "A–Z, a–z, 0–9, . _ -" },
        { name: "start", label: "It starts", value: "10s", options: [["5s", "in 5 s"], ["10s", "in 10 s"], ["30s", "in 30 s"], ["now", "now"], ["cued", "when it is punched"]] },
        { name: "seconds", label: "Seconds", value: "15", type: "number", min: 1, max: 600, isRequired: true },
        { name: "title", label: "Title of the ad", value: "Test", isRequired: true, maxlength: 200 },
        {
          name: "media", label: "Address of the sound or video (optional)", value: media, type: "url", placeholder: "https://cdn.example.com/test.mp3",
          hint: `Empty: a tone that this gateway makes, ${TONE_SECONDS_MAX} s at most. Players load it from ${this.client.base.host}.`,
        },
      ],
      check: ({ media: address, seconds }) => address || Number(seconds) <= TONE_SECONDS_MAX ? ""
        : `The gateway’s tone lasts ${TONE_SECONDS_MAX} s at most: give an address, or fewer seconds.`,
      listeners: () => listenersOf(stream),
      run: (values) => {
        try { localStorage.setItem(MEDIA_KEY, values.media); } catch { /* It is asked for again. */ }
        const duration = `${Number(values.seconds)}s`;
        const tone = { url: new URL(`v1/test-tone?seconds=${Number(values.seconds)}`, this.client.base).href, type: "audio/wav" };
        const body = { duration, ads: [{ id: "test", title: values.title, duration, media: [values.media ? { url: values.media } : tone] }] };
        if (values.start === "cued" || values.start === "now") body[values.start] = true;
        else body.in = values.start;
        return this.client.ask("PUT", `v1/streams/${encodeURIComponent(stream)}/breaks/${encodeURIComponent(values.break)}`, { body });
      },
      done: (values) => `Break ${values.break} is published.`,
    });
  }

  /// Asks for the ads of a list, and for confirmation.
  ///
  /// - list: the list to replace, with its ads; nothing: a new one.
  /// - use: the streams whose breaks it fills, in words.
  /// - then: gets the gateway's answer.
  /// - look: has the lists loaded anew, because another person changed one.
  putList(list, use, then, look) {
    const ads = list ? JSON.stringify({ ads: list.ads ?? [] }, null, 2) : "";
    this.#confirm({
      title: list ? `Replace the ad list ${list.name}?` : "Put an ad list?", confirm: list ? "Replace the list" : "Put the list", kind: "primary",
      text: "Breaks that signals open from now on have these ads. Breaks that are there keep theirs.",
      facts: list ? [["List", list.name], ["Revision", count(list.revision)], ["Fills breaks of", use]] : [],
      fields: [
        ...(list ? [] : [{ name: "list", label: "Name of the list", isRequired: true, pattern: ID_PATTERN, hint: "A–Z, a–z, 0–9, . _ -" }]),
        { name: "ads", label: "Ads: JSON or VAST", rows: 12, value: ads, isRequired: true, hint: "JSON as in a file of ads, with the member ads; or a VAST document." },
        { name: "file", label: "Or take them from a file", type: "file", accept: ".json,.xml,.vast", into: "ads" },
      ],
      check: ({ ads: text }) => adsProblem(text),
      run: async ({ list: name = list?.name, ads: text }) => {
        const isVAST = text.startsWith("<");
        const headers = { "Content-Type": isVAST ? "application/xml" : "application/json", ...(list ? { "If-Match": `"${list.revision}"` } : { "If-None-Match": "*" }) };
        try {
          then(await this.client.ask("PUT", `v1/lists/${encodeURIComponent(name)}`, { body: text, headers }));
        } catch (error) {
          if (error.code !== "REVISION_CONFLICT") throw error;
          look();
          throw new Error(`${error.message} Nothing was changed: go back, and look at the list.`);
        }
      },
      done: ({ list: name = list?.name }) => `The ad list ${name} is kept.`,
    });
  }

  /// Asks for confirmation that a list is to go.
  removeList(list, use, then, look) {
    this.#confirm({
      title: `Remove the ad list ${list.name}?`, confirm: "Remove the list", kind: "danger", text: "Breaks that have its ads keep them. A list that the cue policy names cannot be removed.",
      facts: [["List", list.name], ["Ads", count(list.adCount)], ["Fills breaks of", use], ["Revision", count(list.revision)]], fields: [],
      run: async () => {
        try {
          await this.client.ask("DELETE", `v1/lists/${encodeURIComponent(list.name)}`, { headers: { "If-Match": `"${list.revision}"` } });
        } catch (error) {
          if (error.code === "REVISION_CONFLICT") look();
          throw error;
        }
        then();
      },
      done: `The ad list ${list.name} is removed.`,
    });
  }

  /// Asks for a token, or shows the one that is there.
  askForToken() {
    const { token, claims } = this.client;
    if (token) {
      this.#confirm({
        title: "This tab has a token", confirm: "Forget the token", kind: "danger", back: "Keep it",
        text: "It is kept in this tab only, and gone when the tab is closed.",
        facts: [["Subject", claims?.subject || "–"], ["Scopes", claims?.scopes.join(" ") || "–"],
          ["Good until", claims?.expires ? moment(claims.expires, this.client.now()) : "–"]],
        fields: [],
        run: async () => this.client.setToken(""),
        done: "The token is forgotten.",
      });
      return;
    }
    this.#confirm({
      title: "Enter a token", confirm: "Use the token", kind: "primary",
      text: "With the scope read it shows what the gateway keeps, with publish:STREAM it steers breaks. It is kept in this tab only.",
      facts: [],
      fields: [{ name: "token", label: "Token", type: "password", isRequired: true, hint: "cuecast token make prints one; on the gateway’s machine there is one in the file http-token of its data directory." }],
      run: async ({ token: text }) => {
        const given = text.trim().replace(/^Bearer\s+/i, "");
        try {
          readToken(given);
        } catch {
          throw new TypeError("This is no token: it has three parts with dots between.");
        }
        try {
          await this.client.ask("POST", "v1/event-tickets", { token: given });
        } catch (error) {
          // One that is for other things than reading is a token nevertheless.
          if (error.status !== 403) throw error;
        }
        this.client.setToken(given);
      },
      done: "The token is used.",
    });
  }

  #confirm({ title, text, facts, fields, confirm, kind, back = "Go back", listeners, check, run, done }) {
    const turn = this.#turn += 1;
    const inputs = new Map();
    const list = element("dl", { class: "dialog-facts" });
    const showFacts = (shown) => list.replaceChildren(...shown.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
    showFacts(facts);
    const problem = element("p", { class: "problem", role: "alert" });
    const reach = element("p", { class: "reach", role: "status" });
    const go = element("button", { type: "submit", class: kind }, confirm);
    const away = element("button", { type: "button", class: "quiet", on: { click: () => this.dialog.close() } }, back);
    const form = element("form", { method: "dialog", autocomplete: "off" },
      element("h2", { id: "dialog-title" }, title), element("p", {}, text),
      facts.length ? list : "",
      fields.map((field) => this.#field(field, inputs)), listeners ? reach : "", problem,
      element("div", { class: "dialog-buttons" }, away, go));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const values = Object.fromEntries([...inputs].filter(([, input]) => input.type !== "file").map(([name, input]) => [name, input.value.trim()]));
      const wrong = check?.(values);
      if (wrong) return say(problem, wrong);
      say(problem, "");
      go.disabled = true;
      try {
        await run(values);
        if (turn !== this.#turn) return;
        this.dialog.close();
        this.tell(typeof done === "function" ? done(values) : done);
      } catch (error) {
        if (turn !== this.#turn) return;
        // The same sentence again is said again.
        problem.textContent = "";
        say(problem, error instanceof GatewayGone ? "The gateway does not answer. Whether it heard is not known: look before you try again." : error.message);
        const isOver = error instanceof Differs && error.isOver;
        if (error instanceof Differs) {
          showFacts(error.facts);
          for (const { name } of fields.filter((field) => field.until === error.state)) {
            inputs.get(name).value = "";
            inputs.get(name).closest(".field").hidden = true;
          }
          if (listeners) this.#showReach(reach, listeners, turn);
        }
        go.disabled = isOver;
        (isOver ? away : go).focus();
      }
    });
    this.dialog.replaceChildren(form);
    this.dialog.showModal();
    (inputs.values().next().value ?? away).focus();
    if (listeners) this.#showReach(reach, listeners, turn);
  }

  async #showReach(reach, listeners, turn) {
    reach.textContent = "Asking how many listeners it reaches…";
    let sentence;
    try {
      const number = await listeners();
      sentence = number === 0 ? "It reaches no listener now." : `It reaches ${count(number)} ${number === 1 ? "listener" : "listeners"} now.`;
    } catch {
      sentence = "How many listeners it reaches is not known: the gateway does not tell.";
    }
    if (turn === this.#turn) say(reach, sentence);
  }

  #field(field, inputs) {
    const id = `field-${field.name}`;
    const input = field.rows
      ? element("textarea", { id, rows: field.rows, required: field.isRequired, spellcheck: "false", autocomplete: "off", "aria-describedby": field.hint ? `${id}-hint` : undefined }, field.value)
      : field.options
      ? element("select", { id }, field.options.map(([value, word]) => element("option", { value, selected: value === field.value }, word)))
      : element("input", {
        id, type: field.type ?? "text", value: field.value, placeholder: field.placeholder, required: field.isRequired, pattern: field.pattern,
        min: field.min, max: field.max, maxlength: field.maxlength, accept: field.accept, spellcheck: "false", autocomplete: "off",
        "aria-describedby": field.hint ? `${id}-hint` : undefined,
      });
    inputs.set(field.name, input);
    if (field.into) input.addEventListener("change", async () => {
      const [file] = input.files;
      if (!file) return;
      // The size is checked before it is read: a film is no list.
      const text = file.size > AD_LIST_BYTES_MAX ? null : await file.text();
      input.setCustomValidity(text === null ? `The file has more than ${count(AD_LIST_BYTES_MAX)} bytes.` : "");
      input.reportValidity();
      if (text !== null) inputs.get(field.into).value = text;
    });
    return element("div", { class: "field" }, element("label", { for: id }, field.label), input,
      field.hint ? element("p", { class: "note", id: `${id}-hint` }, field.hint) : "");
  }
}

"""##
        ),
        DashboardFile(
            name: "address.js",
            type: "text/javascript; charset=utf-8",
            text: ##"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The addresses of the views, behind the # of the page: they can be bookmarked and sent, and no server sees them.
//
//   #radio1                   the stream now
//   #radio1/day               its day today; #radio1/day/2026-11-21 another one
//   #radio1/break/noon-1      one of its breaks
//   #/lists                   the ad lists; #/lists/spots one of them
//
// The id of a stream has no slash: no stream is called like a view.

/// Names of streams, breaks and lists. Of `.` and `..` browsers would make another address.
export const ID_PATTERN = "(?!\\.{1,2}$)[A-Za-z0-9._\\-]{1,64}";
export const ID = new RegExp(`^${ID_PATTERN}$`);

/// Whether a text is a day of the calendar, such as 2026-11-21.
export function isDay(text) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/// The view that an address names; nothing where it names none.
export function readAddress(hash) {
  let parts;
  try { parts = hash.replace(/^#/, "").split("/").map(decodeURIComponent); } catch { return null; }
  const [stream, view = "now", name = ""] = parts;
  const place = { view, stream, day: "", pageBreak: "", list: "" };
  if (parts.length > 3 || (stream && !ID.test(stream))) return null;
  if (parts.length === 1) return place;
  if (view === "day" && (!name || isDay(name))) return { ...place, day: name };
  if (view === "break" && stream && ID.test(name)) return { ...place, pageBreak: name };
  if (view === "lists" && !stream && (!name || ID.test(name))) return { ...place, list: name };
  return null;
}

/// The address of a view.
export function addressOf({ view, stream = "", day = "", pageBreak = "", list = "" }) {
  const parts = {
    now: [stream], day: day ? [stream, "day", day] : [stream, "day"], break: [stream, "break", pageBreak],
    lists: list ? ["", "lists", list] : ["", "lists"],
  }[view];
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

"""##
        ),
        DashboardFile(
            name: "break-page.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
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

"""#
        ),
        DashboardFile(
            name: "client.js",
            type: "text/javascript; charset=utf-8",
            text: ##"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The page's requests to the gateway, its events, and its clock.

/// The first retry comes at once; later ones within so long, at random.
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 5_000;
/// The gateway tells how it is once a second: after so long without a word the connection counts as lost.
const SILENCE_MAX_MS = 15_000;
/// How often the gateway's clock is asked for, and how often in a row: the answer that came quickest is believed.
const CLOCK_INTERVAL_MS = 60_000;
const CLOCK_SAMPLES = 3;
/// How long an answer may take.
const ANSWER_MAX_MS = 20_000;

const TOKEN_KEY = "cuecast.token";

/// The gateway did not answer.
export class GatewayGone extends Error {}

/// The gateway refused: its problem document (RFC 9457).
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || `The gateway answered with the status ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.isRetryable = problem.retryable === true;
  }
}

/// The claims of a token, unverified: only the gateway can verify it. Throws if it is no token.
export function readToken(text) {
  const parts = text.split(".");
  if (parts.length !== 3) throw new TypeError("A token has three parts with dots between.");
  const bytes = Uint8Array.from(atob(parts[1].replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
  const claims = JSON.parse(new TextDecoder().decode(bytes));
  return {
    subject: String(claims.sub ?? ""),
    scopes: String(claims.scope ?? "").split(" ").filter(Boolean),
    expires: Number.isFinite(claims.exp) ? claims.exp * 1_000 : null,
  };
}

/// Whether a pattern of a scope, such as `radio*`, names a stream.
function names(pattern, stream) {
  return pattern.endsWith("*") ? stream.startsWith(pattern.slice(0, -1)) : pattern === stream;
}

/// The gateway that served this page.
///
/// Events (`detail` in brackets): `link` {state, sentence, since}, `opened`, `token` when there is another one, and those of the gateway by their names: `gateway`,
/// `break`, `counts`, `resync` {the document}. States of the link: `connecting`, `live`, `gone`, `locked` (it asks for a token), `refused`.
export class GatewayClient extends EventTarget {
  constructor(base = document.baseURI) {
    super();
    this.base = new URL(".", base);
    this.link = { state: "connecting", sentence: "", since: Date.now() };
    this.offsetMs = 0;
    this.hasClock = false;
    /// Why the token is not taken; empty: it is, or there is none.
    this.tokenProblem = "";
    try { this.token = sessionStorage.getItem(TOKEN_KEY) ?? ""; } catch { this.token = ""; }
    this.#readClaims();
  }

  #source = null;
  /// Whether the events are open, or being opened: reading the clock and getting a ticket come first.
  #isActive = false;
  #streams = [];
  #attempt = 0;
  #turn = 0;
  #retry = null;
  #silence = null;

  // MARK: Requests

  /// Asks, and gives the answer's document. Throws `GatewayGone` or `Refused`.
  ///
  /// - body: becomes JSON; a text goes as it is, with its type among the headers.
  async ask(method, path, { query = {}, body, headers = {}, token = this.token } = {}) {
    const address = new URL(path, this.base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null && value !== "") address.searchParams.set(name, value);
    }
    // "+" for a space is a habit of forms; the gateway reads it as it stands.
    address.search = address.search.replaceAll("+", "%20");
    const request = { method, headers: { Accept: "application/json", ...headers }, cache: "no-store", credentials: "omit" };
    request.signal = AbortSignal.timeout(ANSWER_MAX_MS);
    if (token) request.headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) {
      request.headers["Content-Type"] ??= "application/json";
      request.body = typeof body === "string" ? body : JSON.stringify(body);
    }
    let answer, text;
    try {
      answer = await fetch(address, request);
      text = await answer.text();
    } catch {
      throw new GatewayGone("The gateway does not answer.");
    }
    let document = {};
    const isText = answer.ok && headers.Accept === "text/csv";
    try { document = text && !isText ? JSON.parse(text) : {}; } catch { /* A proxy said something else. */ }
    // Where the next page is, a table says in its head.
    if (isText) return { text, next: /^<([^>]*)>; rel="next"$/.exec(answer.headers.get("Link") ?? "")?.[1] };
    if (!answer.ok) {
      // What stands between may answer for a gateway that is away.
      if ((answer.status === 502 || answer.status === 503 || answer.status === 504) && !document.code) {
        throw new GatewayGone("The gateway does not answer.");
      }
      throw new Refused(answer.status, document);
    }
    return document;
  }

  get(path, query) { return this.ask("GET", path, { query }); }

  // MARK: The token

  /// Takes a token for this tab, or none: it is kept until the tab is closed.
  setToken(token) {
    this.token = token;
    try {
      if (token) sessionStorage.setItem(TOKEN_KEY, token);
      else sessionStorage.removeItem(TOKEN_KEY);
    } catch { /* Then it is forgotten with the next load. */ }
    this.#readClaims();
    this.dispatchEvent(new CustomEvent("token"));
    this.reopen();
  }

  #readClaims() {
    try { this.claims = this.token ? readToken(this.token) : null; } catch { this.claims = null; }
  }

  /// Whether the token says that it may change the breaks of a stream.
  mayPublish(stream) {
    return (this.claims?.scopes ?? []).some((scope) => scope.startsWith("publish:") && names(scope.slice(8), stream));
  }

  /// Whether the token says that it may change the breaks of every stream, and the ad lists.
  mayPublishEverywhere() { return (this.claims?.scopes ?? []).includes("publish:*"); }

  // MARK: The clock

  /// The gateway's clock, in milliseconds since 1970.
  now() { return performance.timeOrigin + performance.now() + this.offsetMs; }

  async #readClock() {
    let best = null;
    for (let sample = 0; sample < CLOCK_SAMPLES; sample += 1) {
      const before = performance.now();
      const { gatewayUs } = await this.get("v1/time");
      const after = performance.now();
      if (best && after - before >= best.took) continue;
      best = { took: after - before, offset: gatewayUs / 1_000 - (performance.timeOrigin + (before + after) / 2) };
    }
    this.offsetMs = best.offset;
    this.hasClock = true;
    this.clockRead = performance.now();
  }

  // MARK: Events

  /// Says which streams are counted; the events begin anew where they are others.
  watch(streams) {
    const sorted = [...new Set(streams)].sort();
    if (this.#isActive && sorted.join() === this.#streams.join()) return;
    this.#streams = sorted;
    this.reopen();
  }

  /// Begins the events anew, at once.
  reopen() {
    this.#close();
    this.#attempt = 0;
    this.#open();
  }

  #close() {
    this.#turn += 1;
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#source?.close();
    this.#source = null;
    this.#isActive = false;
  }

  #tell(state, sentence = "") {
    if (this.link.state === state && this.link.sentence === sentence) return;
    this.link = { state, sentence, since: this.link.state === state ? this.link.since : Date.now() };
    this.dispatchEvent(new CustomEvent("link", { detail: this.link }));
  }

  async #open() {
    const turn = this.#turn;
    this.#isActive = true;
    try {
      if (!this.hasClock || performance.now() - this.clockRead > CLOCK_INTERVAL_MS) await this.#readClock();
      const query = new URLSearchParams();
      if (this.#streams.length) query.set("streams", this.#streams.join(","));
      const ticket = await this.#ticket();
      if (ticket) query.set("ticket", ticket);
      if (turn !== this.#turn) return;
      const address = new URL("v1/events", this.base);
      address.search = query.toString().replaceAll("%2C", ",");
      const source = new EventSource(address);
      this.#source = source;
      source.addEventListener("open", () => { if (turn === this.#turn) this.#opened(turn); });
      // A ticket is for one use: the browser must not try by itself.
      source.addEventListener("error", () => { if (turn === this.#turn) this.#lost(); });
      for (const name of ["gateway", "break", "counts", "resync"]) {
        source.addEventListener(name, (event) => {
          if (turn !== this.#turn) return;
          this.#heard(turn);
          this.dispatchEvent(new CustomEvent(name, { detail: JSON.parse(event.data) }));
        });
      }
    } catch (error) {
      if (turn === this.#turn) this.#failed(error);
    }
  }

  /// A ticket for the events, where the token is good for one; nothing where none is needed.
  async #ticket() {
    this.tokenProblem = "";
    if (!this.token) return null;
    try {
      return (await this.ask("POST", "v1/event-tickets")).ticket;
    } catch (error) {
      // One that is for other things than reading, or has expired, is no hindrance where reading is open.
      if (!(error instanceof Refused) || (error.status !== 401 && error.status !== 403)) throw error;
      if (error.status === 401) this.tokenProblem = error.message;
      return null;
    }
  }

  #opened(turn) {
    this.#attempt = 0;
    this.#tell("live");
    this.#heard(turn);
    this.dispatchEvent(new CustomEvent("opened"));
  }

  #heard(turn) {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => { if (turn === this.#turn) this.#lost(); }, SILENCE_MAX_MS);
    if (performance.now() - this.clockRead > CLOCK_INTERVAL_MS) {
      this.clockRead = performance.now();
      this.#readClock().catch(() => { /* The events tell when it is gone. */ });
    }
  }

  /// The events ended: asks why, because the browser does not tell.
  async #lost() {
    const hadOpened = this.link.state === "live" && this.#attempt === 0;
    this.#close();
    const turn = this.#turn;
    try {
      await this.get("v1/streams", { limit: 1 });
      if (turn !== this.#turn) return;
      if (hadOpened) {
        // It is there: the first try comes at once, without a message.
        this.#attempt = 1;
        return this.#open();
      }
      this.#failed(new Refused(503, { detail: "The gateway answers, and has no room for one more reader of its events." }));
    } catch (error) {
      if (turn === this.#turn) this.#failed(error);
    }
  }

  #failed(error) {
    this.#isActive = false;
    if (error instanceof Refused && error.status === 401) this.#tell("locked", error.message);
    else if (error instanceof Refused && error.status === 403) this.#tell("locked", error.message);
    else if (error instanceof Refused) this.#tell("refused", error.message);
    else this.#tell("gone", "The gateway does not answer.");
    if (!(error instanceof Refused || error instanceof GatewayGone)) console.error(error);
    this.#attempt += 1;
    const most = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(this.#attempt, 10));
    this.#retry = setTimeout(() => this.#open(), most / 2 + Math.random() * most / 2);
  }
}

"""##
        ),
        DashboardFile(
            name: "dashboard.css",
            type: "text/css; charset=utf-8",
            text: ##"""
/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright (c) 2026 the Cuecast authors */

:root {
  color-scheme: light;
  --ground: #f3f5f8;
  --panel: #ffffff;
  --raised: #f7f9fb;
  --line: #dde3ea;
  --line-strong: #8793a3;
  --text: #131a22;
  --soft: #515d6b;
  --accent: #1f5fd6;
  --accent-text: #ffffff;
  --accent-soft: #e8effc;
  --good: #0b7a55;
  --good-soft: #e0f4ec;
  --warn: #8a5300;
  --warn-soft: #fdf1dc;
  --warn-line: #e2a53b;
  --bad: #b3202c;
  --bad-soft: #fdeaeb;
  --bad-line: #dd6a72;
  --played: #12936b;
  --ignored: #8a97a8;
  --failed: #d2404b;
  --unknown: #e0a02f;
  --track: #e9edf2;
  --shadow: 0 1px 2px rgb(19 26 34 / 6%);
}

@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {
  color-scheme: dark;
  --ground: #0c1117; --panel: #141b23; --raised: #1a222c; --line: #27313d; --line-strong: #66758a;
  --text: #e8edf3; --soft: #a3b0bf; --accent: #7fb0ff; --accent-text: #081325; --accent-soft: #1a2b47;
  --good: #4fd0a0; --good-soft: #10322a; --warn: #f0bd62; --warn-soft: #352711; --warn-line: #8a6420;
  --bad: #ff949b; --bad-soft: #3c191d; --bad-line: #93373f;
  --played: #2fb388; --ignored: #718095; --failed: #e0606a; --unknown: #d99b35; --track: #222c37; --shadow: none;
} }

:root[data-theme="dark"] {
  color-scheme: dark;
  --ground: #0c1117; --panel: #141b23; --raised: #1a222c; --line: #27313d; --line-strong: #66758a;
  --text: #e8edf3; --soft: #a3b0bf; --accent: #7fb0ff; --accent-text: #081325; --accent-soft: #1a2b47;
  --good: #4fd0a0; --good-soft: #10322a; --warn: #f0bd62; --warn-soft: #352711; --warn-line: #8a6420;
  --bad: #ff949b; --bad-soft: #3c191d; --bad-line: #93373f;
  --played: #2fb388; --ignored: #718095; --failed: #e0606a; --unknown: #d99b35; --track: #222c37; --shadow: none;
}

*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }

body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 14px/1.45 Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
  -webkit-text-size-adjust: 100%;
}

h1, h2, h3, p, dl, dd, figure, table { margin: 0; }
h1 { font-size: 16px; font-weight: 650; letter-spacing: -0.01em; }
h2 { font-size: 15px; font-weight: 650; letter-spacing: -0.005em; }
h3 { font-size: 13px; font-weight: 600; }
h2, h3, p { overflow-wrap: anywhere; }
a { color: var(--accent); }
button, input, select { font: inherit; color: inherit; }
code { font: 0.95em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }

:focus-visible, input[type="date"]:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; }
h2:focus-visible, .streams:focus-visible { outline-offset: 4px; border-radius: 4px; }

.hidden-text {
  position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; border: 0;
}
.skip { position: absolute; left: 16px; top: -60px; z-index: 2; padding: 8px 14px; border-radius: 6px; background: var(--accent); color: var(--accent-text); }
.skip:focus { top: 8px; }

/* The head */

.top {
  display: flex; flex-wrap: wrap; align-items: center; gap: 8px 24px; padding: 10px 24px;
  background: var(--panel); border-bottom: 1px solid var(--line); position: sticky; top: 0; z-index: 1;
}
.brand { display: flex; align-items: center; gap: 10px; margin-right: auto; min-width: 0; }
.mark { width: 26px; height: 26px; flex: none; }
.mark rect { fill: #1f5fd6; }
.mark path { stroke: #fff; stroke-width: 3.2; stroke-linecap: round; fill: none; }
.host { color: var(--soft); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.link { display: flex; align-items: center; gap: 8px; font-weight: 600; }
.dot { width: 9px; height: 9px; border-radius: 50%; background: var(--line-strong); }
.link[data-state="live"] .dot { background: var(--played); box-shadow: 0 0 0 3px color-mix(in srgb, var(--played) 22%, transparent); }
.link[data-state="gone"] { color: var(--bad); }
.link[data-state="gone"] .dot { background: var(--failed); }
.link:is([data-state="locked"], [data-state="refused"], [data-state="draining"]) { color: var(--warn); }
.link:is([data-state="locked"], [data-state="refused"], [data-state="draining"]) .dot { background: var(--unknown); }
.clock { color: var(--soft); white-space: nowrap; }
.clock time { color: var(--text); font-weight: 600; margin-left: 4px; }
.tools { display: flex; gap: 8px; }

/* Buttons and fields */

button { cursor: pointer; }
button.quiet, button.primary, button.danger {
  min-height: 32px; padding: 4px 12px; border-radius: 7px; border: 1px solid var(--line-strong); background: var(--panel); font-weight: 550; white-space: nowrap;
}
button.quiet:hover { background: var(--raised); }
button.primary { border-color: transparent; background: var(--accent); color: var(--accent-text); }
button.primary:hover { filter: brightness(1.08); }
button.danger { border-color: var(--bad-line); color: var(--bad); }
button.danger:hover { background: var(--bad-soft); }
button:disabled, button[aria-disabled="true"] { opacity: 0.45; cursor: default; }
input, select {
  width: 100%; min-height: 36px; padding: 6px 10px; border: 1px solid var(--line-strong); border-radius: 7px; background: var(--panel);
}
input::placeholder { color: var(--soft); opacity: 1; }

/* Notices */

#notices { display: grid; gap: 8px; padding: 0 24px; }
#notices:not(:empty) { padding-top: 16px; }
.notice {
  display: flex; flex-wrap: wrap; gap: 2px 12px; padding: 10px 14px; border: 1px solid var(--warn-line); border-left-width: 4px; border-radius: 8px;
  background: var(--warn-soft);
}
.notice strong { color: var(--warn); }
.notice.bad { border-color: var(--bad-line); background: var(--bad-soft); }
.notice.bad strong { color: var(--bad); }

/* The page */

main { display: grid; gap: 16px; padding: 16px 24px 24px; max-width: 1560px; margin: 0 auto; }
.tiles { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 12px; }
.tile, .panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow); }
.tile { position: relative; display: grid; grid-template-rows: auto auto 1fr; padding: 12px 14px; min-height: 94px; overflow: hidden; }
.tile dt { color: var(--soft); font-weight: 550; }
.tile .value { font-size: 26px; line-height: 1.25; font-weight: 640; letter-spacing: -0.02em; }
.spark-box { position: absolute; right: 12px; bottom: 10px; width: 44%; height: 20px; }
.tile .note, .tile .value, .tile dt { position: relative; z-index: 1; }
.spark { display: block; width: 100%; height: 100%; overflow: visible; }
.spark-line { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.spark-area { fill: var(--accent); opacity: 0.12; }
.tile[data-level="warn"] { border-color: var(--warn-line); background: var(--warn-soft); }
.tile[data-level="bad"] { border-color: var(--bad-line); background: var(--bad-soft); }

.columns { display: grid; grid-template: auto 1fr / minmax(350px, 4fr) minmax(0, 9fr); gap: 16px; align-items: start; }
.detail { display: grid; gap: 16px; min-width: 0; grid-area: 1 / 2 / 3; }
.health { grid-area: 2 / 1; }
.panel { padding: 14px 16px; min-width: 0; }
.panel-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 10px; margin-bottom: 10px; }
.panel-head .count { color: var(--soft); margin-right: auto; }
.panel-head .primary { align-self: center; }
.note, .facts, .empty { color: var(--soft); }
.note { font-size: 12px; font-weight: 400; }
.empty { padding: 18px 0; }

/* What happened over time */

.choices { display: flex; gap: 6px; }
button.quiet[aria-pressed="true"] { background: var(--accent-soft); border-color: var(--accent); color: var(--accent); }
.timeline-body { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 8px 28px; }
.timeline figcaption { color: var(--soft); font-size: 12px; }
.timeline-plot { height: 120px; }
.area-listeners { fill: var(--accent); opacity: 0.55; }
.key::before { content: ""; display: inline-block; width: 9px; height: 9px; margin: 0 4px 0 6px; border-radius: 2px; background: var(--played); }
.key-ignored::before { background: var(--ignored); }
.key-failed::before { background: var(--failed); }

/* Pinned streams */

.pins { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 12px; }
.pin { display: grid; gap: 6px; align-content: start; padding: 12px 14px; border: 1px solid var(--line); border-radius: 10px; background: var(--panel); box-shadow: var(--shadow); }
.pin[aria-current] { border-color: var(--accent); }
.pin[data-state="live"] { border-color: color-mix(in srgb, var(--played) 55%, var(--line)); }
.pin-head { display: flex; align-items: center; gap: 8px; min-width: 0; }
.pin-head h3 { font-size: 14px; overflow-wrap: anywhere; }
.pin-head .quiet { margin-left: auto; min-height: 28px; padding: 2px 10px; }
.pin .bar-box { height: 6px; }
.pin-counts { display: grid; grid-template-columns: 1fr 1fr; gap: 2px 14px; font-size: 12px; }
.pin-counts > div { display: flex; justify-content: space-between; gap: 8px; }
.pin-counts dt { color: var(--soft); }
.pin-counts dd { font-weight: 600; white-space: nowrap; }

/* Tables */

.table-box { overflow-x: auto; margin: 0 -16px; padding: 0 16px; }
table { width: 100%; border-collapse: collapse; }
.rows th, .rows td { padding: 7px 10px; text-align: left; border-top: 1px solid var(--line); vertical-align: baseline; }
.rows thead th { border-top: 0; color: var(--soft); font-size: 12px; font-weight: 550; white-space: nowrap; padding-top: 2px; }
.rows tbody th { font-weight: 550; overflow-wrap: anywhere; min-width: 92px; }
.rows :is(th, td):first-child { padding-left: 0; }
.rows :is(th, td):last-child { padding-right: 0; }
.rows .number, .number { text-align: right; white-space: nowrap; }
.rows tr.ad th { padding-left: 14px; font-weight: 400; }
.rows tr.ad td[colspan] { padding-left: 14px; }
.rows tr.ad :is(th, td) { background: var(--raised); }
.compact th, .compact td { padding-block: 5px; }
tr[data-level="warn"] .number { color: var(--warn); font-weight: 600; }
button.name { border: 0; padding: 0; background: none; font-weight: 600; text-align: left; color: var(--accent); overflow-wrap: anywhere; }
button.name:hover { text-decoration: underline; }

#search-form { margin-bottom: 8px; }
#stream-table tbody tr { cursor: pointer; }
#stream-table tbody tr:hover { background: var(--raised); }
#stream-table tbody tr.chosen { background: var(--accent-soft); box-shadow: -16px 0 var(--accent-soft), 16px 0 var(--accent-soft); }
#stream-table thead th:first-child { width: 50%; }
#stream-table .about { white-space: nowrap; color: var(--soft); }
#stream-table button.name { color: inherit; }
#stream-table tr.chosen :is(.about, .badge[data-state="none"]) { color: var(--text); }
.streams .table-box { overflow: hidden; }

.badge {
  display: inline-block; padding: 1px 8px; border-radius: 99px; border: 1px solid var(--line); background: var(--raised); color: var(--soft);
  font-size: 12px; font-weight: 600; white-space: nowrap;
}
.badge:empty { display: none; }
#signal-sources { margin-bottom: 10px; }
#signal-list :is(td[data-label="when"], td[data-label="break"]) { white-space: nowrap; }
#signal-list td[data-label="when"] .note { display: block; }
.badge[data-state="live"] { background: var(--good-soft); color: var(--good); border-color: transparent; }
.badge:is([data-state="announced"], [data-state="cued"]) { background: var(--accent-soft); color: var(--accent); border-color: transparent; }
#stream-table tr.chosen .badge:is([data-state="announced"], [data-state="cued"]) { background: var(--panel); border-color: currentcolor; }
.badge:is([data-state="balanced"], [data-state="changed"]) { background: var(--good-soft); color: var(--good); border-color: transparent; }
.badge:is([data-state="warn"], [data-state="cancelled"], [data-state="expired"]) { background: var(--warn-soft); color: var(--warn); border-color: transparent; }
.badge:is([data-state="unbalanced"], [data-state="refused"], [data-state="missing"]) { background: var(--bad-soft); color: var(--bad); border-color: transparent; }

.pager { display: flex; align-items: center; justify-content: space-between; gap: 12px; padding-top: 12px; border-top: 1px solid var(--line); color: var(--soft); }

/* Breaks */

.breaks { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 244px), 1fr)); gap: 12px; }
.breaks .empty { grid-column: 1 / -1; padding: 8px 0; }
.break { display: grid; gap: 6px; align-content: start; padding: 12px 14px; border: 1px solid var(--line); border-radius: 9px; background: var(--raised); }
.break[data-state="live"] { border-color: color-mix(in srgb, var(--played) 55%, var(--line)); background: var(--good-soft); }
.break-head { display: flex; align-items: baseline; gap: 8px; min-width: 0; }
.break-head h3 { overflow-wrap: anywhere; }
.break[data-state="live"] .badge { background: var(--good); color: var(--panel); }
.break-time { display: flex; align-items: baseline; gap: 8px; }
.countdown { white-space: nowrap; font-size: 30px; line-height: 1.15; font-weight: 640; letter-spacing: -0.02em; }
.break .bar-box { height: 6px; }
.break .title { font-weight: 550; overflow-wrap: anywhere; }
.break .title:empty { display: none; }
.facts { font-size: 12px; overflow-wrap: anywhere; }
.break[data-state="live"] :is(.facts, .note) { color: var(--text); }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; padding-top: 4px; }
.buttons:empty { display: none; }

/* The funnel */

.funnel-body { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 8px 28px; align-items: start; }
.funnel th { text-align: left; font-weight: 500; white-space: nowrap; padding: 4px 12px 4px 0; width: 1%; }
.funnel td { padding: 4px 0; }
.funnel .bar-cell { width: auto; }
.funnel .number { width: 1%; overflow-wrap: normal; padding-left: 14px; font-weight: 600; min-width: 64px; }
.funnel .share { color: var(--soft); font-weight: 400; min-width: 62px; }
.funnel .row-delivered > * { border-top: 1px solid var(--line); }
.bar-box { display: block; width: 100%; height: 14px; }
.bar-track { fill: var(--track); }
.bar { transform-origin: 0 0; transition: transform 400ms ease-out; fill: var(--accent); }
.bar-played, .bar-time { fill: var(--played); }
.bar-ignored { fill: var(--ignored); }
.bar-failed { fill: var(--failed); }
.bar-unknown { fill: var(--unknown); }
.bar-time { transition: transform 1s linear; }
.course { min-width: 0; }
#course { height: 190px; }
#course .empty { padding: 12px 0; }
.course figcaption { color: var(--soft); font-size: 12px; }
.plot { display: block; width: 100%; height: 100%; }
.area-played { fill: var(--played); }
.area-ignored { fill: var(--ignored); }
.area-failed { fill: var(--failed); }
.area-unknown { fill: var(--unknown); }
.on-air { fill: var(--played); opacity: 0.1; }
.axis line { stroke: var(--line); stroke-width: 1; }
.axis text { fill: var(--soft); font-size: 11px; }

/* History */

.tabs { display: flex; gap: 4px; margin: -4px -6px 10px; border-bottom: 1px solid var(--line); }
.tabs button { border: 0; border-bottom: 2px solid transparent; margin-bottom: -1px; padding: 6px 8px 8px; background: none; font-weight: 600; color: var(--soft); }
.tabs button[aria-selected="true"] { color: var(--text); border-color: var(--accent); }
:is(#audit, #books) td:not([colspan]) { white-space: nowrap; }
#audit td:last-child { white-space: normal; min-width: 200px; }

.badge.when-narrow { display: none; }
#past-search { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)) auto; gap: 8px 12px; align-items: end; margin-bottom: 10px; }
#past-search .field { min-width: 0; }
#past-search input { min-width: 0; }
#past-search label { font-size: 12px; color: var(--soft); }
.past-tools { display: flex; gap: 8px; }
.past-tools button { min-height: 36px; }
#past-problem:empty, .settles:empty { display: none; }
.settles { padding-bottom: 6px; }

/* Health */

.health-body { display: grid; gap: 16px; }
.health-body .empty { padding: 2px 0; }
.health-body h3 { color: var(--soft); margin-bottom: 6px; }
.resources { display: grid; gap: 10px; }
.resource { display: grid; grid-template-columns: 96px minmax(0, 1fr); gap: 4px 8px; align-items: baseline; }
.resource .value { font-weight: 600; }
.resource dd .bar-box { height: 5px; margin-top: 4px; }
.resource dd .spark { height: 22px; margin-top: 4px; }
.resource[data-level="warn"] .value { color: var(--warn); }
.resource[data-level="bad"] .value { color: var(--bad); }
.resource[data-level="warn"] .bar { fill: var(--unknown); }
.resource[data-level="bad"] .bar { fill: var(--failed); }

footer { display: flex; gap: 18px; padding: 0 24px 28px; max-width: 1560px; margin: 0 auto; }

/* When the gateway is gone, what is shown is old. */
body[data-link="gone"] :is(.tiles, .columns, .health) { filter: saturate(0.25); }
body[data-link="gone"] :is(.tile, .panel) { border-style: dashed; }

/* Dialogs */

dialog {
  width: min(480px, calc(100vw - 32px)); max-height: calc(100vh - 32px); padding: 20px 22px; border: 1px solid var(--line); border-radius: 12px;
  background: var(--panel); color: var(--text); box-shadow: 0 20px 60px rgb(0 0 0 / 30%);
}
dialog::backdrop { background: rgb(8 12 18 / 55%); }
dialog form { display: grid; gap: 14px; }
dialog h2 { font-size: 18px; }
.dialog-facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 16px; }
.dialog-facts dt { color: var(--soft); }
.dialog-facts dd { overflow-wrap: anywhere; }
.field { display: grid; gap: 4px; }
.field label { font-weight: 550; }
.reach { padding: 10px 12px; border-radius: 8px; background: var(--accent-soft); font-weight: 600; }
.problem:empty { display: none; }
.problem { padding: 10px 12px; border-radius: 8px; background: var(--bad-soft); color: var(--bad); }
.dialog-buttons { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 10px; }
dialog button { min-height: 36px; }

/* The result of a change, for a while: on top of the page, where it covers no control. */

.toast {
  position: fixed; left: 50%; bottom: 24px; transform: translateX(-50%); z-index: 3; max-width: min(520px, calc(100vw - 24px)); padding: 10px 16px; border-radius: 8px;
  background: var(--text); color: var(--panel); font-weight: 600; overflow-wrap: anywhere; box-shadow: 0 6px 24px rgb(0 0 0 / 25%); pointer-events: none;
  animation: toast-comes 200ms ease-out;
}
@keyframes toast-comes { from { opacity: 0; } }

/* Narrow screens */

@media (max-width: 1199px) {
  .tiles { grid-template-columns: repeat(3, minmax(0, 1fr)); }
}
@media (max-width: 1199px) {
  #past-search { grid-template-columns: repeat(4, minmax(0, 1fr)); }
  .past-tools { grid-column: 1 / -1; }
}
@media (max-width: 899px) {
  .timeline-body { grid-template-columns: minmax(0, 1fr); }
  .columns, .funnel-body { grid-template: none / minmax(0, 1fr); }
  .detail, .health { grid-area: auto; }
  .detail, #stream { scroll-margin-top: 60px; }
}
@media (max-width: 599px) {
  body { font-size: 15px; }
  .top { padding: 10px 16px; gap: 8px 14px; }
  .host { display: none; }
  .clock-label { display: none; }
  .tools { width: 100%; }
  .tools button { flex: 1; }
  .top { position: static; }
  main { padding: 12px; gap: 12px; }
  #notices { padding-inline: 12px; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 8px; }
  button.quiet, button.primary, button.danger, dialog button { min-height: 44px; }
  input, select { min-height: 44px; font-size: 16px; }
  #stream-table button.name { min-height: 32px; }
  .panel-head .primary { width: 100%; }
  .streams .table-box { overflow-x: auto; }
  #stream-table .about { white-space: normal; }
  #stream-table tbody th { min-width: 0; }
  #stream-table thead th:first-child { width: auto; }
  .when-wide { display: none; }
  .badge.when-narrow { display: table; margin-top: 3px; }
  .badge.when-narrow:empty { display: none; }
  #past-search { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  .past-tools button, .choices button { flex: 1; }
  .choices { width: 100%; }

  /* A row stands as a block, each number with its name: no column is cut off. */
  .stacked, .stacked tbody, .stacked caption { display: block; }
  .stacked thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacked tr { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 16px; padding: 8px 0; border-top: 1px solid var(--line); }
  .stacked tr.ad { padding-inline: 14px; background: var(--raised); }
  .stacked tr :is(th, td) { border: 0; padding: 2px 0 !important; text-align: left; }
  .stacked tr :is(th, td[colspan]) { grid-column: 1 / -1; }
  .stacked td[data-label] { display: flex; justify-content: space-between; gap: 10px; white-space: normal !important; overflow-wrap: anywhere; }
  .stacked td[data-label]::before { content: attr(data-label); color: var(--soft); }
  .stacked .when-wide { display: none; }
  #signal-list td:is([data-label="signal"], [data-label="result"]) { grid-column: 1 / -1; }
  #signal-list td[data-label]::before { flex: none; }
}
@media (max-width: 359px) {
  #past-search { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 399px) {
  .funnel, .funnel tbody { display: block; }
  .funnel tr { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; padding-top: 4px; }
  .funnel :is(th, td) { width: auto; padding-block: 1px; }
  .funnel .bar-cell { grid-area: 2 / 1 / 3 / -1; }
  .funnel .row-delivered > * { border-top: 0; }
  .funnel .row-delivered { border-top: 1px solid var(--line); }
  #stream-table :is(.about, th:nth-child(2)) { padding-inline: 4px; }
}

@media (prefers-reduced-motion: reduce) { *, *::before, *::after { transition: none !important; animation: none !important; scroll-behavior: auto !important; } }
@media (forced-colors: active) { .bar, .area-played, .area-ignored, .area-failed, .area-unknown, .dot { forced-color-adjust: none; } }

"""##
        ),
        DashboardFile(
            name: "dashboard.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
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

"""#
        ),
        DashboardFile(
            name: "day.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
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

"""#
        ),
        DashboardFile(
            name: "health.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The figures at the top, and how the gateway itself does.

import { $, client, onDraw, state } from "./model.js";
import { onFirstHistory } from "./timeline.js";
import { Bar, Spark, bytes, count, element, latency, mark, rate, say, showIn } from "./plots.js";

/// A limit that was hit within so long is shown as one that is hit now.
const HIT_RECENTLY_MS = 60_000;

// MARK: Tiles

const tiles = Object.fromEntries([
  ["listeners", "Listeners now", true], ["breaks", "Breaks on air", false], ["batches", "Batches / s", true],
  ["outcomes", "Outcomes / s", true], ["notices", "Notices / s", true], ["lag", "Ledger behind", false],
].map(([name, label, hasSpark]) => {
  const tile = { value: element("dd", { class: "value" }, "–"), note: element("dd", { class: "note" }), spark: hasSpark ? new Spark() : null };
  tile.node = element("dl", { class: "tile", id: `tile-${name}` }, element("dt", {}, label), tile.value, tile.note);
  if (tile.spark) tile.node.append(element("dd", { class: "spark-box", "aria-hidden": "true" }, tile.spark.node));
  $("tiles").append(tile.node);
  return [name, tile];
}));

function drawTiles() {
  const gateway = state.gateway;
  if (!gateway) return;
  const rates = gateway.rates ?? {};
  say(tiles.listeners.value, count(gateway.listeners));
  const places = gateway.gateways > 1 ? [`at ${count(gateway.gateways)} gateways`, `${count(gateway.listenersHere)} here`] : [];
  if (gateway.listenersHTTP) places.push(`${count(gateway.listenersHTTP)} over HTTP`);
  say(tiles.listeners.note, places.join(", "));
  say(tiles.breaks.value, count(gateway.breaksRunning));
  say(tiles.breaks.note, `of ${count(gateway.streams)} ${gateway.streams === 1 ? "stream" : "streams"}`);
  say(tiles.batches.value, rate(rates.batches));
  say(tiles.outcomes.value, rate(rates.acknowledgements));
  say(tiles.notices.value, rate(rates.notices));
  const lagSeconds = gateway.ledgerLagSeconds ?? 0;
  const lag = gateway.ledgerLagRecords ?? 0;
  say(tiles.lag.value, lag === 0 ? "0" : `${count(lag)}`);
  say(tiles.lag.note, lag === 0 ? "every record is counted" : `records, ${lagSeconds < 1 ? "under a second" : `${rate(lagSeconds)} s`}`);
  mark(tiles.lag.node, "data-level", lagSeconds >= 30 ? "bad" : lagSeconds >= 5 ? "warn" : null);
  for (const tile of Object.values(tiles)) tile.spark?.draw();
}

// MARK: Health

const LATENCIES = [
  ["noticeMicroseconds", "Notice", "from the publish to its sending"], ["appendMicroseconds", "Append", "what an acknowledgement waits for"],
  ["scheduleLateMicroseconds", "Timers", "how late they fire"],
];
const resources = new Map();
const memory = new Spark();

function resource(name, label) {
  let found = resources.get(name);
  if (!found) {
    found = { value: element("span", { class: "value" }), note: element("span", { class: "note" }), bar: new Bar("level"), dt: element("dt", {}, label) };
    found.node = element("div", { class: "resource" }, found.dt, element("dd", {}, found.value, " ", found.note, found.bar.node));
    $("resources").append(found.node);
    resources.set(name, found);
  }
  return found;
}

function level(found, part) {
  found.bar.show(part);
  mark(found.node, "data-level", part >= 0.95 ? "bad" : part >= 0.85 ? "warn" : null);
}

function drawHealth() {
  const gateway = state.gateway;
  if (!gateway) return;
  drawLatency(gateway.latency ?? {});
  const disk = gateway.disk ?? {};
  const room = resource("disk", "Disk");
  say(room.value, `${bytes(disk.free)} free`);
  say(room.note, `${bytes(disk.bytes)} taken`);
  level(room, disk.free + disk.bytes > 0 ? disk.bytes / (disk.free + disk.bytes) : 0);
  const used = resource("memory", "Memory");
  say(used.value, bytes(gateway.memoryBytes));
  if (used.bar.node.isConnected) used.bar.node.replaceWith(memory.node);
  memory.draw();
  const descriptors = gateway.descriptors ?? {};
  const files = resource("descriptors", "Descriptors");
  say(files.value, `${count(descriptors.open)} open`);
  say(files.note, `of ${count(descriptors.max)}`);
  level(files, descriptors.max ? descriptors.open / descriptors.max : 0);
  const ledger = resource("ledger", "Ledger");
  const lag = gateway.ledgerLagRecords ?? 0;
  say(ledger.value, lag === 0 ? "up to date" : `${count(lag)} records behind`);
  say(ledger.note, lag === 0 ? "" : `${rate(gateway.ledgerLagSeconds)} s`);
  mark(ledger.bar.node, "hidden", "");
  drawLimits(gateway.limits ?? []);
  const troubles = (gateway.alarms ?? []).length;
  say($("health-count"), troubles ? `${count(troubles)} ${troubles === 1 ? "alarm" : "alarms"}` : "no alarms");
}

function drawLatency(latencies) {
  if (!drawLatency.cells) {
    drawLatency.cells = new Map();
    const body = element("tbody");
    for (const [name, word, told] of LATENCIES) {
      const cells = { p50: element("td", { class: "number" }), p99: element("td", { class: "number" }) };
      drawLatency.cells.set(name, cells);
      body.append(element("tr", {}, element("th", { scope: "row" }, word, element("span", { class: "note" }, ` ${told}`)), cells.p50, cells.p99));
    }
    $("latency").replaceChildren(element("table", { class: "rows compact" },
      element("caption", { class: "hidden-text" }, "Latency of the gateway’s own work, of the last minute"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "What"), element("th", { scope: "col", class: "number" }, "p50"),
        element("th", { scope: "col", class: "number" }, "p99"))), body));
  }
  // Nothing was measured in the last minute where there is none.
  for (const [name, cells] of drawLatency.cells) {
    say(cells.p50, latency(latencies[name]?.p50));
    say(cells.p99, latency(latencies[name]?.p99));
  }
}

function drawLimits(limits) {
  const now = performance.now();
  const hit = [];
  for (const each of limits) {
    let known = state.limits.get(each.limit);
    if (!known) state.limits.set(each.limit, known = { refused: each.refused, at: -Infinity });
    if (each.refused > known.refused) known.at = now;
    known.refused = each.refused;
    if (each.refused > 0) hit.push({ ...each, isNow: now - known.at < HIT_RECENTLY_MS });
  }
  hit.sort((one, other) => (other.isNow - one.isNow) || (other.refused - one.refused) || one.limit.localeCompare(other.limit));
  showIn($("limits"), JSON.stringify(hit), () => [hit.length === 0
    ? element("p", { class: "empty" }, limits.length ? `None of ${count(limits.length)} limits was hit.` : "No limit was hit.")
    : element("table", { class: "rows compact" }, element("caption", { class: "hidden-text" }, "Limits that were hit since the gateway started"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Limit"), element("th", { scope: "col", class: "number" }, "at"),
        element("th", { scope: "col", class: "number" }, "refused"))),
      element("tbody", {}, ...hit.map((each) => element("tr", { "data-level": each.isNow ? "warn" : undefined },
        element("th", { scope: "row" }, each.limit, each.isNow ? element("span", { class: "badge", "data-state": "warn" }, "now") : ""),
        element("td", { class: "number" }, each.max === undefined || each.max === null ? "–" : count(each.max)),
        element("td", { class: "number" }, count(each.refused))))))]);
}

// MARK: What the gateway tells

/// One sample of the first history stands for so many values of the small lines, which come once a second.
const VALUES_PER_SAMPLE = 10;
onFirstHistory(({ samples }) => {
  for (const each of samples.slice(-12)) {
    for (let value = 0; value < VALUES_PER_SAMPLE; value += 1) {
      tiles.listeners.spark.push(each.listeners);
      tiles.batches.spark.push(each.batches);
      tiles.outcomes.spark.push(each.played + each.ignored + each.failed);
      tiles.notices.spark.push(each.notices);
    }
  }
});
client.addEventListener("gateway", ({ detail }) => {
  tiles.listeners.spark.push(detail.listeners);
  tiles.batches.spark.push(detail.rates?.batches);
  tiles.outcomes.spark.push(detail.rates?.acknowledgements);
  tiles.notices.spark.push(detail.rates?.notices);
  memory.push(detail.memoryBytes);
});
onDraw(drawTiles);
onDraw(drawHealth);

"""#
        ),
        DashboardFile(
            name: "history.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
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

"""#
        ),
        DashboardFile(
            name: "index.html",
            type: "text/html; charset=utf-8",
            text: ##"""
<!doctype html>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Copyright (c) 2026 the Cuecast authors -->
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>Cuecast</title>
  <link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%231f5fd6'/%3E%3Cpath d='M10 11v10M16 7v18M22 11v10' stroke='white' stroke-width='3.2' stroke-linecap='round'/%3E%3C/svg%3E">
  <link rel="stylesheet" href="dashboard/dashboard.css">
  <link rel="stylesheet" href="dashboard/views.css">
  <script type="module" src="dashboard/dashboard.js"></script>
</head>
<body>
  <a class="skip" href="#streams">Skip to the streams</a>

  <header class="top">
    <div class="brand">
      <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="8"/>
        <path d="M10 11v10M16 7v18M22 11v10"/>
      </svg>
      <h1>Cuecast</h1>
      <p class="host"><span id="host"></span> <span id="version"></span></p>
    </div>
    <nav class="views" aria-label="Views"><a id="view-now" href="#">Now</a><a id="view-day" href="#/day">Day</a><a id="view-lists" href="#/lists">Ad lists</a></nav>
    <p class="link" id="link" data-state="connecting"><span class="dot" aria-hidden="true"></span><span id="link-text">Connecting</span></p>
    <p class="clock"><span class="clock-label">Gateway’s clock</span> <time id="clock">--:--:--</time></p>
    <div class="tools">
      <button type="button" class="quiet" id="theme">Colours: auto</button>
      <button type="button" class="quiet" id="token">Enter a token</button>
    </div>
  </header>

  <noscript><p class="notice">This page needs JavaScript. <code>cuecast top</code> and <a href="v1">the HTTP API</a> do not.</p></noscript>
  <div id="notices" role="alert"></div>
  <p id="said" class="hidden-text" role="status"></p>
  <p id="toast" class="toast" aria-hidden="true" hidden></p>

  <main id="main" data-view="now">
    <section class="tiles" aria-label="The gateway now" id="tiles"></section>

    <section class="panel timeline" aria-labelledby="timeline-title" id="timeline">
      <div class="panel-head">
        <h2 id="timeline-title">Over time</h2>
        <p class="count" id="timeline-about"></p>
        <div class="choices" id="timeline-spans" role="group" aria-label="How far back"></div>
      </div>
      <div class="timeline-body">
        <figure><figcaption>Listeners</figcaption><div class="timeline-plot" id="timeline-listeners"></div></figure>
        <figure><figcaption>Outcomes / s: <span class="key key-played">played</span> <span class="key key-ignored">ignored</span> <span class="key key-failed">failed</span></figcaption><div class="timeline-plot" id="timeline-outcomes"></div></figure>
      </div>
    </section>

    <section class="pins" id="pins" aria-label="Pinned streams" hidden></section>

    <div class="columns">
      <section class="panel streams" aria-labelledby="streams-title" id="streams" tabindex="-1">
        <div class="panel-head">
          <h2 id="streams-title">Streams</h2>
          <p class="count" id="streams-count"></p>
        </div>
        <form role="search" id="search-form">
          <label class="hidden-text" for="search">Search streams</label>
          <input id="search" type="search" placeholder="Search streams" autocomplete="off" spellcheck="false" maxlength="64">
        </form>
        <div class="table-box">
          <table class="rows" id="stream-table">
            <caption class="hidden-text">Streams, with the listeners that each has now, and its running or next break</caption>
            <thead><tr><th scope="col">Stream</th><th scope="col">Break</th><th scope="col" class="number">Listeners</th></tr></thead>
            <tbody id="stream-rows"></tbody>
          </table>
          <p class="empty" id="streams-empty" hidden></p>
        </div>
        <nav class="pager" aria-label="Pages of streams" id="streams-pager" hidden>
          <button type="button" class="quiet" id="streams-before">Previous</button>
          <span id="streams-place"></span>
          <button type="button" class="quiet" id="streams-after">Next</button>
        </nav>
      </section>

      <div class="detail">
        <section class="panel" aria-labelledby="stream-title" id="stream">
          <div class="panel-head">
            <h2 id="stream-title" tabindex="-1">No stream chosen</h2>
            <p class="count" id="stream-listeners"></p>
            <button type="button" class="quiet" id="pin" aria-pressed="false" hidden>Pin</button>
            <button type="button" class="primary" id="publish" hidden>Publish a test break</button>
          </div>
          <div class="breaks" id="breaks"></div>
        </section>

        <section class="panel" aria-labelledby="funnel-title" id="funnel">
          <div class="panel-head">
            <h2 id="funnel-title">What listeners did</h2>
            <p class="count" id="funnel-about"></p>
          </div>
          <div class="funnel-body">
            <table class="funnel" id="funnel-table" role="table">
              <caption class="hidden-text">From notice to outcome: how many, and which share</caption>
              <thead class="hidden-text">
                <tr><th scope="col">Step</th><th scope="col">Share as a bar</th><th scope="col">Count</th><th scope="col">Share</th></tr>
              </thead>
              <tbody id="funnel-rows" role="rowgroup"></tbody>
            </table>
            <figure class="course">
              <div id="course"></div>
              <figcaption id="course-caption"></figcaption>
            </figure>
          </div>
        </section>

        <section class="panel" aria-labelledby="signals-title" id="signals" hidden>
          <div class="panel-head">
            <h2 id="signals-title">Signals</h2>
            <p class="count" id="signals-about"></p>
          </div>
          <div id="signal-sources"></div>
          <div id="signal-list"></div>
        </section>

        <section class="panel" aria-labelledby="past-title" id="past">
          <h2 class="hidden-text" id="past-title">History</h2>
          <div class="tabs" role="tablist" aria-labelledby="past-title">
            <button type="button" role="tab" id="tab-books" aria-controls="books" aria-selected="true">Breaks and their books</button>
            <button type="button" role="tab" id="tab-audit" aria-controls="audit" aria-selected="false" tabindex="-1">Audit</button>
          </div>
          <form role="search" id="past-search" aria-label="Search the history">
            <div class="field"><label for="past-break">Break</label><input id="past-break" type="text" placeholder="whole name" autocomplete="off" spellcheck="false" maxlength="64" pattern="[A-Za-z0-9._\-]{1,64}"></div>
            <div class="field" id="past-ad-field"><label for="past-ad">Ad</label><input id="past-ad" type="text" placeholder="whole id" autocomplete="off" spellcheck="false" maxlength="128"></div>
            <div class="field"><label for="past-from">From</label><input id="past-from" type="date"></div>
            <div class="field"><label for="past-until">To</label><input id="past-until" type="date"></div>
            <div class="past-tools" id="past-tools">
              <button type="button" class="quiet" id="past-by-ad" aria-pressed="false">By ad</button>
              <button type="button" class="quiet" id="past-csv">Download CSV</button>
            </div>
          </form>
          <p class="note" id="past-problem" role="status"></p>
          <div role="tabpanel" id="books" aria-labelledby="tab-books" tabindex="0"></div>
          <div role="tabpanel" id="audit" aria-labelledby="tab-audit" tabindex="0" hidden></div>
        </section>

        <section class="panel" aria-labelledby="day-title" id="day">
          <div class="panel-head">
            <h2 id="day-title" tabindex="-1">No stream chosen</h2>
            <p class="count" id="day-about"></p>
            <div class="choices" role="group" aria-label="Which day">
              <button type="button" class="quiet" id="day-before">Previous day</button>
              <button type="button" class="quiet" id="day-today" aria-pressed="true">Today</button>
              <button type="button" class="quiet" id="day-after">Next day</button>
              <label class="hidden-text" for="day-date">Day</label><input id="day-date" type="date" required>
            </div>
          </div>
          <p class="note" id="day-cut" role="status"></p>
          <ul class="plan-keys" id="day-key" aria-label="How many breaks are in which state"></ul>
          <div class="plan" id="day-plan" aria-hidden="true"></div>
          <div id="day-findings"></div>
          <div id="day-table"></div>
        </section>

        <section class="panel" aria-labelledby="break-title" id="break">
          <div class="panel-head">
            <h2 id="break-title" tabindex="-1">Break</h2>
            <span class="badge" id="break-badge"></span>
            <p class="count" id="break-about"></p>
            <p class="break-links"><a id="break-day" href="#">Its day</a> <a id="break-now" href="#">Its stream now</a></p>
          </div>
          <dl class="facts-grid" id="break-facts"></dl>
          <div class="buttons" id="break-buttons"></div>
          <div id="break-books"></div>
          <div id="break-variants"></div>
          <div id="break-why"></div>
          <div id="break-sources"></div>
          <div id="break-revisions"></div>
        </section>

        <section class="panel" aria-labelledby="lists-title" id="lists">
          <div class="panel-head">
            <h2 id="lists-title" tabindex="-1">Ad lists</h2>
            <p class="count" id="lists-about"></p>
            <button type="button" class="primary" id="lists-put" hidden>Put an ad list</button>
          </div>
          <div id="lists-table"></div>
        </section>

        <section class="panel" aria-labelledby="list-title" id="list" hidden>
          <div class="panel-head">
            <h2 id="list-title" tabindex="-1">Ad list</h2>
            <p class="count" id="list-about"></p>
          </div>
          <div id="list-body"></div>
        </section>
      </div>

      <section class="panel health" aria-labelledby="health-title" id="health">
        <div class="panel-head"><h2 id="health-title">Health of the gateway</h2><p class="count" id="health-count"></p></div>
        <div class="health-body">
          <div><h3 id="latency-title">Latency</h3><div id="latency"></div></div>
          <div><h3>Resources</h3><dl class="resources" id="resources"></dl></div>
          <div><h3 id="limits-title">Limits</h3><div id="limits"></div></div>
        </div>
      </section>
    </div>
  </main>

  <footer><a href="v1">HTTP API</a> <a href="openapi.json">OpenAPI</a> <a href="metrics">Metrics</a></footer>
  <dialog id="dialog" aria-labelledby="dialog-title"></dialog>
</body>
</html>

"""##
        ),
        DashboardFile(
            name: "lists.js",
            type: "text/javascript; charset=utf-8",
            text: ##"""
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

"""##
        ),
        DashboardFile(
            name: "model.js",
            type: "text/javascript; charset=utf-8",
            text: ##"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The state that all parts of the page share: the gateway, the loaded data, and the time of drawing.

import { GatewayClient, GatewayGone, Refused } from "./client.js";
import { mark } from "./plots.js";

const OPEN_STATES = ["scheduled", "cued", "announced", "live"];
export const STATE_WORDS = {
  scheduled: "Scheduled", cued: "Cued", announced: "Announced", live: "On air", complete: "Complete",
  cancelled: "Cancelled", expired: "Expired",
};

export const $ = (id) => document.getElementById(id);
export const client = new GatewayClient();

/// The loaded data: one page of streams, one stream in detail, one page of its history, and the gateway's state.
export const state = {
  search: "", after: null, before: [], lines: [], next: null, total: null, isLoaded: false,
  chosen: "", breaks: new Map(), heard: 0, counts: new Map(), courses: new Map(),
  gateway: null, limits: new Map(), operations: {},
  books: null, booksBefore: [], openBreak: "", audit: null, auditBefore: [], signals: null, tab: "books",
  filter: { break: "", ad: "", from: "", until: "" }, isByAd: false, pins: [],
  // The view: now, day, break or lists; the day (today if empty), the break of the page, and the list that it shows.
  view: "now", day: "", pageBreak: "", list: "",
};

/// The title of the view that is shown, where a person begins to read it.
export function titleOfView() {
  return $({ now: "stream-title", day: "day-title", break: "break-title", lists: state.list ? "list-title" : "lists-title" }[state.view]);
}

/// Says one sentence to those who do not see the page: only what a person would call out in a control room.
export function announce(sentence) { $("said").textContent = sentence; }

/// How long the sentence after a change is shown.
const TOAST_MS = 6_000;
let toastTimer = null;

/// Shows the result of a change in one sentence. It is above the page for a while, and moves nothing.
export function tell(sentence) {
  announce(sentence);
  const toast = $("toast");
  toast.textContent = sentence;
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { toast.hidden = true; }, TOAST_MS);
}

const drawings = [];

/// Has something drawn with each frame in which anything may have changed.
export function onDraw(drawing) { drawings.push(drawing); }

let isDrawing = false;
export function draw() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    for (const drawing of drawings) drawing();
  });
}

/// Runs an action once after a while, however often it is asked for meanwhile.
export function later(action, milliseconds) {
  let timer = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      action();
    }, milliseconds);
  };
}

/// How long until what could not be loaded is asked for again.
const RELOAD_MS = 5_000;

/// One part of what is known, which is loaded anew whenever it may have changed.
///
/// Answers may come in another order than they were asked for: none is taken after a later one. What the gateway had no time for is asked for again,
/// since nothing else would bring it while its events go on.
export class Part {
  #load;
  #asked = 0;
  #taken = 0;
  #retry = null;

  /// - load: asks the gateway, and gives what takes the answer; gives nothing where the answer is of no use any more.
  constructor(load) { this.#load = load; }

  async load() {
    const asked = this.#asked += 1;
    clearTimeout(this.#retry);
    try {
      const take = await this.#load();
      if (!take || asked < this.#taken) return;
      this.#taken = asked;
      take();
      draw();
    } catch (error) {
      complain(error);
      if (asked !== this.#asked || !mayPass(error)) return;
      // While the link is down there are no requests: everything is loaded again when it is back.
      this.#retry = setTimeout(() => { if (client.link.state === "live") this.load(); }, RELOAD_MS);
    }
  }
}

/// Whether what failed may succeed later, unchanged.
export function mayPass(error) { return error instanceof GatewayGone || (error instanceof Refused && error.isRetryable); }

/// Has the gateway count the streams that are in view.
export function watch() {
  const names = state.lines.map((line) => line.stream);
  if (state.chosen) names.push(state.chosen);
  names.push(...state.pins);
  client.watch(names);
}

/// A button that cannot be used keeps the focus, so that a keyboard user is not sent to the top of the page.
export function disable(button, isDisabled) { mark(button, "aria-disabled", isDisabled ? "true" : null); }

export function isOpen(each) { return OPEN_STATES.includes(each.state); }

export function startOf(each) { return each?.start ? Date.parse(each.start) : null; }
export function endOf(each) { return each?.end ? Date.parse(each.end) : null; }

/// The state by the clock: a break starts and ends without a message.
export function stateNow(each, now) {
  const start = startOf(each), end = endOf(each);
  if ((each.state === "announced" || each.state === "scheduled") && start !== null && now >= start) return "live";
  if (each.state === "live" && end !== null && now >= end) return "complete";
  return each.state;
}

/// Where a request failed: what people must know the link says.
export function complain(error) {
  if (error instanceof GatewayGone || error instanceof Refused) return;
  console.error(error);
}

"""##
        ),
        DashboardFile(
            name: "pins.js",
            type: "text/javascript; charset=utf-8",
            text: ##"""
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

"""##
        ),
        DashboardFile(
            name: "planning.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The plan of a stream's day: its breaks, how full they are, and the findings for a planner. No requests and no elements.

import { span } from "./plots.js";

/// A break with less than this between its ads and its duration counts as filled.
export const UNFILLED_MIN_MS = 1_000;
/// Two breaks with less than this between them are too close.
export const CLOSE_MS = 60_000;
const HOUR_MS = 3_600_000;
/// So many hours without a break are one line.
const EMPTY_HOURS_MIN = 2;

/// The break's words for findings.
export const FINDING_WORDS = {
  overlap: "Overlap", close: "Too close", empty: "No ads", unfilled: "Unfilled", long: "Too long", expired: "Not started",
};

/// The first instant of a day, and the first one behind it, in this page's zone: a day may have 23 or 25 hours.
export function boundsOf(day) {
  const [year, month, date] = day.split("-").map(Number);
  return [new Date(year, month - 1, date).getTime(), new Date(year, month - 1, date + 1).getTime()];
}

/// The day of an instant in this page's zone, as 2026-11-21; some days later or earlier.
export function dayOf(instant, daysLater = 0) {
  const at = new Date(instant);
  const moved = new Date(at.getFullYear(), at.getMonth(), at.getDate() + daysLater);
  return [String(moved.getFullYear()).padStart(4, "0"), String(moved.getMonth() + 1).padStart(2, "0"), String(moved.getDate()).padStart(2, "0")].join("-");
}

/// How long the ads of each variant of a break last together, from its books: the break's own ads first.
export function fillsOf(ads) {
  const fills = new Map();
  for (const ad of ads) {
    const number = ad.variant ?? 0;
    const fill = fills.get(number) ?? { name: ad.variantName ?? "default", ads: 0, milliseconds: 0 };
    fills.set(number, { ...fill, ads: fill.ads + 1, milliseconds: fill.milliseconds + ad.durationMilliseconds });
  }
  return [...fills].sort(([one], [other]) => one - other).map(([number, fill]) => ({ number, ...fill }));
}

/// A break of the day, from what the ledger reported of it and what the board tells; one of them may be missing.
///
/// - state: by the clock.
export function rowOf(reported, live, state) {
  const instant = (text) => text ? Date.parse(text) : null;
  const each = live ?? reported;
  const fills = reported ? fillsOf(reported.ads) : null;
  const start = instant(each.start);
  // A break that was cancelled before its start ended then: on the timeline it keeps the place that it had.
  const planned = start === null ? null : start + (live?.durationMilliseconds ?? fills?.[0]?.milliseconds ?? 0);
  const ended = instant(each.end);
  const end = start !== null && ended !== null && ended < start ? planned : ended;
  // The ledger does not tell whether a break that is not over has a duration of its own.
  const isOpenEnded = live ? live.durationMilliseconds === undefined : false;
  const isOver = ["complete", "cancelled", "expired"].includes(state);
  return {
    name: each.break, state, start, end, isPreStream: each.preStream === true,
    lasts: start === null ? live?.durationMilliseconds ?? null : isOpenEnded && !isOver ? null : end === null ? null : end - start,
    ads: live?.ads ?? null, fills, total: reported?.total ?? null,
  };
}

/// The state of a break by its books and the clock; of one that is to come the books do not tell whether it is announced.
export function stateOfBooks(each, now) {
  if (each.cancelled) return "cancelled";
  if (each.expired) return "expired";
  if (!each.start) return "cued";
  if (Date.parse(each.start) > now) return "scheduled";
  return !each.end || Date.parse(each.end) > now ? "live" : "complete";
}

/// Whether a break holds a part of the programme.
function holdsTime(row) { return row.start !== null && row.end !== null && !row.isPreStream && row.state !== "cancelled" && row.state !== "expired"; }

/// Adds to each break of the day the time since the one before, and the findings: each has a kind and a sentence. The rows come in the order of their starts.
export function look(rows) {
  const sorted = [...rows].sort((one, other) => one.start - other.start || (one.name < other.name ? -1 : 1));
  // The break that ends last of those before.
  let last = null;
  return sorted.map((row) => {
    const findings = [];
    let gap = null;
    if (holdsTime(row)) {
      if (last) {
        gap = row.start - last.end;
        if (gap < 0) findings.push({ kind: "overlap", sentence: `It starts ${span(-gap)} before ${last.name} ends.` });
        else if (gap < CLOSE_MS) findings.push({ kind: "close", sentence: gap < 1_000 ? `It starts as ${last.name} ends.` : `It starts ${span(gap)} after ${last.name} ends.` });
      }
      if (!last || row.end > last.end) last = row;
      findings.push(...fillFindings(row));
    }
    if (row.state === "expired") findings.push({ kind: "expired", sentence: "It expired before it was started." });
    return { ...row, gap, findings };
  });
}

/// The findings about how full a break is.
export function fillFindings({ fills, lasts, state }) {
  if (!fills) return [];
  if (!fills.length) return [{ kind: "empty", sentence: "It has no ads." }];
  if (lasts === null) return [];
  const isOver = state === "complete";
  return fills.flatMap(({ name, milliseconds }) => {
    const who = fills.length > 1 ? `The variant ${name} has ads for` : "It has ads for";
    const missing = lasts - milliseconds;
    if (missing > UNFILLED_MIN_MS) return [{ kind: "unfilled", sentence: `${who} ${span(milliseconds)} of ${span(lasts)}.` }];
    // A break that is over may have been ended early.
    if (-missing > UNFILLED_MIN_MS && !isOver) return [{ kind: "long", sentence: `${who} ${span(milliseconds)}, ${span(-missing)} more than the break lasts.` }];
    return [];
  });
}

/// The part of a break that its own ads fill, from 0 to 1; nothing where that is not known.
export function filledPart({ fills, lasts }) {
  if (!fills || !lasts) return null;
  return Math.min(1, (fills[0]?.milliseconds ?? 0) / lasts);
}

/// The lines of the timeline: one for each hour with its pieces of breaks, and one for hours in a row that have none.
///
/// - rows: in the order of their starts.
/// - now: the hour that it is in has a line of its own.
///
/// A piece has its place from 0 to 1, the end of the room for its name, and whether it overlaps the one before or began an hour earlier.
export function hoursOf([from, to], rows, now) {
  const lines = [];
  const placed = rows.filter((row) => row.start !== null && row.end !== null && !row.isPreStream);
  for (let start = from; start < to; start += HOUR_MS) {
    const end = Math.min(start + HOUR_MS, to);
    const pieces = [];
    let busyUntil = -Infinity;
    for (const row of placed) {
      if (row.start >= end || Math.max(row.end, row.start + 1) <= start) continue;
      const [left, right] = [Math.max(row.start, start), Math.min(row.end, end)];
      const piece = { row, from: (left - start) / HOUR_MS, to: (right - start) / HOUR_MS, isSecond: left < busyUntil, goesOn: row.start < start, room: 1 };
      if (pieces.length) pieces.at(-1).room = piece.from;
      pieces.push(piece);
      busyUntil = Math.max(busyUntil, right);
    }
    const before = lines.at(-1);
    const isNow = start <= now && now < end;
    if (!pieces.length && !isNow && before?.isEmpty) before.to = end;
    else lines.push({ from: start, to: end, pieces, isEmpty: !pieces.length && !isNow });
  }
  return lines.flatMap((line) => {
    if (!line.isEmpty || line.to - line.from >= EMPTY_HOURS_MIN * HOUR_MS) return [line];
    return [{ ...line, isEmpty: false }];
  });
}

"""#
        ),
        DashboardFile(
            name: "plots.js",
            type: "text/javascript; charset=utf-8",
            text: ##"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Elements and plots, made by script: text is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

/// An element with attributes and children; texts become text, never markup.
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    else if (key === "data") Object.assign(node.dataset, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

/// Sets a text where it is another: what stays the same costs nothing, and is not read out again.
export function say(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

export function mark(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/// Replaces what a panel shows where it is something else, and keeps the focus where it was.
export function showIn(panel, key, make) {
  if (panel.dataset.shown === key) return;
  panel.dataset.shown = key;
  const focused = panel.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  panel.replaceChildren(...make());
  if (focused) [...panel.querySelectorAll("[data-key]")].find((node) => node.dataset.key === focused)?.focus();
}

/// A table whose rows are stacked on narrow screens.
///
/// - caption: for screen readers.
/// - columns: the word of each, and its class.
export function tableOf(caption, columns, rows) {
  return element("div", { class: "table-box" }, element("table", { class: "rows stacked", role: "table" }, element("caption", { class: "hidden-text" }, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, columns.map(([word, kind]) => element("th", { scope: "col", role: "columnheader", class: kind }, word)))),
    element("tbody", { role: "rowgroup" }, rows)));
}

// MARK: Numbers as people read them

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1, minimumFractionDigits: 1 });

export function count(number) { return Number.isFinite(number) ? whole.format(number) : "–"; }

export function rate(number) {
  if (!Number.isFinite(number)) return "–";
  return number > 0 && number < 10 ? tenths.format(number) : whole.format(number);
}

export function share(part, all) {
  if (!all) return "";
  const percent = part / all * 100;
  return percent > 0 && percent < 1 ? "< 1 %" : percent < 100 && percent > 99 ? "> 99 %" : `${Math.round(percent)} %`;
}

export function bytes(number) {
  if (!Number.isFinite(number)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  while (number >= 1_024 && place < units.length - 1) { number /= 1_024; place += 1; }
  return `${place === 0 || number >= 100 ? whole.format(number) : tenths.format(number)} ${units[place]}`;
}

/// A duration in milliseconds as `0:09`, `12:30` or `1:02:03`.
export function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/// The time until an instant; a second that has begun counts as a whole one.
export function left(milliseconds) { return span(Math.ceil(Math.max(0, milliseconds) / 1_000) * 1_000); }

/// A foreign text inside a sentence: it does not change the direction of the text around it (Unicode UAX #9).
export function isolated(text) { return `\u2068${String(text).replace(/[\u202A-\u202E\u2066-\u2069]/g, "\uFFFD")}\u2069`; }

const clockFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minuteFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const zoneFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });
const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export function clockTime(instant) { return clockFormat.format(instant); }
export function minuteTime(instant) { return minuteFormat.format(instant); }
/// The time of day with the zone that all times of the page are in.
export function zonedTime(instant) { return zoneFormat.format(instant); }

/// The time of day, and the day where it is not today.
export function moment(instant, now) {
  const date = new Date(instant);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? clockTime(date) : `${dayFormat.format(date)}, ${clockTime(date)}`;
}

/// A duration in microseconds as people say it.
export function latency(microseconds) {
  if (!Number.isFinite(microseconds)) return "–";
  if (microseconds < 1_000) return `${whole.format(microseconds)} µs`;
  if (microseconds < 1_000_000) return `${microseconds < 100_000 ? tenths.format(microseconds / 1_000) : whole.format(microseconds / 1_000)} ms`;
  return `${tenths.format(microseconds / 1_000_000)} s`;
}

// MARK: Plots

/// A bar of a table: its length moves, its number stands beside it as text.
export class Bar {
  constructor(kind) {
    this.rect = shape("rect", { class: `bar bar-${kind}`, width: "100%", height: "100%", rx: 2 });
    this.node = shape("svg", { class: "bar-box", "aria-hidden": "true", focusable: "false" },
      shape("rect", { class: "bar-track", width: "100%", height: "100%", rx: 2 }), this.rect);
    this.show(0);
  }

  show(part) {
    const scale = Math.max(0, Math.min(1, part || 0));
    if (scale === this.scale) return;
    this.scale = scale;
    this.rect.style.transform = `scaleX(${scale})`;
  }
}

/// How many values fill a small line at least.
const SPARK_VALUES_MIN = 20;

/// A small line of what a number was in the last minutes.
export class Spark {
  constructor(valuesMax = 120) {
    this.valuesMax = valuesMax;
    this.values = [];
    this.area = shape("path", { class: "spark-area" });
    this.line = shape("path", { class: "spark-line" });
    this.node = shape("svg", {
      class: "spark", viewBox: "0 0 120 28", preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false",
    }, this.area, this.line);
  }

  push(value) {
    this.values.push(Number.isFinite(value) ? value : 0);
    if (this.values.length > this.valuesMax) this.values.shift();
  }

  draw() {
    if (this.values.length < 2) return;
    const most = Math.max(...this.values) || 1;
    // It grows from the right until there is enough to fill it.
    const shown = Math.max(SPARK_VALUES_MIN, this.values.length);
    const step = 120 / (shown - 1);
    const first = shown - this.values.length;
    const points = this.values.map((value, place) => `${((first + place) * step).toFixed(1)} ${(26 - value / most * 24).toFixed(1)}`);
    this.line.setAttribute("d", `M${points.join("L")}`);
    this.area.setAttribute("d", `M${(first * step).toFixed(1)} 28L${points.join("L")}L120 28Z`);
  }
}

export const OUTCOMES = ["played", "ignored", "failed", "unknown"];
/// Samples that the course of one break keeps; beyond it every second one goes.
const SAMPLES_MAX = 240;

/// The course of one break: its outcomes over time, stacked up to what was delivered.
export class Course {
  constructor() {
    this.samples = [];
    this.node = shape("svg", { class: "plot", role: "img", "aria-label": "No outcomes yet" });
    this.areas = new Map([...OUTCOMES].map((kind) => [kind, shape("path", { class: `area area-${kind}` })]));
    this.axis = shape("g", { class: "axis" });
    this.window = shape("g", { class: "window" });
    this.node.append(this.window, ...this.areas.values(), this.axis);
  }

  /// Whether it was looked at before anybody had told an outcome: then nothing is missing.
  get isWhole() { return this.samples.length > 0 && OUTCOMES.every((kind) => kind === "unknown" || this.samples[0][kind] === 0); }

  /// - at: milliseconds by the gateway's clock.
  /// - goesOn: whether time goes on although nothing moves: not after the break is over.
  push(at, funnel, goesOn) {
    const last = this.samples.at(-1);
    if (last && at <= last.at) return;
    const isAsBefore = last && OUTCOMES.every((kind) => last[kind] === (funnel[kind] ?? 0));
    if (isAsBefore && !goesOn) return;
    // After the end what stays the same is not kept: it stood still until now.
    if (last && !isAsBefore && !goesOn && at - last.at > 2_000) this.samples.push({ ...last, at: at - 1_000 });
    // Nothing moves: the last sample is drawn out.
    const isSame = isAsBefore && this.samples.length > 1 && OUTCOMES.every((kind) => this.samples.at(-2)[kind] === last[kind]);
    const sample = { at, ...Object.fromEntries(OUTCOMES.map((kind) => [kind, funnel[kind] ?? 0])) };
    if (isSame) this.samples[this.samples.length - 1] = sample;
    else this.samples.push(sample);
    if (this.samples.length > SAMPLES_MAX) this.samples = this.samples.filter((_, place) => place % 2 === 0 || place > SAMPLES_MAX - 20);
  }

  /// - about: {startMs, endMs} of the break, as far as they are known.
  draw(width, height, now, { startMs, endMs } = {}) {
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const most = niceTop(Math.max(1, ...this.samples.map((sample) => OUTCOMES.reduce((sum, kind) => sum + sample[kind], 0))));
    const [leftEdge, rightEdge, top, bottom] = [10 + 7 * count(most).length, width - 18, 8, height - 20];
    const first = this.samples[0];
    const from = Math.min(first?.at ?? now, startMs ?? now) - 1_000;
    const to = Math.max(this.samples.at(-1)?.at ?? now, Math.min(endMs ?? now, now + 600_000), from + 20_000);
    const x = (at) => leftEdge + (at - from) / (to - from) * (rightEdge - leftEdge);
    const y = (value) => bottom - value / most * (bottom - top);
    let base = this.samples.map(() => 0);
    for (const [kind, area] of this.areas) {
      const upper = this.samples.map((sample, place) => base[place] + sample[kind]);
      const place = (value, each) => `${x(this.samples[each].at).toFixed(1)} ${y(value).toFixed(1)}`;
      area.setAttribute("d", this.samples.length < 2 ? "" :
        `M${upper.map(place).join("L")}L${base.map(place).reverse().map((_, each) => place(base[base.length - 1 - each], base.length - 1 - each)).join("L")}Z`);
      base = upper;
    }
    this.window.replaceChildren();
    if (startMs !== undefined && startMs !== null && startMs >= from) {
      const end = Math.min(endMs ?? to, to);
      this.window.append(shape("rect", { x: x(startMs), y: top, width: Math.max(1, x(end) - x(startMs)), height: bottom - top, class: "on-air" }));
    }
    const lines = [0, most / 2, most].filter((value) => Number.isInteger(value)).flatMap((value) => [
      shape("line", { x1: leftEdge, x2: rightEdge, y1: y(value), y2: y(value) }),
      shape("text", { x: leftEdge - 6, y: y(value) + 4, "text-anchor": "end" }, count(value)),
    ]);
    // What has no start is told from when this page saw it first.
    const zero = startMs ?? from + 1_000;
    const zeroWord = startMs === undefined || startMs === null ? "first seen" : "start";
    const step = niceStep((to - from) / Math.max(2, Math.floor(width / 90)));
    for (let at = zero - Math.floor((zero - from) / step) * step; at <= to; at += step) {
      const seconds = Math.round((at - zero) / 1_000);
      const word = seconds === 0 ? zeroWord : `${seconds < 0 ? "−" : "+"}${span(Math.abs(seconds) * 1_000)}`;
      // A long word at the edge begins there, so that all of it is seen.
      const isCut = x(at) < 4 * word.length;
      lines.push(shape("text", { x: isCut ? 2 : x(at), y: height - 4, "text-anchor": isCut ? "start" : "middle" }, word));
    }
    this.axis.replaceChildren(...lines);
    const lastSample = this.samples.at(-1);
    mark(this.node, "aria-label", lastSample
      ? `Outcomes over time; so far ${OUTCOMES.map((kind) => `${kind} ${count(lastSample[kind])}`).join(", ")}`
      : "No outcomes yet");
  }
}

export function niceTop(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 5, 10].map((each) => each * power).find((each) => each >= most) ?? most;
}

function niceStep(milliseconds) {
  const steps = [5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 86_400].map((each) => each * 1_000);
  return steps.find((step) => step >= milliseconds) ?? steps.at(-1);
}

"""##
        ),
        DashboardFile(
            name: "signals.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
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

"""#
        ),
        DashboardFile(
            name: "stream.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
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

"""#
        ),
        DashboardFile(
            name: "streams.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
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

"""#
        ),
        DashboardFile(
            name: "timeline.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// What the gateway did in the last hour, six hours, or day: the samples that it keeps, also of before this page was opened.

import { $, Part, announce, client, draw, onDraw, state } from "./model.js";
import { count, element, mark, minuteTime, niceTop, rate, say, shape } from "./plots.js";

const SPANS = { "1h": ["1 h", 3_600_000, 600_000], "6h": ["6 h", 21_600_000, 3_600_000], "24h": ["24 h", 86_400_000, 14_400_000] };
/// How often the gateway is asked for another sample.
const RELOAD_MS = 10_000;
/// A longer time without a sample is a gap: the gateway did not run.
const GAP_STEPS = 3;

let span = "1h";
let known = null;
let asked = 0;

const part = new Part(async () => {
  const wanted = span;
  const document = await client.get("v1/history", { span: wanted });
  return wanted !== span ? null : () => {
    known = { span: wanted, stepMs: document.stepSeconds * 1_000, samples: document.samples.map((each) => ({ ...each, at: Date.parse(each.at) })) };
    for (const listen of listeners.splice(0)) listen(known);
  };
});
const listeners = [];
/// Is told the first samples, once.
export function onFirstHistory(listener) { listeners.push(listener); }

/// Loads the samples. While they are hidden, only the first ones are asked for: the small lines above begin with them.
export function loadHistory() {
  if (state.view !== "now" && known) return;
  asked = performance.now();
  part.load();
}

/// A plot of one or more numbers over time, stacked.
class Timeline {
  constructor(box, kinds, name) {
    this.box = box;
    this.kinds = kinds;
    this.name = name;
    this.areas = kinds.map((kind) => shape("path", { class: `area area-${kind}` }));
    this.axis = shape("g", { class: "axis" });
    this.node = shape("svg", { class: "plot", role: "img", "aria-label": name }, ...this.areas, this.axis);
    box.append(this.node);
  }

  draw(samples, stepMs, from, to, tickMs) {
    const width = Math.max(200, this.box.clientWidth), height = Math.max(90, this.box.clientHeight);
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const sums = samples.map((sample) => this.kinds.reduce((sum, kind) => sum + sample[kind], 0));
    const most = niceTop(Math.max(1, ...sums));
    const [leftEdge, rightEdge, top, bottom] = [10 + 7 * count(most).length, width - 6, 8, height - 20];
    const x = (at) => leftEdge + (Math.max(from, at) - from) / (to - from) * (rightEdge - leftEdge);
    const y = (value) => bottom - value / most * (bottom - top);
    const runs = [];
    samples.forEach((sample, place) => {
      if (!place || sample.at - samples[place - 1].at > GAP_STEPS * stepMs) runs.push([{ ...sample, at: sample.at - stepMs }]);
      runs.at(-1).push(sample);
    });
    let base = (sample) => 0;
    this.kinds.forEach((kind, place) => {
      const below = base, upper = (sample) => below(sample) + sample[kind];
      this.areas[place].setAttribute("d", runs.map((run) => {
        const points = (value) => run.map((sample) => `${x(sample.at).toFixed(1)} ${y(value(sample)).toFixed(1)}`);
        return `M${points(upper).join("L")}L${points(below).reverse().join("L")}Z`;
      }).join(""));
      base = upper;
    });
    const lines = [0, most / 2, most].filter((value) => Number.isInteger(value)).flatMap((value) => [
      shape("line", { x1: leftEdge, x2: rightEdge, y1: y(value), y2: y(value) }),
      shape("text", { x: leftEdge - 6, y: y(value) + 4, "text-anchor": "end" }, count(value)),
    ]);
    for (let at = Math.ceil(from / tickMs) * tickMs; at < to; at += tickMs) {
      const place = x(at);
      if (place > leftEdge + 14 && place < rightEdge - 18) lines.push(shape("text", { x: place, y: height - 4, "text-anchor": "middle" }, minuteTime(at)));
    }
    this.axis.replaceChildren(...lines);
    const last = samples.at(-1);
    mark(this.node, "aria-label", last ? `${this.name}: ${this.kinds.map((kind) => `${kind} ${rate(last[kind])}`).join(", ")} now, ${rate(Math.max(...sums))} at most` : `${this.name}: nothing yet`);
  }
}

const plots = [
  new Timeline($("timeline-listeners"), ["listeners"], "Listeners"),
  new Timeline($("timeline-outcomes"), ["played", "ignored", "failed"], "Outcomes in a second"),
];
for (const [name, [word]] of Object.entries(SPANS)) {
  const button = element("button", { type: "button", class: "quiet", "aria-pressed": String(name === span), "aria-label": `The last ${word}` }, word);
  button.addEventListener("click", () => {
    span = name;
    known = null;
    for (const each of $("timeline-spans").children) mark(each, "aria-pressed", String(each === button));
    announce(`The last ${word}`);
    loadHistory();
    draw();
  });
  $("timeline-spans").append(button);
}

function drawTimeline() {
  if (state.view !== "now") {
    // It is loaded anew when it is looked at again.
    asked = -Infinity;
    return;
  }
  if (performance.now() - asked > RELOAD_MS && client.link.state === "live") loadHistory();
  const now = client.now(), [, length, tickMs] = SPANS[span];
  // The second that is now belongs to it: samples come later.
  const live = state.gateway && known?.span === "1h" && client.link.state === "live"
    ? [{ ...(known.samples.at(-1) ?? { played: 0, ignored: 0, failed: 0 }), listeners: state.gateway.listeners, at: now }] : [];
  const samples = [...(known?.samples ?? []), ...live];
  for (const plot of plots) plot.draw(samples, known?.stepMs ?? 10_000, now - length, now, tickMs);
  const first = known?.samples[0];
  say($("timeline-about"), !known ? "" : !first ? "kept from now on" : now - first.at < length - 2 * known.stepMs ? `since ${minuteTime(first.at - known.stepMs)}` : "");
}

onDraw(drawTimeline);

"""#
        ),
        DashboardFile(
            name: "views.css",
            type: "text/css; charset=utf-8",
            text: ##"""
/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright (c) 2026 the Cuecast authors */

/* Which parts a view has. */

main:not([data-view="now"]) :is(#stream, #funnel, #signals, #past, #health),
main:not([data-view="now"]) > :is(#tiles, #timeline, #pins),
main:not([data-view="day"]) #day,
main:not([data-view="break"]) #break,
main:not([data-view="lists"]) :is(#lists, #list),
main[data-view="lists"] #streams { display: none !important; }
main[data-view="lists"] .columns { grid-template: none / minmax(0, 1fr); }
main[data-view="lists"] .detail { grid-area: auto; }

.views { display: flex; gap: 4px; }
.views a { padding: 5px 12px; border-radius: 7px; color: var(--text); font-weight: 600; text-decoration: none; }
.views a:hover { background: var(--raised); }
.views a[aria-current] { background: var(--accent-soft); color: var(--accent); }

a.name { font-weight: 600; text-decoration: none; overflow-wrap: anywhere; }
a.name:hover { text-decoration: underline; }
:is(#day, #break, #lists, #list) h3 { margin: 18px 0 6px; }
:is(#day, #break, #lists, #list) h4 { font-size: 13px; font-weight: 600; margin: 12px 0 2px; }
.sentences, .findings { margin: 0; padding-left: 18px; }
.findings { padding: 0; list-style: none; display: grid; gap: 4px; }
.facts-grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 150px), 1fr)); gap: 10px 20px; }
.facts-grid dt { color: var(--soft); font-size: 12px; }
.facts-grid dd { font-weight: 550; overflow-wrap: anywhere; }
:is(#break, #list) .buttons:not(:empty) { padding-top: 14px; }
#list .notice { margin-top: 12px; }

/* The day */

#day-date { width: auto; min-height: 32px; padding-block: 3px; }
#day-cut:empty { display: none; }
.plan-keys { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 10px; padding: 0; list-style: none; font-size: 12px; }
.plan-keys li { display: flex; align-items: center; gap: 6px; }
.plan-key { width: 22px; height: 12px; flex: none; }
.plan { display: grid; gap: 3px; }
.plan-line, .plan-scale { display: grid; grid-template-columns: 44px minmax(0, 1fr); align-items: center; }
.plan-hour, .plan-scale { color: var(--soft); font-size: 12px; }
.plan-scale > div { display: grid; grid-template-columns: repeat(4, 1fr); }
.plan-lane {
  position: relative; height: 32px; border-radius: 5px; overflow: hidden;
  background: linear-gradient(to right, var(--line) 1px, transparent 1px) 0 0 / 25% 100%, var(--raised);
}
.is-empty .plan-lane { height: 22px; background: none; }
.plan-empty { display: block; padding: 2px 8px; color: var(--soft); font-size: 12px; }
.plan-now { position: absolute; top: 0; bottom: 0; width: 2px; margin-left: -1px; background: var(--failed); z-index: 2; }

.plan-block, .plan-key { border: 1px solid var(--line-strong); border-radius: 4px; background: var(--panel); }
.plan-block {
  position: absolute; top: 3px; bottom: 3px; min-width: 4px; color: var(--text); font-size: 12px; line-height: 24px; text-decoration: none; white-space: nowrap;
}
.plan-block:hover .plan-name { text-decoration: underline; }
.plan-block.is-second { top: 12px; border-width: 2px; }
.plan-name { position: absolute; inset: 0 auto 0 0; max-width: 100%; padding: 0 5px; overflow: hidden; text-overflow: ellipsis; }
.is-short .plan-name { left: 100%; max-width: none; }
/* The part with ads; behind it is the part without. */
.plan-filled { position: absolute; inset: auto auto 0 0; height: 3px; background: var(--accent); }
.plan-block[data-finding="unfilled"] { background-image: repeating-linear-gradient(135deg, transparent 0 5px, var(--warn-soft) 5px 10px); }
.plan-block[data-finding] { border-color: var(--warn-line); }
:is(.plan-block, .plan-key)[data-state="scheduled"] { border-style: dashed; }
:is(.plan-block, .plan-key):is([data-state="announced"], [data-state="cued"]) { background-color: var(--accent-soft); border-color: var(--accent); }
:is(.plan-block, .plan-key)[data-state="live"] { background-color: var(--good-soft); border: 2px solid var(--good); }
.plan-block[data-state="live"] { line-height: 22px; font-weight: 650; }
:is(.plan-block, .plan-key)[data-state="complete"] { background-color: var(--track); border-color: var(--track); border-left-color: var(--line-strong); }
.plan-block[data-state="complete"] .plan-filled { background: var(--ignored); }
:is(.plan-block, .plan-key):is([data-state="cancelled"], [data-state="expired"]) { border-style: dotted; background-color: var(--panel); }
.plan-block:is([data-state="cancelled"], [data-state="expired"]) { color: var(--soft); text-decoration: line-through; }
.plan-block:is([data-state="cancelled"], [data-state="expired"]) .plan-filled { display: none; }

#day-table td:last-child { min-width: 150px; }
#day-table tbody th { min-width: 110px; }
#day-table td .note { display: block; }
#day-table :is(th, td):not(:first-child, :last-child) { padding-inline: 7px; }
#day-table td:not(:last-child) { white-space: nowrap; }

/* A break, and lists */

.break-links { display: flex; gap: 14px; }
#break-books .funnel { max-width: 620px; }
#break-books .sentences, #break-why .sentences { margin-top: 6px; display: grid; gap: 2px; }
tr.sum > * { font-weight: 600; }
tr.chosen { background: var(--accent-soft); }
#break code { overflow-wrap: anywhere; }
#list-body .table-box { margin-top: 14px; }
#list-body > .note { padding-top: 8px; }
textarea {
  width: 100%; padding: 8px 10px; border: 1px solid var(--line-strong); border-radius: 7px; background: var(--panel); color: inherit; resize: vertical;
  font: 12px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
dialog:has(textarea) { width: min(680px, calc(100vw - 32px)); }

@media (max-width: 899px) {
  main[data-view="break"] #streams { display: none !important; }
  :is(#day, #break, #lists, #list) { scroll-margin-top: 60px; }
  .plan-line, .plan-scale { grid-template-columns: 40px minmax(0, 1fr); }
  #day-table td[data-label="start"] { white-space: normal; }
}
@media (max-width: 599px) {
  .views { order: 1; width: 100%; }
  .views a { flex: 1; display: grid; place-items: center; min-height: 44px; }
  #day .choices { flex-wrap: wrap; }
  #day-date { flex: 1 1 100%; min-height: 44px; }
  .plan-name { display: none; }
  .plan-block[data-finding] { border-width: 2px; }
  #day-table tbody th { order: -1; }
  #day-table td[data-label] { align-items: baseline; }
  #day-table td[data-label]::before { flex: none; }
  #day-table td[data-label="to look at"] { grid-column: 1 / -1; }
  #day-table td[data-label="to look at"]:has(span:empty) { display: none; }
  #day-table td:last-child { min-width: 0; }
  textarea { font-size: 16px; }
}
@media (forced-colors: active) { .plan-now, .plan-filled { forced-color-adjust: none; } }

"""##
        ),
        DashboardFile(
            name: "views.js",
            type: "text/javascript; charset=utf-8",
            text: #"""
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The views of the page, and the way between them: the address says which one is shown.

import "./break-page.js";
import "./day.js";
import "./lists.js";
import { addressOf, readAddress } from "./address.js";
import { $, draw, onDraw, state, titleOfView } from "./model.js";
import { mark } from "./plots.js";
import { choose } from "./stream.js";

/// Shows the view of an address. The focus goes to its title if a person went there.
function show(place, isFirst) {
  const before = `${state.view} ${state.pageBreak} ${state.list}`;
  Object.assign(state, { view: place.view, day: place.day, pageBreak: place.pageBreak, list: place.list });
  if (place.stream && place.stream !== state.chosen) choose(place.stream, false);
  drawView();
  draw();
  if (isFirst || before === `${state.view} ${state.pageBreak} ${state.list}`) return;
  const title = titleOfView();
  scrollTo(0, 0);
  if (matchMedia("(max-width: 899px)").matches) title.closest(".panel").scrollIntoView({ block: "start" });
  title.focus({ preventScroll: true });
}

addEventListener("hashchange", () => {
  const place = readAddress(location.hash);
  if (place) show(place, false);
});

/// Shows the view of the address with which the page was opened; gives whether it names a stream.
export function showFirst() {
  const place = readAddress(location.hash) ?? { view: "now", stream: "", day: "", pageBreak: "", list: "" };
  show(place, true);
  return Boolean(place.stream);
}

function drawView() {
  mark($("main"), "data-view", state.view);
  for (const [view, address] of [
    ["now", addressOf({ view: "now", stream: state.chosen })], ["day", addressOf({ view: "day", stream: state.chosen })], ["lists", addressOf({ view: "lists" })],
  ]) {
    const link = $(`view-${view}`);
    mark(link, "href", address);
    mark(link, "aria-current", state.view === view ? "page" : null);
  }
}

/// The words of the view for the title of the window.
export function viewWords() {
  return { now: [state.chosen], day: [state.chosen, "day"], break: [`${state.chosen}/${state.pageBreak}`], lists: [state.list, "ad lists"] }[state.view].filter(Boolean);
}

onDraw(drawView);

"""#
        ),
    ]
}
