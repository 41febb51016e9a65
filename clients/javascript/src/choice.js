// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How often a connection by WebSocket may fail in a row where there was one before: a gateway that restarts takes both ways.
const FAILURES_MAX = 3;
/// How long server-sent events are used before WebSocket is tried again at the next loss of the connection; and, where WebSocket has never
/// worked on this page, the longest time between two looks whether it opens now, beside the connection.
const AGAIN_MS = 600_000;
/// The longest time between two looks where WebSocket has worked on this page.
const BACK_MS = 120_000;

/// Which way to connect next: "webSocket" first, "events" where that fails before it has joined. A policy without clock.
///
/// A network or a proxy that lets no WebSocket through is found by the first try. Where WebSocket has worked on this page, several tries must
/// fail. Server-sent events are left again when a look beside them has shown that WebSocket opens.
export class TransportChoice {
  #hasWorked = false;
  #failures = 0;
  /// Until when WebSocket is not tried.
  #notBefore = -Infinity;

  constructor({ webSocket, events }) {
    [this.webSocket, this.events] = [webSocket, events];
  }

  next(nowMs) {
    if (!this.events) return "webSocket";
    return this.webSocket && nowMs >= this.#notBefore ? "webSocket" : "events";
  }

  /// A connection by one of the ways has ended, or was none; true: the other way is worth a try at once.
  ended(way, { hasJoined, isAnswered }, nowMs) {
    if (way === "webSocket") {
      if (hasJoined) [this.#hasWorked, this.#failures] = [true, 0];
      // What the gateway refuses it would refuse over HTTP, too.
      if (hasJoined || isAnswered || !this.events) return false;
      this.#failures += 1;
      if (this.#failures < (this.#hasWorked ? FAILURES_MAX : 1)) return false;
      this.#notBefore = nowMs + AGAIN_MS;
      return true;
    }
    // Neither way leads there: it says nothing about WebSocket.
    if (!hasJoined && !isAnswered) [this.#notBefore, this.#failures] = [-Infinity, 0];
    return false;
  }

  /// After how long a connection by server-sent events looks whether WebSocket opens: chosen at random from half of the longest time on,
  /// since many fall back at one time; null: never.
  lookAfterMs(random = Math.random()) {
    return this.webSocket ? (this.#hasWorked ? BACK_MS : AGAIN_MS) * (1 + random) / 2 : null;
  }

  /// WebSocket is tried with the next connection.
  tryWebSocket() { [this.#notBefore, this.#failures] = [-Infinity, this.#hasWorked ? FAILURES_MAX - 1 : 0]; }
}
