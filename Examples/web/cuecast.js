// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A listener of one stream, for pages: hears notices over HTTP, fetches batches, plays ads and says what became of them.
///
/// One file, no build step, nothing else needed:
///
///     import { CuecastListener } from "./cuecast.js";
///     const listener = new CuecastListener({ gateway: "https://gateway.example", stream: "radio1" });
///     listener.addEventListener("ad", (event) => show(event.detail.ad));
///     listener.start();  // after a click: browsers play nothing before
///
/// What it does is what docs/players/web.md asks of every listener: it applies each notice once and in order, asks for its batch at its
/// own instant of the window, plays no ad twice, repeats an acknowledgement until it is durable, and goes on where it was after a lost
/// connection, a restarted gateway, or a reload of the page. Each tab, each frame and each player of a page is a listener of its own.
///
/// Events (`detail` in brackets): `state` {state, reason}, `notice` {notice}, `break` {id, startUs, count}, `ad` {breakId, ad,
/// number, count}, `progress` {ad, heardMs, durationMs}, `outcome` {breakId, outcome}, `acknowledged` {breakId, count}, `over` {id},
/// `problem` {sentence}. The reason of the states `waiting` and `refused` is a sentence for people.

/// The first retry comes within so long; later ones take up to `RETRY_MAX_MS`, at random.
const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 30_000;
/// After so many intervals without a word the connection counts as lost.
const SILENT_INTERVALS = 2.5;
/// How often the gateway's clock is asked for, and how often in a row: the answer that came quickest is believed.
const CLOCK_INTERVAL_MS = 60_000;
const CLOCK_SAMPLES = 4;
/// An ad without further events for so long after its duration has failed (VAST error 402), unless it is paused.
const OVERTIME_MS = 2_000;
/// A media file that has not begun after so long has failed (VAST error 402).
const LOADING_MAX_MS = 8_000;
/// Acknowledgements that are kept at most; beyond it the oldest goes, and its ads stay unknown.
const OUTBOX_MAX = 1_000;
/// Breaks that are over and remembered at most, so that none is played twice.
const CLOSED_MAX = 1_024;
/// How long an answer may take.
const ANSWER_MAX_MS = 20_000;
/// How much of an ad is heard at most before the storage is told again: a quarter of it, within these limits. A tab that is killed
/// forgets no more.
const KEEP_MIN_MS = 1_000;
const KEEP_MAX_MS = 5_000;
/// How long a session may be claimed by another page before it counts as that page's: the page that this one has replaced needs a
/// moment to let go.
const CLAIM_WAIT_MS = 1_000;
/// Where a page has no Web Locks: how long others have to say that a session is theirs.
const CLAIM_ANSWER_MS = 250;
/// The longest time that an acknowledgement may say of an ad.
const HEARD_MAX_MS = 3_600_000;
/// The longest time of one timer; browsers let one of more than 24 days ring at once.
const TIMER_MAX_MS = 86_400_000;

/// The instant of a request window at which a session asks, in microseconds: the same rule as in every client library, so
/// that a million of them are an even flow. FNV-1a over the parts, each ended by 0xFF, then mixed (SplitMix64, finaliser).
export function requestInstant(window, sessionHex, breakId) {
  const width = BigInt(window.byUs) - BigInt(window.fromUs);
  if (width <= 0n) return window.fromUs;
  const mask = (1n << 64n) - 1n;
  let state = 0xcbf29ce484222325n;
  const add = (byte) => { state = ((state ^ BigInt(byte)) * 0x100000001b3n) & mask; };
  for (let place = 0; place < sessionHex.length; place += 2) add(parseInt(sessionHex.slice(place, place + 2), 16));
  add(0xff);
  for (const byte of new TextEncoder().encode(breakId)) add(byte);
  add(0xff);
  state = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
  state = ((state ^ (state >> 27n)) * 0x94d049bb133111ebn) & mask;
  state ^= state >> 31n;
  return Number(BigInt(window.fromUs) + ((width * state) >> 64n));
}

/// Reads server-sent events (HTML, "Server-sent events") from pieces of text.
export class EventReader {
  #rest = "";
  #event = { id: null, name: "message", data: [] };

  /// The events that are whole with this piece.
  read(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    const events = [];
    for (const line of lines) {
      if (line === "") {
        if (this.#event.data.length) events.push({ ...this.#event, data: this.#event.data.join("\n") });
        this.#event = { id: null, name: "message", data: [] };
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") this.#event.data.push(value);
      else if (field === "event") this.#event.name = value;
      else if (field === "id") this.#event.id = value;
    }
    return events;
  }
}

function randomHex(bytes) {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/// Claims a session for this page until the claim is let go or the page is gone; null: another page has it. A tab that is
/// duplicated begins with a copy of the first one's session, and has to know.
async function claimSession(session) {
  const name = `cuecast:${session}`;
  if (!globalThis.navigator?.locks) return claimByAsking(name);
  return new Promise((resolve) => {
    navigator.locks.request(name, { signal: AbortSignal.timeout(CLAIM_WAIT_MS) }, () => new Promise((letGo) => resolve(letGo)))
      // What is refused for any other reason is no claim of another page.
      .catch((error) => resolve(["TimeoutError", "AbortError"].includes(error.name) ? null : () => {}));
  });
}

/// The same where there are no Web Locks (they need https, or localhost): the pages that have a session answer. Of two that ask
/// at once the one with the smaller number gets it.
function claimByAsking(name) {
  if (typeof BroadcastChannel === "undefined") return Promise.resolve(() => {});
  const channel = new BroadcastChannel(name);
  const number = randomHex(16);
  return new Promise((resolve) => {
    let isOurs = false;
    const timer = setTimeout(() => {
      isOurs = true;
      resolve(() => channel.close());
    }, CLAIM_ANSWER_MS);
    channel.addEventListener("message", ({ data }) => {
      if (typeof data?.asks === "string") {
        if (isOurs || data.asks > number) channel.postMessage({ has: number });
      } else if (!isOurs && data?.has !== number) {
        clearTimeout(timer);
        channel.close();
        resolve(null);
      }
    });
    channel.postMessage({ asks: number });
  });
}

/// Where this document is among the frames of its tab, which share one sessionStorage: "" for the page itself.
function framePath() {
  const places = [];
  for (let frame = globalThis.window; frame && frame !== frame.parent; frame = frame.parent) {
    let place = 0;
    while (place < frame.parent.length && frame.parent[place] !== frame) place += 1;
    places.unshift(place);
  }
  return places.join(".");
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
function storageOfTab() {
  try { return globalThis.sessionStorage ?? null; } catch { return null; }
}

/// By how many notices one position is behind another of the same stream; null: not known, they are of two epochs.
function stepsBetween(position, later) {
  const [[epoch, sequence], [laterEpoch, laterSequence]] = [position, later].map((each) => (each ?? "").split(":"));
  return epoch === laterEpoch ? BigInt(laterSequence) - BigInt(sequence) : null;
}

/// Whether what was refused may succeed later, unchanged; a proxy before the gateway says it with its status alone.
function mayPass(answer, problem) { return problem.retryable ?? (answer.status >= 500 || answer.status === 429); }

export class CuecastListener extends EventTarget {
  /// - gateway: the gateway's origin, for instance "https://gateway.example"; the page's own where nothing is said.
  /// - stream: the id of the stream.
  /// - token: a token, or a function that gives one (or a promise of one), for a stream that asks for it.
  /// - media: the audio or video element that plays ads; one is made where none is given.
  /// - storage: where session, position and acknowledgements survive a reload: sessionStorage where nothing is said; null: nowhere.
  constructor({ gateway = "", stream, token = "", media = null, storage } = {}) {
    super();
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(stream ?? "")) throw new TypeError("stream: it has 1 to 64 characters of A-Z a-z 0-9 . _ -");
    this.gateway = gateway.replace(/\/$/, "");
    this.stream = stream;
    this.token = token;
    this.media = media ?? (typeof Audio === "undefined" ? null : new Audio());
    this.storage = storage === undefined ? storageOfTab() : storage;
    this.state = "stopped";
    this.position = null;
    this.breaks = new Map();
    this.queue = [];
    this.current = null;
    this.offsetMs = null;
    this.ticket = undefined;
    /// Known once listening has begun: it may be one that was kept.
    this.session = null;
    this.outbox = [];
    this.closed = new Map();
    this.done = new Map();
  }

  #abort = null;
  #isListening = false;
  /// Where this listener is kept, while it listens.
  #place = null;
  #placing = null;
  #pageEvents = null;
  #attempt = 0;
  #timers = new Set();
  #playing = null;
  #sending = null;

  // MARK: Beginning and end

  /// Begins to listen, and to play; does nothing while it does. Once listening has ended for good, it begins again.
  start() {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#abort ??= new AbortController();
    this.#watchPage();
    this.#begin(this.#abort.signal);
  }

  async #begin(signal) {
    await (this.#placing ??= this.#takePlace());
    if (signal.aborted) return;
    this.#run(signal);
    this.#sendOutbox();
  }

  /// Ends listening: what plays is ignored, what is not acknowledged yet goes out, and the session leaves.
  async stop() {
    this.#pageEvents?.abort();
    if (!this.#abort) return;
    this.#abort.abort();
    this.#abort = null;
    this.#isListening = false;
    this.#clearTimers();
    const queued = [...this.breaks.values()].filter((known) => known.isQueued);
    // The whole queue first: the end of an ad begins the next one.
    for (const known of queued) this.#drop(known, "user");
    for (const known of queued) this.#withdraw(known, "user");
    // What was not begun is asked for again where listening begins again.
    this.breaks.clear();
    this.position = null;
    await this.#placing;
    await this.#sendOutbox();
    try {
      await this.#post(`/v1/streams/${this.stream}/leave`, { session: this.session, ticket: this.ticket });
    } catch { /* Its lease ends by itself. */ }
    // Begun again meanwhile: then it goes on.
    if (this.#abort) return;
    this.#leavePlace();
    this.#tell("state", this.#become("stopped"));
  }

  /// Skips the ad that plays, where it may be skipped by now.
  skip() {
    const current = this.current;
    if (!current || !this.maySkip) return false;
    this.#finishAd("ignored", { reason: "user" });
    return true;
  }

  /// Whether the ad that plays may be skipped now.
  get maySkip() {
    const after = this.current?.ad.skipOffsetMs;
    return after !== undefined && this.#heardMs() >= after;
  }

  /// How many outcomes wait for the gateway.
  get unacknowledged() { return this.outbox.reduce((sum, each) => sum + each.outcomes.length, 0); }

  /// The gateway's clock, in milliseconds since 1970.
  get gatewayNow() { return Date.now() + (this.offsetMs ?? 0); }

  // MARK: What is kept

  /// Takes the first place in the storage that no other player of this document uses and whose session no other page has.
  async #takePlace() {
    const [path, first] = [framePath(), `cuecast:${this.gateway}:${this.stream}`];
    for (let number = 1; this.storage; number += 1) {
      const key = [first, ...path ? [path] : [], ...number > 1 ? [`player ${number}`] : []].join(":");
      const place = places.get(key) ?? { key, isUsed: false, session: null, letGo: null };
      if (place.isUsed) continue;
      place.isUsed = true;
      places.set(key, place);
      const kept = this.#read(key);
      if (kept.session && kept.session !== place.session) {
        place.letGo?.();
        [place.session, place.letGo] = [null, null];
        const letGo = await claimSession(kept.session);
        // The page has gone away meanwhile.
        if (places.get(key) !== place) return letGo?.();
        if (letGo) {
          [place.session, place.letGo] = [kept.session, letGo];
        } else {
          // Another page has it. The storage of a tab is then a copy of another tab's: what is not acknowledged is told there.
          place.isUsed = this.storage === storageOfTab();
          if (place.isUsed) return this.#use(place, {});
          continue;
        }
      }
      return this.#use(place, kept);
    }
    this.session ??= randomHex(16);
    return undefined;
  }

  /// Goes on with what was kept in a place.
  #use(place, kept) {
    this.#place = place;
    const pairs = (list) => new Map(Array.isArray(list) ? list.filter((each) => Array.isArray(each) && each.length === 2) : []);
    this.session = kept.session ?? randomHex(16);
    this.outbox = Array.isArray(kept.outbox) ? kept.outbox : [];
    /// Breaks that are over for this listener, each with the reason for ads that come too late.
    this.closed = pairs(kept.closed);
    /// The ads of open breaks of which it is known what became: after a reload the others are played.
    this.done = new Map([...pairs(kept.done)].filter(([, ads]) => Array.isArray(ads)));
    if (place.session !== this.session) {
      place.letGo?.();
      place.session = this.session;
      place.letGo = null;
      // It is new: no other page can have it.
      claimSession(this.session).then((letGo) => {
        if (place.session === this.session) place.letGo = letGo; else letGo?.();
      });
    }
    this.#concludeInterrupted(kept.playing);
    this.#keep();
    this.#keepPlaying();
  }

  #leavePlace() {
    if (this.#place) this.#place.isUsed = false;
    [this.#place, this.#placing] = [null, null];
  }

  #read(key) {
    const parse = (suffix) => {
      try { return JSON.parse(this.storage.getItem(key + suffix)) ?? {}; } catch { return {}; /* Another script wrote there: begin anew. */ }
    };
    const kept = parse("");
    if (!/^[0-9a-f]{32}$/.test(kept.session ?? "")) return {};
    return { ...kept, playing: parse(":playing") };
  }

  #keep() {
    if (!this.#place) return;
    this.#write("", {
      session: this.session, outbox: this.outbox, closed: [...this.closed], done: [...this.done],
    });
  }

  /// Keeps how much was heard of what plays, or that nothing does.
  #keepPlaying() {
    if (!this.#place) return;
    const { current } = this;
    this.#write(":playing", current && this.#playing?.began ? {
      session: this.session, breakId: current.breakId, delivery: current.delivery, ticket: this.ticket, outcome: this.#interruption(current),
    } : {});
  }

  #write(suffix, content) {
    try { this.storage.setItem(this.#place.key + suffix, JSON.stringify(content)); } catch { /* Full, or not allowed: then a reload forgets. */ }
  }

  /// What became of an ad that is heard now, should the page end here.
  #interruption({ ad }) {
    return this.#outcome(ad, "played", { evidence: "inferred", ...this.#heard(ad) });
  }

  /// A tab that was killed has heard an ad for so long at least: it was played as far, and is not begun again.
  #concludeInterrupted(kept) {
    const { session, breakId, delivery, ticket, outcome } = kept ?? {};
    const id = outcome?.advertisementId;
    if (session !== this.session || typeof breakId !== "string" || typeof id !== "string") return;
    if (this.closed.has(breakId) || this.done.get(breakId)?.includes(id)) return;
    this.#mark(breakId, id);
    this.#putOut({ session, breakId, delivery, ticket, outcomes: [outcome] });
  }

  // MARK: The page goes and comes back

  /// A page that goes away tells what was heard, and lets others have its session; one that comes back as it was goes on.
  #watchPage() {
    if (this.#pageEvents && !this.#pageEvents.signal.aborted) return;
    this.#pageEvents = new AbortController();
    const { signal } = this.#pageEvents;
    globalThis.addEventListener?.("pagehide", () => {
      const isListening = this.#isListening;
      this.#interrupt();
      this.#abort?.abort();
      [this.#abort, this.#isListening] = [null, false];
      this.#leavePlace();
      if (isListening) globalThis.addEventListener("pageshow", () => this.start(), { signal, once: true });
    }, { signal });
  }

  /// Ends what plays and forgets what is to be played; a new join tells what is still open.
  #interrupt() {
    this.queue = [];
    const current = this.current;
    const isHeard = Boolean(this.#playing?.began);
    const outcome = isHeard ? this.#interruption(current) : null;
    this.#endMedia();
    this.current = null;
    if (isHeard) this.#record(current.breakId, current.delivery, outcome);
    this.#keepPlaying();
    this.#clearTimers();
    this.breaks.clear();
    this.position = null;
  }

  /// Another page listens for this session: this one goes on as another listener.
  #becomeAnother() {
    this.#interrupt();
    this.session = randomHex(16);
    [this.closed, this.done, this.ticket] = [new Map(), new Map(), undefined];
    if (this.#place) this.#use(this.#place, { session: this.session, outbox: this.outbox });
    this.#tell("problem", { sentence: "The session listens elsewhere: this player goes on with another." });
  }

  #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  #become(state, reason) {
    this.state = state;
    return { state, reason };
  }

  #after(milliseconds, body) {
    const timer = { id: null };
    const wait = (left) => {
      timer.id = setTimeout(() => {
        if (left > TIMER_MAX_MS) return wait(left - TIMER_MAX_MS);
        this.#timers.delete(timer);
        body();
      }, Math.min(Math.max(0, left), TIMER_MAX_MS));
    };
    wait(milliseconds);
    this.#timers.add(timer);
    return timer;
  }

  #clearTimers() {
    for (const timer of this.#timers) clearTimeout(timer.id);
    this.#timers.clear();
    // That for the next look at the gateway's clock is among them: the next join looks.
    this.clockRead = null;
  }

  #cancel(timer) {
    if (!timer) return;
    clearTimeout(timer.id);
    this.#timers.delete(timer);
  }

  #sleep(milliseconds, signal) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
    });
  }

  /// Full jitter: everybody whose connection was lost at once comes back spread over time.
  #backoff() {
    const most = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** this.#attempt);
    this.#attempt += 1;
    return Math.random() * most;
  }

  // MARK: Listening

  async #run(signal) {
    let told;
    while (!signal.aborted) {
      this.#tell("state", this.#become("connecting"));
      const ended = await this.#listen(signal).catch((error) => ({ problem: `${error.message ?? error}` }));
      if (signal.aborted) return;
      if (ended === "end") {
        this.#isListening = false;
        return;
      }
      const { waitMs = 0, problem } = ended ?? {};
      // However often the same problem comes, it is told once.
      if (problem && problem !== told) this.#tell("problem", { sentence: problem });
      told = problem;
      this.#tell("state", this.#become("waiting", problem ?? "The connection is lost."));
      await this.#sleep(Math.max(waitMs, this.#backoff()), signal);
    }
  }

  /// Listens until the connection is lost; "end": for good; {problem, waitMs}: there was none, and why.
  async #listen(signal) {
    const headers = {};
    if (this.position) headers["Last-Event-ID"] = this.position;
    const token = typeof this.token === "function" ? await this.token() : this.token;
    if (token) headers.Authorization = `Bearer ${token}`;
    const connection = new AbortController();
    const stop = () => connection.abort();
    signal.addEventListener("abort", stop, { once: true });
    let silence = setTimeout(stop, 30_000);
    let silenceMs = 30_000;
    try {
      const url = `${this.gateway}/v1/streams/${this.stream}/listen?session=${this.session}`;
      // What is wrong with the address or the token throws here, and has a message of its own.
      const request = new Request(url, { headers, signal: connection.signal, cache: "no-store" });
      const answer = await fetch(request).catch(() => null);
      if (!answer) return signal.aborted ? undefined : { problem: await this.#whyUnanswered() };
      if (!answer.ok) return await this.#refused(answer);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const events = new EventReader();
      for (;;) {
        const { value, done } = await reader.read().catch(() => ({ done: true }));
        if (done) return undefined;
        clearTimeout(silence);
        silence = setTimeout(stop, silenceMs);
        for (const event of events.read(value)) {
          const data = JSON.parse(event.data);
          if (event.name === "joined") {
            silenceMs = Math.max(1_000, data.headIntervalMs * SILENT_INTERVALS);
            this.#joined(data);
          } else if (event.name === "notice") {
            if (!this.#apply(data)) return undefined;
          } else if (event.name === "head") {
            if (data.position !== this.position) return undefined;
          } else if (event.name === "end") {
            // The app has another token, perhaps.
            if (data.reason === "expired" && typeof this.token === "function") return undefined;
            // Another page has a copy of the session, and could not be asked.
            if (data.reason === "replaced") return this.#becomeAnother();
            if (!data.retryable) {
              this.#tell("state", this.#become("ended", data.reason));
              return "end";
            }
            return undefined;
          }
        }
      }
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", stop);
      connection.abort();
    }
  }

  async #refused(answer) {
    const problem = await answer.json().catch(() => ({}));
    const sentence = problem.detail ?? `The gateway answered with ${answer.status}.`;
    if (mayPass(answer, problem)) return { problem: sentence, waitMs: Number(answer.headers.get("Retry-After") ?? 0) * 1_000 };
    this.#tell("problem", { sentence });
    this.#tell("state", this.#become("refused", sentence));
    return "end";
  }

  /// Why there was no answer; undefined: there is one by now.
  ///
  /// A browser tells a page neither that nothing answers nor that an answer does not name the page's origin: both fail alike. A request
  /// without CORS succeeds wherever anything answers (Fetch standard, "no-cors"), but the page cannot read the answer.
  async #whyUnanswered() {
    const { origin } = globalThis;
    const address = this.gateway || origin;
    const isAnswered = (mode) => this.#ask("/v1/time", { mode }).then(() => true, () => false);
    if (!await isAnswered("no-cors")) {
      return `Nothing answers at ${address}. The gateway is down, or its address is another one.`;
    }
    if (await isAnswered("cors")) return undefined;
    return `${address} refuses pages of ${origin}: its key http.listenerOrigins does not list this origin, or a proxy answers in its place.`;
  }

  #joined(joined) {
    this.#attempt = 0;
    this.ticket = joined.ticket || undefined;
    if (this.offsetMs === null) this.offsetMs = joined.gatewayUs / 1_000 - Date.now();
    this.#readClock();
    if (joined.kind === "snapshot") {
      // What is not among the open breaks is over; what ends in this moment was not cancelled.
      const open = new Set(joined.notices.map((notice) => notice.breakId));
      const soon = (this.gatewayNow + 1_000) * 1_000;
      for (const [id, known] of this.breaks) {
        const isEnding = known.isQueued && (known.endUs ?? known.notice.expiresUs) <= soon;
        if (!open.has(id) && !known.notice.preStream && !isEnding) this.#withdraw(known, "cancelled");
      }
      for (const id of this.done.keys()) if (!open.has(id) && !this.breaks.has(id)) this.done.delete(id);
    }
    for (const notice of joined.notices) this.#notice(notice);
    this.position = joined.head;
    this.#keep();
    this.#tell("state", this.#become("listening", joined.kind));
  }

  /// Applies a notice that is the next; false: something is missing between, and a new join tells it.
  #apply(notice) {
    const steps = stepsBetween(this.position, notice.position);
    if (steps === null || steps > 1n) return false;
    if (steps < 1n) return true;
    this.position = notice.position;
    this.#notice(notice);
    return true;
  }

  async #readClock() {
    if (this.clockRead && performance.now() - this.clockRead < CLOCK_INTERVAL_MS) return;
    this.clockRead = performance.now();
    let best = null;
    for (let sample = 0; sample < CLOCK_SAMPLES; sample += 1) {
      const sent = performance.now();
      const wall = Date.now();
      try {
        const { gatewayUs } = await (await this.#ask("/v1/time")).json();
        const took = performance.now() - sent;
        if (!best || took < best.took) best = { took, offset: gatewayUs / 1_000 - (wall + took / 2) };
      } catch { break; }
    }
    if (best) this.offsetMs = best.offset;
    if (this.#abort) this.#after(CLOCK_INTERVAL_MS, () => this.#readClock());
  }

  // MARK: Breaks

  #notice(notice) {
    this.#tell("notice", { notice });
    const id = notice.breakId;
    if (this.closed.has(id)) return;
    const known = this.breaks.get(id) ?? { id, batch: null, isAsked: false, isQueued: false };
    // An answer to a join repeats what may have been applied before.
    const steps = known.notice && stepsBetween(known.notice.position, notice.position);
    if (typeof steps === "bigint" && steps < 1n) return;
    this.breaks.set(id, known);
    known.notice = { ...notice, startUs: notice.startUs ?? known.notice?.startUs };
    if (notice.kind === "cancelled") return this.#withdraw(known, notice.cancelReason === "notStarted" ? "notStarted" : "cancelled");
    if (notice.kind === "ended" && known.notice.startUs === undefined) return this.#withdraw(known, "endedEarly");
    if (notice.kind === "ended") known.endsEarly = true;
    // What plays already can only get another end.
    if (known.isQueued) return this.#moveEnd(known);
    if (!known.isAsked) {
      known.isAsked = true;
      const instant = notice.window ? requestInstant(notice.window, this.session, known.id) / 1_000 : this.gatewayNow;
      this.#after(instant - this.gatewayNow, () => this.#fetch(known));
    }
    this.#plan(known);
  }

  async #fetch(known, attempt = 0) {
    if (!this.#abort || this.breaks.get(known.id) !== known) return;
    let answer;
    try {
      answer = await this.#post(`/v1/streams/${this.stream}/breaks/${known.id}/batch`, { session: this.session, ticket: this.ticket });
      if (answer.ok) return this.#hold(known, await answer.json());
    } catch { answer = undefined; /* No network: asked again. */ }
    const problem = await answer?.json().catch(() => ({}));
    if (answer && !mayPass(answer, problem)) {
      this.#tell("problem", { sentence: problem.detail ?? `The gateway answered with ${answer.status}.` });
      if (this.breaks.get(known.id) === known) this.#close(known, "expired");
      return undefined;
    }
    const wait = Math.max(Number(answer?.headers.get("Retry-After") ?? 0) * 1_000, Math.random() * Math.min(8_000, RETRY_FIRST_MS * 2 ** attempt));
    this.#after(wait, () => this.#fetch(known, attempt + 1));
    return undefined;
  }

  /// Takes a batch. Where its break was over while it was on its way, it was delivered all the same, and gets its outcomes.
  #hold(known, batch) {
    if (this.breaks.get(known.id) !== known) {
      const reason = this.closed.get(known.id);
      if (reason) for (const ad of batch.advertisements) this.#conclude(known.id, batch.delivery, ad, "ignored", { reason });
      return;
    }
    known.batch = batch;
    this.#tell("break", { id: known.id, startUs: batch.startUs, count: batch.advertisements.length });
    this.#plan(known);
  }

  /// Queues the ads of a break for when it starts, where start and batch are known.
  #plan(known) {
    if (!known.batch || known.isQueued) return;
    const startUs = known.notice.startUs ?? (known.notice.preStream ? this.gatewayNow * 1_000 : undefined);
    if (startUs === undefined) {
      // Cued: it waits for its start, and no longer than it is held.
      this.#cancel(known.holdTimer);
      known.holdTimer = this.#after(known.notice.expiresUs / 1_000 - this.gatewayNow, () => this.#withdraw(known, "notStarted"));
      return;
    }
    this.#cancel(known.holdTimer);
    this.#cancel(known.startTimer);
    known.startTimer = this.#after(startUs / 1_000 - this.gatewayNow, () => this.#beginBreak(known));
  }

  #beginBreak(known) {
    if (known.isQueued || !this.#abort) return;
    known.isQueued = true;
    const { delivery } = known.batch;
    const advertisements = this.#open(known);
    known.endUs = this.#end(known);
    advertisements.forEach((ad, index) => this.queue.push({
      breakId: known.id, delivery, ad, number: index + 1, count: advertisements.length, known,
    }));
    if (known.endUs) known.endTimer = this.#after(known.endUs / 1_000 - this.gatewayNow, () => this.#over(known));
    if (!advertisements.length) this.#close(known, "expired");
    else if (!this.current) this.#next();
  }

  /// The ads of a break of which it is not known yet what became.
  #open(known) {
    const done = this.done.get(known.id) ?? [];
    return known.batch.advertisements.filter((ad) => !done.includes(ad.id));
  }

  /// When a break ends, in microseconds; undefined: when its last ad has.
  #end(known) {
    const { startUs, durationMs, preStream } = known.notice;
    return startUs === undefined || durationMs === undefined || preStream ? undefined : startUs + durationMs * 1_000;
  }

  #moveEnd(known) {
    this.#cancel(known.endTimer);
    known.endUs = this.#end(known) ?? known.notice.expiresUs;
    known.endTimer = this.#after(known.endUs / 1_000 - this.gatewayNow, () => this.#over(known));
  }

  /// The time of a break is over: what has not begun is ignored, and what plays is cut unless it may finish.
  #over(known) {
    const reason = known.endsEarly ? "endedEarly" : "skippedOver";
    this.#drop(known, reason);
    if (this.current?.known !== known) return this.#close(known, reason);
    if (known.notice.endMode === "finishAd") return;
    // Media and timers are not exact: an ad that is all but over is let end.
    const left = this.current.ad.durationMs - this.#heardMs();
    if (left > OVERTIME_MS / 4) this.#finishAd("ignored", { reason });
  }

  #drop(known, reason) {
    const dropped = this.queue.filter((each) => each.known === known);
    this.queue = this.queue.filter((each) => each.known !== known);
    for (const each of dropped) this.#conclude(each.breakId, each.delivery, each.ad, "ignored", { reason });
  }

  /// A break will not be played any further.
  #withdraw(known, reason) {
    if (known.batch && !known.isQueued) {
      for (const ad of this.#open(known)) this.#conclude(known.id, known.batch.delivery, ad, "ignored", { reason });
    }
    this.#drop(known, reason);
    if (this.current?.known === known) this.#finishAd("ignored", { reason });
    this.#close(known, reason);
  }

  /// Remembers that a break is over; whatever comes for it later changes nothing.
  #close(known, reason) {
    if (this.breaks.get(known.id) !== known) return;
    for (const timer of [known.startTimer, known.holdTimer, known.endTimer]) this.#cancel(timer);
    this.breaks.delete(known.id);
    this.done.delete(known.id);
    this.closed.set(known.id, reason);
    if (this.closed.size > CLOSED_MAX) this.closed.delete(this.closed.keys().next().value);
    this.#keep();
    this.#tell("over", { id: known.id });
  }

  // MARK: Playing

  #next() {
    const next = this.queue.shift();
    if (!next) return;
    this.current = next;
    const { ad } = next;
    this.#tell("ad", { breakId: next.breakId, ad, number: next.number, count: next.count });
    const file = ad.media.find((each) => this.media?.canPlayType(each.type)) ?? null;
    if (!file) return this.#finishAd("failed", { vastError: 403 });
    const playing = { listeners: new AbortController(), began: null, keptMs: 0 };
    this.#playing = playing;
    const on = (name, body) => this.media.addEventListener(name, () => { if (this.#playing === playing) body(); }, { signal: playing.listeners.signal });
    playing.timer = setTimeout(() => { if (this.#playing === playing && !playing.began) this.#finishAd("failed", { vastError: 402 }); }, LOADING_MAX_MS);
    on("playing", () => {
      if (playing.began) return;
      playing.began = performance.now();
      this.#keepPlaying();
      clearTimeout(playing.timer);
      this.#watchStall(playing, ad.durationMs);
    });
    on("timeupdate", () => {
      const heardMs = this.#heardMs();
      this.#tell("progress", { ad, heardMs, durationMs: ad.durationMs });
      if (heardMs >= ad.durationMs) return this.#finishAd("played");
      if (heardMs - playing.keptMs < Math.min(Math.max(ad.durationMs / 4, KEEP_MIN_MS), KEEP_MAX_MS)) return undefined;
      playing.keptMs = heardMs;
      return this.#keepPlaying();
    });
    on("pause", () => this.#keepPlaying());
    on("ended", () => this.#finishAd("played"));
    on("error", () => this.#finishAd("failed", { vastError: this.media.error?.code === 2 ? 401 : 405 }));
    this.media.src = file.url;
    Promise.resolve(this.media.play()).catch((error) => {
      // Told to play before the page may: a person has to click first. Media that cannot be played tells it as an event too.
      if (this.#playing === playing) this.#finishAd("failed", { vastError: error.name === "NotAllowedError" ? 400 : 405 });
    });
  }

  /// Fails an ad whose media has stopped by itself. A paused one may go on, and a slow one is left alone.
  #watchStall(playing, leftMs) {
    const before = this.#heardMs();
    playing.timer = setTimeout(() => {
      if (this.#playing !== playing) return;
      if (!this.media.paused && this.#heardMs() <= before) this.#finishAd("failed", { vastError: 402 });
      else this.#watchStall(playing, Math.max(0, this.current.ad.durationMs - this.#heardMs()));
    }, leftMs + OVERTIME_MS);
  }

  #heardMs() { return Math.round((this.#playing?.began ? this.media.currentTime : 0) * 1_000); }

  /// What is known of how an ad was heard until now.
  #heard(ad) {
    const heardMs = Math.min(this.#heardMs(), HEARD_MAX_MS);
    const quartiles = ad.durationMs > 0 ? Math.min(4, Math.floor(heardMs / ad.durationMs * 4)) : 0;
    return { heardMs, quartiles, muted: Boolean(this.media?.muted) };
  }

  #endMedia() {
    if (this.#playing) {
      clearTimeout(this.#playing.timer);
      this.#playing.listeners.abort();
      this.#playing = null;
    }
    this.media?.pause();
  }

  #finishAd(kind, details = {}) {
    const current = this.current;
    if (!current) return;
    const heard = this.#heard(current.ad);
    if (kind === "played") heard.quartiles = 4;
    this.#endMedia();
    this.current = null;
    this.#conclude(current.breakId, current.delivery, current.ad, kind, { ...details, ...heard });
    this.#keepPlaying();
    const { known } = current;
    if (!this.queue.some((each) => each.known === known)) this.#close(known, "expired");
    this.#next();
  }

  // MARK: Acknowledging

  #outcome(ad, kind, details) {
    return { advertisementId: ad.id, kind, ...details, occurredUs: Math.round(this.gatewayNow * 1_000) };
  }

  #conclude(breakId, delivery, ad, kind, details) {
    this.#record(breakId, delivery, this.#outcome(ad, kind, details));
  }

  #record(breakId, delivery, outcome) {
    if (this.breaks.has(breakId)) this.#mark(breakId, outcome.advertisementId);
    this.#putOut({ session: this.session, breakId, delivery, ticket: this.ticket, outcomes: [outcome] });
    this.#keep();
    this.#tell("outcome", { breakId, outcome });
    this.#sendOutbox();
  }

  /// Remembers that it is known what became of an ad of an open break.
  #mark(breakId, id) { this.done.set(breakId, [...this.done.get(breakId) ?? [], id]); }

  /// Has an outcome wait for the gateway.
  #putOut(waiting) {
    this.outbox.push(waiting);
    if (this.outbox.length <= OUTBOX_MAX) return;
    const [dropped] = this.outbox.splice(0, 1);
    this.#tell("problem", { sentence: `${OUTBOX_MAX} outcomes wait for the gateway; the oldest, of the break ${dropped.breakId}, is dropped.` });
  }

  /// Sends all waiting outcomes; resolves when they are sent, or when the gateway does not answer.
  #sendOutbox() {
    if (!this.outbox.length) return undefined;
    return this.#sending ??= this.#send();
  }

  /// Sends what waits, oldest first, each until the gateway has answered: it counts once however often it comes.
  async #send() {
    let attempt = 0;
    try {
      while (this.outbox.length) {
        const first = this.outbox[0];
        let answer;
        try {
          answer = await this.#post(`/v1/streams/${this.stream}/breaks/${first.breakId}/acknowledge`, {
            session: first.session ?? this.session, ticket: first.ticket, delivery: first.delivery, outcomes: first.outcomes,
          }, { keepalive: true });
        } catch { /* No network: sent again. */ }
        const problem = answer?.ok ? null : await answer?.json().catch(() => ({}));
        if (answer && (answer.ok || !mayPass(answer, problem))) {
          attempt = 0;
          this.outbox = this.outbox.filter((each) => each !== first);
          this.#keep();
          if (answer.ok) this.#tell("acknowledged", { breakId: first.breakId, count: first.outcomes.length });
          else this.#tell("problem", { sentence: problem.detail ?? `The gateway answered with ${answer.status}.` });
          continue;
        }
        if (!this.#abort) return;
        const wait = Math.max(Number(answer?.headers.get("Retry-After") ?? 0) * 1_000, Math.random() * Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** attempt));
        attempt += 1;
        await this.#sleep(wait, this.#abort?.signal);
      }
    } finally {
      this.#sending = null;
    }
  }

  #post(path, body, request = {}) {
    return this.#ask(path, { ...request, method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  }

  #ask(path, request = {}) {
    return fetch(this.gateway + path, { ...request, cache: "no-store", signal: AbortSignal.timeout(ANSWER_MAX_MS) });
  }
}
