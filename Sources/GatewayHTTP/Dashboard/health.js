// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The figures at the top, and how the gateway itself does.

import { $, client, onDraw, state } from "./model.js";
import { onFirstHistory } from "./timeline.js";
import { Bar, Spark, bytes, count, element, latency, mark, rate, say, showIn } from "./plots.js";

/// A limit that was hit within so long is shown as one that is hit now.
const HIT_RECENTLY_MS = 60_000;

// MARK: Tiles

const tiles = Object.fromEntries([
  ["listeners", "Listeners now", true], ["breaks", "Breaks on air", false], ["batches", "Batches / s", true],
  ["outcomes", "Outcomes / s", true], ["notices", "Notices / s", true], ["lag", "Ledger behind", false],
].map(([name, label, hasSpark]) => {
  const tile = { value: element("dd", { class: "value" }, "–"), note: element("dd", { class: "note" }), spark: hasSpark ? new Spark() : null };
  tile.node = element("dl", { class: "tile", id: `tile-${name}` }, element("dt", {}, label), tile.value, tile.note);
  if (tile.spark) tile.node.append(element("dd", { class: "spark-box", "aria-hidden": "true" }, tile.spark.node));
  $("tiles").append(tile.node);
  return [name, tile];
}));

function drawTiles() {
  const gateway = state.gateway;
  if (!gateway) return;
  const rates = gateway.rates ?? {};
  say(tiles.listeners.value, count(gateway.listeners));
  const places = gateway.gateways > 1 ? [`at ${count(gateway.gateways)} gateways`, `${count(gateway.listenersHere)} here`] : [];
  if (gateway.listenersHTTP) places.push(`${count(gateway.listenersHTTP)} over HTTP`);
  say(tiles.listeners.note, places.join(", "));
  say(tiles.breaks.value, count(gateway.breaksRunning));
  say(tiles.breaks.note, `of ${count(gateway.streams)} ${gateway.streams === 1 ? "stream" : "streams"}`);
  say(tiles.batches.value, rate(rates.batches));
  say(tiles.outcomes.value, rate(rates.acknowledgements));
  say(tiles.notices.value, rate(rates.notices));
  const lagSeconds = gateway.ledgerLagSeconds ?? 0;
  const lag = gateway.ledgerLagRecords ?? 0;
  say(tiles.lag.value, lag === 0 ? "0" : `${count(lag)}`);
  say(tiles.lag.note, lag === 0 ? "every record is counted" : `records, ${lagSeconds < 1 ? "under a second" : `${rate(lagSeconds)} s`}`);
  mark(tiles.lag.node, "data-level", lagSeconds >= 30 ? "bad" : lagSeconds >= 5 ? "warn" : null);
  for (const tile of Object.values(tiles)) tile.spark?.draw();
}

// MARK: Health

const LATENCIES = [
  ["noticeMicroseconds", "Notice", "from the publish to its sending"], ["appendMicroseconds", "Append", "what an acknowledgement waits for"],
  ["scheduleLateMicroseconds", "Timers", "how late they fire"],
];
const resources = new Map();
const memory = new Spark();

function resource(name, label) {
  let found = resources.get(name);
  if (!found) {
    found = { value: element("span", { class: "value" }), note: element("span", { class: "note" }), bar: new Bar("level"), dt: element("dt", {}, label) };
    found.node = element("div", { class: "resource" }, found.dt, element("dd", {}, found.value, " ", found.note, found.bar.node));
    $("resources").append(found.node);
    resources.set(name, found);
  }
  return found;
}

function level(found, part) {
  found.bar.show(part);
  mark(found.node, "data-level", part >= 0.95 ? "bad" : part >= 0.85 ? "warn" : null);
}

function drawHealth() {
  const gateway = state.gateway;
  if (!gateway) return;
  drawLatency(gateway.latency ?? {});
  const disk = gateway.disk ?? {};
  const room = resource("disk", "Disk");
  say(room.value, `${bytes(disk.free)} free`);
  say(room.note, `${bytes(disk.bytes)} taken`);
  level(room, disk.free + disk.bytes > 0 ? disk.bytes / (disk.free + disk.bytes) : 0);
  const used = resource("memory", "Memory");
  say(used.value, bytes(gateway.memoryBytes));
  if (used.bar.node.isConnected) used.bar.node.replaceWith(memory.node);
  memory.draw();
  const descriptors = gateway.descriptors ?? {};
  const files = resource("descriptors", "Descriptors");
  say(files.value, `${count(descriptors.open)} open`);
  say(files.note, `of ${count(descriptors.max)}`);
  level(files, descriptors.max ? descriptors.open / descriptors.max : 0);
  const ledger = resource("ledger", "Ledger");
  const lag = gateway.ledgerLagRecords ?? 0;
  say(ledger.value, lag === 0 ? "up to date" : `${count(lag)} records behind`);
  say(ledger.note, lag === 0 ? "" : `${rate(gateway.ledgerLagSeconds)} s`);
  mark(ledger.bar.node, "hidden", "");
  drawLimits(gateway.limits ?? []);
  const troubles = (gateway.alarms ?? []).length;
  say($("health-count"), troubles ? `${count(troubles)} ${troubles === 1 ? "alarm" : "alarms"}` : "no alarms");
}

function drawLatency(latencies) {
  if (!drawLatency.cells) {
    drawLatency.cells = new Map();
    const body = element("tbody");
    for (const [name, word, told] of LATENCIES) {
      const cells = { p50: element("td", { class: "number" }), p99: element("td", { class: "number" }) };
      drawLatency.cells.set(name, cells);
      body.append(element("tr", {}, element("th", { scope: "row" }, word, element("span", { class: "note" }, ` ${told}`)), cells.p50, cells.p99));
    }
    $("latency").replaceChildren(element("table", { class: "rows compact" },
      element("caption", { class: "hidden-text" }, "Latency of the gateway’s own work, of the last minute"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "What"), element("th", { scope: "col", class: "number" }, "p50"),
        element("th", { scope: "col", class: "number" }, "p99"))), body));
  }
  // Nothing was measured in the last minute where there is none.
  for (const [name, cells] of drawLatency.cells) {
    say(cells.p50, latency(latencies[name]?.p50));
    say(cells.p99, latency(latencies[name]?.p99));
  }
}

function drawLimits(limits) {
  const now = performance.now();
  const hit = [];
  for (const each of limits) {
    let known = state.limits.get(each.limit);
    if (!known) state.limits.set(each.limit, known = { refused: each.refused, at: -Infinity });
    if (each.refused > known.refused) known.at = now;
    known.refused = each.refused;
    if (each.refused > 0) hit.push({ ...each, isNow: now - known.at < HIT_RECENTLY_MS });
  }
  hit.sort((one, other) => (other.isNow - one.isNow) || (other.refused - one.refused) || one.limit.localeCompare(other.limit));
  showIn($("limits"), JSON.stringify(hit), () => [hit.length === 0
    ? element("p", { class: "empty" }, limits.length ? `None of ${count(limits.length)} limits was hit.` : "No limit was hit.")
    : element("table", { class: "rows compact" }, element("caption", { class: "hidden-text" }, "Limits that were hit since the gateway started"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Limit"), element("th", { scope: "col", class: "number" }, "at"),
        element("th", { scope: "col", class: "number" }, "refused"))),
      element("tbody", {}, ...hit.map((each) => element("tr", { "data-level": each.isNow ? "warn" : undefined },
        element("th", { scope: "row" }, each.limit, each.isNow ? element("span", { class: "badge", "data-state": "warn" }, "now") : ""),
        element("td", { class: "number" }, each.max === undefined || each.max === null ? "–" : count(each.max)),
        element("td", { class: "number" }, count(each.refused))))))]);
}

// MARK: What the gateway tells

/// One sample of the first history stands for so many values of the small lines, which come once a second.
const VALUES_PER_SAMPLE = 10;
onFirstHistory(({ samples }) => {
  for (const each of samples.slice(-12)) {
    for (let value = 0; value < VALUES_PER_SAMPLE; value += 1) {
      tiles.listeners.spark.push(each.listeners);
      tiles.batches.spark.push(each.batches);
      tiles.outcomes.spark.push(each.played + each.ignored + each.failed);
      tiles.notices.spark.push(each.notices);
    }
  }
});
client.addEventListener("gateway", ({ detail }) => {
  tiles.listeners.spark.push(detail.listeners);
  tiles.batches.spark.push(detail.rates?.batches);
  tiles.outcomes.spark.push(detail.rates?.acknowledgements);
  tiles.notices.spark.push(detail.rates?.notices);
  memory.push(detail.memoryBytes);
});
onDraw(drawTiles);
onDraw(drawHealth);
