// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { SILENT_INTERVALS } from "./websocket.js";

/// How long the first event may take.
const FIRST_EVENT_MAX_MS = 30_000;

/// Reads server-sent events (HTML, "Server-sent events") from pieces of text.
export class EventReader {
  #rest = "";
  #event = { name: "message", data: [] };

  /// The events that are whole with this piece.
  read(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    const events = [];
    for (const line of lines) {
      if (line === "") {
        if (this.#event.data.length) events.push({ ...this.#event, data: this.#event.data.join("\n") });
        this.#event = { name: "message", data: [] };
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") this.#event.data.push(value);
      else if (field === "event") this.#event.name = value;
    }
    return events;
  }
}

/// Listens by server-sent events. It takes and gives what WebSocketLink does.
export async function listen(http, { session, stream, last, token, signal }, on) {
  const headers = {};
  if (last) headers["Last-Event-ID"] = last;
  if (token) headers.Authorization = `Bearer ${token}`;
  const connection = new AbortController();
  const stop = () => connection.abort();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  let [silence, silenceMs, hasJoined] = [setTimeout(stop, FIRST_EVENT_MAX_MS), FIRST_EVENT_MAX_MS, false];
  try {
    const sent = performance.now();
    // What is wrong with the address or the token throws here, and has a message of its own.
    const request = new Request(`${http.gateway}/v1/streams/${stream}/listen?session=${session}`, {
      headers, signal: connection.signal, cache: "no-store",
    });
    const answer = await fetch(request).catch(() => null);
    if (!answer) return signal.aborted ? {} : { problem: await whyUnanswered(http) };
    if (!answer.ok) {
      const reply = await http.reply(answer);
      // What has no code comes from another server, or a proxy.
      return { problem: reply.message, waitMs: reply.retryAfterMs, isFinal: !reply.retryable && Boolean(reply.code), isAnswered: Boolean(reply.code) };
    }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const events = new EventReader();
    for (;;) {
      const { value, done } = await reader.read().catch(() => ({ done: true }));
      if (done || signal.aborted) return { hasJoined };
      clearTimeout(silence);
      silence = setTimeout(stop, silenceMs);
      for (const event of events.read(value)) {
        if (signal.aborted) return { hasJoined };
        const data = JSON.parse(event.data);
        if (event.name === "joined") {
          silenceMs = Math.max(1_000, data.headIntervalMs * SILENT_INTERVALS);
          hasJoined = true;
          on.clock(sent, data.gatewayUs);
          if (!on.joined(data)) return { hasJoined };
        } else if (event.name === "notice") {
          if (!on.notice(data)) return { hasJoined };
        } else if (event.name === "head") {
          if (!on.head(data.position)) return { hasJoined };
        } else if (event.name === "end") {
          return { hasJoined, isFinal: !data.retryable, reason: data.reason };
        }
      }
    }
  } catch (error) {
    return { hasJoined, problem: `${error.message ?? error}` };
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/// Why there was no answer; undefined: there is one by now.
///
/// A browser tells a page neither that nothing answers nor that an answer does not name the page's origin: both fail alike. A request
/// without CORS succeeds wherever anything answers (Fetch standard, "no-cors"), but the page cannot read the answer.
async function whyUnanswered(http) {
  const { origin } = globalThis;
  const address = http.gateway || origin;
  const isAnswered = (mode) => http.fetch("/v1/time", { mode }).then(() => true, () => false);
  if (!await isAnswered("no-cors")) {
    return `Nothing answers at ${address}. The gateway is down, or its address is another one.`;
  }
  if (await isAnswered("cors")) return undefined;
  return `${address} refuses pages of ${origin}: its key http.listenerOrigins does not list this origin, or a proxy answers in its place.`;
}
