// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Messages against bytes of protoc itself.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as messages from "../src/messages.js";
import { decode, encode, fromBase64, fromHex, toBase64, toHex } from "../src/wire.js";

const PROTO = fileURLToPath(new URL("../../../proto", import.meta.url));

function protoc(mode, name, input) {
  const done = spawnSync("protoc", [`-I${PROTO}`, `--${mode}=cuecast.v1.${name}`, "cuecast/v1/listener.proto"], { input });
  assert.equal(done.status, 0, `${done.stderr}`);
  return done.stdout;
}

const REQUEST = `request_id: 18446744073709551615 session: "0123456789abcdef" ticket: "\\000\\377t"
acknowledge { stream: "radio1" break_id: "noon-1" delivery: "\\001\\200" outcomes {
  advertisement_id: "a" kind: OUTCOME_KIND_IGNORED evidence: EVIDENCE_INFERRED reason: IGNORE_REASON_NOT_STARTED heard_ms: 4294967295
  quartiles: 4 muted: true vast_error: 402 occurred_us: 1790000000610917 clicked: true }
  outcomes { advertisement_id: "\\303\\244" kind: OUTCOME_KIND_PLAYED occurred_us: -1 } }`;

test("a request has the bytes that protoc gives, both ways", () => {
  const bytes = protoc("encode", "Request", REQUEST);
  const request = decode(messages.Request, bytes);
  assert.equal(request.requestId, 2n ** 64n - 1n);
  assert.equal(Buffer.from(request.session).toString(), "0123456789abcdef");
  assert.deepEqual(request.acknowledge.outcomes[0], {
    advertisementId: "a", kind: "ignored", evidence: "inferred", reason: "notStarted", heardMs: 4294967295, quartiles: 4, muted: true,
    vastError: 402, occurredUs: 1790000000610917, clicked: true,
  });
  assert.deepEqual([request.acknowledge.outcomes[1].advertisementId, request.acknowledge.outcomes[1].occurredUs], ["ä", -1]);
  assert.deepEqual(Buffer.from(encode(messages.Request, request)), bytes);
});

test("a join with its position and attributes", () => {
  const request = {
    requestId: 7n, session: fromHex("00ff"), join: {
      stream: "radio1", last: { epoch: 0xfedcba9876543210n, sequence: 12n }, push: true, token: "t", attributes: { device: "web", region: "" },
    },
  };
  const told = `${protoc("decode", "Request", encode(messages.Request, request))}`;
  for (const line of ['session: "\\000\\377"', "epoch: 18364758544493064720", "sequence: 12", "push: true", 'key: "device"', 'value: "web"', 'key: "region"']) {
    assert.ok(told.includes(line), `${line}\n${told}`);
  }
  assert.deepEqual(decode(messages.Request, encode(messages.Request, request)).join.attributes, { device: "web", region: "" });
});

const REPLY = `request_id: 9 status: STATUS_CODE_TOO_LATE message: "s" retry: true retry_after_ms: 250 gateway_us: 1790000000000001
joined { kind: JOIN_KIND_RECOVERED head { epoch: 1 sequence: 2 } instance: 3 head_interval_ms: 15000 lease_ms: 300000 pushed: true
  alternatives: "wss://b/listen" alternatives: "tcp://c:7401"
  notices { position { epoch: 1 sequence: 2 } kind: NOTICE_KIND_AVAILABLE break_id: "b" start_us: 0 duration_ms: 0 window { from_us: 1 by_us: 2 }
    end_mode: END_MODE_FINISH_AD cancel_reason: CANCEL_REASON_NOT_STARTED } }`;

test("a reply: what is absent has its default, what is optional does not", () => {
  const reply = decode(messages.Reply, protoc("encode", "Reply", REPLY));
  assert.deepEqual([reply.status, reply.retry, reply.retryAfterMs, reply.gatewayUs], ["tooLate", true, 250, 1790000000000001]);
  const [notice] = reply.joined.notices;
  assert.deepEqual([notice.startUs, notice.durationMs, notice.preStream, notice.endMode, notice.cancelReason, notice.expiresUs],
    [0, 0, false, "finishAd", "notStarted", 0]);
  assert.deepEqual(reply.joined.alternatives, ["wss://b/listen", "tcp://c:7401"]);
  assert.equal(reply.batch, undefined);
  assert.deepEqual(Object.keys(decode(messages.Notice, new Uint8Array())).sort(),
    ["advertisementCount", "breakId", "exact", "expiresUs", "preStream", "sentUs", "trace"]);
});

test("a message that comes in two parts is put together", () => {
  const parts = ["batch { delivery: \"d\" skipped: 2 }", "batch { start_us: 5 advertisements { id: \"a\" banner { image_url: \"i\" } } }"]
    .map((text) => protoc("encode", "Reply", text));
  const { batch } = decode(messages.Reply, Buffer.concat(parts));
  assert.deepEqual([Buffer.from(batch.delivery).toString(), batch.skipped, batch.startUs, batch.advertisements[0].id], ["d", 2, 5, "a"]);
  // As in the gateway's JSON.
  assert.deepEqual(batch.advertisements[0].banner, { imageUrl: "i" });
  assert.equal(batch.advertisements[0].title, "");
});

test("fields and words that are not known are passed over", () => {
  const known = encode(messages.Notice, { kind: "head", breakId: "b" });
  const unknown = [0xf8, 0x7f, 1, 0xf9, 0x7f, 1, 2, 3, 4, 5, 6, 7, 8, 0xfa, 0x7f, 1, 0, 0xfd, 0x7f, 1, 2, 3, 4];
  assert.equal(decode(messages.Notice, new Uint8Array([...unknown, ...known])).breakId, "b");
  assert.equal(decode(messages.Notice, new Uint8Array([0x10, 99])).kind, undefined);
  // One of another kind is not known either.
  assert.equal(decode(messages.Notice, new Uint8Array([0x1d, 1, 2, 3, 4])).breakId, "");
});

test("bytes that are no message are refused, wherever they are cut", () => {
  const whole = protoc("encode", "Reply", REPLY);
  let refused = 0;
  for (let end = 0; end < whole.length; end += 1) {
    try { decode(messages.Reply, whole.subarray(0, end)); } catch (error) {
      assert.ok(error instanceof RangeError, `${error}`);
      refused += 1;
    }
  }
  // Only between fields a message may end.
  assert.ok(refused > whole.length - 10, `${refused} of ${whole.length}`);
  for (const bytes of [[0x80], [0x08, ...Array(11).fill(0x80)], [0x0b], [0x1a, 2, 0xff]]) assert.throws(() => decode(messages.Notice, new Uint8Array(bytes)));
  assert.throws(() => decode(messages.Notice, new Uint8Array([0x1a, 1, 0xff])), TypeError);
});

test("random bytes either give a message or an error, and never hang", () => {
  let state = 1;
  const random = () => { state = (state * 48271) % 2147483647; return state & 255; };
  for (let round = 0; round < 20_000; round += 1) {
    const bytes = Uint8Array.from({ length: random() % 40 }, random);
    try { decode(messages.Reply, bytes); } catch (error) { assert.ok(error instanceof RangeError || error instanceof TypeError, `${error}`); }
  }
});

test("a word that is none is refused before it is sent", () => {
  assert.throws(() => encode(messages.Outcome, { kind: "heard" }), TypeError);
});

test("base64 and hexadecimal", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, place) => place);
  assert.equal(toBase64(bytes), Buffer.from(bytes).toString("base64"));
  assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
  assert.deepEqual(fromHex(toHex(bytes)), bytes);
});
