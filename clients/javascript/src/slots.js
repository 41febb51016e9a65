// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The instant of a request window at which a session asks, in microseconds: the same rule as in every client library, so
/// that a million of them are an even flow. FNV-1a over the parts, each ended by 0xFF, then mixed (SplitMix64, finaliser).
export function requestInstant(window, sessionHex, breakId) {
  const width = BigInt(window.byUs) - BigInt(window.fromUs);
  if (width <= 0n) return window.fromUs;
  const mask = (1n << 64n) - 1n;
  let state = 0xcbf29ce484222325n;
  const add = (byte) => { state = ((state ^ BigInt(byte)) * 0x100000001b3n) & mask; };
  for (let place = 0; place < sessionHex.length; place += 2) add(parseInt(sessionHex.slice(place, place + 2), 16));
  add(0xff);
  for (const byte of new TextEncoder().encode(breakId)) add(byte);
  add(0xff);
  state = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
  state = ((state ^ (state >> 27n)) * 0x94d049bb133111ebn) & mask;
  state ^= state >> 31n;
  return Number(BigInt(window.fromUs) + ((width * state) >> 64n));
}
