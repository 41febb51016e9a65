// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @testable import Cuecast

@Suite(.suiteLimit)
struct BreakBookTests {
    typealias Effect = BreakBook.Effect

    let session = SessionID(high: 1, low: 2)
    var book = BreakBook(retries: .testing)
    var jitter = JitterSource(seed: 1)

    mutating func apply(_ notice: Notice, takesPreStream: Bool = false, at now: Double = 0) -> [Effect] {
        self.book.apply(notice, takesPreStream: takesPreStream, at: moment(now))
    }

    mutating func due(_ now: Double, delay: Double = 0, room: Int = 8, late: IgnoreReason = .expired) -> [Effect] {
        self.book.due(at: moment(now, delay: delay), session: self.session, room: room, late: late)
    }

    mutating func hold(_ first: Notice, _ ads: [AdvertisementContent], skipped: Int = 0, at now: Double = 0) {
        _ = self.apply(first, takesPreStream: true, at: now)
        _ = self.due(now)
        guard let id = first.breakID else { return }
        _ = self.book.batchArrived(id, batch(ads, skipped: skipped), at: moment(now))
    }

    static let three = [content("a"), content("b"), content("c")]

    func ads(_ ids: String...) -> [Advertisement] { ids.map { advertisement($0) } }

    // MARK: Asking

    @Test mutating func `a batch is asked for at the listener's slot of the window, once`() {
        let notice = notice(1, window: (2, 8))
        #expect(self.apply(notice) == [.announced(notice)])
        let slot = RequestSlot.instant(
            in: RequestWindow(from: gateway(2), by: gateway(8)),
            session: self.session,
            break: breakID("b1")
        )
        let seconds = (slot - gateway(0)).inSeconds
        #expect(self.book.nextDeadline(at: moment(0), session: self.session, room: 1) == moment(0).local(gateway: slot))
        #expect(self.due(seconds - 0.001) == [])
        #expect(self.due(seconds + 0.001) == [.request(breakID("b1"))])
        #expect(self.due(seconds + 0.002) == [])
    }

    @Test mutating func `a window in the past means at once`() {
        _ = self.apply(notice(1, window: (-8, -2)))
        #expect(self.due(0) == [.request(breakID("b1"))])
    }

    @Test mutating func `without room nothing is asked, and no time is wasted on it`() {
        _ = self.apply(notice(1))
        #expect(self.due(0, room: 0) == [])
        #expect(self.book.nextDeadline(at: moment(0), session: self.session, room: 0) == local(40))
        #expect(self.due(0, room: 1) == [.request(breakID("b1"))])
    }

    @Test mutating func `a break whose time is over is not asked for`() {
        _ = self.apply(notice(1, start: 10, duration: 30), at: 0)
        guard case .missed(let notice, _) = self.due(40).first else { return #expect(Bool(false)) }
        #expect(notice.breakID == breakID("b1"))
        #expect(self.apply(notice_(2), at: 41) == [])
    }

    func notice_(_ sequence: UInt64) -> Notice { notice(sequence, .updated) }

    @Test mutating func `a listener far behind asks for a break that is over for others`() {
        _ = self.apply(notice(1, start: 10, duration: 30), at: 50)
        #expect(self.due(50, delay: 60) == [.request(breakID("b1"))])
    }

    @Test mutating func `a request that asks to come again does so, not before it may`() {
        _ = self.apply(notice(1))
        _ = self.due(0)
        let busy = Refusal(.rateLimited, "Too many.", retryAfter: .seconds(2))
        #expect(self.book.batchRefused(breakID("b1"), busy, now: local(0), jitter: &self.jitter) == [])
        #expect(self.due(1.9) == [])
        #expect(self.due(2.3) == [.request(breakID("b1"))])
    }

    @Test mutating func `an unanswered request is made again, a lost connection's too`() {
        _ = self.apply(notice(1))
        _ = self.due(0)
        self.book.batchUnanswered(breakID("b1"), now: local(5), jitter: &self.jitter)
        #expect(self.due(5.3) == [.request(breakID("b1"))])
        self.book.batchAbandoned(breakID("b1"))
        #expect(self.due(5.3) == [.request(breakID("b1"))])
    }

    @Test mutating func `a final refusal is told and not asked again`() {
        _ = self.apply(notice(1))
        _ = self.due(0)
        let late = Refusal(.tooLate, "Nothing is left.")
        let effects = self.book.batchRefused(breakID("b1"), late, now: local(0), jitter: &self.jitter)
        #expect(effects == [.missed(notice(1), .refused("TOO_LATE: Nothing is left."))])
        #expect(self.due(1) == [])
    }

    @Test mutating func `a notice that was applied before changes nothing`() {
        _ = self.apply(notice(4, start: 20))
        #expect(self.apply(notice(3, .updated, start: 10)) == [])
        #expect(self.apply(notice(4, .cancelled)) == [])
        #expect(self.apply(notice(5, .updated, start: 25)) == [.announced(notice(5, .updated, start: 25))])
        #expect(self.apply(notice(1, .updated, epoch: 8, start: 30)).count == 1)
    }

    @Test mutating func `two hundred and fifty-six breaks are followed and one more is not`() {
        for number in 0..<256 as Range<UInt64> {
            #expect(self.apply(notice(number, break: "b\(number)")).count == 1)
        }
        guard case .missed = self.apply(notice(256, break: "more")).first else { return #expect(Bool(false)) }
    }

    // MARK: Held, then queued

    @Test mutating func `a batch is held until the playhead reaches the start`() {
        self.hold(notice(1, start: 10), Self.three)
        #expect(self.due(9.999) == [])
        #expect(self.book.nextDeadline(at: moment(0), session: self.session, room: 1) == local(10))
        let queued = Effect.queue(notice(1, start: 10), self.ads("a", "b", "c"), contentStart: gateway(10))
        #expect(self.due(10) == [queued])
        #expect(self.due(11) == [])
    }

    @Test mutating func `a listener who is behind gets it later`() {
        self.hold(notice(1, start: 10), Self.three)
        #expect(self.due(39.9, delay: 30) == [])
        #expect(self.book.nextDeadline(at: moment(0, delay: 30), session: self.session, room: 1) == local(40))
        #expect(self.due(40, delay: 30).count == 1)
    }

    @Test mutating func `a moved start moves what is held`() {
        self.hold(notice(1, start: 10), Self.three)
        #expect(self.apply(notice(2, .updated, start: 20), at: 5).count == 1)
        #expect(self.due(10) == [])
        #expect(self.due(20).count == 1)
        #expect(self.apply(notice(3, .updated, start: 25), at: 21).count <= 1)
        #expect(self.due(25) == [])
    }

    @Test mutating func `a late batch is trimmed by the playhead`() {
        self.hold(notice(1, start: 10, duration: 30), Self.three)
        let effects = self.due(21)
        #expect(
            effects == [
                .ignored(self.ads("a"), .expired),
                .queue(notice(1, start: 10, duration: 30), self.ads("b", "c"), contentStart: gateway(21)),
            ]
        )
    }

    @Test mutating func `a late batch of an exact break holds only the ads that fit`() {
        let exact = notice(1, start: 10, duration: 30, exact: true)
        self.hold(exact, Self.three)
        #expect(
            self.due(21) == [
                .ignored(self.ads("a", "c"), .expired), .queue(exact, self.ads("b"), contentStart: gateway(21)),
            ]
        )
    }

    @Test mutating func `input after the end is ignored`() {
        self.hold(notice(1, start: 10, duration: 30), Self.three)
        let effects = self.due(40)
        #expect(effects.first == .ignored(self.ads("a", "b", "c"), .expired))
        guard case .missed = effects.last else { return #expect(Bool(false)) }
    }

    @Test mutating func `moving ahead in the programme skips over what lies between`() {
        self.hold(notice(1, start: 10, duration: 30), Self.three)
        #expect(self.due(12, delay: 30) == [])
        #expect(
            self.due(31, delay: 0, late: .skippedOver) == [
                .ignored(self.ads("a", "b"), .skippedOver),
                .queue(notice(1, start: 10, duration: 30), self.ads("c"), contentStart: gateway(31)),
            ]
        )
    }

    @Test mutating func `moving back does not play a break twice`() {
        self.hold(notice(1, start: 10), Self.three)
        #expect(self.due(10).count == 1)
        #expect(self.due(12, delay: 30) == [])
        #expect(self.due(40, delay: 30) == [])
    }

    @Test mutating func `a batch that was trimmed by the gateway begins at the playhead`() {
        _ = self.apply(notice(1, start: 10))
        _ = self.due(22)
        _ = self.book.batchArrived(breakID("b1"), batch([content("c")], skipped: 2), at: moment(22))
        let effects = self.due(22)
        guard case .queue(_, let ads, let start) = effects.first else { return #expect(Bool(false)) }
        #expect(effects.count == 1 && start == gateway(22))
        #expect(ads.map(\.podPosition) == [.init(index: 3, count: 3)])
    }

    @Test mutating func `going back before a trimmed batch is here loses nothing of it`() {
        _ = self.apply(notice(1, start: 10))
        #expect(self.due(32) == [.request(breakID("b1"))])
        // "a" and "b" are over for who hears 32, and then the listener goes 12 seconds back.
        _ = self.book.batchArrived(breakID("b1"), batch([content("c")], skipped: 2), at: moment(32.5, delay: 12))
        let effects = self.due(43, delay: 12)
        guard case .queue(_, let ads, let start) = effects.first else { return #expect(Bool(false), "\(effects)") }
        #expect(effects.count == 1 && ads.map(\.adID) == ["c"] && start == gateway(32.5))
    }

    @Test mutating func `a second batch for the same break is not taken`() {
        self.hold(notice(1), Self.three)
        #expect(self.book.batchArrived(breakID("b1"), batch(Self.three), at: moment(0)) == [])
        #expect(self.book.batchArrived(breakID("unknown"), batch(Self.three), at: moment(0)) == [])
    }

    // MARK: Cued

    @Test mutating func `a cued break is fetched, held and queued when it is punched`() {
        let cued = notice(1, start: nil, expires: 100)
        self.hold(cued, Self.three)
        #expect(self.due(50) == [])
        _ = self.apply(notice(2, .updated, start: 52), at: 50)
        #expect(self.due(51) == [])
        #expect(self.due(52).count == 1)
    }

    @Test mutating func `a cued break that is not punched in time was not started`() {
        self.hold(notice(1, start: nil, expires: 100), Self.three)
        #expect(
            self.due(100) == [
                .ignored(self.ads("a", "b", "c"), .notStarted),
                .withdrawn(breakID("b1"), .notStarted, self.ads("a", "b", "c")),
            ]
        )
    }

    @Test mutating func `the gateway says first that a cued break was not started`() {
        self.hold(notice(1, start: nil, expires: 100), Self.three)
        let effects = self.apply(notice(2, .cancelled, start: nil, cancelReason: .notStarted), at: 99)
        #expect(effects.first == .ignored(self.ads("a", "b", "c"), .notStarted))
    }

    // MARK: Cancelled and ended

    @Test mutating func `a break cancelled before its batch is here is withdrawn`() {
        _ = self.apply(notice(1))
        #expect(self.apply(notice(2, .cancelled)) == [.withdrawn(breakID("b1"), .cancelled, [])])
        #expect(self.due(1) == [])
    }

    @Test mutating func `a held break that is cancelled is ignored`() {
        self.hold(notice(1), Self.three)
        #expect(
            self.apply(notice(2, .cancelled)) == [
                .ignored(self.ads("a", "b", "c"), .cancelled),
                .withdrawn(breakID("b1"), .cancelled, self.ads("a", "b", "c")),
            ]
        )
        #expect(self.due(10) == [])
    }

    @Test mutating func `a batch that arrives after the cancellation is ignored with its reason`() {
        _ = self.apply(notice(1))
        _ = self.due(0)
        _ = self.apply(notice(2, .cancelled))
        let effects = self.book.batchArrived(breakID("b1"), batch(Self.three), at: moment(1))
        #expect(effects == [.ignored(self.ads("a", "b", "c"), .cancelled)])
    }

    @Test mutating func `a queued break passes its cancellation on, once`() {
        self.hold(notice(1), Self.three)
        _ = self.due(10)
        #expect(self.apply(notice(2, .cancelled), at: 12) == [.queuedCancelled(breakID("b1"), .cancelled)])
        #expect(self.apply(notice(3, .cancelled), at: 12) == [])
    }

    @Test mutating func `a queued break that ends early passes its new end on`() {
        self.hold(notice(1, start: 10, duration: 30), Self.three)
        _ = self.due(10)
        let effects = self.apply(notice(2, .ended, start: 10, duration: 15), at: 12)
        #expect(effects == [.queuedEnds(breakID("b1"), at: gateway(25), early: true)])
        let longer = self.apply(notice(3, .updated, start: 10, duration: 45), at: 12)
        #expect(longer == [.queuedEnds(breakID("b1"), at: gateway(55), early: false)])
    }

    @Test mutating func `a held break that ends early keeps what fits`() {
        self.hold(notice(1, start: 10, duration: 30), Self.three)
        let ended = notice(2, .ended, start: 10, duration: 15)
        #expect(
            self.apply(ended, at: 12) == [
                .announced(ended), .ignored(self.ads("b", "c"), .endedEarly),
                .withdrawn(breakID("b1"), .endedEarly, self.ads("b", "c")),
            ]
        )
    }

    @Test mutating func `a held break whose playing advertisement may finish keeps what begins`() {
        self.hold(notice(1, start: 10, duration: 30, endMode: .finishAd), Self.three)
        let ended = notice(2, .ended, start: 10, duration: 15, endMode: .finishAd)
        let effects = self.book.apply(ended, takesPreStream: false, at: moment(12, delay: 60))
        #expect(effects.contains(.ignored(self.ads("c"), .endedEarly)))
    }

    @Test mutating func `a held break that ends before it starts is over`() {
        self.hold(notice(1, start: 10, duration: 30), Self.three)
        let effects = self.apply(notice(2, .ended, start: 10, duration: 0), at: 9)
        #expect(effects.first == .ignored(self.ads("a", "b", "c"), .endedEarly))
        #expect(self.due(10) == [])
        self.hold(notice(3, break: "b2", start: nil, expires: 100), Self.three)
        let cued = self.apply(notice(4, .ended, break: "b2", start: nil), at: 9)
        #expect(cued.contains { if case .withdrawn(breakID("b2"), .endedEarly, _) = $0 { true } else { false } })
    }

    // MARK: Snapshots

    @Test mutating func `a break that a snapshot leaves out is over, whatever its state`() {
        _ = self.apply(notice(1, break: "asked"))
        self.hold(notice(2, break: "held", start: 50), [content("h")])
        self.hold(notice(3, break: "there", start: 90), [content("t")])
        let effects = self.book.snapshot(holds: [breakID("there")], at: moment(1))
        #expect(effects.contains(.withdrawn(breakID("asked"), .cancelled, [])))
        #expect(effects.contains(.ignored([advertisement("h", break: "held")], .cancelled)))
        #expect(self.book.held == [advertisement("t", break: "there")])
    }

    @Test mutating func `a break that ends in this moment was not cancelled`() {
        self.hold(notice(1, start: 10, duration: 30), Self.three)
        _ = self.due(10)
        #expect(self.book.snapshot(holds: [], at: moment(39.5)) == [])
    }

    @Test mutating func `a held break that a snapshot leaves out is over, however little of it is left`() {
        self.hold(notice(1, start: 10, duration: 30), Self.three)
        let effects = self.book.snapshot(holds: [], at: moment(39.5))
        #expect(effects.first == .ignored(self.ads("a", "b", "c"), .cancelled))
    }

    @Test mutating func `a break before the stream is not in snapshots once it is closed for joining`() {
        self.hold(notice(1, start: nil, expires: 100, preStream: true), Self.three)
        #expect(self.book.snapshot(holds: [], at: moment(1)) == [])
    }

    // MARK: Before the stream

    @Test mutating func `pre-roll ads are queued at once`() {
        let before = notice(1, start: nil, window: (50, 60), expires: 100, preStream: true)
        #expect(self.apply(before, takesPreStream: true) == [.announced(before)])
        #expect(self.book.awaitsPreStream)
        #expect(self.due(0) == [.request(breakID("b1"))])
        _ = self.book.batchArrived(breakID("b1"), batch(Self.three), at: moment(0.1))
        #expect(self.due(0.1) == [.queue(before, self.ads("a", "b", "c"), contentStart: nil)])
        #expect(!self.book.awaitsPreStream)
    }

    @Test mutating func `a break before the stream that comes during it is not taken`() {
        let before = notice(1, start: nil, expires: 100, preStream: true)
        #expect(self.apply(before, takesPreStream: false) == [])
        #expect(self.apply(before, takesPreStream: true) == [])
        #expect(self.due(1) == [])
    }

    @Test mutating func `closed breaks are remembered, and the oldest forgotten`() {
        for number in 0..<1_025 as Range<UInt64> {
            _ = self.apply(notice(number, .cancelled, break: "b\(number)"))
        }
        #expect(self.apply(notice(2_000, break: "b1024")) == [])
        #expect(self.apply(notice(2_001, break: "b1")) == [])
        #expect(self.apply(notice(2_002, break: "b0")).count == 1)
    }

    @Test mutating func `extreme instants from outside do not trap`() {
        let extremes = [Int64.min, -1, 0, Int64.max].map(Timestamp.init(microseconds:))
        var sequence: UInt64 = 0
        for start in extremes {
            for expires in extremes {
                sequence += 1
                var notice = notice(sequence, break: "x\(sequence)")
                notice.start = start
                notice.expires = expires
                notice.window = RequestWindow(from: expires, by: start)
                _ = self.apply(notice)
                _ = self.due(1)
                _ = self.book.batchArrived(breakID("x\(sequence)"), batch(Self.three), at: moment(1))
                _ = self.due(2)
                _ = self.book.nextDeadline(at: moment(2), session: self.session, room: 3)
                _ = self.book.snapshot(holds: [], at: moment(2))
            }
        }
    }

    // MARK: The app decides

    @Test mutating func `where the app decides, nothing is asked for before it has`() {
        self.book = BreakBook(retries: .testing, asksApp: true)
        let first = notice(1, start: 100)
        #expect(self.apply(first) == [.announced(first), .askApp(first)])
        #expect(self.due(0) == [])
        #expect(self.book.decided(breakID("b1"), isWanted: true) == [])
        #expect(self.due(0) == [.request(breakID("b1"))])
        #expect(self.book.decided(breakID("b1"), isWanted: false) == [], "once it has decided it stays")
    }

    @Test mutating func `a break that the app declines is over, and later notices of it change nothing`() {
        self.book = BreakBook(retries: .testing, asksApp: true)
        let first = notice(1)
        _ = self.apply(first)
        #expect(
            self.book.decided(breakID("b1"), isWanted: false) == [.missed(first, .declined)]
        )
        #expect(self.apply(notice(2, .updated, start: 20)) == [])
        #expect(self.book.entries.isEmpty)
    }

    @Test mutating func `an app that does not decide in time misses the break`() {
        self.book = BreakBook(retries: .testing, asksApp: true)
        let first = notice(1)
        _ = self.apply(first)
        #expect(self.book.nextDeadline(at: moment(0), session: self.session, room: 8) == local(40))
        let effects = self.due(40)
        #expect(
            effects == [.missed(first, .tooLateToAsk)]
        )
    }

    // MARK: After a restart

    @Test mutating func `a held batch is held again, and a closed break stays closed`() {
        self.book.restore(closed: [.init(id: breakID("b0"), reason: .user)])
        self.book.restore(notice(1), self.ads("b", "c"), skipped: .seconds(10))
        #expect(self.book.takeClosed() == [])
        #expect(self.apply(notice(2, break: "b0")) == [])
        #expect(self.due(20) == [] && self.book.nextDeadline(at: moment(9), session: self.session, room: 1) == nil)
        _ = self.apply(notice(1), at: 9)
        #expect(self.due(9) == [])
        let effects = self.due(20)
        #expect(effects == [.queue(notice(1), self.ads("b", "c"), contentStart: gateway(20))])
    }

    @Test mutating func `a snapshot cancels what it leaves out, but what is over by then expires`() {
        self.book.restore(notice(1), self.ads("a"), skipped: .zero)
        self.book.restore(notice(2, break: "b2", start: 200), self.ads("z"), skipped: .zero)
        let effects = self.book.snapshot(holds: [], at: moment(100))
        #expect(effects.count == 2)
        #expect(self.book.entries.keys.map(\.description) == ["b1"])
        #expect(self.due(100).first == .ignored(self.ads("a"), .expired))
    }
}
