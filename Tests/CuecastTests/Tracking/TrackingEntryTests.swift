// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@testable import Cuecast

@Suite(.suiteLimit)
struct TrackingEntryPropertyTests {
    /// A new seed for each run, told where something fails.
    let seed = UInt64.random(in: 1...UInt64(UInt32.max))

    private func text(_ jitter: inout JitterSource, _ max: Int) -> String {
        let count = Bool.random(using: &jitter) ? max : Int.random(in: 0...max, using: &jitter)
        return String(
            (0..<count).map { _ in Character(["a", "/", "?", "[", "%", "\u{0}"].randomElement(using: &jitter) ?? "a") }
        )
    }

    private func entry(_ jitter: inout JitterSource) -> TrackingEntry {
        let id = jitter.next()
        switch Int.random(in: 0..<4, using: &jitter) {
        case 0:
            return .intended(
                TrackingEntry.Intent(
                    id: id,
                    key: jitter.next(),
                    session: SessionID(high: jitter.next(), low: jitter.next()),
                    breakID: self.text(&jitter, 64),
                    adID: self.text(&jitter, 128) + "é",
                    event: self.text(&jitter, TrackingEntry.textBytesMax),
                    url: self.text(&jitter, TrackingMacros.urlBytesMax),
                    wall: Timestamp(microseconds: Int64(bitPattern: jitter.next()))
                )
            )
        case 1: return .sending(id: id, attempt: Int.random(in: 0...Int.max, using: &jitter))
        case 2: return .waiting(id: id, attempt: Int.random(in: 0...Int.max, using: &jitter))
        default:
            let outcome = TrackingEntry.Outcome.allCases.randomElement(using: &jitter) ?? .sent
            return .finished(id: id, key: jitter.next(), outcome: outcome)
        }
    }

    @Test func `encoded entries are read again, and no byte may be missing or added`() {
        var jitter = JitterSource(seed: self.seed)
        for _ in 0..<500 {
            let entry = self.entry(&jitter)
            let bytes = entry.encoded()
            #expect(bytes.count <= TrackingEntry.bytesMax, "seed \(self.seed)")
            #expect(TrackingEntry(decoding: bytes) == entry, "seed \(self.seed)")
            #expect(TrackingEntry(decoding: bytes + [0]) == nil, "seed \(self.seed)")
            let cut = Int.random(in: 0..<bytes.count, using: &jitter)
            #expect(TrackingEntry(decoding: Array(bytes.prefix(cut))) == nil, "seed \(self.seed)")
        }
    }

    @Test func `spoiled bytes are refused or read as another entry, and never trap`() {
        var jitter = JitterSource(seed: self.seed)
        for _ in 0..<2_000 {
            var bytes = self.entry(&jitter).encoded()
            for _ in 0..<Int.random(in: 1...4, using: &jitter) {
                bytes[Int.random(in: 0..<min(bytes.count, 80), using: &jitter)] = UInt8.random(
                    in: 0...255,
                    using: &jitter
                )
            }
            if let entry = TrackingEntry(decoding: bytes) {
                #expect(TrackingEntry(decoding: entry.encoded()) == entry, "seed \(self.seed)")
            }
            let noise = (0..<Int.random(in: 0...64, using: &jitter))
                .map { _ in UInt8.random(in: 0...255, using: &jitter) }
            _ = TrackingEntry(decoding: [TrackingEntry.version, UInt8.random(in: 0...5, using: &jitter)] + noise)
        }
    }

    @Test func `another version is refused`() {
        var bytes = TrackingEntry.sending(id: 1, attempt: 1).encoded()
        bytes[0] = TrackingEntry.version + 1
        #expect(TrackingEntry(decoding: bytes) == nil)
    }

    @Test func `a URL at the limit is read and one past it is not`() {
        for (count, isRead) in [(TrackingMacros.urlBytesMax, true), (TrackingMacros.urlBytesMax + 1, false)] {
            let intent = TrackingEntry.Intent(
                id: 1,
                key: 2,
                session: SessionID(high: 1, low: 2),
                breakID: "b",
                adID: "a",
                event: "start",
                url: String(repeating: "u", count: count),
                wall: gateway(0)
            )
            #expect((TrackingEntry(decoding: TrackingEntry.intended(intent).encoded()) != nil) == isRead)
        }
    }
}
