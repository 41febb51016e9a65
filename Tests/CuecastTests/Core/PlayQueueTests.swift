// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @_spi(Tuning) @testable import Cuecast

@Suite(.suiteLimit)
struct PlayQueueTests {
    typealias Effect = PlayQueue.Effect

    var queue = PlayQueue(mode: .afterPlaying, timings: ListenerTimings())

    /// Queues advertisements of 10 s each; the break starts at `start` and ends at `end`.
    mutating func push(
        _ ids: String...,
        break name: String = "b1",
        start: Double = 0,
        end: Double = 30,
        exact: Bool = false,
        endMode: EndMode = .cut,
        at now: Double = 0
    ) {
        self.queue.queue(
            PlayQueue.Batch(
                breakID: breakID(name),
                advertisements: ids.map { advertisement($0, break: name) },
                limit: .playhead(gateway(end)),
                exact: exact,
                endMode: endMode,
                contentStart: gateway(start)
            ),
            now: local(now)
        )
    }

    mutating func get(_ now: Double) -> (String?, [Effect]) {
        let (advertisement, effects) = self.queue.next(at: moment(now))
        return (advertisement?.adID, effects)
    }

    func played(
        _ id: String,
        _ evidence: AdvertisementOutcome.Evidence,
        heard: Double,
        quartiles: Int = 0,
        muted: Bool = false
    ) -> Effect {
        .outcome(
            AdvertisementOutcome(
                advertisement: advertisement(id),
                result: .played,
                evidence: evidence,
                heard: .seconds(heard),
                quartiles: quartiles,
                muted: muted,
                clicked: false
            )
        )
    }

    func ignored(_ id: String, _ reason: IgnoreReason, break name: String = "b1") -> Effect {
        .outcome(.ignored(advertisement(id, break: name), reason))
    }

    // MARK: The old loop

    @Test mutating func `the loop get, play, get again is counted by the time that passes`() {
        self.push("a", "b")
        #expect(self.get(0) == ("a", []))
        #expect(self.get(10) == ("b", [self.played("a", .inferred, heard: 10)]))
        #expect(self.get(20.5) == (nil, [self.played("b", .inferred, heard: 10)]))
        #expect(self.get(21) == (nil, []))
    }

    @Test mutating func `a handed-out ad is never played without a report`() {
        self.push("a", "b", "c")
        #expect(self.queue.next(at: moment(0), isShown: true).advertisement?.adID == "a")
        #expect(self.queue.current == nil && self.queue.isWaitingForApp, "it has no waiter")
        #expect(self.get(1) == ("b", []))
        #expect(self.queue.current?.adID == "b")
        #expect(self.get(12) == ("c", [self.played("b", .inferred, heard: 10)]))
        #expect(self.queue.settle(now: local(25)) == [.unknown(advertisement("a")), .unknown(advertisement("c"))])
    }

    @Test mutating func `asking too early is refused and records nothing`() {
        self.push("a", "b")
        _ = self.get(0)
        #expect(self.get(8.999) == (nil, [.handOutRefused(current: advertisement("a"))]))
        #expect(self.get(9) == ("b", [self.played("a", .inferred, heard: 9)]))
    }

    @Test mutating func `while paused the next one is refused, however long`() {
        self.push("a", "b", end: 3_000)
        _ = self.get(0)
        _ = self.queue.report(.paused, advertisement("a"), now: local(5))
        #expect(self.get(100).1 == [.handOutRefused(current: advertisement("a"))])
        _ = self.queue.report(.resumed, advertisement("a"), now: local(100))
        #expect(self.get(103.9).0 == nil)
        #expect(self.get(104) == ("b", [self.played("a", .inferred, heard: 9)]))
    }

    @Test mutating func `after the grace the queue is released once, and the outcome stays open`() {
        self.push("a")
        _ = self.get(0)
        self.push("b", break: "b2", start: 15, end: 60, at: 15)
        #expect(self.queue.nextDeadline(at: moment(15)) == local(20))
        #expect(self.queue.due(at: moment(19.9)) == [])
        #expect(self.queue.due(at: moment(20)) == [.released])
        #expect(self.queue.due(at: moment(21)) == [])
        #expect(self.queue.isWaitingForApp)
        #expect(self.get(25) == ("b", [self.played("a", .inferred, heard: 10)]))
    }

    @Test mutating func `fifteen minutes after the grace the outcome is unknown`() {
        self.push("a")
        _ = self.get(0)
        #expect(self.queue.due(at: moment(20)) == [])
        #expect(self.queue.nextDeadline(at: moment(20)) == local(920))
        #expect(self.queue.due(at: moment(919.9)) == [])
        #expect(self.queue.due(at: moment(920)) == [.unknown(advertisement("a"))])
        let late = self.queue.report(.completed, advertisement("a"), now: local(921))
        #expect(late == [.reportRefused(.completed, advertisement("a"), .alreadyClosed)])
    }

    @Test mutating func `stopping leaves unreported ads unknown, and counts the one that has begun`() {
        self.push("a", "b")
        _ = self.get(0)
        #expect(self.queue.settle(now: local(4)) == [.unknown(advertisement("a")), .unknown(advertisement("b"))])
        self.push("a", "b")
        _ = self.get(0)
        _ = self.queue.report(.started, advertisement("a"), now: local(0))
        #expect(
            self.queue.settle(now: local(4)) == [self.played("a", .inferred, heard: 4), .unknown(advertisement("b"))]
        )
        #expect(self.queue.isEmpty && self.queue.open.isEmpty)
    }

    // MARK: Reports

    @Test mutating func `completed closes at once, whatever time has passed`() {
        self.push("a", "b")
        _ = self.get(0)
        let effects = self.queue.report(.completed, advertisement("a"), now: local(1))
        var playback = Playback(advertisement("a"), handedOut: local(0))
        #expect(playback.take(.completed, now: local(1)) == nil)
        #expect(effects == [.reported(.completed, playback), self.played("a", .reported, heard: 10, quartiles: 4)])
        #expect(self.get(1) == ("b", []))
    }

    @Test mutating func `skipped counts what was heard`() {
        self.push("a")
        _ = self.get(0)
        _ = self.queue.report(.quartile(1), advertisement("a"), now: local(2.5))
        let effects = self.queue.report(.skipped, advertisement("a"), now: local(4))
        #expect(effects.last == self.played("a", .reported, heard: 4, quartiles: 1))
    }

    @Test mutating func `failed carries the VAST code, and others are refused`() {
        self.push("a")
        _ = self.get(0)
        for code in [99, 1_000, -1] {
            let refused = self.queue.report(.failed(vastError: code), advertisement("a"), now: local(1))
            #expect(refused == [.reportRefused(.failed(vastError: code), advertisement("a"), .invalid)])
        }
        let effects = self.queue.report(.failed(vastError: 405), advertisement("a"), now: local(1))
        guard case .outcome(let outcome) = effects.last else { return #expect(Bool(false)) }
        #expect(outcome.result == .failed(vastError: 405) && outcome.heard == .zero)
    }

    @Test mutating func `muting is remembered in the outcome`() {
        self.push("a")
        _ = self.get(0)
        _ = self.queue.report(.muted, advertisement("a"), now: local(1))
        _ = self.queue.report(.unmuted, advertisement("a"), now: local(2))
        let effects = self.queue.report(.completed, advertisement("a"), now: local(10))
        #expect(effects.last == self.played("a", .reported, heard: 10, quartiles: 4, muted: true))
    }

    @Test mutating func `reports that repeat or do not fit are refused`() {
        self.push("a", "b")
        _ = self.get(0)
        let a = advertisement("a")
        _ = self.queue.report(.started, a, now: local(0))
        _ = self.queue.report(.quartile(2), a, now: local(5))
        let expected: [(AdvertisementReport, ReportRefusal)] = [
            (.started, .repeated), (.quartile(2), .repeated), (.quartile(1), .repeated), (.quartile(0), .invalid),
            (.quartile(5), .invalid), (.unmuted, .invalid), (.resumed, .invalid),
        ]
        for (report, refusal) in expected {
            #expect(self.queue.report(report, a, now: local(6)) == [.reportRefused(report, a, refusal)])
        }
        _ = self.queue.report(.paused, a, now: local(6))
        #expect(self.queue.report(.paused, a, now: local(6)) == [.reportRefused(.paused, a, .repeated)])
        let queued = self.queue.report(.started, advertisement("b"), now: local(6))
        #expect(queued == [.reportRefused(.started, advertisement("b"), .notHandedOut)])
    }

    @Test mutating func `reports after a terminal one are refused`() {
        self.push("a")
        _ = self.get(0)
        _ = self.queue.report(.completed, advertisement("a"), now: local(10))
        for report in [AdvertisementReport.completed, .failed(vastError: 400), .started] {
            let effects = self.queue.report(report, advertisement("a"), now: local(11))
            #expect(effects == [.reportRefused(report, advertisement("a"), .alreadyClosed)])
        }
    }

    @Test mutating func `a terminal report releases a queue that had to wait`() {
        self.push("a")
        _ = self.get(0)
        self.push("b", break: "b2", at: 5)
        #expect(!self.queue.isWaitingForApp)
        let effects = self.queue.report(.completed, advertisement("a"), now: local(10))
        #expect(effects.last == .released)
        #expect(self.queue.isWaitingForApp)
    }

    @Test mutating func `a terminal report in the middle of a pod is not repeated`() {
        self.push("a", "b")
        _ = self.get(0)
        #expect(!self.queue.report(.completed, advertisement("a"), now: local(10)).contains(.released))
    }

    // MARK: Ignoring

    @Test mutating func `ignoring takes everything that is queued, once, and not the current one`() {
        self.push("a", "b")
        _ = self.get(0)
        self.push("c", break: "b2", at: 5)
        #expect(self.queue.ignoreAll() == [self.ignored("b", .user), self.ignored("c", .user, break: "b2")])
        #expect(self.queue.ignoreAll() == [])
        #expect(self.get(10) == (nil, [self.played("a", .inferred, heard: 10)]))
    }

    // MARK: Expiry

    @Test mutating func `expired advertisements are never handed out`() {
        self.push("a", "b", end: 30)
        #expect(self.queue.nextDeadline(at: moment(0)) == local(30))
        #expect(self.get(30) == (nil, [self.ignored("a", .expired), self.ignored("b", .expired)]))
        self.push("a", end: 30)
        #expect(self.queue.due(at: moment(31)) == [self.ignored("a", .expired)])
    }

    @Test mutating func `a break that waited for another is trimmed when its turn comes`() {
        self.push("pre", break: "pre")
        _ = self.get(0)
        self.push("a", "b", "c", start: 5, end: 40, at: 5)
        #expect(self.get(9.5).0 == "a")
    }

    @Test mutating func `an ad whose time another one took is ignored for the overlap`() {
        self.push("pre", break: "pre", end: 100)
        _ = self.get(0)
        self.push("a", "b", start: 1, end: 40, at: 1)
        _ = self.queue.report(.paused, advertisement("pre", break: "pre"), now: local(1))
        _ = self.queue.report(.completed, advertisement("pre", break: "pre"), now: local(12))
        #expect(self.get(12) == ("b", [self.ignored("a", .overlap)]))
    }

    @Test mutating func `a slow app loses nothing but what is over`() {
        self.push("a", "b", "c", end: 30)
        #expect(self.get(15).0 == "a")
    }

    @Test mutating func `where none may be cut short what no longer fits is not begun`() {
        self.push("a", "b", "c", end: 30, exact: true)
        #expect(self.get(0).0 == "a")
        #expect(self.get(10.6).0 == "b")
        #expect(self.get(21.2).0 == "c")
        self.queue = PlayQueue(mode: .afterPlaying, timings: ListenerTimings())
        self.push("a", "b", "c", end: 30, exact: true)
        _ = self.get(0)
        _ = self.get(12)
        #expect(self.get(22.1) == (nil, [self.played("b", .inferred, heard: 10), self.ignored("c", .expired)]))
    }

    // MARK: Withdrawal

    @Test mutating func `a cancelled break stops the current advertisement now and counts what was heard`() {
        self.push("a", "b")
        _ = self.get(0)
        let effects = self.queue.cancel(breakID("b1"), .cancelled, at: moment(4))
        #expect(
            effects == [
                self.ignored("b", .cancelled),
                .withdrawn(
                    breakID("b1"),
                    .cancelled,
                    dropped: [advertisement("b")],
                    current: advertisement("a"),
                    stopAt: local(4)
                ),
                self.played("a", .inferred, heard: 4),
            ]
        )
        #expect(self.get(5) == (nil, []))
    }

    @Test mutating func `an early end drops what no longer fits and stops the current one there`() {
        self.push("a", "b", "c")
        _ = self.get(0)
        let effects = self.queue.ends(breakID("b1"), at: gateway(7), early: true, moment: moment(3))
        #expect(
            effects == [
                self.ignored("b", .endedEarly), self.ignored("c", .endedEarly),
                .withdrawn(
                    breakID("b1"),
                    .endedEarly,
                    dropped: [advertisement("b"), advertisement("c")],
                    current: advertisement("a"),
                    stopAt: local(7)
                ),
            ]
        )
        #expect(self.queue.nextDeadline(at: moment(3)) == local(7))
        #expect(self.queue.due(at: moment(6.9)) == [])
        #expect(self.queue.due(at: moment(7.5)) == [self.played("a", .inferred, heard: 7)])
    }

    @Test mutating func `an early end keeps what still fits`() {
        self.push("a", "b", "c")
        _ = self.get(0)
        let effects = self.queue.ends(breakID("b1"), at: gateway(20), early: true, moment: moment(3))
        #expect(effects.first == self.ignored("c", .endedEarly))
        #expect(effects.count == 2)
        #expect(self.get(10).0 == "b")
        #expect(self.queue.open.first?.stopAt == nil)
    }

    @Test mutating func `where the playing advertisement may finish it is not stopped`() {
        self.push("a", "b", endMode: .finishAd)
        _ = self.get(0)
        let effects = self.queue.ends(breakID("b1"), at: gateway(7), early: true, moment: moment(3))
        #expect(
            effects == [
                self.ignored("b", .endedEarly),
                .withdrawn(breakID("b1"), .endedEarly, dropped: [advertisement("b")], current: nil, stopAt: nil),
            ]
        )
        #expect(self.get(10) == (nil, [self.played("a", .inferred, heard: 10)]))
    }

    @Test mutating func `a withdrawal of another break changes nothing`() {
        self.push("a", "b")
        _ = self.get(0)
        #expect(self.queue.cancel(breakID("other"), .cancelled, at: moment(4)) == [])
        #expect(self.queue.ends(breakID("other"), at: gateway(7), early: true, moment: moment(3)) == [])
    }

    @Test mutating func `a longer break keeps its advertisements longer`() {
        self.push("a", "b", end: 12)
        _ = self.get(0)
        #expect(self.queue.ends(breakID("b1"), at: gateway(30), early: false, moment: moment(3)) == [])
        #expect(self.get(15).0 == "b")
    }

    // MARK: Manual mode

    @Test mutating func `in manual mode the queue is drained, and only reports count`() {
        self.queue = PlayQueue(mode: .manual, timings: ListenerTimings())
        self.push("a", "b")
        #expect(self.get(0) == ("a", []))
        #expect(self.get(0) == ("b", []))
        #expect(self.get(0) == (nil, []))
        #expect(
            self.queue.report(.completed, advertisement("b"), now: local(1)).last
                == self.played("b", .reported, heard: 10, quartiles: 4)
        )
        #expect(self.queue.due(at: moment(20)) == [])
        #expect(self.queue.due(at: moment(920)) == [.unknown(advertisement("a"))])
    }

    @Test mutating func `in manual mode two hundred and fifty-six may be open and the oldest makes room for one more`()
    {
        self.queue = PlayQueue(mode: .manual, timings: ListenerTimings())
        for number in 0...256 {
            self.push("a\(number)", end: 1_000)
            let effects = self.get(0).1
            #expect(effects == (number < 256 ? [] : [.unknown(advertisement("a0"))]))
        }
        #expect(self.queue.open.count == 256)
    }
}
