// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// When listeners ask: evenly, and in time.
@Suite(.suiteLimit)
struct RequestWindowTests {
    private let policy = BreakPolicy()
    private let opens = Sample.t0

    private func length(_ window: RequestWindow) -> Duration { window.by - window.from }

    @Test func `with lead it lies between the announcement and the start`() {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<400 {
            let lead = Duration.microseconds(generator.number(1...60_000_000))
            let listeners = generator.number(0...2_000_000)
            let window = self.policy.window(opens: self.opens, start: self.opens + lead, listeners: listeners)
            let said = "CUECAST_SEED=\(SeededGenerator.seed) lead \(lead) listeners \(listeners)"
            #expect(window.from == self.opens, "\(said)")
            #expect(window.by >= window.from, "\(said)")
            #expect(window.by < self.opens + lead, "\(said)")
            if lead >= .seconds(2) {
                #expect(window.by <= self.opens + lead - self.policy.windowEndsAhead, "media can be fetched: \(said)")
            }
        }
    }

    @Test func `it is as long as the gateway needs for so many listeners`() {
        let start = self.opens + .seconds(8)
        func window(_ listeners: Int) -> Duration {
            self.length(self.policy.window(opens: self.opens, start: start, listeners: listeners))
        }
        #expect(window(0) == .seconds(2), "a quarter of the lead at least")
        #expect(window(40_000) == .seconds(2))
        #expect(window(50_000) == .milliseconds(2_500))
        #expect(window(100_000) == .seconds(5))
        #expect(window(140_000) == .seconds(7))
        #expect(window(1_000_000) == .seconds(7), "it ends a second before the start")
        var last = Duration.zero
        for listeners in stride(from: 0, through: 300_000, by: 1_000) {
            #expect(window(listeners) >= last)
            last = window(listeners)
        }
    }

    @Test func `half of a short lead is for asking`() {
        let window = self.policy.window(opens: self.opens, start: self.opens + .seconds(1), listeners: 1_000_000)
        #expect(self.length(window) == .milliseconds(500))
    }

    @Test(arguments: [0, -1, -60_000_000])
    func `without lead it opens at once and stays short`(lead: Int) {
        let start = self.opens + .microseconds(lead)
        let few = self.policy.window(opens: self.opens, start: start, listeners: 10)
        #expect(few.from == self.opens)
        #expect(self.length(few) == .microseconds(500))
        let many = self.policy.window(opens: self.opens, start: start, listeners: 10_000_000)
        #expect(self.length(many) == self.policy.windowLateMax)
    }

    @Test func `cued and pre-stream breaks have half of their hold at most`() {
        let own = self.policy.window(opens: self.opens, start: nil, listeners: 10_000_000, hold: .seconds(10))
        #expect(self.length(own) == .seconds(5))
        let usual = self.policy.window(opens: self.opens, start: nil, listeners: 1_000_000_000)
        #expect(self.length(usual) == self.policy.hold / 2)
        let few = self.policy.window(opens: self.opens, start: nil, listeners: 20_000)
        #expect(self.length(few) == .seconds(1))
    }

    @Test func `a request window ends within the hold, given or default`() {
        var desk = Desk()
        desk.listeners = 10_000_000
        let publish = Sample.publish(start: nil, hold: .seconds(10))
        let notice = desk.ask(.publish(publish), at: 0).notice
        #expect(notice?.window == RequestWindow(from: Sample.at(0), by: Sample.at(5)))
    }

    @Test func `the window counts the listeners of the time of the announcement`() {
        var desk = Desk()
        desk.listeners = 10
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        desk.listeners = 100_000
        desk.tick(at: 12)
        #expect(desk.notices.last?.notice.window == RequestWindow(from: Sample.at(12), by: Sample.at(17)))
    }

    @Test func `a new start has a new window`() {
        var desk = Desk()
        desk.listeners = 1_000_000
        _ = desk.ask(.publish(Sample.publish(start: .after(.seconds(5)))), at: 0)
        #expect(desk["b1"]?.record.window == RequestWindow(from: Sample.at(0), by: Sample.at(4)))
        _ = desk.ask(.update(.init(key: Sample.key(), start: .at(Sample.at(11)))), at: 1)
        #expect(desk["b1"]?.record.window == RequestWindow(from: Sample.at(3), by: Sample.at(10)))
    }
}
