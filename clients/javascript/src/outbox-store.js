// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { OutboxQueue, outcomeKey } from "./outbox.js";
import { claim, sessionName } from "./session.js";
import { sleep } from "./timers.js";

/// Outcomes of sessions whose page is gone are told by another page of the origin once they are so old: a page that is loaded anew tells
/// its own. Where there are no Web Locks a page that is busy is not told from one that is gone.
const ORPHAN_MIN_MS = 60_000;
const ORPHAN_MIN_WITHOUT_LOCKS_MS = 600_000;

/// Keeps outcomes until the gateway has them, on the disk before anything else.
///
/// An outcome goes to the storage of the tab at once, which holds it over a reload, then to the database of the origin, which holds it when
/// the tab is closed, and is told meanwhile. `tell(kind, detail)` hears "acknowledged" and "problem".
export class Outbox {
  #queue = new OutboxQueue();
  /// What the database has not confirmed yet, by key; and the ad that plays, as it would be told if the page ended here.
  #unsaved = new Map();
  #playing = null;
  #place = null;
  #isSending = false;
  #sending = Promise.resolve();
  #wake = new AbortController();
  #hasComplained = false;

  constructor({ gateway, stream, database, connection, tell }) {
    Object.assign(this, { gateway, stream, database, connection, tell });
  }

  /// How many outcomes wait for the gateway.
  get size() { return this.#queue.size; }

  /// Whether the loop goes on while the gateway does not answer.
  isPatient = false;

  /// Goes on with what a place has kept; gives the ad that was playing, where it has no outcome yet.
  use(place, kept) {
    this.#place = place;
    this.#playing = null;
    const { outcomes, playing } = kept ?? {};
    this.#put(this.#valid(Array.isArray(outcomes) ? outcomes : []));
    const [interrupted] = this.#valid(playing ? [playing] : []);
    return interrupted && !this.#queue.has(outcomeKey(interrupted)) ? interrupted : null;
  }

  /// The listener has no place any more, or another session: what is not saved stays where it is.
  leave() { [this.#place, this.#playing] = [null, null]; }

  put(record) {
    if (this.#playing && outcomeKey(this.#playing) === outcomeKey(record)) this.#playing = null;
    this.#put([this.#stamped(record)]);
  }

  /// The ad that plays, as it would be told if the page ended here.
  play(record) {
    this.#playing = this.#stamped(record);
    this.#mirror();
    this.#save([{ ...this.#playing, isPlaying: true }]);
  }

  /// Tells all that waits; resolves when nothing does, or when the gateway does not answer and `isPatient` is false.
  send() {
    if (!this.#isSending && this.#queue.size) this.#sending = this.#send();
    return this.#sending;
  }

  /// The connection is back.
  retryNow() {
    this.#queue.retryNow();
    this.wake();
    this.send();
  }

  /// Has the loop look at once whether it is still to be patient.
  wake() {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  /// The page goes away: what waits is told without waiting for answers. It stays until an answer comes, perhaps to another page.
  tellAll() {
    const groups = new Map();
    for (const record of this.#queue.waiting()) {
      const key = [record.session, record.breakId, record.delivery].join(" ");
      groups.set(key, [...groups.get(key) ?? [], record]);
    }
    // The browser takes 64 KiB of such requests.
    for (const records of [...groups.values()].slice(-8)) this.connection.sendOff("acknowledge", request(records.slice(-64)));
  }

  /// Takes what the database has: outcomes of this session, and those of sessions whose page is gone.
  async adopt(session) {
    let records;
    try {
      records = await this.database.all();
    } catch (error) {
      return this.#complain(error);
    }
    const now = Date.now();
    const found = new Map();
    for (const record of this.#valid(records)) {
      if (record.gateway !== this.gateway || record.stream !== this.stream || this.#queue.has(outcomeKey(record))) continue;
      found.set(record.session, [...found.get(record.session) ?? [], record]);
    }
    for (const [owner, theirs] of found) {
      if (owner === session) {
        this.#put(theirs.filter((each) => !each.isPlaying));
        continue;
      }
      const least = globalThis.navigator?.locks ? ORPHAN_MIN_MS : ORPHAN_MIN_WITHOUT_LOCKS_MS;
      const old = theirs.filter((each) => now - each.atMs > least);
      if (old.length && await isOrphan(owner)) this.#put(old);
    }
    return this.send();
  }

  #stamped(record) { return { ...record, gateway: this.gateway, stream: this.stream, atMs: Date.now() }; }

  /// Another script may write where we do.
  #valid(records) {
    return records.filter((each) => ["session", "breakId", "delivery", "stream"].every((name) => typeof each?.[name] === "string")
      && /^[0-9a-f]{32}$/.test(each.session) && typeof each.outcome?.advertisementId === "string" && Number.isFinite(each.atMs));
  }

  #put(records) {
    if (!records.length) return;
    for (const { isPlaying, key, ...record } of records) {
      for (const dropped of this.#queue.add(record)) this.#giveUp([dropped], "Too many outcomes wait for the gateway; the oldest is dropped");
      if (this.#queue.has(outcomeKey(record))) this.#unsaved.set(outcomeKey(record), record);
    }
    this.#mirror();
    this.#save(records.map(({ isPlaying, ...record }) => record));
    this.send();
  }

  /// The storage of the tab holds what is not on the disk yet.
  #mirror() {
    this.#place?.write(":unsaved", { playing: this.#playing, outcomes: [...this.#unsaved.values()] });
  }

  async #save(records) {
    try {
      await this.database.put(records);
    } catch (error) {
      return this.#complain(error);
    }
    let isLess = false;
    for (const record of records) if (!record.isPlaying) isLess = this.#unsaved.delete(outcomeKey(record)) || isLess;
    // What was answered meanwhile is deleted once it is there.
    const over = records.filter((each) => !each.isPlaying && !this.#queue.has(outcomeKey(each)));
    if (over.length) this.#forget(over);
    else if (isLess) this.#mirror();
    return undefined;
  }

  #forget(records) {
    const keys = records.map(outcomeKey);
    for (const key of keys) this.#unsaved.delete(key);
    this.#mirror();
    this.database.delete(keys).catch((error) => this.#complain(error));
  }

  /// What the database refuses is told once: outcomes then live as long as the tab.
  #complain(error) {
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    this.tell("problem", { sentence: `Outcomes are not kept when the tab is closed: ${error?.message ?? error}` });
  }

  #giveUp(records, sentence) {
    if (!records.length) return;
    this.#forget(records);
    for (const { breakId, outcome } of records) this.tell("problem", { sentence: `${sentence}: ${outcome.advertisementId} of ${breakId}.` });
  }

  async #send() {
    this.#isSending = true;
    try { await this.#sendAll(); } finally { this.#isSending = false; }
  }

  async #sendAll() {
    for (;;) {
      this.#giveUp(this.#queue.expire(Date.now()), "The gateway did not confirm it for seven days");
      const next = this.#queue.next(performance.now());
      if (!next) return;
      if (!next.records) {
        if (!this.isPatient) return;
        await sleep(next.waitMs, this.#wake.signal);
        continue;
      }
      const reply = await this.connection.ask("acknowledge", request(next.records));
      const { confirmed, givenUp, sentence } = this.#queue.answered(next.records, reply, performance.now());
      if (confirmed.length) {
        this.#forget(confirmed);
        this.tell("acknowledged", { breakId: confirmed[0].breakId, count: confirmed.length });
      }
      if (givenUp.length) this.#giveUp(givenUp, sentence);
    }
  }
}

/// Whether no page has a session.
async function isOrphan(session) {
  const name = sessionName(session);
  const { locks } = globalThis.navigator ?? {};
  if (locks) return locks.request(name, { ifAvailable: true }, (lock) => lock !== null).catch(() => false);
  const letGo = await claim(name);
  letGo?.();
  return letGo !== null;
}

function request(records) {
  const [{ session, ticket, breakId, delivery }] = records;
  return { session, ticket, breakId, delivery, outcomes: records.map(({ outcome }) => outcome) };
}
