// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// What the library decides without a browser: slots, positions, the clock, timers, the choice of a transport, the outbox.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BreakBook } from "../src/breaks.js";
import { TransportChoice } from "../src/choice.js";
import { GatewayClock } from "../src/clock.js";
import { EventReader } from "../src/events.js";
import { AGE_MAX_MS, GROUP_MAX, OUTCOMES_MAX, OutboxQueue } from "../src/outbox.js";
import { Addresses } from "../src/moving.js";
import { PositionFollower, stepsBetween } from "../src/position.js";
import { requestInstant } from "../src/slots.js";
import { Timers } from "../src/timers.js";

test("the slot is the one that players in other languages work out", () => {
  // The same numbers are in Tests/CuecastWireTests/RequestSlotTests.swift.
  const window = { fromUs: 1790000000000000, byUs: 1790000008000000 };
  assert.equal(requestInstant(window, "00112233445566778899aabbccddeeff", "noon-1"), 1790000000610917);
  for (const byUs of [window.fromUs, window.fromUs - 1]) assert.equal(requestInstant({ ...window, byUs }, "00", "b"), window.fromUs);
});

test("slots are spread evenly over the window", () => {
  const tenths = Array(10).fill(0);
  for (let number = 0; number < 10_000; number += 1) {
    tenths[Math.floor(requestInstant({ fromUs: 0, byUs: 10_000_000 }, number.toString(16).padStart(32, "0"), "b1") / 1_000_000)] += 1;
  }
  // 1,000 each on average; six standard deviations of the binomial distribution are 180.
  assert.ok(tenths.every((count) => Math.abs(count - 1_000) < 180), `${tenths}`);
});

test("addresses that a gateway names are tried behind the page's own, and only those of its scheme", () => {
  const addresses = new Addresses("wss://own/listen");
  assert.equal(addresses.hasOthers, false);
  addresses.learn(["ws://b/listen", "https://b", "tcp://b:1", "wss://", `wss://${"b".repeat(123)}`]);
  assert.equal(addresses.hasOthers, false);
  // The longest address, and no byte more.
  addresses.learn([`wss://${"b".repeat(122)}`]);
  assert.equal(addresses.hasOthers, true);
  addresses.learn(["wss://b/listen", "wss://own/listen", "wss://c/listen"]);
  const tried = [];
  for (let round = 0; round < 4; round += 1) {
    addresses.failed();
    tried.push(addresses.current);
  }
  assert.deepEqual(tried, ["wss://b/listen", "wss://c/listen", "wss://own/listen", "wss://b/listen"]);
  // Where b names others it has no place any more, and the page's own is next; none named: those before may still be there.
  addresses.learn(["wss://d/listen"]);
  addresses.learn([]);
  addresses.failed();
  assert.deepEqual([addresses.current, addresses.hasOthers], ["wss://own/listen", true]);
});

test("no more addresses are kept than a join may name", () => {
  const addresses = new Addresses("wss://own/");
  addresses.learn(Array.from({ length: 17 }, (_, number) => `wss://gw-${number}/`));
  const tried = new Set();
  for (let round = 0; round < 50; round += 1) {
    addresses.failed();
    tried.add(addresses.current);
  }
  assert.deepEqual([tried.size, tried.has("wss://gw-15/"), tried.has("wss://gw-16/")], [17, true, false]);
});

test("pages that are asked to move spread over what was named", () => {
  const counts = {};
  for (let page = 0; page < 3_000; page += 1) {
    const addresses = new Addresses("wss://own/");
    addresses.moves(["wss://own/", "wss://b/", "wss://c/", "wss://d/"]);
    addresses.leave();
    counts[addresses.current] = (counts[addresses.current] ?? 0) + 1;
  }
  // 1,000 each on average; six standard deviations are 155.
  assert.deepEqual(Object.keys(counts).sort(), ["wss://b/", "wss://c/", "wss://d/"]);
  assert.ok(Object.values(counts).every((count) => Math.abs(count - 1_000) < 155), JSON.stringify(counts));
});

const at = (sequence, epoch = "a") => ({ position: `${epoch}:${sequence}` });

test("steps between positions", () => {
  assert.equal(stepsBetween("a:1", "A:3"), 2n);
  assert.equal(stepsBetween("ffffffffffffffff:1", "ffffffffffffffff:18446744073709551615"), 18446744073709551614n);
  for (const [one, other] of [["a:1", "b:2"], [null, "a:1"], ["a:1", "a:-1"], ["a:1", "x:1"], ["a:1", "a:1:1"]]) assert.equal(stepsBetween(one, other), null);
});

test("a notice is applied only if it is the next, and only once", () => {
  const follower = new PositionFollower();
  assert.equal(follower.take("a:1"), "lost");
  assert.deepEqual(follower.joined({ kind: "snapshot", head: "a:5", notices: [at(3)] }), [at(3)]);
  assert.deepEqual(["a:6", "a:6", "a:3", "a:8", "b:7"].map((each) => follower.take(each)), ["apply", "known", "known", "lost", "lost"]);
  assert.equal(follower.last, "a:6");
  assert.deepEqual(["a:6", "a:2", "a:7", "b:6"].map((each) => follower.isCurrent(each)), [true, true, false, false]);
});

test("an answer to a join must fit to what was sent, or everything is asked for", () => {
  const joined = (last, kind, head, ...notices) => {
    const follower = new PositionFollower();
    follower.last = last;
    return [follower.joined({ kind, head, notices })?.length ?? null, follower.last];
  };
  assert.deepEqual(joined("a:5", "current", "a:5"), [0, "a:5"]);
  assert.deepEqual(joined("a:5", "recovered", "a:7", at(6), at(7)), [2, "a:7"]);
  assert.deepEqual(joined("a:5", "snapshot", "b:2"), [0, "b:2"]);
  for (const wrong of [["a:5", "current", "a:6"], ["a:5", "current", "b:5"], [null, "current", "a:5"], ["a:5", "current", "a:5", at(5)],
    ["a:5", "recovered", "a:7", at(7)], ["a:5", "recovered", "a:7", at(6)], ["a:5", "recovered", "a:6", at(6, "b")], [null, "recovered", "a:1", at(1)],
    ["a:5", "snapshot", "nothing"], ["a:5", undefined, "a:5"]]) assert.deepEqual(joined(...wrong), [null, null], `${JSON.stringify(wrong)}`);
});

function clockAt() {
  const time = { local: 1_000, wall: 1_790_000_000_000 };
  return { time, clock: new GatewayClock({ local: () => time.local, wall: () => time.wall }), go: (ms) => { time.local += ms; time.wall += ms; } };
}

test("the clock's truth is always within its bound, also where the ways are not alike", () => {
  const { time, clock, go } = clockAt();
  assert.deepEqual([clock.now, clock.errorMs, clock.isKnown], [time.wall, Infinity, false]);
  const truth = () => time.local + 5_000_000;
  let state = 1;
  const random = () => { state = (state * 48271) % 2147483647; return state / 2147483647; };
  let least = Infinity;
  for (let round = 0; round < 500; round += 1) {
    const sent = time.local;
    go(random() * 80);
    const gatewayUs = Math.round(truth() * 1_000);
    go(random() * 80);
    clock.add(sent, gatewayUs);
    assert.ok(Math.abs(clock.now - truth()) <= clock.errorMs + 0.002, `${clock.now - truth()} ${clock.errorMs}`);
    least = Math.min(least, clock.errorMs);
    go(random() * 1_000);
  }
  // Eight samples together are better than one.
  assert.ok(least < 15, `${least}`);
  const before = clock.errorMs;
  go(1_000_000);
  assert.ok(Math.abs(clock.errorMs - before - 100) < 0.01);
});

test("a gateway whose clock was stepped is believed anew", () => {
  const { time, clock, go } = clockAt();
  clock.add(time.local, 9_000_000);
  go(10);
  clock.add(time.local, 99_000_000);
  assert.ok(Math.abs(clock.now - 99_000) < 0.01);
});

test("after a sleep the estimate goes with the wall clock, and has no bound until the next sample", () => {
  const { time, clock } = clockAt();
  clock.add(time.local, 9_000_000);
  time.wall += 3_600_000;
  assert.ok(clock.hasJumped);
  assert.ok(Math.abs(clock.now - 3_609_000) < 0.01);
  assert.equal(clock.errorMs, Infinity);
  clock.add(time.local, 3_610_000_000);
  assert.ok(!clock.hasJumped && clock.errorMs < 1 && Math.abs(clock.now - 3_610_000) < 0.01);
  // A clock that was set back changes nothing.
  time.wall -= 7_200_000;
  assert.ok(Math.abs(clock.now - 3_610_000) < 0.01);
});

/// Timers that ring when the test says so, as a browser's do: at most 2^31 - 1 ms, else at once.
function fakeTimers(body) {
  const real = [globalThis.setTimeout, globalThis.clearTimeout];
  let [now, number] = [0, 0];
  const set = new Map();
  globalThis.setTimeout = (run, ms) => {
    set.set(number += 1, { run, at: now + (ms > 2 ** 31 - 1 ? 0 : ms) });
    return number;
  };
  globalThis.clearTimeout = (id) => set.delete(id);
  try {
    body((ms) => {
      const end = now + ms;
      for (;;) {
        const [next] = [...set].filter(([, { at: due }]) => due <= end).sort(([, one], [, other]) => one.at - other.at);
        if (!next) break;
        set.delete(next[0]);
        now = Math.max(now, next[1].at);
        next[1].run();
      }
      now = end;
    });
  } finally {
    [globalThis.setTimeout, globalThis.clearTimeout] = real;
  }
}

test("a timer of some days does not ring at once, nor too early, and follows the clock", () => {
  fakeTimers((tick) => {
    const clock = { now: 0 };
    const timers = new Timers(clock);
    const rung = [];
    const go = (ms) => { clock.now += ms; tick(ms); };
    timers.at(30 * 86_400_000, () => rung.push("month"));
    timers.at(5_000, () => rung.push("soon"));
    timers.cancel(timers.at(5_000, () => rung.push("never")));
    for (let day = 0; day < 29; day += 1) go(86_400_000);
    assert.deepEqual(rung, ["soon"]);
    // The clock stands still while the browser's timers go on: it is not time yet.
    tick(86_399_000);
    assert.deepEqual(rung, ["soon"]);
    // After a sleep they are behind.
    clock.now += 86_400_001;
    timers.rearm();
    tick(1);
    assert.deepEqual(rung, ["soon", "month"]);
    timers.after(10, () => rung.push("cleared"));
    timers.clear();
    go(100);
    assert.equal(rung.length, 2);
  });
});

/// A book whose host writes down what it concludes, and answers with the batches of `batches`.
function bookWith(batches) {
  const concluded = [];
  const clock = { now: 0 };
  const book = new BreakBook({
    timers: new Timers(clock), player: { stop() {}, play() {}, heardMs: 0 }, tell() {}, keep() {}, keepPlaying() {}, heard: () => ({}),
    ask: async (id) => ({ ok: true, body: { delivery: "d", advertisements: batches[id].map((ad) => ({ id: ad })) } }),
    conclude: (breakId, delivery, ad, kind, { reason }) => concluded.push([breakId, ad.id, kind, reason]),
  });
  const notice = (breakId, sequence, more = {}) => ({ breakId, kind: "available", position: `1:${sequence}`, expiresUs: 9e9, ...more });
  return { book, concluded, notice, hasBatch: async (id) => { while (!book.breaks.get(id)?.batch) await new Promise((go) => setTimeout(go, 1)); } };
}

test("a page that stopped to play tells of the ads that it had and cannot play any more", async () => {
  const batches = { gone: ["1", "2"], cut: ["3", "4"], open: ["5"] };
  const { book, concluded, notice, hasBatch } = bookWith(batches);
  book.play("s");
  for (const [number, id] of Object.keys(batches).entries()) {
    book.apply(notice(id, number + 1));
    await hasBatch(id);
  }
  book.rest();
  // What was heard in part is known already.
  book.mark("gone", "1");
  assert.deepEqual(concluded, []);
  // One is over, of one the first ad cannot be played any more, and one is as it was.
  batches.cut = ["4"];
  const open = [notice("cut", 2), notice("open", 3)];
  book.snapshot(open);
  assert.deepEqual(concluded, [["gone", "2", "ignored", "skippedOver"]]);
  for (const each of open) book.apply(each);
  book.play("s");
  for (const { breakId } of open) await hasBatch(breakId);
  assert.deepEqual(concluded.slice(1), [["cut", "3", "ignored", "skippedOver"]]);
  // Once each.
  book.snapshot(open);
  assert.equal(concluded.length, 2);
  book.drop("user");
  book.rest();
});

test("a page that only watches tells of the ads that it had when their break is over", async () => {
  const { book, concluded, notice, hasBatch } = bookWith({ b: ["1"], c: ["2"] });
  book.play("s");
  book.apply(notice("b", 1));
  book.apply(notice("c", 2));
  await hasBatch("b");
  await hasBatch("c");
  book.rest();
  book.snapshot([notice("b", 1), notice("c", 2)]);
  book.apply(notice("b", 1));
  book.apply(notice("b", 3, { kind: "cancelled" }));
  assert.deepEqual(concluded, [["b", "1", "ignored", "skippedOver"]]);
  // Another session has had none of them.
  book.disown();
  book.snapshot([]);
  assert.equal(concluded.length, 1);
});

const BOTH = { webSocket: {}, events: {} };

test("WebSocket comes first, and server-sent events at once where it was never there", () => {
  const choice = new TransportChoice(BOTH);
  assert.equal(choice.next(0), "webSocket");
  assert.ok(choice.ended("webSocket", {}, 0));
  assert.equal(choice.next(1), "events");
  choice.ended("events", { hasJoined: true }, 2);
  // It stays there, and looks from time to time; much later a new connection tries again.
  assert.deepEqual([choice.next(599_999), choice.next(600_000)], ["events", "webSocket"]);
  assert.deepEqual([choice.lookAfterMs(0), choice.lookAfterMs(1)], [300_000, 600_000]);
});

test("where neither way leads there, WebSocket comes first again", () => {
  const choice = new TransportChoice(BOTH);
  assert.ok(choice.ended("webSocket", {}, 0));
  assert.ok(!choice.ended("events", {}, 0));
  assert.equal(choice.next(1), "webSocket");
});

test("where WebSocket has worked it fails three times before it is left, and comes back soon", () => {
  const choice = new TransportChoice(BOTH);
  assert.ok(!choice.ended("webSocket", { hasJoined: true }, 0));
  for (const isLeft of [false, false, true]) assert.equal(choice.ended("webSocket", {}, 1), isLeft);
  assert.equal(choice.next(2), "events");
  assert.deepEqual([choice.lookAfterMs(0), choice.lookAfterMs(1)], [60_000, 120_000]);
  choice.tryWebSocket();
  assert.equal(choice.next(3), "webSocket");
  assert.ok(choice.ended("webSocket", {}, 3), "one failure is enough then");
  assert.equal(choice.next(4), "events");
});

test("what the gateway refuses is no failure of the way", () => {
  const choice = new TransportChoice(BOTH);
  assert.ok(!choice.ended("webSocket", { isAnswered: true }, 0));
  assert.equal(choice.next(1), "webSocket");
});

test("only one way: it is not left", () => {
  const webSocket = new TransportChoice({ webSocket: {}, events: null });
  assert.ok(!webSocket.ended("webSocket", {}, 0));
  assert.equal(webSocket.next(1), "webSocket");
  assert.equal(new TransportChoice({ webSocket: null, events: {} }).next(0), "events");
});

const record = (ad, fields = {}) => ({
  session: "5", stream: "s", breakId: "b", delivery: "d", atMs: 0, outcome: { advertisementId: `${ad}` }, ...fields,
});
const names = (records) => records.map(({ outcome }) => outcome.advertisementId);

test("outcomes of one delivery go together, and each stays until it is recorded", () => {
  const outbox = new OutboxQueue();
  for (const each of [record(1), record(2, { breakId: "c" }), record(3), record(1)]) assert.deepEqual(outbox.add(each), []);
  assert.equal(outbox.size, 3);
  const { records } = outbox.next(0);
  assert.deepEqual(names(records), ["1", "3"]);
  const lost = outbox.answered(records, { ok: false, retryable: true, retryAfterMs: 5_000 }, 0);
  assert.deepEqual([lost.confirmed, lost.givenUp, outbox.size], [[], [], 3]);
  // The others have their turn meanwhile.
  const other = outbox.next(0).records;
  assert.deepEqual(names(other), ["2"]);
  assert.deepEqual(names(outbox.answered(other, { ok: true, body: { recorded: 1 } }, 0).confirmed), ["2"]);
  assert.ok(outbox.next(0).waitMs >= 5_000);
  outbox.retryNow();
  assert.deepEqual(names(outbox.next(0).records), ["1", "3"]);
  assert.deepEqual(names(outbox.answered(records, { ok: true, body: { recorded: 2 } }, 0).confirmed), ["1", "3"]);
  assert.deepEqual([outbox.next(0), outbox.size], [null, 0]);
});

test("where a group is refused, the one at fault is found and the others are recorded", () => {
  const outbox = new OutboxQueue();
  for (const ad of [1, 2]) outbox.add(record(ad));
  const refusal = { ok: false, retryable: false, message: "no such ad" };
  assert.deepEqual(outbox.answered(outbox.next(0).records, refusal, 0).givenUp, []);
  const done = outbox.answered(outbox.next(0).records, refusal, 0);
  assert.deepEqual([names(done.givenUp), done.sentence], [["1"], "no such ad"]);
  assert.deepEqual(names(outbox.answered(outbox.next(0).records, { ok: true, body: { recorded: 1 } }, 0).confirmed), ["2"]);
});

test("an answer that records less is not taken for a record", () => {
  const outbox = new OutboxQueue();
  outbox.add(record(1));
  const done = outbox.answered(outbox.next(0).records, { ok: true, body: { recorded: 0 } }, 0);
  assert.deepEqual([done.confirmed, names(done.givenUp), done.sentence], [[], ["1"], "The gateway did not record it."]);
});

test("the limits of the outbox, and one past them", () => {
  const outbox = new OutboxQueue();
  for (let ad = 0; ad < OUTCOMES_MAX; ad += 1) assert.deepEqual(outbox.add(record(ad)), []);
  assert.deepEqual(names(outbox.add(record("more"))), ["0"]);
  assert.equal(outbox.size, OUTCOMES_MAX);
  assert.equal(outbox.next(0).records.length, GROUP_MAX);
  assert.deepEqual(outbox.expire(AGE_MAX_MS), []);
  assert.equal(outbox.expire(AGE_MAX_MS + 1).length, OUTCOMES_MAX);
  assert.equal(outbox.size, 0);
});

test("events come whole, however they are cut", () => {
  const text = ": hello\nid: a:1\nevent: notice\ndata: {\"a\":\ndata: 1}\n\ndata:x\n\nevent: empty\n\n";
  for (let cut = 0; cut <= text.length; cut += 1) {
    const reader = new EventReader();
    const events = [...reader.read(text.slice(0, cut)), ...reader.read(text.slice(cut))];
    assert.deepEqual(events, [{ name: "notice", data: "{\"a\":\n1}" }, { name: "message", data: "x" }]);
  }
});
