// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A position as EPOCH:SEQUENCE, the epoch in hexadecimal; null: it is none.
export function parsePosition(text) {
  const found = /^([0-9a-f]{1,16}):(\d{1,20})$/i.exec(text ?? "");
  return found && { epoch: BigInt(`0x${found[1]}`), sequence: BigInt(found[2]) };
}

/// By how many notices one position is behind another of the same stream; null: not known, they are of two epochs.
export function stepsBetween(position, later) {
  const [from, to] = [parsePosition(position), parsePosition(later)];
  return from && to && from.epoch === to.epoch ? to.sequence - from.sequence : null;
}

/// Applies a stream's notices in order, each once, and knows when one is missing.
///
/// A notice is applied only if it is the next one. After anything else only a join tells what was missed.
export class PositionFollower {
  /// The last position that was applied; null: none is known.
  last = null;

  /// Takes the answer to a join that was sent with `last`; gives its notices, or null where the answer contradicts itself or what was sent:
  /// the next join then asks for everything.
  joined({ kind, head, notices }) {
    const before = this.last;
    this.last = null;
    if (!parsePosition(head)) return null;
    if (kind === "current") {
      if (stepsBetween(before, head) !== 0n || notices.length) return null;
    } else if (kind === "recovered") {
      let place = before;
      for (const { position } of notices) {
        if (stepsBetween(place, position) !== 1n) return null;
        place = position;
      }
      if (stepsBetween(place, head) !== 0n) return null;
    } else if (kind !== "snapshot") {
      return null;
    }
    this.last = head;
    return notices;
  }

  /// "apply": it is the next; "known": it was applied before; "lost": something is missing between.
  take(position) {
    const steps = stepsBetween(this.last, position);
    if (steps === null || steps > 1n) return "lost";
    if (steps < 1n) return "known";
    this.last = position;
    return "apply";
  }

  /// Whether a position that the gateway repeats says nothing new.
  isCurrent(head) {
    const steps = stepsBetween(this.last, head);
    return steps !== null && steps <= 0n;
  }
}
