// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The addresses of the views, behind the # of the page: they can be bookmarked and sent, and no server sees them.
//
//   #radio1                   the stream now
//   #radio1/day               its day today; #radio1/day/2026-11-21 another one
//   #radio1/break/noon-1      one of its breaks
//   #/lists                   the ad lists; #/lists/spots one of them
//
// The id of a stream has no slash: no stream is called like a view.

/// Names of streams, breaks and lists. Of `.` and `..` browsers would make another address.
export const ID_PATTERN = "(?!\\.{1,2}$)[A-Za-z0-9._\\-]{1,64}";
export const ID = new RegExp(`^${ID_PATTERN}$`);

/// Whether a text is a day of the calendar, such as 2026-11-21.
export function isDay(text) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/// The view that an address names; nothing where it names none.
export function readAddress(hash) {
  let parts;
  try { parts = hash.replace(/^#/, "").split("/").map(decodeURIComponent); } catch { return null; }
  const [stream, view = "now", name = ""] = parts;
  const place = { view, stream, day: "", pageBreak: "", list: "" };
  if (parts.length > 3 || (stream && !ID.test(stream))) return null;
  if (parts.length === 1) return place;
  if (view === "day" && (!name || isDay(name))) return { ...place, day: name };
  if (view === "break" && stream && ID.test(name)) return { ...place, pageBreak: name };
  if (view === "lists" && !stream && (!name || ID.test(name))) return { ...place, list: name };
  return null;
}

/// The address of a view.
export function addressOf({ view, stream = "", day = "", pageBreak = "", list = "" }) {
  const parts = {
    now: [stream], day: day ? [stream, "day", day] : [stream, "day"], break: [stream, "break", pageBreak],
    lists: list ? ["", "lists", list] : ["", "lists"],
  }[view];
  return `#${parts.map(encodeURIComponent).join("/")}`;
}
