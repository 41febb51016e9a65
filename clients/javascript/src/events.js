// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { LOST, SILENT_INTERVALS } from "./websocket.js";

/// How long an answer may take, and the first event.
const ANSWER_MAX_MS = 20_000;
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

/// A listener's connection by server-sent events, and a request over HTTP for all else. It says and gives what WebSocketLink does.
export class EventsLink {
  constructor(gateway) { this.gateway = gateway; }

  /// Requests need no connection.
  isOpen = true;

  async listen({ session, stream, last, token, signal }, on) {
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
      const request = new Request(`${this.gateway}/v1/streams/${stream}/listen?session=${session}`, {
        headers, signal: connection.signal, cache: "no-store",
      });
      const answer = await fetch(request).catch(() => null);
      if (!answer) return signal.aborted ? {} : { problem: await this.#whyUnanswered() };
      if (!answer.ok) {
        const reply = await this.#reply(answer);
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

  async ask(kind, stream, body, { clock, keepalive = false } = {}) {
    const sent = performance.now();
    const path = {
      time: "/v1/time", leave: `/v1/streams/${stream}/leave`, batch: `/v1/streams/${stream}/breaks/${body.breakId}/batch`,
      acknowledge: `/v1/streams/${stream}/breaks/${body.breakId}/acknowledge`,
    }[kind];
    const { breakId, ...content } = body;
    const post = { method: "POST", keepalive, headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) };
    try {
      const reply = await this.#reply(await this.#fetch(path, kind === "time" ? {} : post));
      if (reply.ok) clock?.(sent, reply.body.gatewayUs);
      return reply;
    } catch {
      return LOST;
    }
  }

  async #reply(answer) {
    const body = await answer.json().catch(() => null);
    // Every answer of the gateway has its clock; what a proxy answers with 200 has not.
    const ok = answer.ok && typeof body?.gatewayUs === "number";
    return {
      ok, body: body ?? {}, code: body?.code, message: body?.detail ?? `The gateway answered with ${answer.status}.`,
      // A proxy before the gateway says it with its status alone.
      retryable: body?.retryable ?? (answer.ok || answer.status >= 500 || answer.status === 429),
      retryAfterMs: Number(answer.headers.get("Retry-After") ?? 0) * 1_000 || 0,
    };
  }

  /// Why there was no answer; undefined: there is one by now.
  ///
  /// A browser tells a page neither that nothing answers nor that an answer does not name the page's origin: both fail alike. A request
  /// without CORS succeeds wherever anything answers (Fetch standard, "no-cors"), but the page cannot read the answer.
  async #whyUnanswered() {
    const { origin } = globalThis;
    const address = this.gateway || origin;
    const isAnswered = (mode) => this.#fetch("/v1/time", { mode }).then(() => true, () => false);
    if (!await isAnswered("no-cors")) {
      return `Nothing answers at ${address}. The gateway is down, or its address is another one.`;
    }
    if (await isAnswered("cors")) return undefined;
    return `${address} refuses pages of ${origin}: its key http.listenerOrigins does not list this origin, or a proxy answers in its place.`;
  }

  #fetch(path, request) {
    return fetch(this.gateway + path, { ...request, cache: "no-store", signal: AbortSignal.timeout(ANSWER_MAX_MS) });
  }
}
