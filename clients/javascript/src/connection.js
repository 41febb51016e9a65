// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { TransportChoice } from "./choice.js";
import { HttpLink } from "./http.js";
import { Backoff, sleep } from "./timers.js";
import { LOST, WebSocketLink } from "./websocket.js";

/// Above what error the gateway's clock is asked for sooner: after a second, then after waits that double up to the usual one.
const CLOCK_ERROR_MAX_MS = 25;
const CLOCK_INTERVAL_MS = 60_000;
const CLOCK_SOON_MS = 1_000;

/// Keeps a listener connected: by WebSocket, or by server-sent events where that fails, again and again until it is stopped.
///
/// `on` is told of all: `state(state, reason)`, `joined`, `notice`, `head`, `replaced()`, `problem(sentence)`.
export class Connection {
  #choice;
  /// Loaded where a gateway names another one: once, or again where that failed.
  #moving = null;
  #loading = null;
  #backoff = new Backoff();
  #attempt = null;
  #waiting = null;
  #isRunning = false;
  /// The last run: the next begins when it has ended.
  #running = Promise.resolve();
  #sampling = null;
  #soonMs = CLOCK_SOON_MS;
  #intervalMs = CLOCK_INTERVAL_MS;

  constructor({ gateway, webSocket, stream, clock, token, client }, on) {
    Object.assign(this, { stream, clock, token, client, on });
    this.links = { webSocket: webSocket && new WebSocketLink(webSocket), events: gateway === null ? null : new HttpLink(gateway) };
    this.#choice = new TransportChoice(this.links);
    this.way = this.#choice.next(0);
  }

  /// Listens until `signal` is aborted, or for good: resolves to the state and the reason then.
  ///
  /// `identity()` gives {session, last, ticket}.
  run(identity, signal) {
    this.#running = this.#running.catch(() => {}).then(() => this.#run(identity, signal));
    return this.#running;
  }

  async #run(identity, signal) {
    let told;
    this.#isRunning = true;
    const stop = () => { this.#attempt?.abort(); this.#waiting?.abort(); };
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted) {
        this.on.state("connecting");
        const end = await this.#listen(identity, signal);
        clearTimeout(this.#sampling);
        if (signal.aborted) return null;
        const triesOther = this.#choice.ended(this.way, end, performance.now());
        if (this.way === "webSocket" && await this.#moving?.ended(end, signal, this.on)) continue;
        // Another page has a copy of the session, and could not be asked.
        if (end.reason === "replaced") this.on.replaced();
        // The app has another token, perhaps.
        else if (end.isFinal && !(end.reason === "expired" && typeof this.token === "function")) {
          if (end.problem) this.on.problem(end.problem);
          return end.reason ? { state: "ended", reason: end.reason } : { state: "refused", reason: end.problem };
        }
        if (triesOther || end.goesOn) continue;
        // However often the same problem comes, it is told once.
        if (end.problem && end.problem !== told) this.on.problem(end.problem);
        told = end.problem;
        this.on.state("waiting", end.problem ?? "The connection is lost.");
        this.#waiting = new AbortController();
        await sleep(Math.max(end.waitMs ?? 0, this.#backoff.next()), this.#waiting.signal);
      }
      return null;
    } finally {
      this.#isRunning = false;
      this.#moving?.stop();
      signal.removeEventListener("abort", stop);
      clearTimeout(this.#sampling);
    }
  }

  async #listen(identity, signal) {
    this.way = this.#choice.next(performance.now());
    // It is aborted when it is over, too.
    const attempt = this.#attempt = new AbortController();
    let joinedAt = Infinity;
    try {
      const token = typeof this.token === "function" ? await this.token() : this.token;
      if (signal.aborted) return {};
      const end = await this.links[this.way].listen({ ...identity(), stream: this.stream, token, client: this.client, signal: attempt.signal }, {
        clock: this.#clock,
        joined: (joined) => {
          this.#intervalMs = Math.min(CLOCK_INTERVAL_MS, Math.max(joined.leaseMs / 2, CLOCK_SOON_MS));
          this.#sampleLater(identity);
          if (this.way === "events") this.#lookForWebSocket(attempt.signal);
          if (!this.on.joined(joined)) return false;
          joinedAt = performance.now();
          this.#named(joined.alternatives, null, attempt);
          this.#backoff.reset();
          return true;
        },
        notice: (notice) => this.on.notice(notice),
        head: (position, move) => {
          this.#named(move?.addresses, move, attempt);
          return this.on.head(position);
        },
      });
      const { goesOn, sentence } = attempt.signal.reason ?? {};
      return { ...end, goesOn, problem: end.problem ?? sentence, joinedMs: performance.now() - joinedAt };
    } catch (error) {
      return { problem: `${error?.message ?? error}` };
    } finally {
      attempt.abort();
    }
  }

  /// The gateway named others, and asks to go on at one of them perhaps. Pages that hear server-sent events stay, and so do those that
  /// cannot load what moving needs.
  async #named(addresses, move, attempt) {
    if (this.way !== "webSocket" || !(move || addresses?.length)) return;
    await (this.#loading ??= this.loadMoving().then(({ Moving }) => { this.#moving = new Moving(this.links.webSocket); })
      .catch(() => { this.#loading = null; }));
    // What was named by a connection that is over says nothing of the next.
    if (!attempt.signal.aborted) this.#moving?.named(addresses, move, attempt);
  }

  loadMoving = () => import("./moving.js");

  /// Leaves server-sent events for WebSocket once one opens. The connection that there is stays until then, and hears notices.
  async #lookForWebSocket(signal) {
    for (let waitMs; (waitMs = this.#choice.lookAfterMs()) !== null;) {
      await sleep(waitMs, signal);
      if (signal.aborted) return;
      if (await this.links.webSocket.opens(signal)) {
        this.comeBack();
        return;
      }
    }
  }

  /// Asks the gateway for something; resolves to its reply, or to LOST.
  ask(kind, body) {
    const way = this.links.webSocket?.isOpen ? "webSocket" : this.#isRunning ? this.way : "events";
    return this.links[way]?.ask(kind, this.stream, body, { clock: this.#clock }) ?? Promise.resolve(LOST);
  }

  /// Tells the gateway something by every way there is, while the page goes away: no answer is waited for.
  sendOff(kind, body) {
    if (this.links.webSocket?.isOpen) this.links.webSocket.ask(kind, this.stream, body);
    this.links.events?.ask(kind, this.stream, body, { keepalive: true });
  }

  /// Something has changed that a failed connection may have waited for.
  retryNow() { this.#waiting?.abort(); }

  /// Leaves server-sent events for WebSocket.
  comeBack() {
    this.#choice.tryWebSocket();
    this.#attempt?.abort({ goesOn: true });
  }

  /// The connection is known to be lost.
  lose(sentence) { this.#attempt?.abort({ sentence }); }

  #clock = (sent, gatewayUs) => {
    this.clock.add(sent, gatewayUs);
    this.on.clock?.();
  };

  /// Asks for the clock, soon where its error is large. It also tells the gateway that this session still listens.
  #sampleLater(identity) {
    clearTimeout(this.#sampling);
    const isGood = this.clock.errorMs <= CLOCK_ERROR_MAX_MS;
    const waitMs = isGood ? this.#intervalMs : Math.min(this.#soonMs, this.#intervalMs);
    this.#soonMs = isGood ? CLOCK_SOON_MS : Math.min(this.#soonMs * 2, CLOCK_INTERVAL_MS);
    this.#sampling = setTimeout(() => this.sampleNow(identity), waitMs);
  }

  async sampleNow(identity) {
    clearTimeout(this.#sampling);
    const { session, ticket } = identity();
    await this.ask("time", { session, ticket });
    if (this.#isRunning) this.#sampleLater(identity);
  }
}
