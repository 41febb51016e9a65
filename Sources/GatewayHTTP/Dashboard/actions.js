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
