// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

/// The events of a break after its publication, as a listener sees them.
@Suite(.suiteLimit)
struct BreakLifeTests {
    let station = Station()
    var clock: ManualClock { self.station.clock }

    @Test func `a cancelled break is withdrawn, and its batch is refused`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b")
            #expect(try await listener.notice().kind == .available)
            let batch = try await listener.batch(of: "b")
            let key = try BreakKey.of("radio1", "b")
            #expect(try await broadcaster.do(.cancel(key)).state == .cancelled)
            let notice = try await listener.notice()
            #expect(notice.kind == .cancelled)
            #expect(notice.cancelReason == .broadcaster)
            let refusal = try await listener.ask(.getBatch(ListenerRequest.GetBatch(key: key))).refusal
            #expect(refusal?.status == .tooLate)
            // What was fetched before is still acknowledged.
            let ignored = try listener.acknowledgement(of: batch, of: "b", .ignored)
            #expect(try await listener.ask(ignored).body == .acknowledged(recorded: 2))
            // Cancelling again is the same.
            #expect(try await broadcaster.do(.cancel(key)).state == .cancelled)
            try await until("both notices count") { running.metrics.value(.noticesSent) >= 2 }
            #expect(running.metrics.value(.noticesSent) == 2)
        }
    }

    @Test func `a break that ends early says when and how`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", start: .now, duration: .seconds(30))
            #expect(try await listener.notice().kind == .available)
            self.clock.advance(by: .seconds(10))
            let end = BroadcastRequest.End(key: try .of("radio1", "b"), endMode: .finishAd)
            try await broadcaster.do(.end(end))
            let notice = try await listener.notice()
            #expect(notice.kind == .ended)
            #expect(notice.duration == .seconds(10))
            #expect(notice.endMode == .finishAd)
            #expect(notice.expires == self.clock.now())
        }
    }

    @Test func `a punched break tells its start`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", start: nil, duration: .seconds(30))
            #expect(try await listener.notice().start == nil)
            #expect(try await listener.batch(of: "b").start == nil)
            let key = try BreakKey.of("radio1", "b")
            try await broadcaster.do(.punch(BroadcastRequest.Punch(key: key, start: .after(.zero))))
            let notice = try await listener.notice()
            #expect(notice.kind == .updated)
            #expect(notice.start == self.clock.now())
            #expect(try await listener.batch(of: "b").start == self.clock.now())
        }
    }

    @Test func `a pre-stream break is given to everybody who joins while it is open`() async throws {
        try await self.station.runByHand { running in
            try await running.broadcaster()
                .publish(
                    "pre",
                    start: nil,
                    duration: nil,
                    preStream: true,
                    hold: .seconds(60)
                )
            for _ in 0..<2 {
                let listener = try await running.listener()
                let joined = try await listener.join()
                #expect(joined.notices.map(\.preStream) == [true])
                #expect(try await listener.batch(of: "pre").advertisements.count == 2)
            }
            self.clock.advance(by: .seconds(60))
            #expect(try await running.listener().join().notices.isEmpty)
        }
    }

    @Test func `an update before the start moves it, and tells the listeners`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", start: .after(.seconds(5)), duration: .seconds(30))
            #expect(try await listener.notice().kind == .available)
            let update = BroadcastRequest.Update(
                key: try .of("radio1", "b"),
                start: .after(.seconds(7)),
                duration: .seconds(15)
            )
            try await broadcaster.do(.update(update))
            let notice = try await listener.notice()
            #expect(notice.kind == .updated)
            #expect(notice.start == self.clock.now() + .seconds(7))
            #expect(notice.duration == .seconds(15))
        }
    }

    @Test func `refusals reach the broadcaster with a status and a sentence`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", start: .after(.seconds(5)), duration: .seconds(30))
            let cases: [(BroadcastRequest.Kind, StatusCode, String)] = [
                (try .publication(of: .of("radio1", "b"), start: .after(.seconds(6))), .conflict, "start"),
                (try .publication(of: .of("radio1", "c"), start: .after(.seconds(6))), .breakOverlap, "break b"),
                (
                    try .publication(of: .of("radio1", "d"), start: .at(self.clock.now() - .seconds(3))),
                    .startInPast, "is over"
                ),
                (try .publication(of: .of("radio1", "e"), start: .after(.seconds(21_601))), .tooFarAhead, "21601 s"),
                (.cancel(try .of("radio1", "nothing")), .notFound, "no break nothing"),
                (.punch(BroadcastRequest.Punch(key: try .of("radio1", "b"))), .wrongState, "cued"),
            ]
            for (kind, status, words) in cases {
                let refusal = try #require(try await broadcaster.ask(kind).refusal)
                #expect(refusal.status == status)
                #expect(refusal.sentence.contains(words))
            }
            // Two seconds late counts as now.
            let late = try await broadcaster.do(
                .publication(of: .of("radio2", "late"), start: .at(self.clock.now() - .seconds(2)))
            )
            #expect(late.start == self.clock.now())
        }
    }
}
