// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// One interval of a stream at a time.
@Suite(.suiteLimit)
struct OverlapTests {
    private func publish(_ id: String, _ start: Double, _ seconds: Double?) -> BroadcastRequest.Kind {
        .publish(
            Sample.publish(
                id,
                start: .at(Sample.at(start)),
                duration: seconds.map { .milliseconds(Int64($0 * 1_000)) }
            )
        )
    }

    /// The first break holds 100 to 130.
    @Test(arguments: [
        (70, 30, "silently"), (130, 30, "silently"), (70, 30.001, "BREAK_OVERLAP"), (129.999, 1, "BREAK_OVERLAP"),
        (100, 30, "BREAK_OVERLAP"), (110, 5, "BREAK_OVERLAP"), (90, 60, "BREAK_OVERLAP"), (10, 5, "silently"),
    ])
    func `breaks may touch and not overlap`(start: Double, seconds: Double, word: String) {
        var desk = Desk()
        _ = desk.ask(self.publish("first", 100, 30), at: 0)
        let reply = desk.ask(self.publish("second", start, seconds), at: 0)
        #expect(reply.word == word)
        if let refusal = reply.refusal {
            #expect(refusal.sentence.contains("first"))
            #expect(refusal.sentence.contains("\(Sample.at(100)) to \(Sample.at(130))"))
            #expect(desk["second"] == nil)
        }
    }

    @Test func `another stream has its own time`() {
        var desk = Desk()
        _ = desk.ask(self.publish("first", 100, 30), at: 0)
        let other = Sample.publish("first", of: Sample.stream("radio10"), start: .at(Sample.at(100)))
        #expect(desk.ask(.publish(other), at: 0).word == "silently")
    }

    @Test func `a break without a duration holds its longest time`() {
        var desk = Desk()
        _ = desk.ask(self.publish("first", 100, nil), at: 0)
        #expect(desk.ask(self.publish("second", 399.999, 1), at: 0).word == "BREAK_OVERLAP")
        #expect(desk.ask(self.publish("third", 400, 1), at: 0).word == "silently")
    }

    @Test func `pre-stream breaks and cued ones hold no time`() {
        var desk = Desk()
        _ = desk.ask(self.publish("first", 100, 30), at: 0)
        #expect(desk.ask(.publish(Sample.publish("pre", start: nil, preStream: true)), at: 0).word == "available")
        #expect(desk.ask(.publish(Sample.publish("cued", start: nil)), at: 0).word == "available")
        #expect(desk.ask(self.publish("second", 130, 30), at: 0).word == "silently")
        #expect(desk["pre"]?.interval == nil)
        #expect(desk["cued"]?.interval == nil)
    }

    @Test func `a punch must not take another break's time`() {
        var desk = Desk()
        _ = desk.ask(self.publish("first", 100, 30), at: 0)
        _ = desk.ask(.publish(Sample.publish("cued", start: nil, duration: .seconds(20))), at: 0)
        let before = desk["cued"]
        let punch = BroadcastRequest.Kind.punch(.init(key: Sample.key("cued"), start: .at(Sample.at(81))))
        #expect(desk.ask(punch, at: 5).word == "BREAK_OVERLAP")
        #expect(desk["cued"] == before, "it is still cued")
        let fits = BroadcastRequest.Kind.punch(.init(key: Sample.key("cued"), start: .at(Sample.at(80))))
        #expect(desk.ask(fits, at: 5).word == "updated")
        #expect(desk["cued"]?.interval == Sample.at(80)..<Sample.at(100))
    }

    @Test func `an update must not take another break's time`() {
        var desk = Desk()
        _ = desk.ask(self.publish("first", 100, 30), at: 0)
        _ = desk.ask(self.publish("second", 130, 30), at: 0)
        let key = Sample.key("first")
        #expect(desk.ask(.update(.init(key: key, duration: .milliseconds(30_001))), at: 1).word == "BREAK_OVERLAP")
        #expect(desk.ask(.update(.init(key: key, start: .at(Sample.at(100.001)))), at: 1).word == "BREAK_OVERLAP")
        #expect(desk.ask(.update(.init(key: key, start: .at(Sample.at(99)))), at: 1).word == "silently")
        #expect(desk.ask(.update(.init(key: key, duration: .seconds(31))), at: 1).word == "silently")
    }

    @Test func `a cancelled or ended break frees its time`() {
        var desk = Desk()
        _ = desk.ask(self.publish("first", 5, 30), at: 0)
        #expect(desk.ask(self.publish("second", 20, 10), at: 0).word == "BREAK_OVERLAP")
        #expect(desk.ask(.end(.init(key: Sample.key("first"), at: Sample.at(20))), at: 6).word == "ended")
        #expect(desk.ask(self.publish("second", 20, 10), at: 6).word == "silently")
        #expect(
            desk.ask(.update(.init(key: Sample.key("first"), duration: .seconds(16))), at: 6).word == "BREAK_OVERLAP"
        )
        #expect(desk.ask(.cancel(Sample.key("second")), at: 6).word == "silently")
        #expect(desk.ask(.update(.init(key: Sample.key("first"), duration: .seconds(16))), at: 6).word == "updated")
        #expect(desk["first"]?.end == Sample.at(21), "the new duration stands for the end that was set")
    }

    @Test func `of what was planned at once, the first in the log stands`() {
        var desk = Desk()
        var entries: [BreakEntry] = []
        // Every gateway plans on the board that it has: none of these knows of the others.
        for id in ["first", "first", "second"] {
            let request = BroadcastRequest(id: 1, kind: self.publish(id, 100, 30))
            let plan = desk.planner.plan(request, by: .all(named: id), on: desk.board, at: Sample.at(0), listeners: 0)
            guard case .append(let entry) = plan else {
                Issue.record("\(plan)")
                return
            }
            entries.append(entry)
        }
        #expect(desk.append(entries).map(\.word) == ["silently", "unchanged", "BREAK_OVERLAP"])
        #expect(desk["second"] == nil)
        #expect(desk["first"]?.number == BreakGroup.breakNumber(offset: 1, index: 0))
    }
}
