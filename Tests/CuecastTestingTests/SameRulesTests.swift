// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

@testable import CuecastTesting

/// That the script's own rules give what the gateway's give.
@Suite(.suiteLimit)
struct SameRulesTests {
    /// A generator whose numbers a seed decides (SplitMix64).
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state &+= 0x9E37_79B9_7F4A_7C15
            var z = self.state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private static func second(_ seconds: Int) -> Timestamp {
        Timestamp(microseconds: 1_750_000_000_000_000) + .seconds(seconds)
    }

    private static func entry(using random: inout Seeded) throws -> ScriptedEntry {
        let advertisements = try (1...Int.random(in: 1...4, using: &random))
            .map { number in
                let duration = Duration.seconds(Int.random(in: 1...9, using: &random))
                return try ScriptedAdvertisement("ad-\(number)", duration: duration).content()
            }
        let kind = Int.random(in: 0..<8, using: &random)
        var entry = ScriptedEntry(
            key: BreakKey(stream: try StreamID("radio1"), id: try BreakID("b1")),
            number: BreakNumber(rawValue: 1),
            advertisements: advertisements,
            preStream: kind == 0,
            exact: Bool.random(using: &random),
            holdUntil: kind <= 1 ? Self.second(Int.random(in: 1...40, using: &random)) : nil,
            duration: Bool.random(using: &random) ? .seconds(Int.random(in: 1...30, using: &random)) : nil,
            endMode: .cut
        )
        if kind > 1 { entry.start = Self.second(10) }
        if kind > 5 { entry.ended = Self.second(Int.random(in: 11...30, using: &random)) }
        return entry
    }

    /// The same break on a gateway's board.
    private static func onBoard(_ entry: ScriptedEntry) -> Break {
        let window = RequestWindow(from: Self.second(0), by: Self.second(0))
        var record = BreakRecord(
            number: entry.number,
            published: Self.second(0),
            broadcaster: "",
            publish: BreakEntry.Publish(
                request: BroadcastRequest.Publish(
                    key: entry.key,
                    start: nil,
                    duration: entry.duration,
                    advertisements: entry.advertisements,
                    preStream: entry.preStream,
                    exact: entry.exact
                ),
                start: entry.start,
                announce: Self.second(0),
                window: window,
                holdUntil: entry.holdUntil,
                safetyDuration: BreakPolicy().safetyDuration
            )
        )
        record.phase = .announced
        record.ended = entry.ended
        return Break(record)
    }

    @Test func `late players get what a gateway gives them`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Seeded(state: seed)
        for _ in 0..<3_000 {
            let entry = try Self.entry(using: &random)
            let real = Self.onBoard(entry)
            #expect(real.end == entry.end, "seed \(seed)")
            #expect(real.lasting == entry.lasting, "seed \(seed)")
            #expect(real.interval == entry.interval, "seed \(seed)")
            for _ in 0..<8 {
                let playhead = Self.second(Int.random(in: 0...45, using: &random))
                let expected: Int? = if case .from(let first) = real.playable(at: playhead) { first } else { nil }
                #expect(entry.firstPlayable(at: playhead) == expected, "seed \(seed): \(entry) at \(playhead)")
            }
        }
    }

    @Test func `a break without a duration lasts as long as at a gateway`() {
        #expect(ScriptedEntry.safetyDuration == BreakPolicy().safetyDuration)
    }
}
