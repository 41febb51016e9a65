// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing
import ZeroMQ

/// Ticks, head notices and request windows: what goes out by time.
@Suite(.suiteLimit)
struct RhythmTests {
    var station = Station()

    @Test func `ticks name the instance and count, not faster than every 50 ms`() async throws {
        try await self.station.runByHand { running in
            let peer = try RawPeer(.sub, in: running.network)
            try await peer.connect(running.endpoints.notices)
            // Before the first can come: what waits is read at once.
            let begun = ContinuousClock.now
            try await peer.subscribe(NoticeFrame.syncTopic)
            var ticks: [SyncTick] = []
            for _ in 0..<11 { ticks.append(try await peer.next("a tick") { $0.tick }) }
            #expect(ContinuousClock.now - begun >= .milliseconds(450))
            #expect(ticks.allSatisfy { $0.instance == running.gateway.instance })
            let first = ticks[0].counter
            #expect(ticks.map(\.counter) == Array(first..<(first + 11)))
        }
    }

    @Test func `the position is repeated 1 s and 3 s after a notice, then at the interval`() async throws {
        var station = self.station
        station.configuration.headInterval = .seconds(2)
        try await station.run { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            var since: [Duration] = []
            // The first head comes before the second is due, else there was none after 1 s. A machine that is busy may
            // bring it later for once, but not every time.
            repeat {
                try await broadcaster.publish("break-\(since.count)", start: nil)
                let notice = try await listener.notice()
                since = []
                while since.count < 3 {
                    let head = try await listener.notice("a head") { $0.kind == .head && $0.sent > notice.sent }
                    #expect(head.position == notice.position)
                    #expect(head.breakID == nil)
                    since.append(head.sent - notice.sent)
                }
                for (measured, planned) in zip(since, [1, 3, 5]) {
                    #expect(measured >= .milliseconds(planned * 1_000 - 5))
                }
                try await broadcaster.do(.cancel(.of("radio1", notice.breakID?.description ?? "")))
                _ = try await listener.notice { $0.kind == .cancelled }
            } while since[0] >= .seconds(3)
        }
    }

    @Test func `heads go to subscribed streams only, and go on when the clock is set back`() async throws {
        var station = self.station
        station.configuration.headInterval = .milliseconds(100)
        try await station.runByHand { running in
            try await running.broadcaster().publish("unheard", of: "silent")
            let listener = try await running.listener(of: "heard")
            _ = try await listener.notice("a head") { $0.kind == .head }
            station.clock.advance(by: .seconds(-3_600))
            for _ in 0..<5 { _ = try await listener.notice("a head") { $0.kind == .head } }
            #expect(running.metrics.value(.subscribedStreams) == 1)

            await listener.close()
            try await until("there is no subscriber") { running.metrics.value(.subscribedStreams) == 0 }
            let sent = running.metrics.value(.headsSent)
            try await Task.sleep(for: .milliseconds(350))
            // One may have been on its way.
            #expect(running.metrics.value(.headsSent) - sent <= 1)
        }
    }

    @Test func `the request window grows with the listeners, and ends before the start`() async throws {
        var station = self.station
        station.configuration.breaks.batchRequestsPerSecond = 10
        try await station.runByHand { running in
            let listener = try await running.listener()
            for _ in 0..<19 {
                let other = try await RawListener(
                    of: listener.stream,
                    at: running.endpoints,
                    session: .random(),
                    in: running.network
                )
                _ = try await other.join()
                await other.close()
            }
            _ = try await listener.join()
            let broadcaster = try await running.broadcaster()
            let now = station.clock.now()

            // 20 listeners at 10 a second need 2 s.
            try await broadcaster.publish("roomy", start: .after(.seconds(6)), duration: .seconds(5))
            let roomy = try await listener.notice()
            #expect(roomy.window == RequestWindow(from: now, by: now + .seconds(2)))

            // With 2.5 s of lead the window ends 1 s before the start.
            try await broadcaster.do(.cancel(.of("radio1", "roomy")))
            try await broadcaster.publish("narrow", start: .after(.milliseconds(2_500)), duration: .seconds(5))
            let narrow = try await listener.notice { $0.breakID?.description == "narrow" }
            #expect(narrow.window == RequestWindow(from: now, by: now + .milliseconds(1_500)))

            // Without lead it opens at once.
            try await broadcaster.do(.cancel(.of("radio1", "narrow")))
            try await broadcaster.publish("late", start: .now, duration: .seconds(5))
            let late = try await listener.notice { $0.breakID?.description == "late" }
            #expect(late.window == RequestWindow(from: now, by: now + .seconds(2)))

            // Another stream has no listeners: a quarter of the lead is there for nothing.
            let other = try await running.listener(of: "radio2")
            try await broadcaster.publish("small", of: "radio2", start: .after(.seconds(6)))
            #expect(try await other.notice().window == RequestWindow(from: now, by: now + .milliseconds(1_500)))
        }
    }

    @Test func `a break is announced when its announcement is due, not before`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            let info = try await broadcaster.publish("later", start: .after(.seconds(60)))
            #expect(info.state == .scheduled)
            #expect(info.announce == self.station.clock.now() + .seconds(52))
            let key = try BreakKey.of("radio1", "later")
            #expect(try await listener.ask(.getBatch(ListenerRequest.GetBatch(key: key))).refusal?.status == .notFound)

            self.station.clock.advance(by: .milliseconds(51_999))
            // Many looks at the timers later nothing has gone out.
            try await Task.sleep(for: .milliseconds(100))
            #expect(running.metrics.value(.noticesSent) == 0)
            self.station.clock.advance(by: .milliseconds(1))
            let notice = try await listener.notice()
            #expect(notice.kind == .available)
            #expect(notice.start == info.start)
            #expect(try await listener.batch(of: "later").advertisements.count == 2)
        }
    }
}

extension RawPeer.Frames {
    /// The tick, where it is one.
    var tick: SyncTick? {
        guard case .tick(let tick)? = try? NoticeFrame(decoding: self[0]) else { return nil }
        return tick
    }
}
