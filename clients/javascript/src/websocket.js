// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { Notice, Reply, Request } from "./messages.js";
import { decode, encode, fromBase64, fromHex, toBase64, toHex } from "./wire.js";
import { parsePosition } from "./position.js";

/// How long a connection, with the answer to the join, may take; and how long any answer.
const OPEN_MAX_MS = 10_000;
const ANSWER_MAX_MS = 20_000;
/// After so many intervals without a word the connection counts as lost.
export const SILENT_INTERVALS = 2.5;
const NOTHING = new Uint8Array();
const MORE = 1;

export const LOST = { ok: false, retryable: true, retryAfterMs: 0, isLost: true };

const position = ({ epoch, sequence }) => `${epoch.toString(16)}:${sequence}`;

/// A notice as the gateway's JSON has it.
function plainNotice({ trace, ...notice }) {
  const hex = toHex(trace);
  return {
    ...notice, position: position(notice.position),
    ...hex.length === 48 ? { trace: `00-${hex.slice(0, 32)}-${hex.slice(32)}-01` } : {},
  };
}

/// A reply as the gateway's JSON has it.
function plainReply({ status, message, retry, retryAfterMs, gatewayUs, joined, batch, acknowledged }) {
  const body = { gatewayUs };
  if (joined) {
    Object.assign(body, joined, {
      head: position(joined.head ?? { epoch: 0n, sequence: 0n }), notices: joined.notices.map(plainNotice),
      instance: joined.instance.toString(16), ticket: toBase64(joined.ticket),
    });
  }
  if (batch) Object.assign(body, batch, { delivery: toBase64(batch.delivery) });
  if (acknowledged) Object.assign(body, acknowledged);
  return { ok: status === "ok", code: status, message: message || `The gateway answered with ${status}.`, retryable: retry, retryAfterMs, body };
}

/// The request of one of the four kinds as the wire has it.
function wireRequest(kind, stream, { breakId, delivery, outcomes }) {
  if (kind === "batch") return { getBatch: { stream, breakId } };
  if (kind === "leave") return { leave: { stream } };
  if (kind === "time") return { getTime: {} };
  return {
    acknowledge: {
      stream, breakId, delivery: fromBase64(delivery),
      outcomes: outcomes.map((each) => ({ evidence: "reported", ...each, occurredUs: Math.round(each.occurredUs) })),
    },
  };
}

/// A listener's connection by ZeroMQ over WebSocket (ZWS 2.0, https://rfc.zeromq.org/spec/45/): it joins with its notices pushed, and asks
/// for all else.
export class WebSocketLink {
  #socket = null;
  #frames = [];
  #pending = new Map();
  #number = 0;

  constructor(url, { WebSocket = globalThis.WebSocket } = {}) {
    this.url = url;
    this.WebSocket = WebSocket;
  }

  /// Whether requests may be sent.
  isOpen = false;

  /// Joins, and hears notices until the connection ends; resolves to why: {problem, waitMs, isFinal, hasJoined}.
  ///
  /// `on.joined(reply)`, `on.notice(notice)` and `on.head(position)` give false where only another join helps; `on.clock(sent, gatewayUs)`.
  listen({ session, stream, last, token, client, signal }, on) {
    if (signal.aborted) return Promise.resolve({});
    return new Promise((resolve) => {
      let [socket, timer, silenceMs, isOver, hasJoined] = [null, null, OPEN_MAX_MS, false, false];
      const end = (why) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        if (this.#socket === socket) {
          [this.#socket, this.isOpen, this.#frames] = [null, false, []];
          for (const { answer } of [...this.#pending.values()]) answer(LOST);
        }
        socket?.close();
        resolve({ hasJoined, ...why });
      };
      const abort = () => end({});
      const heard = () => {
        clearTimeout(timer);
        timer = setTimeout(() => end({ problem: hasJoined ? undefined : `${this.url} does not answer.` }), silenceMs);
      };
      try {
        socket = new this.WebSocket(this.url, "ZWS2.0");
      } catch (error) {
        // An address that is none, or an unencrypted one from an encrypted page.
        return end({ problem: error.message });
      }
      this.#socket = socket;
      socket.binaryType = "arraybuffer";
      signal.addEventListener("abort", abort);
      heard();
      socket.onopen = () => socket.send(new Uint8Array([0]));
      socket.onclose = ({ reason }) => end({
        problem: reason || (hasJoined ? undefined : `Nothing answers at ${this.url}, or its key listeners.webSocketOrigins does not list ${globalThis.origin}.`),
      });
      let isGreeted = false;
      socket.onmessage = ({ data }) => {
        if (isOver) return;
        if (hasJoined) heard();
        try {
          const frames = this.#read(new Uint8Array(data));
          if (!frames) return;
          if (!isGreeted) {
            isGreeted = true;
            const parsed = parsePosition(last);
            this.#ask(session, undefined, {
              join: { stream, push: true, token, client, ...parsed ? { last: parsed } : {} },
            }, on.clock, (reply) => {
              if (reply.isLost) return end({ problem: `${this.url} does not answer.` });
              if (!reply.ok) return end({ problem: reply.message, waitMs: reply.retryAfterMs, isFinal: !reply.retryable, isAnswered: true });
              if (!reply.body.pushed) return end({ problem: `${this.url} pushes no notices.` });
              [hasJoined, this.isOpen] = [true, true];
              silenceMs = Math.max(1_000, reply.body.headIntervalMs * SILENT_INTERVALS);
              heard();
              return on.joined({ ...reply.body, session }) || end({});
            });
          } else if (frames.length === 1) {
            this.#notice(frames[0], stream, hasJoined, on) || end({});
          } else if (frames.length === 2 && !frames[0].length) {
            const reply = decode(Reply, frames[1]);
            this.#pending.get(reply.requestId)?.answer(plainReply(reply));
          } else {
            throw new RangeError("a message that is neither a notice nor a reply");
          }
        } catch (error) {
          end({ problem: `${this.url} sent what cannot be read: ${error.message}` });
        }
      };
      return undefined;
    });
  }

  /// Whether a WebSocket opens there now: opens one and closes it.
  opens(signal) {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      let [socket, timer] = [null, null];
      const end = (isOpen) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        socket?.close();
        resolve(isOpen);
      };
      const abort = () => end(false);
      try {
        socket = new this.WebSocket(this.url, "ZWS2.0");
      } catch {
        return end(false);
      }
      signal.addEventListener("abort", abort);
      timer = setTimeout(abort, OPEN_MAX_MS);
      socket.onopen = () => end(true);
      socket.onclose = abort;
      return undefined;
    });
  }

  /// Asks for something: "batch", "acknowledge", "time" or "leave"; resolves to the reply, or to LOST.
  ask(kind, stream, { session, ticket, ...body }, { clock } = {}) {
    if (!this.isOpen) return Promise.resolve(LOST);
    return new Promise((resolve) => this.#ask(session, ticket, wireRequest(kind, stream, body), clock, resolve));
  }

  #ask(session, ticket, request, clock, answered) {
    const socket = this.#socket;
    this.#number += 1;
    const [requestId, sent] = [BigInt(this.#number), performance.now()];
    const answer = (reply) => {
      clearTimeout(timer);
      this.#pending.delete(requestId);
      if (reply.body) clock?.(sent, reply.body.gatewayUs);
      answered(reply);
    };
    const timer = setTimeout(() => answer(LOST), ANSWER_MAX_MS);
    this.#pending.set(requestId, { answer });
    try {
      const bytes = encode(Request, { requestId, session: fromHex(session), ticket: ticket ? fromBase64(ticket) : NOTHING, ...request });
      socket.send(new Uint8Array([MORE]));
      socket.send(new Uint8Array([0, ...bytes]));
    } catch (error) {
      answer({ ...LOST, retryable: false, isLost: false, message: `It cannot be sent: ${error.message}` });
    }
  }

  /// The frames of a message that is whole with this frame; null: more follow.
  #read(bytes) {
    if (!bytes.length || bytes[0] > MORE || this.#frames.length > 2) throw new RangeError("a frame that is not one of ZeroMQ");
    this.#frames.push(bytes.subarray(1));
    if (bytes[0] & MORE) return null;
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }

  #notice(frame, stream, hasJoined, on) {
    const end = frame.indexOf(0);
    if (!hasJoined || end < 0 || new TextDecoder().decode(frame.subarray(0, end)) !== stream) return true;
    const notice = plainNotice(decode(Notice, frame.subarray(end + 1)));
    return notice.kind === "head" ? on.head(notice.position, notice.move) : on.notice(notice);
  }
}
