// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The work that time makes due, derived from the board each time.
@Suite(.suiteLimit)
struct BreakTimerTests {
    private func due(_ desk: Desk, _ seconds: Double) -> (entries: [BreakEntry], next: Timestamp?) {
        BreakTimers(policy: desk.planner.policy).due(on: desk.board, at: Sample.at(seconds)) { _ in desk.listeners }
    }

    @Test func `an announcement falls due at its instant, and says when to look again`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        let before = self.due(desk, 11.999_999)
        #expect(before.entries.isEmpty)
        #expect(before.next == Sample.at(12))
        let at = self.due(desk, 12)
        #expect(at.entries.count == 1)
        #expect(at.next == nil)
        #expect(at.entries.first?.at == Sample.at(12))
        #expect(desk.tick(at: 12).map(\.word) == ["available"])
        #expect(self.due(desk, 12).entries.isEmpty)
        #expect(self.due(desk, 12).next == nil, "nothing more falls due about it")
    }

    @Test func `the next instant is the earliest of all`() {
        var desk = Desk()
        #expect(self.due(desk, 0).next == nil)
        _ = desk.ask(.publish(Sample.publish("late", start: .at(Sample.at(500)))), at: 0)
        _ = desk.ask(.publish(Sample.publish("early", start: .at(Sample.at(100)))), at: 0)
        _ = desk.ask(
            .publish(Sample.publish("cued", of: Sample.stream("radio2"), start: nil, hold: .seconds(70))),
            at: 0
        )
        #expect(self.due(desk, 1).next == Sample.at(70))
        desk.tick(at: 70)
        #expect(self.due(desk, 70).next == Sample.at(92))
        _ = desk.ask(.cancel(Sample.key("early")), at: 71)
        #expect(self.due(desk, 71).next == Sample.at(492))
        _ = desk.ask(.update(.init(key: Sample.key("late"), start: .at(Sample.at(400)))), at: 72)
        #expect(self.due(desk, 72).next == Sample.at(392))
    }

    @Test func `a pre-stream break and a break under way need no timer`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish("pre", start: nil, preStream: true)), at: 0)
        _ = desk.ask(.publish(Sample.publish("live", start: .now)), at: 0)
        #expect(self.due(desk, 100_000).entries.isEmpty)
        #expect(self.due(desk, 100_000).next == nil)
        #expect(desk["pre"]?.state(at: Sample.at(1_800)) == .complete)
        #expect(desk["live"]?.state(at: Sample.at(30)) == .complete)
    }

    /// The break plays from 20 to 50.
    @Test(arguments: [(12, "available"), (49.999_999, "available"), (50, "silently"), (1_000_000, "silently")])
    func `after a long stop an announcement goes out if the break can still be played`(seconds: Double, word: String) {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        // The gateway was down: all that it knows comes from its snapshot.
        desk = Desk(Board(epoch: Sample.epoch, desk.board.record))
        #expect(desk.tick(at: seconds).map(\.word) == [word])
        let state = desk["b1"]?.state(at: Sample.at(seconds))
        #expect(state == (word == "silently" ? .expired : seconds < 20 ? .announced : .live))
        #expect(desk.board.position(of: Sample.stream).sequence == (word == "silently" ? 0 : 1))
    }

    @Test func `a break without a duration expires at its longest time`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(duration: nil)), at: 0)
        var late = desk
        #expect(desk.tick(at: 319.999_999).map(\.word) == ["available"])
        #expect(late.tick(at: 320).map(\.word) == ["silently"])
    }

    @Test func `a cued break whose hold is over is withdrawn, and says why`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: nil, hold: .seconds(60))), at: 0)
        #expect(self.due(desk, 59.999_999).entries.isEmpty)
        #expect(self.due(desk, 59.999_999).next == Sample.at(60))
        #expect(desk.tick(at: 60).map(\.word) == ["cancelled"])
        #expect(desk.notices.last?.notice.cancelReason == .notStarted)
        #expect(desk["b1"]?.state(at: Sample.at(60)) == .expired)
        #expect(desk["b1"]?.summary.expired == true)
    }

    @Test func `a punched break has no timer left`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: nil, hold: .seconds(60))), at: 0)
        _ = desk.ask(.punch(.init(key: Sample.key())), at: 59)
        #expect(self.due(desk, 60).entries.isEmpty)
        #expect(desk["b1"]?.end == Sample.at(91))
        #expect(desk.ask(.cancel(Sample.key()), at: 60).notice?.cancelReason == .broadcaster)
    }

    @Test func `a repeat of a timer's record has no effect`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish("b1")), at: 0)
        _ = desk.ask(.publish(Sample.publish("b2", start: nil, hold: .seconds(12))), at: 0)
        let entries = self.due(desk, 12).entries
        #expect(desk.append(entries).map(\.word).sorted() == ["available", "cancelled"])
        let board = desk.board
        #expect(desk.append(entries + entries).map(\.word) == Array(repeating: "unchanged", count: 4))
        #expect(desk.board.sequences == board.sequences)
    }

    @Test func `the longest wait is served first, whatever the stream`() {
        var desk = Desk()
        for (stream, start) in [("c", 30), ("a", 20), ("b", 25)] {
            let publish = Sample.publish("b1", of: Sample.stream(stream), start: .at(Sample.at(Double(start))))
            _ = desk.ask(.publish(publish), at: 0)
        }
        let due = self.due(desk, 40)
        #expect(due.entries.compactMap(\.key?.stream.description) == ["a", "b", "c"])
    }

    @Test func `the listeners of each stream are counted for its window`() {
        var desk = Desk()
        for stream in ["a", "b"] { _ = desk.ask(.publish(Sample.publish("b1", of: Sample.stream(stream))), at: 0) }
        let due = BreakTimers(policy: BreakPolicy())
            .due(on: desk.board, at: Sample.at(12)) { stream in
                stream == Sample.stream("a") ? 60_000 : 0
            }
        let windows = due.entries.compactMap { entry -> Duration? in
            guard case .announce(_, _, let window) = entry.kind else { return nil }
            return window.by - window.from
        }
        #expect(windows == [.seconds(3), .seconds(2)])
    }

    @Test func `the index of what waits is that of a board made anew`() {
        var broadcasters = RandomBroadcasters(for: #function)
        var desk = Desk()
        for _ in 0..<150 {
            broadcasters.pass()
            if broadcasters.generator.bool() { desk.tick(at: broadcasters.now) }
            _ = desk.ask(broadcasters.request(), at: broadcasters.now)
            let plain = desk.board.keys.compactMap { desk.board[$0]?.timer }
            let due = BreakTimers(policy: BreakPolicy()).due(on: desk.board, at: broadcasters.now) { _ in 0 }
            #expect(due.entries.count == plain.count { $0 <= broadcasters.now })
            #expect(due.next == plain.filter { $0 > broadcasters.now }.min())
        }
    }
}
