// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The package as others see it: its types say what there is, and its files are there.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as library from "../index.js";
import * as messages from "../src/messages.js";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const types = read("index.d.ts");
const description = JSON.parse(read("package.json"));
/// The names that stand in a block of the types.
const members = (head) => {
  const block = types.slice(types.indexOf(head)).match(/\{\n([\s\S]*?)\n\}/)[1];
  return [...block.matchAll(/^ {2}(?:readonly )?(\w+)[?:(]/gm)].map(([, name]) => name);
};

test("the types name what the library has, and nothing else", () => {
  const exported = [...types.matchAll(/^export (?:class|const|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(exported.sort(), Object.keys(library).sort());
  const listener = new library.CuecastListener({ gateway: "https://gateway.example", stream: "s", storage: null });
  const told = members("export class CuecastListener").filter((name) => name !== "constructor");
  for (const name of told) assert.ok(name in listener, name);
  // What begins a listener's class and is not described is for the library alone.
  const ours = ["gateway", "tabs", "storage", "ticket", "follower", "clock", "timers", "connection", "outbox", "book"];
  const found = [...Object.keys(listener), ...Object.getOwnPropertyNames(library.CuecastListener.prototype)];
  assert.deepEqual(found.filter((name) => !told.includes(name) && !ours.includes(name) && name !== "constructor" && name !== "adopting"), []);
});

test("the types of messages have the fields of the wire", () => {
  for (const name of ["Notice", "MediaFile", "Banner", "Tracker", "Advertisement"]) {
    assert.deepEqual(members(`export interface ${name} {`).sort(), messages[name].map(([, field]) => field).sort(), name);
  }
  const outcome = members("export interface Outcome {");
  assert.deepEqual(messages.Outcome.map(([, field]) => field).filter((field) => !outcome.includes(field)), ["clicked"]);
});

test("the events that are told are described", () => {
  const told = new Set(["listener", "breaks", "outbox-store"].flatMap((name) =>
    [...read(`src/${name}.js`).matchAll(/(?:#tell|\.tell|\btell)\("(\w+)"/g)].map(([, event]) => event)));
  assert.deepEqual([...told].sort(), members("export interface ListenerEvents").sort());
});

test("the files of the package are there, and it needs no others", () => {
  for (const file of [...description.files, description.types]) assert.ok(existsSync(new URL(`../${file}`, import.meta.url)), file);
  assert.equal(description.version, library.VERSION);
  assert.deepEqual([description.dependencies, description.private], [undefined, true]);
});

test("options that lead nowhere are refused", () => {
  for (const options of [{}, { stream: "a b" }, { stream: "s", tabs: "two" }, { stream: "s", webSocket: null, fallback: false }]) {
    assert.throws(() => new library.CuecastListener({ gateway: "https://gateway.example", storage: null, ...options }), TypeError);
  }
});
