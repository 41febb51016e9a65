// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The plan of a stream's day: its breaks, how full they are, and the findings for a planner. No requests and no elements.

import { span } from "./plots.js";

/// A break with less than this between its ads and its duration counts as filled.
export const UNFILLED_MIN_MS = 1_000;
/// Two breaks with less than this between them are too close.
export const CLOSE_MS = 60_000;
const HOUR_MS = 3_600_000;
/// So many hours without a break are one line.
const EMPTY_HOURS_MIN = 2;

/// The break's words for findings.
export const FINDING_WORDS = {
  overlap: "Overlap", close: "Too close", empty: "No ads", unfilled: "Unfilled", long: "Too long", expired: "Not started",
};

/// The first instant of a day, and the first one behind it, in this page's zone: a day may have 23 or 25 hours.
export function boundsOf(day) {
  const [year, month, date] = day.split("-").map(Number);
  return [new Date(year, month - 1, date).getTime(), new Date(year, month - 1, date + 1).getTime()];
}

/// The day of an instant in this page's zone, as 2026-11-21; some days later or earlier.
export function dayOf(instant, daysLater = 0) {
  const at = new Date(instant);
  const moved = new Date(at.getFullYear(), at.getMonth(), at.getDate() + daysLater);
  return [String(moved.getFullYear()).padStart(4, "0"), String(moved.getMonth() + 1).padStart(2, "0"), String(moved.getDate()).padStart(2, "0")].join("-");
}

/// How long the ads of each variant of a break last together, from its books: the break's own ads first.
export function fillsOf(ads) {
  const fills = new Map();
  for (const ad of ads) {
    const number = ad.variant ?? 0;
    const fill = fills.get(number) ?? { name: ad.variantName ?? "default", ads: 0, milliseconds: 0 };
    fills.set(number, { ...fill, ads: fill.ads + 1, milliseconds: fill.milliseconds + ad.durationMilliseconds });
  }
  return [...fills].sort(([one], [other]) => one - other).map(([number, fill]) => ({ number, ...fill }));
}

/// A break of the day, from what the ledger reported of it and what the board tells; one of them may be missing.
///
/// - state: by the clock.
export function rowOf(reported, live, state) {
  const instant = (text) => text ? Date.parse(text) : null;
  const each = live ?? reported;
  const fills = reported ? fillsOf(reported.ads) : null;
  const start = instant(each.start);
  // A break that was cancelled before its start ended then: on the timeline it keeps the place that it had.
  const planned = start === null ? null : start + (live?.durationMilliseconds ?? fills?.[0]?.milliseconds ?? 0);
  const ended = instant(each.end);
  const end = start !== null && ended !== null && ended < start ? planned : ended;
  // The ledger does not tell whether a break that is not over has a duration of its own.
  const isOpenEnded = live ? live.durationMilliseconds === undefined : false;
  const isOver = ["complete", "cancelled", "expired"].includes(state);
  return {
    name: each.break, state, start, end, isPreStream: each.preStream === true,
    lasts: start === null ? live?.durationMilliseconds ?? null : isOpenEnded && !isOver ? null : end === null ? null : end - start,
    ads: live?.ads ?? null, fills, total: reported?.total ?? null,
  };
}

/// The state of a break by its books and the clock; of one that is to come the books do not tell whether it is announced.
export function stateOfBooks(each, now) {
  if (each.cancelled) return "cancelled";
  if (each.expired) return "expired";
  if (!each.start) return "cued";
  if (Date.parse(each.start) > now) return "scheduled";
  return !each.end || Date.parse(each.end) > now ? "live" : "complete";
}

/// Whether a break holds a part of the programme.
function holdsTime(row) { return row.start !== null && row.end !== null && !row.isPreStream && row.state !== "cancelled" && row.state !== "expired"; }

/// Adds to each break of the day the time since the one before, and the findings: each has a kind and a sentence. The rows come in the order of their starts.
export function look(rows) {
  const sorted = [...rows].sort((one, other) => one.start - other.start || (one.name < other.name ? -1 : 1));
  // The break that ends last of those before.
  let last = null;
  return sorted.map((row) => {
    const findings = [];
    let gap = null;
    if (holdsTime(row)) {
      if (last) {
        gap = row.start - last.end;
        if (gap < 0) findings.push({ kind: "overlap", sentence: `It starts ${span(-gap)} before ${last.name} ends.` });
        else if (gap < CLOSE_MS) findings.push({ kind: "close", sentence: gap < 1_000 ? `It starts as ${last.name} ends.` : `It starts ${span(gap)} after ${last.name} ends.` });
      }
      if (!last || row.end > last.end) last = row;
      findings.push(...fillFindings(row));
    }
    if (row.state === "expired") findings.push({ kind: "expired", sentence: "It expired before it was started." });
    return { ...row, gap, findings };
  });
}

/// The findings about how full a break is.
export function fillFindings({ fills, lasts, state }) {
  if (!fills) return [];
  if (!fills.length) return [{ kind: "empty", sentence: "It has no ads." }];
  if (lasts === null) return [];
  const isOver = state === "complete";
  return fills.flatMap(({ name, milliseconds }) => {
    const who = fills.length > 1 ? `The variant ${name} has ads for` : "It has ads for";
    const missing = lasts - milliseconds;
    if (missing > UNFILLED_MIN_MS) return [{ kind: "unfilled", sentence: `${who} ${span(milliseconds)} of ${span(lasts)}.` }];
    // A break that is over may have been ended early.
    if (-missing > UNFILLED_MIN_MS && !isOver) return [{ kind: "long", sentence: `${who} ${span(milliseconds)}, ${span(-missing)} more than the break lasts.` }];
    return [];
  });
}

/// The part of a break that its own ads fill, from 0 to 1; nothing where that is not known.
export function filledPart({ fills, lasts }) {
  if (!fills || !lasts) return null;
  return Math.min(1, (fills[0]?.milliseconds ?? 0) / lasts);
}

/// The lines of the timeline: one for each hour with its pieces of breaks, and one for hours in a row that have none.
///
/// - rows: in the order of their starts.
/// - now: the hour that it is in has a line of its own.
///
/// A piece has its place from 0 to 1, the end of the room for its name, and whether it overlaps the one before or began an hour earlier.
export function hoursOf([from, to], rows, now) {
  const lines = [];
  const placed = rows.filter((row) => row.start !== null && row.end !== null && !row.isPreStream);
  for (let start = from; start < to; start += HOUR_MS) {
    const end = Math.min(start + HOUR_MS, to);
    const pieces = [];
    let busyUntil = -Infinity;
    for (const row of placed) {
      if (row.start >= end || Math.max(row.end, row.start + 1) <= start) continue;
      const [left, right] = [Math.max(row.start, start), Math.min(row.end, end)];
      const piece = { row, from: (left - start) / HOUR_MS, to: (right - start) / HOUR_MS, isSecond: left < busyUntil, goesOn: row.start < start, room: 1 };
      if (pieces.length) pieces.at(-1).room = piece.from;
      pieces.push(piece);
      busyUntil = Math.max(busyUntil, right);
    }
    const before = lines.at(-1);
    const isNow = start <= now && now < end;
    if (!pieces.length && !isNow && before?.isEmpty) before.to = end;
    else lines.push({ from: start, to: end, pieces, isEmpty: !pieces.length && !isNow });
  }
  return lines.flatMap((line) => {
    if (!line.isEmpty || line.to - line.from >= EMPTY_HOURS_MIN * HOUR_MS) return [line];
    return [{ ...line, isEmpty: false }];
  });
}
