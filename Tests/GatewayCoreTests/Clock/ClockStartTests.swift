// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

@Suite(.suiteLimit)
struct ClockStartTests {
    private let settings = ClockSettings()
    private let wall = Timestamp(microseconds: 1_800_000_000_000_000)
    private static let day: Duration = .seconds(86_400)

    @Test func `a clock that is ahead of the books, or has none, is shown as it is`() throws {
        for newest in [nil, self.wall, self.wall - .seconds(1), self.wall - Self.day * 1_000] {
            let start = try ClockStart(wall: self.wall, newest: newest, settings: self.settings)
            #expect(start.time == self.wall)
            #expect(!start.goesBack)
        }
    }

    @Test func `a clock that is behind up to the limit begins at the newest record`() throws {
        for behind in [Duration.microseconds(1), .seconds(3), self.settings.behindMax] {
            let start = try ClockStart(wall: self.wall, newest: self.wall + behind, settings: self.settings)
            #expect(start.time == self.wall + behind)
            #expect(start.goesBack)
        }
    }

    @Test func `one that is further behind is refused with a sentence, unless the operator accepts it`() throws {
        let newest = self.wall + self.settings.behindMax + .microseconds(1)
        let refusal = #expect(throws: ClockStart.Refusal.self) {
            try ClockStart(wall: self.wall, newest: newest, settings: self.settings)
        }
        let sentence = refusal.map { "\($0)" } ?? ""
        #expect(sentence.contains("clock.behindMax is 10 s"))
        #expect(sentence.contains("--accept-clock"))
        let start = try ClockStart(wall: self.wall, newest: newest, acceptsWall: true, settings: self.settings)
        #expect(start.time == self.wall)
        #expect(!start.goesBack)
    }

    @Test func `the last shown time is not shown again, unless it was far ahead and left no record`() throws {
        let near = try ClockStart(wall: self.wall, newest: nil, shown: self.wall + .seconds(9), settings: self.settings)
        #expect(near.time == self.wall + .seconds(9))
        #expect(near.goesBack)
        let both = try ClockStart(
            wall: self.wall,
            newest: self.wall + .seconds(2),
            shown: self.wall + .seconds(1),
            settings: self.settings
        )
        #expect(both.time == self.wall + .seconds(2))
        let far = try ClockStart(
            wall: self.wall,
            newest: nil,
            shown: self.wall + Self.day * 401,
            settings: self.settings
        )
        #expect(far.time == self.wall)
    }
}

@Suite(.suiteLimit)
struct RetentionWatchTests {
    private let settings = ClockSettings()
    private let wall = Timestamp(microseconds: 1_800_000_000_000_000)
    private static let second: Int64 = 1_000_000_000

    private func watch(ahead: Duration?) -> RetentionWatch {
        RetentionWatch(wall: self.wall, books: ahead.map { self.wall - $0 }, at: 0, settings: self.settings)
    }

    @Test func `retention runs up to the limit ahead of the books, and is frozen one microsecond further`() {
        #expect(self.watch(ahead: nil).state == .running)
        #expect(self.watch(ahead: .seconds(-100)).state == .running)
        #expect(self.watch(ahead: self.settings.aheadMax).state == .running)
        let frozen = self.watch(ahead: self.settings.aheadMax + .microseconds(1))
        #expect(frozen.state == .frozen)
        #expect(frozen.ahead == self.settings.aheadMax + .microseconds(1))
        #expect(frozen.confirmsAfter(at: 0) == self.settings.confirmAfter)
    }

    @Test func `a word of the operator lets it run`() {
        var watch = self.watch(ahead: .seconds(401 * 86_400))
        let wasFrozen = watch.confirm()
        #expect(wasFrozen)
        #expect(watch.state == .running)
        let again = watch.confirm()
        #expect(!again)
    }

    @Test func `so does time in which both clocks agree, and a clock that is set begins that time anew`() {
        var watch = self.watch(ahead: .seconds(401 * 86_400))
        let all = self.settings.confirmAfter.inMicroseconds * 1_000
        func observe(_ passed: Int64, _ set: Duration = .zero) -> Bool {
            watch.observe(wall: self.wall + .nanoseconds(passed) + set, at: passed)
        }
        #expect(!observe(all - 1))
        #expect(watch.state == .frozen)
        // Set by more than is followed: it counts from here.
        #expect(!observe(all, .seconds(2)))
        #expect(watch.confirmsAfter(at: all) == self.settings.confirmAfter)
        #expect(!observe(2 * all - 1, .seconds(2)))
        // A little more or less is no setting.
        #expect(observe(2 * all, .milliseconds(2_500)))
        #expect(watch.state == .running)
        #expect(!observe(3 * all))
    }

    @Test func `a jump by command that is far ahead freezes it`() {
        var watch = self.watch(ahead: .zero)
        watch.freezeIfAhead(wall: self.wall + self.settings.aheadMax, of: self.wall, at: 0)
        #expect(watch.state == .running)
        watch.freezeIfAhead(wall: self.wall + self.settings.aheadMax + .microseconds(1), of: self.wall, at: 0)
        #expect(watch.state == .frozen)
    }
}

@Suite(.suiteLimit)
struct ExpectedListenersTests {
    private let until = Sample.at(300)
    private let other = Sample.stream("radio10")

    @Test func `until everybody had time to come back, those who were there count`() {
        let expected = ExpectedListeners(remembered: [Sample.stream: 1_000], until: self.until)
        #expect(expected.count(of: Sample.stream, live: 0, at: Sample.at(0)) == 1_000)
        #expect(expected.count(of: Sample.stream, live: 1_001, at: Sample.at(0)) == 1_001)
        #expect(expected.count(of: self.other, live: 7, at: Sample.at(0)) == 7)
        #expect(expected.count(of: Sample.stream, live: 3, at: Sample.at(299.999_999)) == 1_000)
        #expect(expected.count(of: Sample.stream, live: 3, at: Sample.at(300)) == 3)
    }

    @Test func `a second restart soon after the first forgets no session`() {
        let expected = ExpectedListeners(remembered: [Sample.stream: 1_000], until: self.until)
        #expect(
            expected.merged(with: [self.other: 2, Sample.stream: 5], at: Sample.at(1)) == [
                Sample.stream: 1_000, self.other: 2,
            ]
        )
        #expect(expected.merged(with: [self.other: 2], at: Sample.at(300)) == [self.other: 2])
        #expect(ExpectedListeners().merged(with: [self.other: 2], at: Sample.at(1)) == [self.other: 2])
    }
}
