// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The conversation over WebSocket with a peer that does what no gateway does: it is cut off, sends what cannot be read, and answers late.
/// The end-to-end tests have the real gateway.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../src/connection.js";
import { Notice, Reply, Request } from "../src/messages.js";
import "../src/moving.js"; // So that it is there at once where it is needed.
import { WebSocketLink } from "../src/websocket.js";
import { decode, encode } from "../src/wire.js";

/// Runs a body with timers that ring when the body says that time goes on, and the browser's clock with them.
async function withTimers(body) {
  const real = [globalThis.setTimeout, globalThis.clearTimeout];
  const waiting = new Map();
  let [now, number] = [0, 0];
  globalThis.setTimeout = (run, ms) => {
    waiting.set(number += 1, { run, at: now + ms });
    return number;
  };
  globalThis.clearTimeout = (timer) => waiting.delete(timer);
  performance.now = () => now;
  const settle = async () => { for (let turn = 0; turn < 50; turn += 1) await null; };
  try {
    await body(async (ms) => {
      await settle();
      now += ms;
      for (const [timer, { run, at }] of [...waiting].sort((one, other) => one[1].at - other[1].at)) {
        if (at <= now && waiting.delete(timer)) run();
      }
      await settle();
    });
  } finally {
    [globalThis.setTimeout, globalThis.clearTimeout] = real;
    // The clock itself is in the prototype.
    delete performance.now;
  }
}

/// Runs a body where chance is always this.
async function withRandom(value, body) {
  const { random } = Math;
  Math.random = () => value;
  try {
    await body();
  } finally { Math.random = random; }
}

class Peer {
  static last = null;

  constructor(url, protocol) {
    Object.assign(this, { url, protocol, sent: [], isClosed: false });
    Peer.last = this;
  }

  send(bytes) { this.sent.push(bytes); }

  close() { this.isClosed = true; }

  say(...messages) { for (const bytes of messages) this.onmessage({ data: Uint8Array.from(bytes).buffer }); }

  /// The request that was sent last.
  get request() { return decode(Request, this.sent.at(-1).subarray(1)); }

  reply(fields) { this.say([1], [0, ...encode(Reply, { requestId: this.request.requestId, status: "ok", gatewayUs: 5_000, ...fields })]); }

  notice(sequence, kind = "available") {
    this.say([0, ...new TextEncoder().encode("s\0"), ...encode(Notice, { position: { epoch: 10n, sequence: BigInt(sequence) }, kind, breakId: "b" })]);
  }
}

const JOINED = { joined: { kind: "snapshot", head: { epoch: 10n, sequence: 1n }, notices: [], headIntervalMs: 5_000, leaseMs: 1_000, pushed: true } };

function listening({ answers = {}, last = null } = {}) {
  const link = new WebSocketLink("wss://gateway.example/listen", { WebSocket: Peer });
  const [heard, abort] = [[], new AbortController()];
  const on = {
    clock: (sent, us) => heard.push(`clock ${us}`), joined: (joined) => { heard.push(`joined ${joined.head}`); return answers.joined ?? true; },
    notice: ({ position }) => { heard.push(position); return answers.notice ?? true; }, head: (position) => { heard.push(`head ${position}`); return true; },
  };
  const ended = link.listen({ session: "00112233445566778899aabbccddeeff", stream: "s", last, token: "t", client: "test", signal: abort.signal }, on);
  const peer = Peer.last;
  peer.onopen();
  return { link, peer, heard, ended, abort };
}

test("it joins with its position, and hears what follows the answer at once", async () => {
  const { link, peer, heard, ended, abort } = listening({ last: "a:1" });
  assert.deepEqual([peer.protocol, [...peer.sent[0]]], ["ZWS2.0", [0]]);
  peer.say([0]);
  assert.deepEqual([...peer.sent[1]], [1]);
  const { join } = peer.request;
  assert.deepEqual([join.stream, join.push, join.token, join.last], ["s", true, "t", { epoch: 10n, sequence: 1n }]);
  assert.ok(!link.isOpen);
  // A notice before the answer belongs to no position.
  peer.notice(1);
  peer.reply(JOINED);
  peer.notice(2);
  peer.notice(2, "head");
  assert.deepEqual(heard, ["clock 5000", "joined a:1", "a:2", "head a:2"]);
  assert.ok(link.isOpen);
  // Answers come in any order.
  const [first, second] = ["b", "c"].map((breakId) => link.ask("batch", "s", { session: "00", breakId }));
  const [one, two] = [peer.sent.at(-3), peer.sent.at(-1)].map((each) => decode(Request, each.subarray(1)));
  for (const { requestId, getBatch } of [two, one]) {
    peer.say([1], [0, ...encode(Reply, { requestId, status: "ok", batch: { delivery: new Uint8Array([255]), advertisements: [{ id: getBatch.breakId }] } })]);
  }
  assert.deepEqual((await Promise.all([first, second])).map(({ body }) => [body.delivery, body.advertisements[0].id]), [["/w==", "b"], ["/w==", "c"]]);
  abort.abort();
  assert.deepEqual(await ended, { hasJoined: true });
  assert.ok(peer.isClosed && !link.isOpen);
});

test("requests without an answer are lost with the connection, and may be told again", async () => {
  const { link, peer, ended } = listening();
  peer.say([0]);
  peer.reply(JOINED);
  const waiting = link.ask("acknowledge", "s", { session: "00", breakId: "b", delivery: "/w==", outcomes: [{ advertisementId: "a", kind: "played", occurredUs: 1.5 }] });
  peer.onclose({ code: 1001, reason: "it stops" });
  const reply = await waiting;
  assert.deepEqual([reply.ok, reply.retryable], [false, true]);
  assert.deepEqual(await ended, { hasJoined: true, problem: "it stops" });
  assert.equal((await link.ask("time", "s", { session: "00" })).retryable, true);
});

test("a notice that is not the next, and an answer that contradicts, end the connection", async () => {
  for (const [name, act] of [["joined", () => {}], ["notice", (peer) => peer.notice(9)]]) {
    const { peer, ended } = listening({ answers: { [name]: false } });
    peer.say([0]);
    peer.reply(JOINED);
    act(peer);
    assert.equal((await ended).hasJoined, true);
    assert.ok(peer.isClosed);
  }
});

test("a refusal of the gateway is told with its reason", async () => {
  const { peer, ended } = listening();
  peer.say([0]);
  peer.reply({ status: "limitReached", message: "full", retry: true, retryAfterMs: 9_000 });
  assert.deepEqual(await ended, { hasJoined: false, problem: "full", waitMs: 9_000, isFinal: false, isAnswered: true });
});

test("what cannot be read ends the connection", async () => {
  for (const messages of [[[]], [[2]], [[1], [1], [1], [1]], [[1, 7], [0]], [[1], [1], [0]], [[1], [0, 0x80]], [[0, 115, 0, 0x80]]]) {
    const { peer, ended } = listening();
    peer.say([0]);
    peer.reply(JOINED);
    peer.say(...messages);
    assert.match((await ended).problem, /sent what cannot be read/, `${JSON.stringify(messages)}`);
    assert.ok(peer.isClosed);
  }
});

test("notices of other topics, and answers that nothing waits for, are passed over", async () => {
  const { peer, heard, ended, abort } = listening();
  peer.say([0]);
  peer.reply(JOINED);
  peer.say([0, ...new TextEncoder().encode("s2\0"), 0x80], [0], [1], [0, ...encode(Reply, { requestId: 99n, status: "ok" })]);
  assert.equal(heard.length, 2);
  abort.abort();
  await ended;
});

test("an address that is none is a reason, and no exception", async () => {
  const link = new WebSocketLink("nonsense", { WebSocket: class { constructor() { throw new SyntaxError("no address"); } } });
  assert.deepEqual(await link.listen({ signal: new AbortController().signal }, {}), { hasJoined: false, problem: "no address" });
});

test("a look tells whether a WebSocket opens, and closes it", async () => {
  const link = new WebSocketLink("wss://gateway.example/listen", { WebSocket: Peer });
  for (const [isOpen, happens] of [[true, (peer) => peer.onopen()], [false, (peer) => peer.onclose({})], [false, (peer, abort) => abort.abort()]]) {
    const abort = new AbortController();
    const looks = link.opens(abort.signal);
    happens(Peer.last, abort);
    assert.equal(await looks, isOpen);
    assert.ok(Peer.last.isClosed && Peer.last.sent.length === 0);
  }
  assert.equal(await new WebSocketLink("no address").opens(new AbortController().signal), false);
  assert.equal(await link.opens(AbortSignal.abort()), false);
});

test("a look that is not answered ends", () => withTimers(async (go) => {
  const looks = new WebSocketLink("wss://gateway.example/listen", { WebSocket: Peer }).opens(new AbortController().signal);
  await go(10_000);
  assert.equal(await looks, false);
  assert.ok(Peer.last.isClosed);
}));

test("server-sent events are left for WebSocket once it opens, also where the first try was in vain", () => withTimers(async (go) => {
  const told = [];
  const connection = new Connection({
    gateway: "https://gateway.example", webSocket: "wss://gateway.example/listen", stream: "s", clock: { errorMs: 0, add() {} }, token: "", client: "test",
  }, { state() {}, joined: () => true, notice() {}, head() {}, replaced() {}, problem() {} });
  let opens = false;
  // Each way joins at once where it opens, and lasts until it is left.
  const link = (way, isThere) => ({
    listen: ({ signal }, on) => {
      told.push(way);
      if (!isThere()) return Promise.resolve({ hasJoined: false });
      on.joined({ leaseMs: 3_600_000 });
      return new Promise((resolve) => { signal.addEventListener("abort", () => resolve({ hasJoined: true })); });
    },
    opens: async () => { told.push(`looks: ${opens}`); return opens; },
    ask: async () => ({}),
  });
  Object.assign(connection.links, { webSocket: link("webSocket", () => opens), events: link("events", () => true) });
  const abort = new AbortController();
  const running = connection.run(() => ({ session: "00" }), abort.signal);
  await go(0);
  assert.deepEqual(told.splice(0), ["webSocket", "events"]);
  await go(600_000);
  assert.deepEqual(told.splice(0), ["looks: false"]);
  opens = true;
  await go(600_000);
  assert.deepEqual([told.splice(0), connection.way], [["looks: true", "webSocket"], "webSocket"]);
  await go(3_000_000);
  assert.deepEqual(told, []);
  abort.abort();
  await running;
}));

/// A connection to peers that join at once where they are there, by WebSocket alone or by both ways; tells where each attempt went, the
/// states, and ends.
function moving(isThere, alternatives, { both = false } = {}) {
  const [told, heads, states] = [[], [], []];
  const connection = new Connection({
    gateway: both ? "https://a" : null, webSocket: "wss://a/", stream: "s", clock: { errorMs: 0, add() {} }, token: "", client: "test",
  }, { state: (...state) => states.push(state), joined: () => true, notice() {}, head: () => true, replaced() {}, problem() {} });
  const link = (url) => ({
    url,
    listen({ signal, last }, on) {
      told.push(`${this.url} ${last}`);
      if (!isThere(this.url)) return Promise.resolve({ hasJoined: false });
      on.joined({ leaseMs: 3_600_000, alternatives });
      return new Promise((resolve) => {
        heads.push({ ask: (move) => on.head("a:1", move), cut: () => resolve({ hasJoined: true }) });
        signal.addEventListener("abort", () => resolve({ hasJoined: true }));
      });
    },
    ask: async () => ({}),
  });
  Object.assign(connection.links, { webSocket: link("wss://a/"), events: both ? link("https://a") : null });
  const abort = new AbortController();
  const running = connection.run(() => ({ session: "00", last: "a:1" }), abort.signal);
  return { connection, told, heads, states, stop: () => { abort.abort(); return running; } };
}

/// After it a connection has been good for long.
const STEADY_MS = 10_000;

test("a page that is asked to move stays for a while, and joins another gateway with its position", () => withTimers(async (go) => {
  const { told, heads, states, stop } = moving(() => true, ["wss://b/", "ws://b/"]);
  await go(0);
  assert.deepEqual(told.splice(0), ["wss://a/ a:1"]);
  await go(STEADY_MS);
  heads[0].ask({ withinMs: 5_000, addresses: [] });
  // Being asked again changes nothing.
  heads[0].ask({ withinMs: 0, addresses: ["wss://c/"] });
  await go(5_000);
  assert.deepEqual(told.splice(0), ["wss://b/ a:1"]);
  await go(STEADY_MS);
  // The gateway at b names itself no more than it did: there is no other.
  heads[1].ask({ withinMs: 0, addresses: ["wss://b/", "ws://c/"] });
  await go(1_000);
  assert.deepEqual(told.splice(0), ["wss://a/ a:1"]);
  assert.deepEqual(states, [["connecting"], ["connecting"], ["connecting"]], "it waited for nothing");
  await stop();
}));

test("a page that knows of no other gateway stays, and one whose connection ends before its moment keeps to it", () => withTimers(async (go) => {
  const alone = moving(() => true, []);
  await go(0);
  alone.heads[0].ask({ withinMs: 0, addresses: ["http://b", "wss://a/"] });
  await go(1_000);
  assert.deepEqual(alone.told, ["wss://a/ a:1"]);
  await alone.stop();

  const { told, heads, states, stop } = moving(() => true, ["wss://b/"]);
  await go(STEADY_MS);
  await withRandom(0.5, () => {
    heads[0].ask({ withinMs: 60_000, addresses: [] });
    return go(0);
  });
  heads[0].cut();
  await go(29_999);
  assert.deepEqual(told.splice(0), ["wss://a/ a:1"]);
  assert.deepEqual(states, [["connecting"], ["waiting", "The gateway is stopping; another one takes over."]]);
  await go(1);
  assert.deepEqual(told, ["wss://b/ a:1"]);
  await stop();
}));

test("a gateway has a page leave within a minute at most", () => withTimers(async (go) => {
  for (const withinMs of [60_000, 60_001, 4_294_967_295]) {
    const { told, heads, stop } = moving(() => true, ["wss://b/"]);
    await go(STEADY_MS);
    await withRandom(1, () => {
      heads[0].ask({ withinMs, addresses: [] });
      return go(59_999);
    });
    assert.deepEqual(told, ["wss://a/ a:1"], `${withinMs}`);
    await go(1);
    assert.deepEqual(told, ["wss://a/ a:1", "wss://b/ a:1"], `${withinMs}`);
    await stop();
  }
}));

test("gateways that take the join and ask to leave at once are tried ever more rarely", () => withTimers(async (go) => {
  const { told, heads, states, stop } = moving(() => true, ["wss://a/", "wss://b/"]);
  await go(0);
  for (const waitMs of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    told.length = 0;
    await withRandom(1, () => {
      heads.at(-1).ask({ withinMs: 0, addresses: [] });
      return go(0);
    });
    assert.deepEqual(states.at(-1), ["waiting", "The gateway is stopping; another one takes over."]);
    await go(waitMs - 1);
    assert.deepEqual(told, [], `${waitMs}`);
    await go(1);
    assert.equal(told.length, 1, `${waitMs}`);
  }
  // One that was good for long is left without a wait, and the next wait is short again.
  await go(STEADY_MS);
  for (const waitMs of [0, 250]) {
    told.length = 0;
    await withRandom(1, () => {
      heads.at(-1).ask({ withinMs: 0, addresses: [] });
      return go(0);
    });
    await go(waitMs);
    assert.equal(told.length, 1, `${waitMs}`);
  }
  await stop();
}));

test("a page with both ways that was moved tries WebSocket again where the next gateway fails once", () => withTimers(async (go) => {
  let gone = "wss://b/";
  const { connection, told, heads, stop } = moving((url) => url !== gone, ["wss://b/"], { both: true });
  await go(STEADY_MS);
  heads[0].ask({ withinMs: 0, addresses: [] });
  await go(0);
  await go(30_000);
  assert.deepEqual([told, connection.way], [["wss://a/ a:1", "wss://b/ a:1", "wss://a/ a:1"], "webSocket"]);
  await stop();
}));

test("a page that cannot load what moving needs stays, and loads it when a gateway names others again", () => withTimers(async (go) => {
  const { connection, told, heads, stop } = moving(() => true, ["wss://b/"]);
  const load = connection.loadMoving;
  let loads = 0;
  connection.loadMoving = () => { loads += 1; return Promise.reject(new TypeError("offline")); };
  await go(STEADY_MS);
  heads[0].ask({ withinMs: 0, addresses: [] });
  await go(1_000);
  assert.deepEqual([told.splice(0), loads], [["wss://a/ a:1"], 2]);
  connection.loadMoving = load;
  heads[0].ask({ withinMs: 0, addresses: ["wss://b/"] });
  await go(0);
  await go(0);
  assert.deepEqual(told, ["wss://b/ a:1"]);
  await stop();
}));

test("what moving needs is loaded once, and a connection that ended meanwhile asks for nothing", () => withTimers(async (go) => {
  const { connection, told, heads, stop } = moving(() => true, ["wss://b/"]);
  const load = connection.loadMoving;
  let [loads, loaded] = [0, null];
  connection.loadMoving = () => {
    loads += 1;
    return new Promise((resolve) => { loaded = resolve; }).then(load);
  };
  await go(STEADY_MS);
  heads[0].ask({ withinMs: 5_000, addresses: [] });
  heads[0].cut();
  // The next connection names them too, while it still loads.
  await go(30_000);
  assert.deepEqual([told.splice(0), loads], [["wss://a/ a:1", "wss://a/ a:1"], 1]);
  loaded();
  await go(0);
  await go(60_000);
  assert.deepEqual([told, loads], [[], 1], "it was asked to move by the one before");
  heads[1].ask({ withinMs: 0, addresses: [] });
  await go(0);
  assert.deepEqual([told, loads], [["wss://b/ a:1"], 1]);
  await stop();
}));

test("a gateway that is gone is tried again, then those that it named", () => withTimers(async (go) => {
  let gone = "";
  const { told, heads, stop } = moving((url) => url !== gone, ["wss://b/"]);
  await go(0);
  gone = "wss://a/";
  heads[0].cut();
  await go(30_000);
  await go(30_000);
  assert.deepEqual(told, ["wss://a/ a:1", "wss://a/ a:1", "wss://b/ a:1"]);
  await stop();
}));
