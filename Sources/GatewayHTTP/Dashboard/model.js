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
