// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How many samples are kept.
const SAMPLES_MAX = 8;
/// How far two clocks may drift apart: 100 parts per million.
const DRIFT = 0.0001;
/// A difference of so many milliseconds between the ways of the two local clocks is a sleep, or the clock was set.
const JUMP_MS = 250;

/// Estimates the gateway's clock, and the error of the estimate.
///
/// A request sent at t1 and answered at t4 with the gateway's time T bounds the offset o between the two clocks: T - t4 <= o <= T - t1.
/// The last eight bounds, each widened by how far the clocks may have drifted since, are intersected; the middle is the estimate. Where
/// they contradict each other (the gateway's clock was stepped), it starts over with the newest. Local times are of a clock that no person
/// sets; but in some browsers it stands still while the machine sleeps, which shows by the wall clock.
export class GatewayClock {
  #samples = [];
  #bounds = null;
  #apart = null;

  /// - local: a clock that only goes forward, in milliseconds.
  /// - wall: the clock that people see, in milliseconds since 1970.
  constructor({ local = () => performance.now(), wall = () => Date.now() } = {}) {
    this.local = local;
    this.wall = wall;
  }

  /// Takes the facts of one request and its reply.
  add(sent, gatewayUs, received = this.local()) {
    if (sent > received) return;
    if (this.hasJumped) this.#samples = [];
    this.#apart = this.wall() - this.local();
    const sample = { low: gatewayUs / 1_000 - received - 0.001, high: gatewayUs / 1_000 - sent + 0.001, at: received };
    this.#samples = [...this.#samples, sample].slice(-SAMPLES_MAX);
    const low = Math.max(...this.#samples.map((each) => each.low - (received - each.at) * DRIFT));
    const high = Math.min(...this.#samples.map((each) => each.high + (received - each.at) * DRIFT));
    if (low <= high) {
      this.#bounds = { low, high, at: received };
    } else {
      this.#samples = [sample];
      this.#bounds = sample;
    }
  }

  get isKnown() { return this.#bounds !== null; }

  /// Whether the machine slept, or its clock was set, since the last sample: the estimate is not to be trusted until the next.
  get hasJumped() { return this.#apart !== null && Math.abs(this.wall() - this.local() - this.#apart) > JUMP_MS; }

  /// The gateway's time now, in milliseconds since 1970; the wall clock's before the first sample.
  get now() {
    if (!this.#bounds) return this.wall();
    // A sleep is likelier than a clock that was set forward. One that was set back shows nothing of the gateway's.
    const slept = this.hasJumped ? Math.max(0, this.wall() - this.local() - this.#apart) : 0;
    return this.local() + slept + (this.#bounds.low + this.#bounds.high) / 2;
  }

  /// How far the truth may be from `now`, in milliseconds; Infinity before the first sample, and after a jump until the next.
  get errorMs() {
    if (!this.#bounds || this.hasJumped) return Infinity;
    return (this.#bounds.high - this.#bounds.low) / 2 + (this.local() - this.#bounds.at) * DRIFT;
  }
}
