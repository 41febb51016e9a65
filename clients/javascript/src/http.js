// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { LOST } from "./websocket.js";

/// How long an answer may take.
const ANSWER_MAX_MS = 20_000;

/// A listener's way over HTTP: a request for each thing that it asks for. Its notices come by the events of events.js, which is loaded where
/// they are needed: most pages never do.
export class HttpLink {
  constructor(gateway) { this.gateway = gateway; }

  async listen(join, on) {
    const { listen } = await import("./events.js");
    return listen(this, join, on);
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
      const reply = await this.reply(await this.fetch(path, kind === "time" ? {} : post));
      if (reply.ok) clock?.(sent, reply.body.gatewayUs);
      return reply;
    } catch {
      return LOST;
    }
  }

  /// What an answer says.
  async reply(answer) {
    const body = await answer.json().catch(() => null);
    // Every answer of the gateway has its clock; what a proxy answers with 200 has not.
    const ok = answer.ok && typeof body?.gatewayUs === "number";
    return {
      ok, body: body ?? {}, code: body?.code, message: body?.detail ?? `The gateway answered with ${answer.status}.`,
      // What does not come from the gateway, but from a proxy or the sign-in page of a network, may pass.
      retryable: body?.retryable ?? true,
      retryAfterMs: Number(answer.headers.get("Retry-After") ?? 0) * 1_000 || 0,
    };
  }

  fetch(path, request) {
    return fetch(this.gateway + path, { ...request, cache: "no-store", signal: AbortSignal.timeout(ANSWER_MAX_MS) });
  }
}
