// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The log's own time decides what is too old; only records of housekeeping advance it, in bounded steps.
@Suite(.suiteLimit)
struct RetentionTests {
    private static let step = BoardLimits.retentionStepMax.inSeconds

    private func housekeeping(_ seconds: Double, at: Double? = nil) -> BreakEntry {
        BreakEntry(at: Sample.at(at ?? seconds), kind: .housekeeping(Sample.at(seconds)))
    }

    @Test func `time begins with the first entry and goes on with housekeeping, a step at a time and never back`() {
        var desk = Desk()
        #expect(!desk.board.hasTime)
        #expect(desk.board.retentionTime == Timestamp(microseconds: .min))
        _ = desk.ask(.publish(Sample.publish()), at: 10)
        #expect(desk.board.retentionTime == Sample.at(10))
        _ = desk.ask(.publish(Sample.publish("b2", start: nil)), at: 500)
        #expect(desk.board.retentionTime == Sample.at(10), "an entry takes it no further")
        #expect(desk.board.newestTime == Sample.at(500))
        desk.append([self.housekeeping(10 + Self.step)])
        #expect(desk.board.retentionTime == Sample.at(10 + Self.step), "a whole step")
        desk.append([self.housekeeping(10 + 2 * Self.step + 0.000_001)])
        #expect(desk.board.retentionTime == Sample.at(10 + 2 * Self.step), "no more than a step")
        desk.append([self.housekeeping(5)])
        #expect(desk.board.retentionTime == Sample.at(10 + 2 * Self.step), "never back")
        desk.append([BreakEntry(at: .latest, kind: .housekeeping(.latest))])
        #expect(desk.board.retentionTime == Sample.at(10 + 3 * Self.step))
    }

    @Test func `a clock that is wrong by 401 days retires nothing`() {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: .now)), at: 0)
        let wrong = 401 * 86_400.0
        _ = desk.ask(.publish(Sample.publish("b2", start: .now)), at: wrong)
        for _ in 0..<7 * 24 { desk.append([self.housekeeping(wrong)]) }
        #expect(desk["b1"] != nil, "a week of steps is less than it is kept")
        #expect(desk.board.retentionTime == Sample.at(7 * 86_400))
    }

    @Test func `the log's own time is in the snapshot`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: .now)), at: 0)
        _ = desk.ask(.publish(Sample.publish("b2", of: Sample.stream("radio2"), start: nil)), at: 70)
        desk.append([self.housekeeping(20)])
        let record = try BoardRecord(decoding: desk.board.record.encoded())
        #expect(record.retention == desk.board.retentionTime && record.newest == desk.board.newestTime)
        #expect(Board(epoch: Sample.epoch, record) == desk.board)
        #expect(!Board(epoch: Sample.epoch, BoardRecord(offset: 0, streams: [])).hasTime)
    }

    @Test func `of several gateways one appends housekeeping, and the next one where that stays away`() {
        func elapsed(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish(start: nil)), at: 0)
        func isDue(_ schedule: inout HousekeepingSchedule, _ seconds: Int64, rank: Int) -> Bool {
            let entry = schedule.entry(
                on: desk.board,
                at: Sample.at(9_999),
                elapsed: elapsed(seconds),
                mayAdvance: true,
                rank: rank
            )
            return entry != nil
        }
        for rank in 0...3 {
            var schedule = HousekeepingSchedule(elapsed: elapsed(0))
            let due = 60 + 3 * Int64(rank)
            #expect(isDue(&schedule, due - 1, rank: rank) == false)
            // It sees that of another one, and begins to wait anew.
            var other = schedule
            other.saw(elapsed: elapsed(due - 1))
            #expect(isDue(&other, due, rank: rank) == false)
            #expect(isDue(&other, due - 1 + due, rank: rank) == true)
            #expect(isDue(&schedule, due, rank: rank) == true)
        }
    }

    @Test func `a gateway appends housekeeping seldom, one at a time, and not while its clock is in doubt`() {
        func elapsed(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }
        var schedule = HousekeepingSchedule(elapsed: elapsed(0))
        var desk = Desk()
        #expect(schedule.entry(on: desk.board, at: Sample.at(100), elapsed: elapsed(100), mayAdvance: true) == nil)
        _ = desk.ask(.publish(Sample.publish(start: nil)), at: 0)
        // Nothing is due: only after a longer pause.
        #expect(schedule.entry(on: desk.board, at: Sample.at(599), elapsed: elapsed(599), mayAdvance: true) == nil)
        #expect(schedule.entry(on: desk.board, at: Sample.at(600), elapsed: elapsed(600), mayAdvance: false) == nil)
        let first = schedule.entry(on: desk.board, at: Sample.at(600), elapsed: elapsed(600), mayAdvance: true)
        #expect(first == self.housekeeping(600))
        #expect(schedule.entry(on: desk.board, at: Sample.at(9_999), elapsed: elapsed(9_999), mayAdvance: true) == nil)
        schedule.answered(nil)
        // It is behind by more than a pause: once a pause, by monotonic time.
        #expect(schedule.entry(on: desk.board, at: Sample.at(9_999), elapsed: elapsed(659), mayAdvance: true) == nil)
        #expect(schedule.entry(on: desk.board, at: Sample.at(9_999), elapsed: elapsed(660), mayAdvance: true) != nil)
        schedule.answered(Housekeeping(hasMore: true))
        // What was left over goes at once, and takes no time on.
        let rest = schedule.entry(on: desk.board, at: Sample.at(9_999), elapsed: elapsed(660), mayAdvance: false)
        #expect(rest?.kind == .housekeeping(desk.board.retentionTime))
    }
}
