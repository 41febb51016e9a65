// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { Backoff } from "./timers.js";

/// Outcomes that are kept at most; beyond it the oldest goes, and its ad stays unknown.
export const OUTCOMES_MAX = 1_000;
/// How long an outcome is told again; the gateway takes it for a day more.
export const AGE_MAX_MS = 7 * 86_400_000;
/// Outcomes of one request (outcomesPerRequestMax).
export const GROUP_MAX = 64;

/// The key of an outcome: an ad has one outcome in a session.
export const outcomeKey = ({ session, stream, breakId, outcome }) => [session, stream, breakId, outcome.advertisementId].join(" ");

/// Which outcomes wait for the gateway, and which of them to tell next: a policy without clock and storage.
///
/// Outcomes of one session and delivery go together. What the gateway cannot take now is told again after a wait that grows, and keeps no
/// others from their turn. Where a group is refused its outcomes are told one by one, to find out which is at fault.
export class OutboxQueue {
  #records = new Map();
  #groups = new Map();

  get size() { return this.#records.size; }

  waiting() { return [...this.#records.values()]; }

  has(key) { return this.#records.has(key); }

  /// Adds an outcome; gives those that had to make room for it. One that is known already stays as it is.
  add(record) {
    const key = outcomeKey(record);
    if (this.#records.has(key)) return [];
    this.#records.set(key, record);
    const room = [];
    for (const [oldest, each] of this.#records) {
      if (this.#records.size <= OUTCOMES_MAX) break;
      this.#remove([oldest]);
      room.push(each);
    }
    return room;
  }

  /// Gives up what is too old.
  expire(wallMs) {
    const old = [...this.#records].filter(([, record]) => wallMs - record.atMs > AGE_MAX_MS);
    this.#remove(old.map(([key]) => key));
    return old.map(([, record]) => record);
  }

  /// The outcomes to tell now, the oldest first; or {waitMs}: none yet; or null: there are none.
  next(nowMs) {
    let waitMs = null;
    for (const record of this.#records.values()) {
      const group = this.#group(record);
      if (group.notBefore <= nowMs) {
        const records = [...this.#records.values()].filter((each) => this.#name(each) === this.#name(record)).slice(0, group.atOnce);
        return { records };
      }
      waitMs = Math.min(waitMs ?? Infinity, group.notBefore - nowMs);
    }
    return waitMs === null ? null : { waitMs };
  }

  /// The gateway's answer to what `next` gave, or none at all. Gives what is not told any more: {confirmed, givenUp, sentence}.
  answered(records, reply, nowMs) {
    const group = this.#group(records[0]);
    const done = { confirmed: [], givenUp: [], sentence: null };
    if (reply.ok && reply.body.recorded >= records.length) {
      done.confirmed = records;
      group.backoff.reset();
    } else if (!reply.ok && reply.retryable) {
      group.notBefore = nowMs + Math.max(reply.retryAfterMs ?? 0, group.backoff.next());
      return done;
    } else if (records.length > 1) {
      group.atOnce = 1;
      return done;
    } else {
      done.givenUp = records;
      done.sentence = reply.ok ? "The gateway did not record it." : reply.message;
    }
    this.#remove(records.map(outcomeKey));
    return done;
  }

  /// The connection is back: nothing waits any more because of the last one.
  retryNow() { for (const group of this.#groups.values()) group.notBefore = -Infinity; }

  #name({ session, stream, breakId, delivery }) { return [session, stream, breakId, delivery].join(" "); }

  #group(record) {
    const name = this.#name(record);
    if (!this.#groups.has(name)) this.#groups.set(name, { notBefore: -Infinity, atOnce: GROUP_MAX, backoff: new Backoff() });
    return this.#groups.get(name);
  }

  #remove(keys) {
    for (const key of keys) this.#records.delete(key);
    const left = new Set([...this.#records.values()].map((each) => this.#name(each)));
    for (const name of this.#groups.keys()) if (!left.has(name)) this.#groups.delete(name);
  }
}

/// The database of a page's origin: outcomes of all its sessions by key, and how far each ad that plays was heard (`isPlaying`).
export class OutcomeDatabase {
  #opening = null;

  /// Every operation is a promise, which fails with the browser's reason.
  constructor(factory = globalThis.indexedDB) { this.factory = factory; }

  #open() {
    return this.#opening ??= new Promise((resolve, reject) => {
      if (!this.factory) throw new Error("this browser has no IndexedDB");
      const request = this.factory.open("cuecast", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("outcomes", { keyPath: "key" });
      request.onsuccess = () => {
        // Another version of the page wants to change it, or the person deletes it: it is opened again.
        request.result.onversionchange = () => { request.result.close(); this.#opening = null; };
        request.result.onclose = () => { this.#opening = null; };
        resolve(request.result);
      };
      request.onerror = () => reject(request.error);
      request.onblocked = () => reject(new Error("another page keeps an older version of the database open"));
    }).catch((error) => {
      this.#opening = null;
      throw error;
    });
  }

  async #transact(mode, durability, body) {
    const database = await this.#open();
    return new Promise((resolve, reject) => {
      const transaction = database.transaction("outcomes", mode, { durability });
      const request = body(transaction.objectStore("outcomes"));
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
    });
  }

  /// Resolves when they are on the disk.
  put(records) {
    return this.#transact("readwrite", records.every((each) => each.isPlaying) ? "relaxed" : "strict", (store) => {
      for (const record of records) store.put({ ...record, key: outcomeKey(record) });
    });
  }

  delete(keys) {
    return this.#transact("readwrite", "relaxed", (store) => { for (const key of keys) store.delete(key); });
  }

  all() { return this.#transact("readonly", "default", (store) => store.getAll()); }
}
