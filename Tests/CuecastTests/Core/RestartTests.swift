// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

@testable import Cuecast

/// The app is killed and started again: the session goes on where it stopped, and nothing is heard or counted twice.
@Suite(.suiteLimit)
struct RestartTests {
    /// A bench whose core's journal is kept, as a disk would.
    private struct Device {
        var bench: CoreBench
        var disk = JournalState()
        var wallTime = gatewayStart

        init(_ bench: CoreBench) { self.bench = bench }

        mutating func save() {
            for kind in self.bench.core.takeJournal() {
                self.disk.apply(JournalEntry(written: self.wallTime + self.bench.now.sinceStart, kind: kind))
            }
        }

        /// The app is gone and comes back so much later, by the device's clock; the gateway's goes on.
        ///
        /// - Parameters:
        ///   - seconds: how much later.
        ///   - session: of the next run, should it need a new one.
        ///   - clockSet: how far the device's clock was set ahead meanwhile.
        mutating func killAndStart(after seconds: Double, session: UInt64 = 2, clockSet: Duration = .zero) {
            self.save()
            let ended = self.bench.now
            let core = ListenerCore(
                settings: self.bench.core.settings,
                session: SessionID(high: 1, low: session),
                origin: .now,
                state: self.disk,
                wallTime: self.wallTime + ended.sinceStart + .seconds(seconds) + clockSet,
                seed: 2
            )
            self.bench = CoreBench(after: self.bench, core: core, now: ended + .seconds(seconds))
        }
    }

    private func device(_ configure: (inout ListenerConfiguration) -> Void = { _ in }) throws -> Device {
        var bench = try CoreBench(headInterval: .seconds(86_400), configure)
        bench.listen()
        return Device(bench)
    }

    /// Publishes a break of three advertisements of ten seconds each.
    private func publish(_ device: inout Device, in seconds: Double) throws {
        let start = gatewayStart + device.bench.now.sinceStart + .seconds(seconds)
        let ads = [content("a"), content("b"), content("c")]
        try device.bench.receive(
            device.bench.publish(
                "b1",
                ads,
                start: start,
                at: start - .seconds(seconds)
            )
        )
    }

    private func outcomes(_ bench: CoreBench) -> [String: AdvertisementOutcome] {
        let all = bench.events.compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.advertisement.adID, $0) })
    }

    @Test func `within ten minutes the session goes on with its id and ticket, and says so`() throws {
        var device = try self.device()
        device.killAndStart(after: 600)
        device.bench.listen()
        #expect(device.bench.core.session == SessionID(high: 1, low: 2))
        #expect(device.bench.core.conversation.credentials.ticket == device.bench.ticket)
        let resumed = device.bench.events.compactMap { if case .sessionBegan(let it) = $0 { it } else { nil } }
        #expect(resumed == [true])
    }

    @Test func `after ten minutes and a moment it is a new session, and another stream's is never used`() throws {
        var device = try self.device()
        device.killAndStart(after: 600.001, session: 3)
        #expect(device.bench.core.session == SessionID(high: 1, low: 3))
        var other = try self.device()
        other.save()
        let state = other.disk
        #expect(state.resumable(stream: stream("radio2"), at: gatewayStart, within: .seconds(600)) == nil)
        #expect(state.resumable(stream: stream(), at: gatewayStart - .seconds(1), within: .seconds(600)) == nil)
        #expect(state.resumable(stream: stream(), at: gatewayStart, within: .seconds(600)) != nil)
    }

    @Test func `a session that was stopped is not used again`() throws {
        var device = try self.device()
        device.bench.step { $0.stop(now: $1) }
        device.killAndStart(after: 1, session: 3)
        #expect(device.bench.core.session == SessionID(high: 1, low: 3))
    }

    @Test func `a handed-out ad is not handed out again, and the rest of the break goes on`() throws {
        var device = try self.device()
        try self.publish(&device, in: 2)
        device.bench.advance(to: 2)
        device.bench.expectNext("a", at: local(2))
        device.bench.step { core, now in core.report(.started, advertisement("a"), now: now) }
        device.killAndStart(after: 10)
        device.bench.listen()
        device.bench.advance(to: 12.5)
        let told = self.outcomes(device.bench)
        #expect(told["a"]?.result == .played && told["a"]?.evidence == .inferred, "it was reported as started")
        device.bench.expectNext("b", at: local(12.5))
    }

    @Test func `a handed-out ad without a report is unknown, once`() throws {
        var device = try self.device()
        try self.publish(&device, in: 2)
        device.bench.advance(to: 2)
        device.bench.expectNext("a", at: local(2))
        device.killAndStart(after: 3)
        device.bench.listen()
        device.bench.advance(to: 6)
        let interrupted = device.bench.events.compactMap { if case .interrupted(let ads) = $0 { ads } else { nil } }
        #expect(interrupted.flatMap { $0 }.map(\.adID) == ["a"])
        #expect(self.outcomes(device.bench)["a"] == nil)
        device.killAndStart(after: 1)
        device.bench.listen()
        #expect(device.bench.count { if case .event(.interrupted) = $0 { true } else { false } } == 0)
    }

    @Test func `reports count across the restart: quartiles, mute and what was heard`() throws {
        var device = try self.device()
        try self.publish(&device, in: 2)
        device.bench.advance(to: 2)
        device.bench.expectNext("a", at: local(2))
        device.bench.now = local(9)
        for report in [AdvertisementReport.quartile(2), .muted] {
            device.bench.step { core, now in core.report(report, advertisement("a"), now: now) }
        }
        device.killAndStart(after: 60)
        device.bench.listen()
        let told = try #require(self.outcomes(device.bench)["a"])
        #expect(told.quartiles == 2 && told.muted && told.heard == .seconds(7))
    }

    // MARK: What was heard before a kill

    /// An advertisement of so many seconds is handed out at 2 s and reported as started.
    private func playing(_ seconds: Double) throws -> Device {
        var device = try self.device()
        let ads = [content("a", seconds: seconds), content("b")]
        try device.bench.receive(device.bench.publish("b1", ads, start: gateway(2), at: gateway(0)))
        device.bench.advance(to: 2)
        let given = device.bench.next(at: local(2))
        #expect(given?.adID == "a")
        self.report(.started, &device)
        return device
    }

    private func report(_ report: AdvertisementReport, _ device: inout Device) {
        device.bench.step { core, now in core.report(report, advertisement("a"), now: now) }
    }

    private func heardAfterKill(_ device: inout Device) throws -> Duration {
        device.killAndStart(after: 60)
        device.bench.listen()
        let told = try #require(self.outcomes(device.bench)["a"])
        #expect(told.result == .played && told.evidence == .inferred)
        return told.heard
    }

    /// The length, the time of the kill, and how much is known by then.
    @Test(arguments: [
        (4, 0.9, 0), (4, 3.5, 3), (4, 9, 4), (10, 7.4, 5), (30, 4.9, 0), (30, 29.9, 25), (30, 31, 30), (60, 15.1, 15),
        (0.6, 0.5, 0),
    ])
    func `the progress of an advertisement survives a kill, within a quarter and 5 s`(
        seconds: Double,
        killed: Double,
        heard: Int
    ) throws {
        var device = try self.playing(seconds)
        device.bench.advance(to: 2 + killed)
        let known = try self.heardAfterKill(&device)
        let error = known - .seconds(heard)
        #expect(error >= .zero && error < .milliseconds(1), "\(known) is known")
    }

    @Test func `a pause and a suspension are kept at once and not counted as heard`() throws {
        for isSuspended in [true, false] {
            var device = try self.playing(60)
            device.bench.advance(to: 5)
            if isSuspended {
                device.bench.step { $0.suspend(now: $1) }
            } else {
                self.report(.paused, &device)
            }
            device.bench.advance(to: 500)
            #expect(try self.heardAfterKill(&device) == .seconds(3))
        }
    }

    @Test func `after a pause what is heard is kept again, without the pause`() throws {
        var device = try self.playing(60)
        device.bench.advance(to: 5)
        self.report(.paused, &device)
        device.bench.advance(to: 25)
        self.report(.resumed, &device)
        device.bench.advance(to: 31)
        let known = try self.heardAfterKill(&device)
        #expect(known >= .seconds(8) && known < .seconds(8.001))
    }

    @Test func `time before a reported start is not heard`() throws {
        var device = try self.device()
        try device.bench.receive(
            device.bench.publish("b1", [content("a", seconds: 60)], start: gateway(2), at: gateway(0))
        )
        device.bench.advance(to: 2)
        let given = device.bench.next(at: local(2))
        #expect(given?.adID == "a")
        device.bench.advance(to: 8)
        self.report(.started, &device)
        device.bench.advance(to: 13.5)
        let known = try self.heardAfterKill(&device)
        #expect(known >= .seconds(5) && known < .seconds(5.001))
    }

    /// The length, and how many entries say how much was heard, that of the start included.
    @Test(arguments: [(0.6, 2), (4, 5), (10, 5), (30, 7), (600, 121)])
    func `an advertisement that runs costs the journal one entry for each interval, and none after its end`(
        seconds: Double,
        entries: Int
    ) throws {
        var device = try self.playing(seconds)
        device.bench.advance(to: 2 + seconds + 9)
        let kept = device.bench.core.takeJournal().filter { if case .progress = $0 { true } else { false } }
        #expect(kept.count == entries)
    }

    @Test func `of what was handed out and not reported as started nothing is kept while it runs`() throws {
        var device = try self.device()
        try self.publish(&device, in: 2)
        device.bench.advance(to: 2)
        device.bench.expectNext("a", at: local(2))
        device.bench.advance(to: 11)
        let kept = device.bench.core.takeJournal().filter { if case .progress = $0 { true } else { false } }
        #expect(kept == [])
    }

    @Test(arguments: [0, 60, 86_400, -86_400])
    func `events before the app ended are not older than their break, whatever the device's clock says`(
        clockSet: Int
    ) throws {
        var device = try self.device()
        try self.publish(&device, in: 2)
        device.bench.advance(to: 2)
        device.bench.expectNext("a", at: local(2))
        device.bench.step { core, now in core.report(.started, advertisement("a"), now: now) }
        device.killAndStart(after: 60, session: 3, clockSet: .seconds(clockSet))
        device.bench.listen()
        let told = device.bench.sent.flatMap { request -> [Outcome] in
            guard case .acknowledge(let acknowledge) = request.kind else { return [] }
            return acknowledge.outcomes
        }
        let now = gatewayStart + device.bench.now.sinceStart
        let times = OutcomeTime(announced: gatewayStart, now: now)
        #expect(told.contains { $0.advertisementID == adID("a") })
        for outcome in told { #expect(times.allows(outcome.occurred)) }
    }

    @Test(arguments: [true, false])
    func `a click counts across the restart, and shows that the advertisement was on`(started: Bool) throws {
        var device = try self.device()
        try self.publish(&device, in: 2)
        device.bench.advance(to: 2)
        device.bench.expectNext("a", at: local(2))
        device.bench.now = local(6)
        if started { device.bench.step { core, now in core.report(.started, advertisement("a"), now: now) } }
        device.bench.step { core, now in core.bannerClicked(advertisement("a"), now: now) }
        device.killAndStart(after: 60)
        device.bench.listen()
        let told = try #require(self.outcomes(device.bench)["a"])
        #expect(told.clicked && told.result == .played && told.evidence == .inferred)
        #expect(
            told.heard == (started ? .zero : .seconds(4)),
            "since the start, or the hand-out where none was reported"
        )
        let acknowledged = device.bench.sent.flatMap { request -> [Outcome] in
            guard case .acknowledge(let acknowledge) = request.kind else { return [] }
            return acknowledge.outcomes
        }
        #expect(acknowledged.filter(\.clicked).map(\.advertisementID) == [adID("a")])
    }

    // MARK: Where the rest has its place

    private func expired(_ bench: CoreBench) -> [String] {
        self.outcomes(bench).values.filter { $0.result == .ignored(.expired) }.map(\.advertisement.adID).sorted()
    }

    private func move(to start: Timestamp) -> BroadcastRequest.Kind {
        .update(.init(key: BreakKey(stream: stream(), id: breakID("b1")), start: .at(start)))
    }

    @Test func `a break that was moved while the app was gone is heard where it is now`() throws {
        var device = try self.device()
        try self.publish(&device, in: 60)
        device.bench.advance(to: 55)
        device.save()
        _ = try device.bench.ask(self.move(to: gateway(100)), at: gateway(55))
        device.killAndStart(after: 40)
        device.bench.listen()
        device.bench.advance(to: 99.9)
        device.bench.expectNext(nil, at: local(99.9))
        device.bench.advance(to: 100.1)
        #expect(self.expired(device.bench) == [])
        device.bench.expectNext("a", at: local(100.1))
        device.bench.expectNext("b", at: local(110.1))
        device.bench.expectNext("c", at: local(120.1))
    }

    @Test func `nothing of a stored break is over before the gateway has said where it is now`() throws {
        var device = try self.device()
        try self.publish(&device, in: 60)
        device.bench.advance(to: 55)
        _ = try device.bench.ask(self.move(to: gateway(100)), at: gateway(55))
        device.killAndStart(after: 40)
        // The reply tells the gateway's time, and nothing of the break.
        device.bench.refuse = { _ in Refusal(.rateLimited, "Slowly.", retryAfter: .seconds(1)) }
        device.bench.listen()
        device.bench.refuse = { _ in nil }
        device.bench.advance(to: 100.1)
        #expect(device.bench.core.connectionState == .listening)
        #expect(self.expired(device.bench) == [])
        device.bench.expectNext("a", at: local(100.1))
    }

    /// A break of three is announced when "a" and half of "b" are over.
    private static func joinLate(_ device: inout Device) throws {
        device.bench.advance(to: 20)
        let ads = [content("a"), content("b"), content("c")]
        try device.bench.receive(
            device.bench.publish(
                "b1",
                ads,
                start: gateway(5),
                duration: .seconds(40),
                at: gateway(20)
            )
        )
    }

    @Test func `a late listener that was gone for a moment keeps the rest`() throws {
        var device = try self.device()
        try Self.joinLate(&device)
        #expect(device.bench.core.queue.batches.map(\.contentStart) == [gateway(20)])
        device.killAndStart(after: 2)
        device.bench.listen()
        #expect(self.expired(device.bench) == [])
        #expect(device.bench.core.queue.batches.map(\.contentStart) == [gateway(20)])
        device.bench.expectNext("b", at: local(22))
        device.bench.expectNext("c", at: local(32))
    }

    @Test func `a late listener that was gone for longer loses only the ads that are over`() throws {
        var device = try self.device()
        try Self.joinLate(&device)
        device.killAndStart(after: 11)
        device.bench.listen()
        #expect(self.expired(device.bench) == ["b"])
        device.bench.expectNext("c", at: local(31))
    }

    @Test func `a break that was cued and then started goes on where it was`() throws {
        var device = try self.device()
        let ads = [content("a"), content("b"), content("c")]
        try device.bench.receive(
            device.bench.publish("b1", ads, holdUntil: gateway(300), at: gateway(0))
        )
        device.bench.advance(to: 30)
        let punch = BroadcastRequest.Punch(
            key: BreakKey(stream: stream(), id: breakID("b1")),
            start: .at(gateway(30))
        )
        try device.bench.receive(device.bench.ask(.punch(punch), at: gateway(30)))
        device.bench.expectNext("a", at: local(30))
        device.bench.step { core, now in core.report(.started, advertisement("a"), now: now) }
        device.bench.advance(to: 39)
        device.killAndStart(after: 4)
        device.bench.listen()
        #expect(self.outcomes(device.bench)["a"]?.result == .played)
        #expect(self.expired(device.bench) == [])
        device.bench.expectNext("b", at: local(43))
        device.bench.expectNext("c", at: local(53))
    }

    /// A journal that does not say where what is left of a batch begins: a session, and the batch of a break from 5 s to 45 s of
    /// which the first of three advertisements of 10 s was left out.
    private static let unplacedJournal = [
        "08809ab28cdaf38d03521f0a10000000000000000100000000000000021206726164696f311a01aa2001",
        "08809ab28cdaf38d035ad6010a360a0b090700000000000000100110011a02623120c0d69e85daf38d0328c0b8023880"
            + "a1d99adaf38d03400348809ab28cdaf38d035801129b010a0a0000000000000001623110c0d69e85daf38d0318c0b802"
            + "200128013a3d0a0162120a5469746c65206f66206228904e3a290a1b68747470733a2f2f6d656469612e6578616d706c"
            + "652f622e6d7033120a617564696f2f6d7065673a3d0a0163120a5469746c65206f66206328904e3a290a1b6874747073"
            + "3a2f2f6d656469612e6578616d706c652f632e6d7033120a617564696f2f6d706567",
    ]

    @Test func `a batch without a known start begins at the playhead`() throws {
        var device = try self.device()
        try Self.joinLate(&device)
        for each in Self.unplacedJournal {
            let digits = Array(each.utf8)
            let bytes = stride(from: 0, to: digits.count, by: 2)
                .compactMap { UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) }
            device.disk.apply(try JournalEntry(decoding: bytes))
        }
        // What the core keeps is not looked at.
        _ = device.bench.core.takeJournal()
        device.killAndStart(after: 15)
        device.bench.listen()
        #expect(device.bench.core.isResumed)
        #expect(self.expired(device.bench) == [])
        device.bench.expectNext("b", at: local(35))
    }

    @Test func `a fetched ad that is over by the next start is reported as expired`() throws {
        var device = try self.device()
        try self.publish(&device, in: 5)
        device.bench.advance(to: 1)
        device.killAndStart(after: 300)
        device.bench.listen()
        device.bench.advance(to: 302)
        let told = self.outcomes(device.bench)
        #expect(told.keys.sorted() == ["a", "b", "c"])
        #expect(told.values.allSatisfy { $0.result == .ignored(.expired) })
    }

    @Test func `in a new session the old one's advertisements are settled in its own name`() throws {
        var device = try self.device()
        try self.publish(&device, in: 5)
        device.bench.advance(to: 6)
        device.bench.expectNext("a", at: local(6))
        device.bench.step { core, now in core.report(.started, advertisement("a"), now: now) }
        device.killAndStart(after: 3_600, session: 3)
        device.bench.listen()
        device.bench.advance(to: 3_610)
        let acknowledged = device.bench.sent.filter { if case .acknowledge = $0.kind { true } else { false } }
        #expect(!acknowledged.isEmpty)
        let old = SessionTicket(session: SessionID(high: 1, low: 2), stream: device.bench.core.settings.stream)
        let ticket = MessageKeys.fixed.ticket(old)
        #expect(acknowledged.allSatisfy { $0.session == old.session && $0.ticket == ticket })
        let told = self.outcomes(device.bench)
        #expect(told["a"]?.result == .played)
        #expect(told["b"]?.result == .ignored(.expired) && told["c"]?.result == .ignored(.expired))
        let occurred = acknowledged.flatMap { request -> [Timestamp] in
            guard case .acknowledge(let acknowledge) = request.kind else { return [] }
            return acknowledge.outcomes.map(\.occurred)
        }
        #expect(occurred.allSatisfy { $0 <= gateway(10) }, "when the app was ended, and not when it came back")
    }

    @Test func `an outcome that was not confirmed is told again, with its own session and time`() throws {
        var device = try self.device()
        try self.publish(&device, in: 1)
        device.bench.advance(to: 1)
        device.bench.answers = false
        device.bench.step { $0.ignoreAll(now: $1) }
        device.killAndStart(after: 86_400, session: 3)
        device.bench.listen()
        device.bench.advance(to: 86_402)
        #expect(device.bench.outcomes.count == 3)
        #expect(device.bench.outcomes.values.allSatisfy { $0.map(\.reason) == [.user] })
        let told = device.bench.sent.filter { if case .acknowledge = $0.kind { true } else { false } }
        #expect(told.map(\.session) == [SessionID(high: 1, low: 2)])
    }

    @Test func `an outcome is kept for seven days and given up a moment later, visibly`() throws {
        for (days, isTold) in [(6.999, true), (7.001, false)] {
            var device = try self.device()
            try self.publish(&device, in: 1)
            device.bench.advance(to: 1)
            device.bench.answers = false
            device.bench.step { $0.ignoreAll(now: $1) }
            let before = device.bench.outcomes.count
            device.killAndStart(after: days * 86_400, session: 3)
            device.bench.listen()
            device.bench.advance(to: device.bench.now.sinceStart.inSeconds + 1)
            let givenUp = device.bench.events.compactMap { event -> String? in
                if case .acknowledgementGivenUp(_, _, let reason) = event { reason } else { nil }
            }
            #expect(givenUp.isEmpty == isTold, "\(days) days: \(givenUp)")
            #expect((device.bench.outcomes.count > before) == isTold)
        }
    }

    @Test func `pre-roll ads are not repeated when the session continues`() throws {
        var bench = try CoreBench()
        _ = try bench.publish(
            "pre",
            [content("roll")],
            holdUntil: gateway(3_600),
            preStream: true,
            at: gateway(0)
        )
        bench.listen()
        var device = Device(bench)
        device.bench.expectNext("roll", at: local(1))
        device.killAndStart(after: 5)
        device.bench.listen()
        device.bench.expectNext(nil, at: local(7))
        #expect(device.bench.core.connectionState == .listening)
    }
}
