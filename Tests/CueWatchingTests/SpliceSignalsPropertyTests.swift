// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastBroadcast
import TestSupport
import Testing

@testable import CueWatching

/// What holds for all cues.
@Suite(.suiteLimit)
struct SpliceSignalsPropertyTests {
    private func section(_ random: inout SeededGenerator) -> SpliceInfoSection {
        let id = random.number(0...4 as ClosedRange<UInt32>)
        let pts = random.maybe { UInt64($0.number(0...0x1_FFFF_FFFF as ClosedRange<UInt64>)) }
        let near = random.maybe { UInt64($0.number(0...9_000_000 as ClosedRange<UInt64>)) }
        var section: SpliceInfoSection
        switch Int.random(in: 0..<5, using: &random) {
        case 0: section = Cues.insertIsCancelled(id)
        case 1: section = Cues.segmentIsCancelled(id)
        case 2:
            let seconds = random.maybe { UInt64($0.number(0...90_000 as ClosedRange<UInt64>)) }
            section = Cues.insert(id, out: random.bool(), pts: near ?? pts, seconds: seconds)
        default:
            let descriptors = random.list(0...4) { random in
                Cues.descriptor(
                    random.number(0...4),
                    random.number(0...0x50),
                    seconds: random.maybe { UInt64($0.number(0...12_000_000 as ClosedRange<UInt64>)) }
                )
            }
            section = Cues.segments(descriptors, pts: near ?? pts)
        }
        section.ptsAdjustmentTicks = random.bool() ? 0 : random.number(0...0x1_FFFF_FFFF)
        return section
    }

    private func clock(_ random: inout SeededGenerator, near now: Int) -> CueClock {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .none
        case 1: .fixed(atMilliseconds: random.pick([now, now + 1_000, .min, .max, 0]))
        case 2: .program(PCRWallClock())
        case 3: .reference(ptsTicks: random.number(0...UInt64.max), atMilliseconds: random.pick([now, .min, .max]))
        default: .reference(ptsTicks: 0, atMilliseconds: now)
        }
    }

    @Test func `random cues crash nothing, say something each, and stay within the limits`() async throws {
        var random = SeededGenerator(for: "random cues")
        var rule = SegmentationRule()
        rule.endingTypes = SegmentationRule.possibleEndingTypes
        rule.openingTypes = SegmentationRule.possibleTypes
        var limits = SpliceSignalLimits()
        limits.rememberedEventsMax = 8
        for _ in 0..<200 {
            await Task.yield()
            var splices = SpliceSignals(stream: "radio1", source: "encoder", rule: rule, limits: limits)
            var now = Cues.noon
            for _ in 0..<40 {
                var bytes = try self.section(&random).encoded()
                if random.number(0...3) == 0, !bytes.isEmpty {
                    bytes[Int.random(in: bytes.indices, using: &random)] ^= random.number(1...255)
                }
                now += random.pick([0, 1, 1_000, 60_000, 1_000_000, -5_000])
                let clock = self.clock(&random, near: now)
                let observations = splices.observations(of: bytes, clock: clock, atMilliseconds: now)
                #expect(!observations.isEmpty, "CUECAST_SEED=\(SeededGenerator.seed)")
                #expect(splices.rememberedEvents <= 8)
                for case .signal(let signal) in observations.map(\.meaning) {
                    let distance = signal.startMilliseconds.map { abs($0 - now) } ?? 0
                    // A cue "at once" that comes again keeps its first start, which may be as old as its break can be long.
                    let distanceMax =
                        limits.distanceMillisecondsMax + limits.breakMillisecondsMax + limits.rememberedMilliseconds
                    #expect(distance <= distanceMax, "CUECAST_SEED=\(SeededGenerator.seed)")
                    #expect(signal.duration.map { $0 <= .milliseconds(limits.breakMillisecondsMax) } ?? true)
                    #expect(signal.eventID.utf8.count <= 64)
                }
            }
        }
        for now in [Int.min, -1, 0, .max] {
            var splices = SpliceSignals(stream: "radio1", source: "encoder")
            let bytes = try Cues.insert(1).encoded()
            #expect(!splices.observations(of: bytes, clock: .none, atMilliseconds: now).isEmpty)
        }
    }

    @Test func `a repeat changes nothing, whenever it comes`() throws {
        var random = SeededGenerator(for: "repeats")
        for _ in 0..<300 {
            var (once, twice) = (Source(), Source())
            var (fromOnce, fromTwice): ([String], [String]) = ([], [])
            for step in 0..<12 {
                let id = random.number(1...3 as ClosedRange<UInt32>)
                let isOut = random.bool()
                let section = Cues.insert(
                    id,
                    out: isOut,
                    pts: UInt64(900_000 + step * 90_000),
                    seconds: isOut ? 30 : nil
                )
                fromOnce += signals(try once.take(section, atMilliseconds: step * 1_000))
                fromTwice += signals(try twice.take(section, atMilliseconds: step * 1_000))
                #expect(signals(try twice.take(section, atMilliseconds: step * 1_000 + 200)).isEmpty)
            }
            #expect(fromOnce == fromTwice, "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }

    @Test func `two watchers make the same signals of the same cues`() throws {
        var random = SeededGenerator(for: "two watchers")
        for _ in 0..<200 {
            var (one, other) = (Source(), Source())
            for step in 0..<20 {
                let section = self.section(&random)
                // They read at different moments, and the cue's time decides.
                let first = signals(try one.take(section, atMilliseconds: step * 1_000))
                let second = signals(try other.take(section, atMilliseconds: step * 1_000))
                #expect(first == second, "CUECAST_SEED=\(SeededGenerator.seed)")
            }
        }
    }
}
