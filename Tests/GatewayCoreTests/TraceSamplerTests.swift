// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Which requests are traced.
@Suite(.suiteLimit)
struct TraceSamplerTests {
    private static let trace = TraceContext(traceHigh: 0x4BF9_2F35_77B3_4DA6, traceLow: 0xA3CE_929D_0E0E_4736, span: 7)

    private static func header(low: UInt64 = 0xA3CE_929D_0E0E_4736, flags: String = "01") -> String {
        "00-4bf92f3577b34da6\(TraceContext.hexadecimal(low))-0000000000000007-\(flags)"
    }

    @Test func `only what one header says rightly, and sampled, is traced`() {
        var sampler = TraceSampler(ratio: 1, tracesPerSecondMax: 100)
        for (headers, decision) in [
            ([], .absent), ([""], .invalid), (["x"], .invalid), ([Self.header(), Self.header()], .invalid),
            ([Self.header(flags: "00")], .notSampled), ([Self.header(flags: "02")], .notSampled),
            ([Self.header()], Self.trace.map { TraceSampler.Decision.traced($0) } ?? .absent),
        ] as [([String], TraceSampler.Decision)] {
            #expect(sampler.decide(headers, from: .broadcasters, at: 0) == decision, "\(headers)")
        }
    }

    @Test(arguments: [
        (0.0, UInt64(0), false), (0.0, .max, false), (1.0, 0, true), (1.0, .max, true),
        // Below a half of all numbers, and at it.
        (0.5, 0x7FFF_FFFF_FFFF_FFFF, true), (0.5, 0x8000_0000_0000_0000, false), (0.25, 0x3FFF_FFFF_FFFF_FFFF, true),
        (0.25, 0x4000_0000_0000_0000, false), (0.25, 0x4000_0000_0000_0001, false),
    ])
    func `the ratio picks by the last 8 bytes of the trace id`(ratio: Double, low: UInt64, isPicked: Bool) {
        var sampler = TraceSampler(ratio: ratio, tracesPerSecondMax: 100)
        let decision = sampler.decide([Self.header(low: low)], from: .broadcasters, at: 0)
        #expect((decision != .leftOut) == isPicked)
    }

    @Test func `a ratio picks as many as it says, and all that a smaller one picks`() throws {
        var generator = SeededGenerator(for: #function)
        var counts = [0.1: 0, 0.5: 0]
        for _ in 0..<10_000 {
            let (high, low) = (generator.next() | 1, generator.next())
            let trace = try #require(TraceContext(traceHigh: high, traceLow: low, span: 1))
            for ratio in counts.keys where TraceSampler.picks(trace, ratio: ratio) { counts[ratio, default: 0] += 1 }
            if TraceSampler.picks(trace, ratio: 0.1) { #expect(TraceSampler.picks(trace, ratio: 0.5)) }
        }
        // Ten standard deviations and more.
        #expect((700...1_300).contains(counts[0.1] ?? 0), "CUECAST_SEED=\(SeededGenerator.seed)")
        #expect((4_500...5_500).contains(counts[0.5] ?? 0), "CUECAST_SEED=\(SeededGenerator.seed)")
    }

    @Test func `in a second as many are traced as may be, and one more is not`() {
        var sampler = TraceSampler(ratio: 1, tracesPerSecondMax: 3)
        func decide(at now: Int64, from side: TraceSampler.Side = .broadcasters) -> Bool {
            let decision = sampler.decide([Self.header()], from: side, at: now)
            if case .traced = decision { return true }
            #expect(decision == .overLimit)
            return false
        }
        #expect([10, 20, 999_999, 1_000_009].map { decide(at: $0) } == [true, true, true, false])
        // A second after the first one.
        #expect(decide(at: 1_000_010))
        #expect([1_000_011, 1_000_012, 1_000_013].map { decide(at: $0) } == [true, true, false])
        // Listeners have the same for themselves.
        #expect((0..<4).map { _ in decide(at: 1_000_014, from: .listeners) } == [true, true, true, false])
        // After a pause no more come at once.
        #expect((0..<4).map { decide(at: 90_000_000 + $0) } == [true, true, true, false])
    }

    @Test func `an untraced request takes no place`() {
        var sampler = TraceSampler(ratio: 0.5, tracesPerSecondMax: 1)
        #expect(sampler.decide([Self.header(low: .max)], from: .broadcasters, at: 0) == .leftOut)
        #expect(sampler.decide([Self.header(flags: "00")], from: .broadcasters, at: 0) == .notSampled)
        #expect(sampler.decide(["x"], from: .broadcasters, at: 0) == .invalid)
        guard case .traced = sampler.decide([Self.header(low: 1)], from: .broadcasters, at: 0) else {
            Issue.record("it is not traced")
            return
        }
        #expect(sampler.decide([Self.header(low: 1)], from: .broadcasters, at: 0) == .overLimit)
    }
}
