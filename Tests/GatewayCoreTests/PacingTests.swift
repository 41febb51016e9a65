// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

@Suite(.suiteLimit)
struct GroupPacerTests {
    /// With 10 requests to a group and 3 appends under way at most.
    @Test(arguments: [
        // in flight, gathered, closes
        (0, 0, false), (0, 1, true), (0, 9, true), (0, 10, true), (0, 1_000, true),
        (1, 0, false), (1, 1, false), (1, 9, false), (1, 10, true), (1, 11, true),
        (2, 9, false), (2, 10, true), (3, 10, false), (3, 1_000_000, false),
    ])
    func `a group closes when the log is idle, or when it is full`(inFlight: Int, gathered: Int, closes: Bool) {
        var pacer = GroupPacer(groupRequestsMax: 10, groupsInFlightMax: 3)
        for _ in 0..<inFlight { pacer.opened() }
        #expect(pacer.inFlight == inFlight)
        #expect(pacer.closes(gathered: gathered) == closes)
    }

    @Test func `a group that is answered lets the next one close`() {
        var pacer = GroupPacer()
        pacer.opened()
        #expect(!pacer.closes(gathered: 999))
        #expect(pacer.closes(gathered: 1_000))
        pacer.completed()
        #expect(pacer.closes(gathered: 1))
    }

    @Test func `an answer too many is our mistake`() async {
        await #expect(processExitsWith: .failure) {
            var pacer = GroupPacer()
            pacer.completed()
        }
        await #expect(processExitsWith: .failure) { _ = GroupPacer(groupRequestsMax: 0) }
    }
}

/// When a stream's position is repeated.
@Suite(.suiteLimit)
struct HeadScheduleTests {
    /// At which of the looks, every so often, the position is repeated.
    private func repeats(
        _ schedule: inout HeadSchedule,
        from: Double = 0,
        until: Double,
        every step: Double = 0.25,
        pushed: Bool = false
    ) -> [Double] {
        var repeats: [Double] = []
        for tick in 0...Int((until - from) / step) {
            let now = from + Double(tick) * step
            for due in schedule.due(at: Sample.at(now)) where due.isForPushed || !pushed {
                #expect(due.stream == Sample.stream)
                repeats.append(now)
            }
        }
        return repeats
    }

    @Test func `a quiet stream is repeated at every interval from its first subscription on`() {
        var schedule = HeadSchedule(interval: .seconds(5))
        schedule.subscribed(Sample.stream, at: Sample.at(0))
        // A further subscriber changes nothing.
        schedule.subscribed(Sample.stream, at: Sample.at(3))
        #expect(self.repeats(&schedule, until: 21) == [5, 10, 15, 20])
    }

    @Test func `after a notice it is repeated after one and three seconds, then at every interval`() {
        var schedule = HeadSchedule(interval: .seconds(5))
        schedule.subscribed(Sample.stream, at: Sample.at(0))
        schedule.noticed(Sample.stream, at: Sample.at(2))
        #expect(self.repeats(&schedule, until: 16) == [3, 5, 10, 15])
        schedule.noticed(Sample.stream, at: Sample.at(16))
        schedule.noticed(Sample.stream, at: Sample.at(16.5))
        #expect(self.repeats(&schedule, from: 16.5, until: 25) == [17.5, 19.5, 24.5], "the last notice counts")
    }

    @Test func `no silence is longer than the interval, also after a notice`() {
        for interval in [0.5, 1, 1.5, 2, 2.5, 5] {
            var schedule = HeadSchedule(interval: .milliseconds(Int64(interval * 1_000)))
            schedule.subscribed(Sample.stream, at: Sample.at(0))
            schedule.noticed(Sample.stream, at: Sample.at(0))
            let repeats = [0] + self.repeats(&schedule, until: 20)
            for (one, next) in zip(repeats, repeats.dropFirst()) { #expect(next - one <= interval, "\(interval)") }
        }
    }

    @Test func `those that notices are pushed to hear of every third, and of the first two after a notice`() {
        var schedule = HeadSchedule(interval: .seconds(5))
        schedule.subscribed(Sample.stream, at: Sample.at(0))
        #expect(self.repeats(&schedule, until: 31, pushed: true) == [15, 30])
        schedule.noticed(Sample.stream, at: Sample.at(32))
        #expect(self.repeats(&schedule, from: 32, until: 66, pushed: true) == [33, 35, 50, 65])
    }

    @Test func `a late look repeats once, not for every time that was missed`() {
        var schedule = HeadSchedule(interval: .seconds(5))
        schedule.subscribed(Sample.stream, at: Sample.at(0))
        #expect(schedule.due(at: Sample.at(1_000)).map(\.stream) == [Sample.stream])
        #expect(schedule.due(at: Sample.at(1_000)) == [])
        #expect(schedule.due(at: Sample.at(1_005)).map(\.stream) == [Sample.stream])
    }

    @Test func `a stream without subscribers is not repeated`() {
        var schedule = HeadSchedule(interval: .seconds(5))
        schedule.noticed(Sample.stream, at: Sample.at(0))
        #expect(schedule.due(at: Sample.at(100)) == [])
        schedule.subscribed(Sample.stream, at: Sample.at(100))
        schedule.noticed(Sample.stream, at: Sample.at(101))
        schedule.unsubscribed(Sample.stream)
        schedule.noticed(Sample.stream, at: Sample.at(101))
        #expect(schedule.count == 0)
        #expect(schedule.due(at: Sample.at(200)) == [])
        // A stream with a new subscriber starts anew, and what was planned before is void.
        schedule.subscribed(Sample.stream, at: Sample.at(200))
        schedule.unsubscribed(Sample.stream)
        schedule.subscribed(Sample.stream, at: Sample.at(203))
        #expect(self.repeats(&schedule, from: 203, until: 214) == [208, 213])
    }

    @Test func `a burst leaves no more behind than there is room for`() {
        var schedule = HeadSchedule(interval: .seconds(5))
        for number in 0..<10 { schedule.subscribed(Sample.stream("s\(number)"), at: Sample.at(0)) }
        for number in 0..<10_000 { schedule.noticed(Sample.stream("s\(number % 10)"), at: Sample.at(0)) }
        #expect(schedule.entryCount <= 2 * 10 + 64)
        for number in 0..<10_000 {
            schedule.unsubscribed(Sample.stream("s\(number % 10)"))
            schedule.subscribed(Sample.stream("s\(number % 10)"), at: Sample.at(0))
        }
        #expect(schedule.entryCount <= 2 * 10 + 64)
        #expect(schedule.due(at: Sample.at(10)).count == 10)
    }

    @Test(arguments: [0, -5])
    func `an interval that makes no sense repeats without end, but not in one call`(seconds: Int) {
        var schedule = HeadSchedule(interval: .seconds(seconds))
        schedule.subscribed(Sample.stream, at: Sample.at(0))
        #expect(schedule.due(at: Sample.at(1)).map(\.stream) == [Sample.stream])
    }
}
