// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { requestInstant } from "./slots.js";
import { stepsBetween } from "./position.js";
import { Backoff } from "./timers.js";

/// Breaks that are over and remembered at most, so that none is played twice.
const CLOSED_MAX = 1_024;
/// Breaks that are followed at a time at most; further ones are left out, with a problem.
const FOLLOWED_MAX = 256;
/// An ad with no more than this to go is let end where its break ends: media and timers are not exact.
const ENDING_MS = 500;
/// A break that ends in this moment is missing in a snapshot, and was not cancelled.
const SOON_MS = 1_000;

const pairs = (list) => new Map(Array.isArray(list) ? list.filter((each) => Array.isArray(each) && each.length === 2) : []);

/// The breaks of the stream, each from its first notice to its end: asked for in its window, queued for its start, played once.
///
/// `host` is what it acts by: `timers`, `player`, `tell(name, detail)`, `ask(breakId)`, `conclude(breakId, delivery, ad, kind, details)`,
/// `keep()` and `keepPlaying(current)`.
export class BreakBook {
  breaks = new Map();
  queue = [];
  current = null;
  /// Breaks that are over for this listener, each with the reason for ads that come too late.
  closed = new Map();
  /// The ads of open breaks of which it is known what became: after a reload the others are played.
  done = new Map();
  /// Breaks whose batches it had when it stopped to play: their ads get an outcome once it is known that they cannot be played any more. The
  /// next snapshot leaves those in it that are open, so they are as bounded as `breaks`.
  #left = new Map();
  /// Whose slots it asks at; null: it only watches, as another page plays.
  #session = null;

  constructor(host) { Object.assign(this, { host, timers: host.timers, player: host.player }); }

  // MARK: Beginning and end

  restore({ closed, done }) {
    this.closed = pairs(closed);
    this.done = new Map([...pairs(done)].filter(([, ads]) => Array.isArray(ads)));
  }

  get kept() { return { closed: [...this.closed], done: [...this.done] }; }

  /// From now on it plays: what it knows is asked for. `takesOver`: another page played until now, also the breaks that have begun.
  play(session, takesOver = false) {
    this.#session = session;
    const nowUs = this.timers.clock.now * 1_000;
    for (const known of [...this.breaks.values()]) {
      if (takesOver && known.notice.startUs <= nowUs) this.#close(known, "skippedOver");
      else this.#advance(known);
    }
  }

  /// Forgets what is to be played, and plays nothing: the next join tells what is still open.
  rest() {
    this.#session = null;
    this.queue = [];
    this.current = null;
    this.player.stop();
    for (const known of this.breaks.values()) {
      this.#cancelTimers(known);
      if (known.batch) this.#left.set(known.id, known);
    }
    this.breaks.clear();
  }

  /// Its batches were another session's, which tells nothing any more.
  disown() { this.#left.clear(); }

  /// What is queued or plays is ignored.
  drop(reason) {
    const queued = [...this.breaks.values()].filter((known) => known.isQueued);
    // The whole queue first: the end of an ad begins the next one.
    for (const known of queued) this.#drop(known, reason);
    for (const known of queued) this.#withdraw(known, reason);
  }

  isDone(breakId, id) { return this.closed.has(breakId) || Boolean(this.done.get(breakId)?.includes(id)); }

  /// Remembers that it is known what became of an ad of a break that is not over.
  mark(breakId, id) {
    if (!this.isDone(breakId, id)) this.done.set(breakId, [...this.done.get(breakId) ?? [], id]);
  }

  // MARK: Notices

  /// A snapshot holds every open break: those that it leaves out are over.
  snapshot(notices) {
    const open = new Set(notices.map((notice) => notice.breakId));
    const soon = (this.timers.clock.now + SOON_MS) * 1_000;
    for (const [id, known] of this.breaks) {
      const isEnding = known.isQueued && (known.endUs ?? known.notice.expiresUs) <= soon;
      if (!open.has(id) && !known.notice.preStream && !isEnding) this.#withdraw(known, "cancelled");
    }
    for (const [id, known] of this.#left) if (!open.has(id) && !known.notice.preStream) this.#missed(known, known.batch.advertisements);
    for (const id of this.done.keys()) if (!open.has(id) && !this.breaks.has(id)) this.done.delete(id);
  }

  apply(notice) {
    const id = notice.breakId;
    // One of a kind that this version does not know says only that time goes on.
    if (!id || !notice.kind || this.closed.has(id)) return;
    const known = this.breaks.get(id) ?? { id, batch: null, isAsked: false, isQueued: false, backoff: new Backoff() };
    // An answer to a join repeats what may have been applied before.
    const steps = known.notice && stepsBetween(known.notice.position, notice.position);
    if (typeof steps === "bigint" && steps < 1n) return;
    if (!this.breaks.has(id) && this.breaks.size >= FOLLOWED_MAX) {
      this.host.tell("problem", { sentence: `More than ${FOLLOWED_MAX} breaks are open; ${id} is left out.` });
      return;
    }
    this.breaks.set(id, known);
    known.notice = { ...notice, startUs: notice.startUs ?? known.notice?.startUs };
    if (notice.kind === "cancelled") return this.#withdraw(known, notice.cancelReason === "notStarted" ? "notStarted" : "cancelled");
    if (notice.kind === "ended" && known.notice.startUs === undefined) return this.#withdraw(known, "endedEarly");
    if (notice.kind === "ended") known.endsEarly = true;
    // Who begins to play later has begun the stream long ago.
    if (notice.preStream && !this.#session) return this.#close(known, "expired");
    return this.#advance(known);
  }

  #advance(known) {
    const { notice } = known;
    if (!this.#session) {
      // The page that plays lets go of it by itself; here nothing else does.
      this.timers.cancel(known.holdTimer);
      known.holdTimer = this.timers.at(notice.expiresUs / 1_000, () => this.#close(known, "expired"));
      return;
    }
    // What plays already can only get another end.
    if (known.isQueued) return this.#moveEnd(known);
    if (!known.isAsked) {
      known.isAsked = true;
      this.timers.cancel(known.holdTimer);
      const instant = notice.window ? requestInstant(notice.window, this.#session, known.id) / 1_000 : this.timers.clock.now;
      known.askTimer = this.timers.at(instant, () => this.#fetch(known));
    }
    this.#plan(known);
  }

  async #fetch(known) {
    const reply = await this.host.ask(known.id);
    if (reply.ok && Array.isArray(reply.body.advertisements)) return this.#hold(known, reply.body);
    if (this.breaks.get(known.id) !== known) return undefined;
    if (reply.retryable) {
      known.askTimer = this.timers.after(Math.max(reply.retryAfterMs ?? 0, known.backoff.next()), () => this.#fetch(known));
      return undefined;
    }
    this.host.tell("problem", { sentence: reply.message });
    return this.#close(known, "expired");
  }

  /// Takes a batch. Where its break was over while it was on its way, it was delivered all the same, and gets its outcomes.
  #hold(known, batch) {
    if (this.breaks.get(known.id) !== known) {
      const reason = this.closed.get(known.id);
      if (reason) this.#conclude(known, batch, batch.advertisements, reason);
      return;
    }
    const left = this.#left.get(known.id);
    // The gateway leaves out what cannot be played any more.
    if (left) this.#missed(left, left.batch.advertisements.filter(({ id }) => batch.advertisements.every((each) => each.id !== id)));
    known.batch = batch;
    this.host.tell("break", { id: known.id, startUs: batch.startUs, count: batch.advertisements.length });
    this.#plan(known);
  }

  // MARK: Time

  /// Queues the ads of a break for when it starts, where start and batch are known.
  #plan(known) {
    if (!known.batch || known.isQueued) return;
    const { notice } = known;
    this.timers.cancel(known.holdTimer);
    this.timers.cancel(known.startTimer);
    const startUs = notice.startUs ?? (notice.preStream ? this.timers.clock.now * 1_000 : undefined);
    if (startUs === undefined) {
      // Cued: it waits for its start, and no longer than it is held.
      known.holdTimer = this.timers.at(notice.expiresUs / 1_000, () => this.#withdraw(known, "notStarted"));
    } else {
      known.startTimer = this.timers.at(startUs / 1_000, () => this.#begin(known));
    }
  }

  #begin(known) {
    if (known.isQueued) return;
    known.isQueued = true;
    const advertisements = this.#open(known, known.batch.advertisements);
    known.endUs = this.#end(known);
    advertisements.forEach((ad, index) => this.queue.push({
      breakId: known.id, delivery: known.batch.delivery, ad, number: index + 1, count: advertisements.length, known,
    }));
    if (known.endUs) known.endTimer = this.timers.at(known.endUs / 1_000, () => this.#over(known));
    if (!advertisements.length) this.#close(known, "expired");
    else if (!this.current) this.#next();
  }

  /// The ads of a break of which it is not known yet what became.
  #open(known, advertisements) { return advertisements.filter((ad) => !this.done.get(known.id)?.includes(ad.id)); }

  /// When a break ends, in microseconds; undefined: when its last ad has.
  #end({ notice: { startUs, durationMs, preStream } }) {
    return startUs === undefined || durationMs === undefined || preStream ? undefined : startUs + durationMs * 1_000;
  }

  #moveEnd(known) {
    this.timers.cancel(known.endTimer);
    known.endUs = this.#end(known) ?? known.notice.expiresUs;
    known.endTimer = this.timers.at(known.endUs / 1_000, () => this.#over(known));
  }

  /// The time of a break is over: what has not begun is ignored, and what plays is cut unless it may finish.
  #over(known) {
    const reason = known.endsEarly ? "endedEarly" : "skippedOver";
    this.#drop(known, reason);
    if (this.current?.known !== known) return this.#close(known, reason);
    if (known.notice.endMode === "finishAd") return undefined;
    if (this.current.ad.durationMs - this.player.heardMs > ENDING_MS) this.finish("ignored", { reason });
    return undefined;
  }

  #drop(known, reason) {
    const dropped = this.queue.filter((each) => each.known === known);
    this.queue = this.queue.filter((each) => each.known !== known);
    this.#conclude(known, known.batch, dropped.map((each) => each.ad), reason);
  }

  #conclude({ id }, batch, advertisements, reason) {
    for (const ad of advertisements) this.host.conclude(id, batch.delivery, ad, "ignored", { reason });
  }

  /// Ads of a batch that was left cannot be played any more.
  #missed(known, advertisements) {
    this.#left.delete(known.id);
    if (!this.closed.has(known.id)) this.#conclude(known, known.batch, this.#open(known, advertisements), "skippedOver");
  }

  /// A break will not be played any further.
  #withdraw(known, reason) {
    if (known.batch && !known.isQueued) this.#conclude(known, known.batch, this.#open(known, known.batch.advertisements), reason);
    this.#drop(known, reason);
    if (this.current?.known === known) this.finish("ignored", { reason });
    this.#close(known, reason);
  }

  #cancelTimers(known) {
    for (const timer of [known.askTimer, known.startTimer, known.holdTimer, known.endTimer]) this.timers.cancel(timer);
  }

  /// Remembers that a break is over; whatever comes for it later changes nothing.
  #close(known, reason) {
    if (this.breaks.get(known.id) !== known) return;
    this.#cancelTimers(known);
    const left = this.#left.get(known.id);
    if (left) this.#missed(left, left.batch.advertisements);
    this.breaks.delete(known.id);
    this.done.delete(known.id);
    this.closed.set(known.id, reason);
    if (this.closed.size > CLOSED_MAX) this.closed.delete(this.closed.keys().next().value);
    this.host.keep();
    this.host.tell("over", { id: known.id });
  }

  // MARK: Playing

  #next() {
    const next = this.queue.shift();
    if (!next) return;
    this.current = next;
    const { ad, breakId, number, count } = next;
    this.host.tell("ad", { breakId, ad, number, count });
    // What is told may have stopped it.
    if (this.current !== next) return;
    this.player.play(ad, {
      progress: (heardMs) => this.host.tell("progress", { ad, heardMs, durationMs: ad.durationMs }),
      keep: () => this.host.keepPlaying(next),
      ended: (kind, details) => { if (this.current === next) this.finish(kind, details); },
    });
  }

  /// Ends the ad that plays, and begins the next one.
  finish(kind, details = {}) {
    const { current } = this;
    if (!current) return false;
    const heard = this.host.heard(current.ad);
    if (kind === "played") heard.quartiles = 4;
    this.player.stop();
    this.current = null;
    const { known } = current;
    this.host.conclude(current.breakId, current.delivery, current.ad, kind, { ...details, ...heard });
    if (!this.queue.some((each) => each.known === known)) this.#close(known, "expired");
    if (!this.current) this.#next();
    return true;
  }
}
