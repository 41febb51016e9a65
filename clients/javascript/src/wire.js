// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads and writes messages of protobuf by the tables of messages.js.
///
/// A field that is not optional has its default where it is absent. Numbers of 64 bits that name times are numbers, which hold
/// microseconds exactly until the year 2255; the others are BigInt. Enumerations are words; one that is not known is undefined.
/// https://protobuf.dev/programming-guides/encoding/

const texts = [new TextEncoder(), new TextDecoder("utf-8", { fatal: true })];
const VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5;
const DEFAULTS = { s: "", u: 0, i: 0, l: 0n, f: 0n, "?": false };
const MAP = [[1, "key", "s"], [2, "value", "s"]];

const isWords = (type) => typeof type[1] === "string";
const wireType = (type) => (typeof type !== "string" ? (isWords(type) ? VARINT : BYTES) : { s: BYTES, b: BYTES, m: BYTES, f: FIXED64 }[type] ?? VARINT);

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.place = 0;
  }

  varint() {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.place >= this.bytes.length) break;
      const byte = this.bytes[this.place];
      this.place += 1;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    throw new RangeError("a number that does not end");
  }

  take(count) {
    const end = this.place + count;
    if (end > this.bytes.length) throw new RangeError("a field that is longer than its message");
    const taken = this.bytes.subarray(this.place, end);
    this.place = end;
    return taken;
  }

  fixed64() {
    const taken = this.take(8);
    return new DataView(taken.buffer, taken.byteOffset).getBigUint64(0, true);
  }

  skip(type) {
    if (type === VARINT) this.varint();
    else if (type === FIXED64) this.take(8);
    else if (type === BYTES) this.take(Number(this.varint()));
    else if (type === FIXED32) this.take(4);
    else throw new RangeError("a field of a kind that is not known");
  }

  value(type, before) {
    if (type === "f") return this.fixed64();
    if (wireType(type) === VARINT) {
      const number = this.varint();
      if (type === "l") return number;
      if (type === "?") return number !== 0n;
      if (type === "i") return Number(BigInt.asIntN(64, number));
      const small = Number(BigInt.asUintN(32, number));
      return type === "u" ? small : type[small];
    }
    const bytes = this.take(Number(this.varint()));
    if (type === "s") return texts[1].decode(bytes);
    if (type === "b") return bytes.slice();
    if (type !== "m") return decode(type, bytes, before);
    const { key, value } = decode(MAP, bytes);
    return { ...before, [key]: value };
  }
}

/// The message that bytes hold; a field that comes again is added to what came before, as protobuf asks.
export function decode(table, bytes, into) {
  const message = into ?? {};
  if (!into) {
    for (const [, name, type, flags] of table) {
      if (flags === 2) message[name] = [];
      else if (!flags) message[name] = type === "b" ? new Uint8Array() : type === "m" ? {} : DEFAULTS[type];
    }
  }
  const reader = new Reader(bytes);
  while (reader.place < bytes.length) {
    const tag = reader.varint();
    const wire = Number(tag & 7n);
    const field = table.find(([number]) => BigInt(number) === tag >> 3n);
    if (!field || wireType(field[2]) !== wire) {
      reader.skip(wire);
      continue;
    }
    const [, name, type, flags] = field;
    if (flags & 2) (message[name] ??= []).push(reader.value(type));
    else message[name] = reader.value(type, message[name]);
  }
  return message;
}

/// The bytes of a message; what is absent, or has its default and is not optional, is left out.
export function encode(table, message) {
  const bytes = [];
  const varint = (number) => {
    let rest = BigInt.asUintN(64, BigInt(number));
    while (rest > 127n) {
      bytes.push(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
  };
  const put = (number, type, value) => {
    varint(number * 8 + wireType(type));
    if (type === "f") {
      for (let shift = 0n; shift < 64n; shift += 8n) bytes.push(Number((BigInt(value) >> shift) & 255n));
    } else if (wireType(type) === VARINT) {
      const plain = typeof type === "string" ? value : type.indexOf(value);
      if (plain < 0 && type !== "i") throw new TypeError(`${value} is none of ${type}`);
      varint(plain);
    } else {
      const content = type === "s" ? texts[0].encode(value) : type === "b" ? value : encode(type, value);
      varint(content.length);
      for (const byte of content) bytes.push(byte);
    }
  };
  for (const [number, name, type, flags] of table) {
    const value = message[name];
    if (value === undefined || value === null) continue;
    if (type === "m") for (const [key, each] of Object.entries(value)) put(number, MAP, { key, value: String(each) });
    else if (flags & 2) for (const each of value) put(number, type, each);
    else if (flags || (type === "b" ? value.length > 0 : value !== DEFAULTS[type])) put(number, type, value);
  }
  return new Uint8Array(bytes);
}

export const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
export const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
