// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Testing

@_spi(Tracking) @testable import Cuecast

/// A server that takes, refuses or loses calls, and an app that dies between any two actions.
///
/// Whatever happens: no call is sent again unless it is known that the server did not take it, each call that was intended
/// ends with a status, and only the first of each kind of event is called. `CUECAST_SEED=…` repeats one history.
@Suite(.suiteLimit)
struct TrackingRandomScheduleTests {
    static var seeds: [UInt64] {
        if let text = ProcessInfo.processInfo.environment["CUECAST_SEED"], let seed = UInt64(text) { return [seed] }
        var generator = SystemRandomNumberGenerator()
        return Array(1...40) + (0..<20).map { _ in UInt64.random(in: 1_000...9_999_999, using: &generator) }
    }

    @Test(arguments: Self.seeds)
    func `an app that dies at any moment never calls twice and loses nothing in silence`(seed: UInt64) {
        var history = TrackingHistory(seed: seed)
        history.run()
        #expect(history.faults == [], "seed \(seed)")
        #expect(history.ended > 0 || history.intended == 0, "seed \(seed)")
    }

    @Test func `histories reach every end`() {
        var ends: Set<String> = []
        for seed in 1...60 as ClosedRange<UInt64> {
            var history = TrackingHistory(seed: seed)
            history.run()
            ends.formUnion(history.ends)
        }
        #expect(ends == ["sent", "refused", "attemptsExhausted", "uncertain", "tooOld", "tooManyPending"])
    }
}

/// One life after another of an app, with what must be true of all of them together.
private struct TrackingHistory {
    private struct Call {
        var isStatusKnown = false
        /// Whether it is not known if the last attempt got through.
        var mayHaveArrived = false
    }

    private var jitter: JitterSource
    private var journal: [[UInt8]] = []
    private var inFlight: [UInt64] = []
    private var calls: [UInt64: Call] = [:]
    private var keys: Set<UInt64> = []
    private var now = 0.0
    private let limits: TrackingLimits
    private let deathPercent: Int
    private(set) var faults: [String] = []
    private(set) var ends: Set<String> = []

    var intended: Int { self.calls.count }
    var ended: Int { self.calls.values.count { $0.isStatusKnown } }

    init(seed: UInt64) {
        self.jitter = JitterSource(seed: seed)
        var limits = TrackingLimits()
        limits.pendingMax = Int.random(in: 1...40, using: &self.jitter)
        limits.inFlightMax = Int.random(in: 1...4, using: &self.jitter)
        limits.attemptsMax = Int.random(in: 1...4, using: &self.jitter)
        limits.ageMax = .seconds(Int.random(in: 5...200, using: &self.jitter))
        self.limits = limits
        self.deathPercent = Int.random(in: 0...8, using: &self.jitter)
    }

    mutating func run() {
        for life in 0..<6 { self.live(isLast: life == 5) }
        for (id, call) in self.calls.sorted(by: { $0.key < $1.key }) where !call.isStatusKnown {
            self.faults.append("call \(id) was lost in silence")
        }
    }

    /// One life of the app; the last one goes on until nothing is pending.
    private mutating func live(isLast: Bool) {
        let entries = self.journal.compactMap { TrackingEntry(decoding: $0) }
        if entries.count != self.journal.count { self.faults.append("an entry was not read") }
        self.inFlight = []
        var configuration = TrackingConfiguration.testing()
        configuration.limits = self.limits
        var bench = TrackingBench(configuration, restoring: entries)
        var steps = 0
        while steps < 60 || (isLast && bench.queue.count > 0 && steps < 10_000) {
            steps += 1
            self.now += Double.random(in: 0...3, using: &self.jitter)
            let isAlive = self.perform(self.step(&bench, isQuiet: steps >= 60), mayDie: !isLast)
            guard isAlive, self.perform(self.due(&bench), mayDie: !isLast) else { return }
        }
        if isLast, bench.queue.count > 0 { self.faults.append("\(bench.queue.count) calls never end") }
    }

    private func due(_ bench: inout TrackingBench) -> [TrackingQueue.Action] {
        bench.advance(self.now) + bench.due(self.now)
    }

    /// Something that happens: a report, a click or an answer.
    private mutating func step(_ bench: inout TrackingBench, isQuiet: Bool) -> [TrackingQueue.Action] {
        let ad = tracked("a\(Int.random(in: 0...6, using: &self.jitter))")
        switch Int.random(in: isQuiet ? 4...9 : 0...9, using: &self.jitter) {
        case 0...2:
            let reports: [AdvertisementReport] = [
                .started, .quartile(Int.random(in: 1...4, using: &self.jitter)), .completed, .failed(vastError: 405),
                .skipped, .muted, .unmuted, .paused, .resumed,
            ]
            guard let report = reports.randomElement(using: &self.jitter) else { return [] }
            return bench.report(report, ad, at: .at(self.now))
        case 3: return bench.tell(self.now, TrackingEvents.clicked, ad)
        default:
            guard let id = self.inFlight.randomElement(using: &self.jitter) else { return [] }
            self.inFlight.removeAll { $0 == id }
            let results: [TrackingResult] = [
                .answered(status: 200), .answered(status: 404), .answered(status: 503),
                .answered(status: 429, retryAfter: .seconds(Int.random(in: 0...20, using: &self.jitter))),
                .couldNotConnect("no"), .couldNotConnect("no"), .uncertain("lost"),
            ]
            guard let result = results.randomElement(using: &self.jitter) else { return [] }
            switch result {
            case .answered(status: 503, _), .answered(status: 429, _), .couldNotConnect:
                self.calls[id]?.mayHaveArrived = false
            default: break
            }
            return bench.finished(id, result, self.now)
        }
    }

    /// Performs actions until the app dies; whether it lives.
    private mutating func perform(_ actions: [TrackingQueue.Action], mayDie: Bool) -> Bool {
        for action in actions {
            if mayDie, Int.random(in: 0..<100, using: &self.jitter) < self.deathPercent { return false }
            switch action {
            case .journal(let entry):
                self.journal.append(entry.encoded())
                guard case .intended(let intent) = entry else { continue }
                if self.calls[intent.id] != nil { self.faults.append("the id \(intent.id) was used twice") }
                if !self.keys.insert(intent.key).inserted { self.faults.append("\(intent.url) was intended twice") }
                self.calls[intent.id] = Call()
            case .send(let request):
                if self.calls[request.id]?.mayHaveArrived != false {
                    self.faults.append("call \(request.id) was sent again")
                }
                self.calls[request.id]?.mayHaveArrived = true
                self.inFlight.append(request.id)
            case .status(let status):
                guard let end = Self.end(status.state) else { continue }
                self.ends.insert(end)
                self.calls[status.id]?.isStatusKnown = true
            case .forget(let ids):
                self.journal.removeAll { bytes in TrackingEntry(decoding: bytes).map { ids.contains($0.id) } ?? true }
            }
        }
        return true
    }

    private static func end(_ state: TrackingStatus.State) -> String? {
        switch state {
        case .pending, .sending: nil
        case .sent: "sent"
        case .uncertain: "uncertain"
        case .failed(.refused): "refused"
        case .failed(.attemptsExhausted): "attemptsExhausted"
        case .failed(.tooOld): "tooOld"
        case .failed(.tooManyPending): "tooManyPending"
        case .failed: "other"
        }
    }
}
