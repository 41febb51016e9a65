// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Histogram
import LoadEngine
import Testing

@Suite(.suiteLimit)
struct StatisticsTests {
    @Test func `latencies count from the intended instant, service from the real one`() {
        var record = LatencyRecord()
        record.record(intended: 1_000, began: 5_000, ended: 6_000)
        #expect(record.intended.max == 5_003, "5,000 in the histogram's resolution")
        #expect(record.service.max == 1_000)
        record.record(intended: 9_000, began: 9_000, ended: 8_000)
        #expect(record.intended.totalCount == 2 && record.intended.min == 0, "clocks that disagree give 0")
        record.record(intended: .min, began: .min, ended: .max)
        #expect(record.intended.totalCount == 3)
    }

    @Test func `merged processes have the figures of one that did everything`() throws {
        var source = SeededSource(seed: 9)
        var whole = RunStatistics(began: 5_000_000)
        var parts = [RunStatistics(began: 5_000_000), RunStatistics(began: 7_000_000)]
        for number in 0..<4_000 {
            let now = Microseconds.random(in: 7_000_000...20_000_000, using: &source)
            let latency = Microseconds.random(in: 0...3_000_000, using: &source)
            func add(to statistics: inout RunStatistics) {
                statistics.batch.record(intended: now - latency, began: now - latency / 2, ended: now)
                statistics.counts.batches += 1
                statistics.shookHands(at: now, after: UInt64(latency) * 1_000)
                statistics.refusals["UNAVAILABLE", default: 0] += 1
                statistics.second(now) { $0.batches += 1 }
                if number.isMultiple(of: 500) { statistics.findings.add(.noticesLost, "number \(number)") }
            }
            add(to: &whole)
            add(to: &parts[number % 2])
        }
        whole.allJoined = 9
        parts[0].allJoined = 9
        parts[1].allJoined = 4
        (parts[0].allConnected, parts[0].handshakesUntilAllConnected) = (3, 20)
        (parts[1].allConnected, parts[1].handshakesUntilAllConnected) = (8, 30)
        // As it crosses from one process to the other.
        let sent = try JSONEncoder().encode(parts[1])
        var merged = parts[0]
        merged.merge(try JSONDecoder().decode(RunStatistics.self, from: sent))
        #expect(merged.counts == whole.counts && merged.refusals == whole.refusals)
        #expect(merged.seconds == whole.seconds && merged.began == whole.began)
        #expect(merged.allJoined == 9)
        #expect(merged.allConnected == 8 && merged.handshakesUntilAllConnected == 50)
        #expect(LatencyFigures(merged.handshake.intended) == LatencyFigures(whole.handshake.intended))
        #expect(merged.findings[.noticesLost] == whole.findings[.noticesLost])
        #expect(LatencyFigures(merged.batch.intended) == LatencyFigures(whole.batch.intended))
        #expect(LatencyFigures(merged.batch.service) == LatencyFigures(whole.batch.service))
    }

    /// The outcome of a process that has seen so many batches of each break.
    private func outcome(batches: Int, breaks: [BreakID], isComplete: Bool) throws -> RunOutcome {
        var knowledge = StreamKnowledge(id: try StreamID("radio1"))
        for each in breaks {
            let index = knowledge.add(each, content: [], planned: 0)
            knowledge.update(index) {
                $0.isDue = true
                $0.tally.batches = batches
                $0.tally.requests = Array(repeating: 1, count: batches)
            }
        }
        let behaviour = ListenerBehaviour(mix: OutcomeMix(played: 1, ignored: 0, failed: 0) ?? .allPlayed)
        let world = LoadWorld(behaviour: behaviour, streams: [knowledge])
        return RunOutcome(world, cpuSeconds: 0.5, isComplete: isComplete, ended: 0)
    }

    @Test func `a run of which no batch was handed out has tested nothing, and is no success`() throws {
        let noon = try BreakID("noon")
        func judged(_ batches: [Int], isComplete: Bool = true, breaks: [BreakID] = [noon]) throws -> Int {
            var all = try self.outcome(batches: batches[0], breaks: breaks, isComplete: isComplete)
            for each in batches.dropFirst() {
                all.merge(try self.outcome(batches: each, breaks: breaks, isComplete: isComplete))
            }
            all.judgeBatches()
            return all.statistics.findings[.batchesMissing]
        }
        #expect(try judged([0, 0]) == 1)
        #expect(try judged([0, 1]) == 0)
        #expect(try judged([0], isComplete: false) == 0, "it was interrupted")
        #expect(try judged([0], breaks: []) == 0, "it has published nothing")
    }

    @Test func `breaks of several processes are one, by stream and id`() throws {
        let noon = try BreakID("noon")
        var merged = try self.outcome(batches: 2, breaks: [noon], isComplete: true)
        merged.merge(try self.outcome(batches: 1, breaks: [noon, try BreakID("one")], isComplete: false))
        #expect(merged.breaks.map(\.id) == ["noon", "one"])
        #expect(merged.breaks[0].tally.batches == 3 && merged.breaks[0].tally.requests == [2, 1])
        #expect(merged.cpuSeconds == 1 && !merged.isComplete)
    }

    @Test func `the fetch curve has the highest rate over the mean of the whole bins in the window`() {
        var tally = BreakTally()
        #expect(tally.peakOverMean == nil)
        tally.windowFrom = 1_000_000
        tally.windowBy = 1_450_000
        for millisecond in stride(from: 0, to: 450, by: 1) {
            tally.asked(at: Timestamp(microseconds: 1_000_000 + Int64(millisecond) * 1_000))
        }
        #expect(tally.requests == [100, 100, 100, 100, 50])
        #expect(tally.peakOverMean == 1, "the last bin is not whole")
        for _ in 0..<100 { tally.asked(at: Timestamp(microseconds: 1_250_000)) }
        #expect(tally.peakOverMean == 1.6)
        tally.asked(at: Timestamp(microseconds: 0))
        tally.asked(at: Timestamp(microseconds: .max))
        #expect(tally.requests[0] == 101 && tally.requests.count == BreakTally.binsMax)
        tally.windowBy = 1_100_000
        #expect(tally.peakOverMean == nil, "one bin has no mean to be compared with")
    }

    @Test func `findings keep the first examples of each kind, and a count of all`() {
        var findings = Findings()
        #expect(findings.isEmpty)
        for number in 0..<8 { findings.add(.noticesLost, count: 2, "number \(number)") }
        #expect(findings[.noticesLost] == 16)
        #expect(findings.entries[.noticesLost]?.examples.count == Findings.examplesMax)
        findings.remove(.noticesLost, count: 15)
        #expect(!findings.isEmpty)
        findings.remove(.noticesLost)
        #expect(findings.isEmpty)
    }

    @Test func `the share of each outcome is what the mix says, and the same for the same session and break`() throws {
        let mix = try OutcomeMix.of(0.7, 0.25, 0.05, seed: 3)
        var counts: [Outcome.Kind: Int] = [:]
        for number in 0..<20_000 as Range<UInt64> {
            let session = SessionID(high: number, low: ~number)
            let kind = mix.outcome(session: session, breakIndex: Int(number % 7), ordinal: Int(number % 3))
            counts[kind, default: 0] += 1
            #expect(mix.outcome(session: session, breakIndex: Int(number % 7), ordinal: Int(number % 3)) == kind)
        }
        // Six standard deviations of the binomial distributions.
        #expect(abs((counts[.played] ?? 0) - 14_000) < 390)
        #expect(abs((counts[.ignored] ?? 0) - 5_000) < 370)
        #expect(abs((counts[.failed] ?? 0) - 1_000) < 190)
        #expect(OutcomeMix(played: 0.7, ignored: 0.2, failed: 0) == nil)
        #expect(OutcomeMix(played: 1.5, ignored: -0.5, failed: 0) == nil)
        #expect(OutcomeMix(played: .nan, ignored: 0, failed: 1) == nil)
    }

    @Test func `the gateway's clock is never outside of what the samples allow`() {
        var source = SeededSource(seed: 21)
        for offset in [0, 1_700_000_000_000_000, -5_000_000] as [Int64] {
            var clock = GatewayClockEstimate()
            var now: Microseconds = 1_000
            for _ in 0..<2_000 {
                let out = Microseconds.random(in: 1...20_000, using: &source)
                let back = Microseconds.random(in: 1...20_000, using: &source)
                clock.sample(
                    sent: now,
                    answered: Timestamp(microseconds: now + out + offset),
                    received: now + out + back
                )
                now += out + back
                #expect(abs(clock.offset - offset) <= clock.bound + 1)
            }
            #expect(clock.bound < 10_000)
        }
    }

    @Test func `a clock that is this machine's own is known exactly`() {
        var clock = GatewayClockEstimate(likely: 500)
        clock.sample(sent: 0, answered: Timestamp(microseconds: 600), received: 300)
        #expect(clock.isThisMachines && clock.offset == 500)
        clock.sample(sent: 1_000, answered: Timestamp(microseconds: 9_000_000), received: 1_100)
        #expect(!clock.isThisMachines && abs(clock.offset - 8_998_950) <= 50)
    }
}

extension OutcomeMix {
    static var allPlayed: OutcomeMix { OutcomeMix(played: 1, ignored: 0, failed: 0) ?? .allPlayed }
}
