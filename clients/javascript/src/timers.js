// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The longest time of one timer; browsers let one of more than 24 days ring at once.
const TIMER_MAX_MS = 86_400_000;

/// Timers at times of the gateway's clock. What the browser measures is not trusted: a timer that rings too early waits on, and after a
/// sleep, or a better reading of the clock, all are set anew.
export class Timers {
  #timers = new Set();

  constructor(clock) { this.clock = clock; }

  /// Runs something at a time of the gateway, in milliseconds since 1970.
  at(dueMs, body) {
    const timer = { dueMs, body };
    this.#timers.add(timer);
    this.#set(timer);
    return timer;
  }

  after(milliseconds, body) { return this.at(this.clock.now + milliseconds, body); }

  cancel(timer) {
    if (!timer) return;
    clearTimeout(timer.id);
    this.#timers.delete(timer);
  }

  clear() { for (const timer of this.#timers) this.cancel(timer); }

  /// The clock may say something else now.
  rearm() { for (const timer of this.#timers) this.#set(timer); }

  #set(timer) {
    clearTimeout(timer.id);
    timer.id = setTimeout(() => {
      if (timer.dueMs - this.clock.now > 1) return this.#set(timer);
      this.#timers.delete(timer);
      return timer.body();
    }, Math.min(Math.max(0, timer.dueMs - this.clock.now), TIMER_MAX_MS));
  }
}

/// Waits; ends early where the signal is aborted.
export function sleep(milliseconds, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(end, milliseconds);
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
    signal?.addEventListener("abort", end);
    return undefined;
  });
}

/// Full jitter: everybody whose connection was lost at once comes back spread over time. The first retry comes within 250 ms; later ones
/// take up to 30 s.
export class Backoff {
  #attempt = 0;

  reset() { this.#attempt = 0; }

  next() {
    const most = Math.min(30_000, 250 * 2 ** this.#attempt);
    this.#attempt += 1;
    return Math.random() * most;
  }
}
