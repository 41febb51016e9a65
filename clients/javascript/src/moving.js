// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { Backoff, sleep } from "./timers.js";

/// The most addresses that are kept of those that gateways name.
const NAMED_MAX = 16;
/// The longest time within which a gateway may ask to leave it.
const MOVE_MAX_MS = 60_000;
/// How long a connection must have been good for the page to go on at another gateway without a wait.
const STEADY_MS = 10_000;

const scheme = (address) => /^wss?(?=:\/\/[^/])/.exec(address)?.[0];

/// Where WebSocket connects to: the page's own address, and those of other gateways that the one before named. A policy without clock.
///
/// Only addresses of the own one's scheme are taken: a page that asked for wss:// never goes on without TLS. They are kept in memory only.
export class Addresses {
  #named = [];

  constructor(own) { [this.own, this.current] = [own, own]; }

  get hasOthers() { return this.#order.some((each) => each !== this.current); }

  /// Those that a gateway names, the one to try first at the beginning; where it names none, the ones before may still be there.
  learn(addresses) {
    const named = (addresses ?? []).filter((each) => each.length <= 128 && scheme(each) && scheme(each) === scheme(this.own)).slice(0, NAMED_MAX);
    if (named.length) this.#named = named;
  }

  /// The gateway asks to go on at another one; its addresses are in no order, and each page takes its own.
  moves(addresses, random = Math.random) {
    this.learn((addresses ?? []).map((each) => [random(), each]).sort(([one], [other]) => one - other).map(([, each]) => each));
  }

  /// The first that was named, for a page that was asked to move.
  leave() {
    const named = this.#named.find((each) => each !== this.current);
    if (named) this.current = named; else this.failed();
  }

  /// A connection to the current address failed before it had joined: the next one is tried.
  failed() {
    const order = this.#order;
    this.current = order[(order.indexOf(this.current) + 1) % order.length];
  }

  get #order() { return [this.own, ...this.#named.filter((each) => each !== this.own)]; }
}

/// Has a link by WebSocket go on at other gateways. It is loaded where the first one is named: most pages never do.
export class Moving {
  /// When this gateway is left for another one, because it asks for that; null: it does not.
  #at = null;
  #timer = null;
  /// Between gateways that take joins and ask to leave at once.
  #backoff = new Backoff();

  constructor(link) { [this.link, this.addresses] = [link, new Addresses(link.url)]; }

  /// The gateway named others. `move`: it is about to stop, and this page leaves `attempt`, its connection, at a random moment within the
  /// time, so that not all arrive together.
  named(addresses, move, attempt) {
    if (this.#at !== null) return;
    if (!move) {
      this.addresses.learn(addresses);
      return;
    }
    this.addresses.moves(addresses);
    if (!this.addresses.hasOthers) return;
    const waitMs = Math.random() * Math.min(move.withinMs, MOVE_MAX_MS);
    this.#at = performance.now() + waitMs;
    this.#timer = setTimeout(() => {
      this.#at = -Infinity;
      attempt.abort({ goesOn: true });
    }, waitMs);
  }

  /// A connection has ended: says where the next one goes. Resolves to true where this page was asked to move: the next one may be made
  /// then. One whose connection ended before its moment keeps to it, and one whose connection had not been good for long waits in any case.
  async ended({ hasJoined, goesOn, joinedMs }, signal, on) {
    const moves = this.#at !== null;
    let waitMs = this.#at - performance.now();
    this.stop();
    if (joinedMs >= STEADY_MS) this.#backoff.reset();
    else if (moves) waitMs = Math.max(waitMs, this.#backoff.next());
    if (moves) {
      if (waitMs > 0) {
        on.state("waiting", "The gateway is stopping; another one takes over.");
        await sleep(waitMs, signal);
      }
      this.addresses.leave();
    } else if (!hasJoined && !goesOn) this.addresses.failed();
    this.link.url = this.addresses.current;
    return moves;
  }

  /// Nothing is left any more.
  stop() {
    clearTimeout(this.#timer);
    this.#at = null;
  }
}
