// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The effect of time on breaks, and the choice of the break to show.
@Suite(.suiteLimit)
struct BreakScheduleTests {
    /// A desk with a schedule that follows it.
    private struct Followed {
        var desk = Desk()
        var schedule: BreakSchedule

        init() {
            self.schedule = BreakSchedule(self.desk.board, at: Sample.t0)
        }

        mutating func ask(_ kind: BroadcastRequest.Kind, _ id: String, at seconds: Double) {
            _ = self.desk.ask(kind, at: seconds)
            self.note(id, at: seconds)
        }

        mutating func note(_ id: String, at seconds: Double) {
            guard let each = self.desk[id] else { return }
            self.schedule.note(each, at: Sample.at(seconds))
        }

        /// The events so far, as `ID STATE`.
        mutating func turned(at seconds: Double) -> [String] {
            self.schedule.turned(on: self.desk.board, at: Sample.at(seconds))
                .map { "\($0.key.id) \($0.state(at: Sample.at(seconds)).name)" }
        }
    }

    @Test func `a break begins and is over at its instants, once each`() {
        var followed = Followed()
        followed.ask(.publish(Sample.publish(start: .after(.seconds(5)))), "b1", at: 0)
        #expect(followed.turned(at: 4.999_999).isEmpty)
        #expect(followed.schedule.runningCount == 0)
        #expect(followed.turned(at: 5) == ["b1 live"])
        #expect(followed.schedule.runningCount == 1)
        #expect(followed.turned(at: 34.999_999).isEmpty)
        #expect(followed.turned(at: 35) == ["b1 complete"])
        #expect(followed.schedule.runningCount == 0 && followed.schedule.entryCount == 0)
        #expect(followed.turned(at: 1_000_000).isEmpty)
    }

    @Test func `a late look sees the present state`() {
        var followed = Followed()
        followed.ask(.publish(Sample.publish(start: .after(.seconds(5)))), "b1", at: 0)
        #expect(followed.turned(at: 40) == ["b1 complete"])
    }

    @Test func `a changed break turns at its new instants only`() {
        var followed = Followed()
        followed.ask(.publish(Sample.publish(start: .now)), "b1", at: 0)
        #expect(followed.schedule.runningCount == 1)
        followed.ask(.update(.init(key: Sample.key(), duration: .seconds(60))), "b1", at: 10)
        #expect(followed.turned(at: 30).isEmpty)
        #expect(followed.turned(at: 59.999_999).isEmpty)
        #expect(followed.turned(at: 60) == ["b1 complete"])
    }

    @Test func `a cancelled or ended break turns no more`() {
        var followed = Followed()
        followed.ask(.publish(Sample.publish(start: .after(.seconds(5)))), "b1", at: 0)
        followed.ask(.cancel(Sample.key()), "b1", at: 6)
        #expect(followed.schedule.runningCount == 0)
        #expect(followed.turned(at: 100).isEmpty)
        followed.ask(.publish(Sample.publish("b2", start: .now)), "b2", at: 100)
        followed.ask(.end(.init(key: Sample.key("b2"))), "b2", at: 110)
        #expect(followed.schedule.runningCount == 0)
        #expect(followed.turned(at: 200).isEmpty)
    }

    @Test func `a scheduled break turns once it is announced, and a cued one once it is punched`() {
        var followed = Followed()
        followed.ask(.publish(Sample.publish()), "b1", at: 0)
        followed.ask(.publish(Sample.publish("cued", start: nil, duration: .seconds(10))), "cued", at: 0)
        #expect(followed.schedule.entryCount == 0)
        followed.desk.tick(at: 12)
        followed.note("b1", at: 12)
        #expect(followed.turned(at: 20) == ["b1 live"])
        followed.ask(.punch(.init(key: Sample.key("cued"), start: .at(Sample.at(60)))), "cued", at: 55)
        #expect(followed.turned(at: 59) == ["b1 complete"])
        #expect(followed.turned(at: 60) == ["cued live"])
        #expect(followed.turned(at: 70) == ["cued complete"])
    }

    @Test func `after a start everything that is open has its place`() {
        var followed = Followed()
        followed.ask(.publish(Sample.publish("runs", start: .now)), "runs", at: 0)
        followed.ask(.publish(Sample.publish("soon", start: .after(.seconds(40)))), "soon", at: 1)
        followed.desk.tick(at: 33)
        followed.schedule = BreakSchedule(followed.desk.board, at: Sample.at(29))
        #expect(followed.schedule.runningCount == 1)
        #expect(followed.turned(at: 30) == ["runs complete"])
        #expect(followed.turned(at: 41) == ["soon live"])
        // What was over is over.
        let later = BreakSchedule(followed.desk.board, at: Sample.at(1_000))
        #expect(later.runningCount == 0 && later.entryCount == 0)
    }

    @Test func `the schedule is bounded by the open breaks, however often they change`() {
        var followed = Followed()
        followed.ask(.publish(Sample.publish(start: .now)), "b1", at: 0)
        for number in 1...1_000 {
            let duration: Duration = .seconds(1_000 + number)
            followed.ask(.update(.init(key: Sample.key(), duration: duration)), "b1", at: 1)
        }
        #expect(followed.schedule.entryCount <= 2 + 64)
        #expect(followed.turned(at: 1_999).isEmpty)
        #expect(followed.turned(at: 2_000) == ["b1 complete"])
    }

    // MARK: The break to show

    @Test func `a stream shows what runs, else what is announced, else what was last, else what comes`() {
        var desk = Desk()
        func seen(at seconds: Double) -> String? {
            desk.board.stream(Sample.stream)?.focus(at: Sample.at(seconds))?.key.id.description
        }
        func present(at seconds: Double) -> [String?] {
            let present = desk.board.stream(Sample.stream)?.present(at: Sample.at(seconds))
            return [present?.running, present?.next].map { $0?.key.id.description }
        }
        #expect(seen(at: 0) == nil)
        _ = desk.ask(.publish(Sample.publish("later", start: .at(Sample.at(500)))), at: 0)
        #expect(seen(at: 0) == "later" && present(at: 0) == [nil, "later"])
        _ = desk.ask(.publish(Sample.publish("soon", start: .at(Sample.at(5)))), at: 0)
        #expect(seen(at: 0) == "soon" && present(at: 0) == [nil, "soon"])
        #expect(seen(at: 5) == "soon" && present(at: 5) == ["soon", "later"])
        #expect(seen(at: 34.999_999) == "soon")
        #expect(seen(at: 35) == "soon" && present(at: 35) == [nil, "later"])
        _ = desk.ask(.publish(Sample.publish("cued", start: nil)), at: 40)
        // A break with a start comes before one without, but it was not announced yet.
        #expect(seen(at: 40) == "soon" && present(at: 40) == [nil, "later"])
        _ = desk.ask(.cancel(Sample.key("later")), at: 50)
        #expect(seen(at: 50) == "cued" && present(at: 50) == [nil, "cued"])
        _ = desk.ask(.cancel(Sample.key("cued")), at: 60)
        #expect(seen(at: 60) == "cued", "it was over last")
        #expect(present(at: 60) == [nil, nil])
    }

    @Test func `the open breaks are those that are not over`() {
        var desk = Desk()
        func open(at seconds: Double) -> [String] {
            desk.board.stream(Sample.stream)?.open(at: Sample.at(seconds)).map(\.key.id.description) ?? []
        }
        _ = desk.ask(.publish(Sample.publish("cued", start: nil)), at: 0)
        _ = desk.ask(.publish(Sample.publish("later", start: .at(Sample.at(500)))), at: 0)
        _ = desk.ask(.publish(Sample.publish("pre", start: nil, preStream: true, hold: .seconds(100))), at: 0)
        _ = desk.ask(.publish(Sample.publish("runs", start: .now)), at: 0)
        #expect(open(at: 0) == ["cued", "later", "pre", "runs"])
        #expect(open(at: 29.999_999) == ["cued", "later", "pre", "runs"])
        #expect(open(at: 30) == ["cued", "later", "pre"])
        #expect(open(at: 100) == ["cued", "later"])
        _ = desk.ask(.cancel(Sample.key("later")), at: 110)
        #expect(open(at: 110) == ["cued"])
    }
}
