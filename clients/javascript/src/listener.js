// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { BreakBook } from "./breaks.js";
import { GatewayClock } from "./clock.js";
import { Connection } from "./connection.js";
import { OutcomeDatabase } from "./outbox.js";
import { Outbox } from "./outbox-store.js";
import { AdPlayer } from "./player.js";
import { PositionFollower } from "./position.js";
import { Place, claim, randomHex, storageOfTab } from "./session.js";
import { Timers, sleep } from "./timers.js";

/// The version of this library, which joins name.
export const VERSION = "0.1.0";
/// The longest time that an acknowledgement may say of an ad.
const HEARD_MAX_MS = 3_600_000;
/// How long the part of the player is waited for before the first join, where no page says that it has it: what is left of a page that was
/// replaced has let go by then.
const PART_WAIT_MS = 30_000;
/// Where there are no Web Locks: how often the part of the player is asked for.
const PART_AGAIN_MS = 2_000;
/// How often outcomes of pages that are gone are looked for.
const ADOPT_MS = 300_000;

/// Where the path to WebSocket is unless the page says another: as deploy/fronts has it.
function webSocketOf(gateway) {
  try {
    const url = new URL("/listen", gateway || globalThis.location?.origin);
    url.protocol = url.protocol.replace("http", "ws");
    return url.href;
  } catch { return null; /* A page without an origin of its own has to name it. */ }
}

/// A listener of one stream: hears notices, fetches batches, plays ads, and says what became of them. index.d.ts describes it.
export class CuecastListener extends EventTarget {
  #abort = null;
  #isListening = false;
  #stopping = null;
  #place = null;
  #placing = null;
  #letGoOfPart = null;
  #isSuspended = false;
  #pageEvents = null;

  constructor({ gateway, webSocket, fallback = gateway !== undefined || webSocket === undefined, stream, token = "", media = null, storage, tabs = "one" } = {}) {
    super();
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(stream ?? "")) throw new TypeError("stream: it has 1 to 64 characters of A-Z a-z 0-9 . _ -");
    if (!["one", "all"].includes(tabs)) throw new TypeError('tabs: "one" or "all" of them play');
    if (webSocket === null && !fallback) throw new TypeError("webSocket, fallback: without both there is no way to the gateway");
    this.gateway = (gateway ?? "").replace(/\/$/, "");
    this.stream = stream;
    this.tabs = tabs;
    this.media = media ?? (typeof Audio === "undefined" ? null : new Audio());
    this.storage = storage === undefined ? storageOfTab() : storage;
    this.state = "stopped";
    /// Known once listening has begun: it may be one that was kept.
    this.session = null;
    this.ticket = undefined;
    /// Whether this page plays; another one of the browser does where it is false.
    this.plays = false;
    this.follower = new PositionFollower();
    this.clock = new GatewayClock();
    this.timers = new Timers(this.clock);
    const tell = (name, detail) => this.#tell(name, detail);
    this.connection = new Connection({
      gateway: fallback ? this.gateway : null, webSocket: webSocket === undefined ? webSocketOf(this.gateway) : webSocket,
      stream, clock: this.clock, token, client: `cuecast.js ${VERSION}`,
    }, {
      state: (state, reason) => this.#become(state, reason), joined: (joined) => this.#joined(joined),
      notice: (notice) => this.#heard(notice), head: (position) => this.follower.isCurrent(position),
      replaced: () => this.#becomeAnother(), problem: (sentence) => tell("problem", { sentence }), clock: () => this.timers.rearm(),
    });
    this.outbox = new Outbox({ gateway: this.gateway, stream, database: new OutcomeDatabase(), connection: this.connection, tell });
    this.book = new BreakBook({
      timers: this.timers, player: new AdPlayer(this.media), tell,
      ask: (breakId) => this.connection.ask("batch", { session: this.session, ticket: this.ticket, breakId }),
      conclude: (breakId, delivery, ad, kind, details) => this.#record(breakId, delivery, this.#outcome(ad, kind, details)),
      heard: (ad) => this.#howHeard(ad), keep: () => this.#keep(), keepPlaying: (current) => this.outbox.play(this.#interrupted(current)),
    });
  }

  // MARK: Beginning and end

  /// Begins to listen, and to play; does nothing while it does. Once listening has ended for good, it begins again.
  start() {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#isSuspended = false;
    const abort = this.#abort = new AbortController();
    this.#watchPage();
    this.#become("connecting");
    this.#begin(abort.signal).catch((error) => ({ state: "ended", reason: `${error?.message ?? error}` })).then((end) => {
      if (!end || abort.signal.aborted) return;
      // For good: another page may play.
      abort.abort();
      [this.#abort, this.#isListening] = [null, false];
      this.#leavePart();
      this.#become(end.state, end.reason);
    });
  }

  async #begin(signal) {
    await this.#stopping;
    // None: the page went away meanwhile, and has come back.
    while (!signal.aborted && !await (this.#placing ??= this.#takePlace().finally(() => { this.#placing = null; }))) { /* Again. */ }
    if (signal.aborted) return null;
    this.outbox.isPatient = true;
    this.outbox.send();
    const waiting = new AbortController();
    await Promise.race([this.#takePart(signal, () => waiting.abort()), sleep(PART_WAIT_MS, signal), sleep(PART_WAIT_MS, waiting.signal)]);
    waiting.abort();
    return this.connection.run(() => ({ session: this.session, ticket: this.ticket, last: this.follower.last }), signal);
  }

  /// Ends listening: what plays is ignored, what is not acknowledged yet goes out, and the session leaves.
  stop() {
    this.#pageEvents?.abort();
    const [abort, before] = [this.#abort, this.#stopping];
    if (!abort) return before ?? Promise.resolve();
    [this.#abort, this.#isListening] = [null, false];
    const stopping = this.#stopping = Promise.resolve(before).then(() => this.#stop(abort)).finally(() => {
      if (this.#stopping === stopping) this.#stopping = null;
    });
    return stopping;
  }

  async #stop(abort) {
    this.timers.clear();
    this.book.drop("user");
    this.#leavePart();
    this.outbox.isPatient = false;
    this.outbox.wake();
    await this.outbox.send();
    if (this.session) await this.connection.ask("leave", { session: this.session, ticket: this.ticket });
    abort.abort();
    // What was not begun is asked for again where listening begins again.
    this.book.rest();
    this.timers.clear();
    this.follower.last = null;
    this.#leavePlace();
    this.#become("stopped");
  }

  /// Skips the ad that plays, where it may be skipped by now.
  skip() { return this.maySkip && this.book.finish("ignored", { reason: "user" }); }

  /// Whether the ad that plays may be skipped now.
  get maySkip() {
    const after = this.current?.ad.skipOffsetMs;
    return after !== undefined && this.book.player.heardMs >= after;
  }

  /// What plays now, and what follows: {breakId, ad, number, count}.
  get current() { return this.book.current; }
  get queue() { return this.book.queue; }

  get position() { return this.follower.last; }

  /// How many outcomes wait for the gateway.
  get unacknowledged() { return this.outbox.size; }

  /// The gateway's clock, in milliseconds since 1970, and how far it may be from the truth.
  get gatewayNow() { return this.clock.now; }
  get gatewayErrorMs() { return this.clock.errorMs; }

  /// How it is connected: "webSocket" or "events".
  get transport() { return this.connection.way; }

  // MARK: One of the tabs plays

  /// Waits until this page is the one that plays.
  async #takePart(signal, held) {
    const name = `cuecast:player:${this.gateway}:${this.stream}`;
    let isHeld = false;
    const onHeld = () => { isHeld = true; held(); };
    // Two of them play: this one lets the other.
    const onLost = () => {
      if (!this.plays || signal.aborted) return;
      this.#interrupt();
      this.#leavePart();
      this.connection.lose();
      this.#takePart(signal, held);
    };
    while (!signal.aborted && !this.plays) {
      const letGo = this.tabs === "all" ? () => {} : await claim(name, { signal, waits: true, onHeld, onLost });
      if (letGo && signal.aborted) letGo();
      else if (letGo) {
        [this.#letGoOfPart, this.plays] = [letGo, true];
        this.#tell("plays", { plays: true });
        this.book.play(this.session, isHeld);
      } else await sleep(PART_AGAIN_MS, signal);
    }
  }

  #leavePart() {
    this.#letGoOfPart?.();
    this.#letGoOfPart = null;
    this.book.rest();
    if (!this.plays) return;
    this.plays = false;
    this.#tell("plays", { plays: false });
  }

  // MARK: What is kept

  async #takePlace() {
    if (this.#place) return true;
    const taken = await Place.take(`cuecast:${this.gateway}:${this.stream}`, this.storage, () => {
      this.#becomeAnother();
      this.connection.lose();
    });
    // Without a storage the player itself remembers; its session has its claim all the same.
    const { session } = this;
    if (taken) this.#use(taken.place, this.storage ? taken.kept : { ...session ? { session } : {}, ...this.book.kept });
    return taken !== null;
  }

  /// Goes on with what was kept in a place.
  #use(place, kept) {
    this.#place = place;
    if (kept.session !== this.session) this.book.disown();
    this.session = kept.session ?? randomHex(16);
    this.book.restore(kept);
    if (place.session !== this.session) place.ownNew(this.session);
    const interrupted = this.outbox.use(place, kept.unsaved);
    // A tab that was killed has heard an ad for so long at least: it was played as far, and is not begun again.
    if (interrupted && !this.book.isDone(interrupted.breakId, interrupted.outcome.advertisementId)) {
      this.book.mark(interrupted.breakId, interrupted.outcome.advertisementId);
      this.outbox.put(interrupted);
    }
    this.#keep();
  }

  #leavePlace() {
    if (this.#place) this.#place.isUsed = false;
    this.#place = null;
    this.outbox.leave();
  }

  #keep() { this.#place?.write("", { session: this.session, ...this.book.kept }); }

  // MARK: The page goes and comes back

  /// A page that goes away tells what was heard, and lets others have its session; one that comes back as it was goes on. A tab that is
  /// frozen keeps its session, and plays no part until it wakes.
  #watchPage() {
    if (this.#pageEvents && !this.#pageEvents.signal.aborted) return;
    this.#pageEvents = new AbortController();
    const { signal } = this.#pageEvents;
    const on = (target, name, body) => target?.addEventListener?.(name, body, { signal });
    const page = globalThis.document;
    on(globalThis, "pagehide", () => this.#suspend(true));
    on(page, "freeze", () => this.#suspend(false));
    on(globalThis, "pageshow", () => this.#resume());
    on(page, "resume", () => this.#resume());
    on(page, "visibilitychange", () => { if (!page.hidden) this.#wake(); });
    on(globalThis, "online", () => this.#wake());
    on(globalThis, "offline", () => this.connection.lose("The browser is offline."));
  }

  #suspend(leavesPlace) {
    const isListening = this.#isListening;
    this.#interrupt();
    this.#leavePart();
    if (isListening) this.outbox.tellAll();
    this.#abort?.abort();
    [this.#abort, this.#isListening] = [null, false];
    this.outbox.isPatient = false;
    this.outbox.wake();
    if (leavesPlace) this.#leavePlace();
    this.#isSuspended ||= isListening;
  }

  #resume() {
    if (this.#isSuspended) this.start();
    else this.#wake();
  }

  /// Time may have passed unnoticed, and the network may be another one.
  #wake() {
    if (!this.#isListening) return;
    this.timers.rearm();
    this.connection.retryNow();
    if (this.clock.hasJumped) this.connection.sampleNow(() => ({ session: this.session, ticket: this.ticket }));
  }

  /// Ends what plays and forgets what is to be played; a new join tells what is still open.
  #interrupt() {
    const { current } = this.book;
    const interrupted = current && this.book.player.hasBegun ? this.#interrupted(current) : null;
    this.timers.clear();
    this.book.rest();
    if (interrupted) this.#record(interrupted.breakId, interrupted.delivery, interrupted.outcome);
    this.follower.last = null;
  }

  /// Another page listens for this session: this one goes on as another listener.
  #becomeAnother() {
    this.#interrupt();
    this.book.disown();
    [this.session, this.ticket] = [randomHex(16), undefined];
    if (this.#place) {
      this.outbox.leave();
      this.#use(this.#place, { session: this.session });
    }
    if (this.plays) this.book.play(this.session);
    this.#tell("problem", { sentence: "The session listens elsewhere: this player goes on with another." });
  }

  #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  #become(state, reason) {
    this.state = state;
    this.#tell("state", { state, reason });
  }

  // MARK: Listening

  /// False: the answer contradicts itself, and another join is needed.
  #joined(joined) {
    const notices = this.follower.joined(joined);
    if (!notices) return false;
    this.ticket = joined.ticket || undefined;
    if (joined.kind === "snapshot") this.book.snapshot(notices);
    for (const notice of notices) this.#notice(notice);
    this.#keep();
    this.#become("listening", joined.kind);
    this.outbox.retryNow();
    this.#adoptLater(0);
    return true;
  }

  #adoptLater(waitMs) {
    this.timers.cancel(this.adopting);
    this.adopting = this.timers.after(waitMs, () => {
      this.outbox.adopt(this.session).catch((error) => this.#tell("problem", { sentence: `${error?.message ?? error}` }));
      this.#adoptLater(ADOPT_MS);
    });
  }

  #heard(notice) {
    const step = this.follower.take(notice.position);
    if (step === "apply") this.#notice(notice);
    return step !== "lost";
  }

  #notice(notice) {
    this.#tell("notice", { notice });
    this.book.apply(notice);
  }

  // MARK: Outcomes

  #outcome(ad, kind, details) {
    return { advertisementId: ad.id, kind, ...details, occurredUs: Math.round(this.gatewayNow * 1_000) };
  }

  /// What became of an ad that is heard now, should the page end here.
  #interrupted({ breakId, delivery, ad }) {
    const outcome = this.#outcome(ad, "played", { evidence: "inferred", ...this.#howHeard(ad) });
    return { session: this.session, ticket: this.ticket, breakId, delivery, outcome };
  }

  /// What is known of how an ad was heard until now.
  #howHeard(ad) {
    const heardMs = Math.min(this.book.player.heardMs, HEARD_MAX_MS);
    const quartiles = ad.durationMs > 0 ? Math.min(4, Math.floor(heardMs / ad.durationMs * 4)) : 0;
    return { heardMs, quartiles, muted: Boolean(this.media?.muted) };
  }

  #record(breakId, delivery, outcome) {
    this.outbox.put({ session: this.session, ticket: this.ticket, breakId, delivery, outcome });
    this.book.mark(breakId, outcome.advertisementId);
    this.#keep();
    this.#tell("outcome", { breakId, outcome });
  }
}
