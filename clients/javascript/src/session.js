// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { toHex } from "./wire.js";

/// A page that has what is claimed says so when it is asked. One that has gone away, or is frozen, says nothing: its claim is waited for
/// this long at most. What is left of a page on a busy machine is gone by then.
const CLAIM_MAX_MS = 30_000;
/// How often the others are asked; where there are no Web Locks: how long they have to answer.
const ASK_MS = 250;

export const randomHex = (bytes) => toHex(crypto.getRandomValues(new Uint8Array(bytes)));

/// Claims a name for this page, until the function that it resolves to is called or the page is gone; null: a page that lives has it, or
/// `signal` was aborted. With `waits` it is waited for until that page lets go, and `onHeld` is called when it has answered.
/// Without Web Locks `onLost` is called where a page that lives answers too late.
///
/// A lock alone does not tell a page that lives from one that is being replaced and needs a moment to let go, which on a busy machine is
/// long. So the lock is waited for until its holder answers that it lives. Web Locks need https, or localhost: elsewhere only answers count.
export function claim(name, { signal, waits = false, onHeld, onLost } = {}) {
  const { locks } = globalThis.navigator ?? {};
  let channel = null;
  try { channel = new BroadcastChannel(name); } catch { /* There is none, or not for this page. */ }
  if (!locks && !channel) return Promise.resolve(() => {});
  const number = randomHex(16);
  return new Promise((resolve) => {
    let [isOurs, isOver, letGoOfLock, asks] = [false, false, () => {}, 0];
    const giveUp = new AbortController();
    const end = (claimed) => {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      signal?.removeEventListener("abort", refuse);
      if (!claimed) channel?.close();
      resolve(claimed);
    };
    const refuse = () => { giveUp.abort(); end(null); };
    const own = () => {
      if (isOver) return letGoOfLock();
      isOurs = true;
      return end(() => { channel?.close(); letGoOfLock(); });
    };
    const ask = () => {
      asks += 1;
      if (!locks && asks > 1) return own();
      if (asks * ASK_MS > CLAIM_MAX_MS && !waits) return refuse();
      return channel?.postMessage({ asks: number });
    };
    const timer = setInterval(ask, ASK_MS);
    const hear = ({ data }) => {
      if (typeof data?.asks === "string") {
        // Of two that ask at once, without a lock, the one with the smaller number gets it.
        if (isOurs || (!locks && !isOver && data.asks > number)) channel.postMessage({ has: number });
      } else if (data?.has === number || typeof data?.has !== "string") {
        // Its own, or of something else.
      } else if (isOurs) {
        // A page that was too busy to answer in time has it all the same.
        if (!locks) onLost?.();
      } else {
        onHeld?.();
        // With `waits` the lock says when.
        if (waits && locks) clearInterval(timer); else refuse();
      }
    };
    channel?.addEventListener("message", hear);
    signal?.addEventListener("abort", refuse);
    if (signal?.aborted) return refuse();
    locks?.request(name, { signal: giveUp.signal }, () => new Promise((letGo) => {
      letGoOfLock = letGo;
      own();
    })).catch((error) => {
      // What is refused for any other reason than ours is no claim of another page.
      if (error.name !== "AbortError") own();
    });
    return ask();
  });
}

/// Where this document is among the frames of its tab, which share one sessionStorage: "" for the page itself.
function framePath() {
  const numbers = [];
  for (let frame = globalThis.window; frame && frame !== frame.parent; frame = frame.parent) {
    let number = 0;
    while (number < frame.parent.length && frame.parent[number] !== frame) number += 1;
    numbers.unshift(number);
  }
  return numbers.join(".");
}

/// The places in the storage that listeners of this document have used, each with the claim of its session. The claims last as long
/// as the document, so that a player that stops and begins again finds its session; no two players use one at the same time.
const places = new Map();

function letGoOfAllPlaces() {
  for (const place of places.values()) place.letGo?.();
  places.clear();
}

globalThis.addEventListener?.("pagehide", letGoOfAllPlaces);

/// What the browser keeps for this tab; null where it keeps nothing, or does not say.
export function storageOfTab() {
  try { return globalThis.sessionStorage ?? null; } catch { return null; }
}

/// A place in a storage: the session of one player, and what it must not forget while its page is loaded anew.
export class Place {
  isUsed = false;
  session = null;
  letGo = null;

  constructor(key, storage) {
    this.key = key;
    this.storage = storage;
  }

  /// Takes the first place that no other player of this document uses and whose session no other page has; gives it with what was kept there.
  /// Null: the page has gone away meanwhile.
  static async take(base, storage, onLost) {
    const path = framePath();
    for (let number = 1; ; number += 1) {
      const key = [base, ...path ? [path] : [], ...number > 1 ? [`player ${number}`] : []].join(":");
      const place = places.get(key) ?? new Place(key, storage);
      if (place.isUsed) continue;
      [place.isUsed, place.storage] = [true, storage];
      places.set(key, place);
      const kept = place.read();
      if (!kept.session || kept.session === place.session) return { place, kept };
      place.own(null, null);
      const letGo = await claim(sessionName(kept.session), { onLost: () => { if (place.isUsed && place.session === kept.session) onLost(); } });
      if (places.get(key) !== place) {
        letGo?.();
        return null;
      }
      if (letGo) {
        place.own(kept.session, letGo);
        return { place, kept };
      }
      // Another page has it. The storage of a tab is then a copy of another tab's.
      if (storage === storageOfTab()) return { place, kept: {} };
      place.isUsed = false;
    }
  }

  own(session, letGo) {
    this.letGo?.();
    [this.session, this.letGo] = [session, letGo];
  }

  /// Claims a session that is new: no other page can have it.
  async ownNew(session) {
    this.own(session, null);
    const letGo = await claim(sessionName(session));
    if (this.session === session && places.get(this.key) === this) this.letGo = letGo; else letGo?.();
  }

  read() {
    const parse = (suffix) => {
      try { return JSON.parse(this.storage.getItem(this.key + suffix)) ?? {}; } catch { return {}; /* Another script wrote there: begin anew. */ }
    };
    const kept = parse("");
    return /^[0-9a-f]{32}$/.test(kept.session ?? "") ? { ...kept, unsaved: parse(":unsaved") } : {};
  }

  /// False: it is full, or not allowed.
  write(suffix, content) {
    try {
      this.storage.setItem(this.key + suffix, JSON.stringify(content));
      return true;
    } catch { return false; }
  }
}

export const sessionName = (session) => `cuecast:${session}`;
