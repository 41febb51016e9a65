// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

/// One break from publication to the last acknowledgement, and every kind of request, over real sockets.
@Suite(.suiteLimit)
struct HappyPathTests {
    let station = Station()

    @Test func `a break is published, announced, fetched, acknowledged and in the books`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let joined = try await listener.join()
            #expect(joined.kind == .snapshot)
            #expect(joined.head == Position(epoch: self.station.log.epoch, sequence: 0))
            #expect(joined.notices.isEmpty)
            #expect(joined.instance == running.gateway.instance)

            let broadcaster = try await running.broadcaster()
            let info = try await broadcaster.publish("first", start: .after(.seconds(5)))
            #expect(info.state == .announced)
            #expect(info.position?.sequence == 1)

            let notice = try await listener.notice()
            #expect(notice.kind == .available)
            #expect(notice.position == Position(epoch: self.station.log.epoch, sequence: 1))
            #expect(notice.breakID == (try BreakID("first")))
            #expect(notice.start == info.start)
            #expect(notice.duration == .seconds(30))
            #expect(notice.advertisementCount == 2)

            let batch = try await listener.batch(of: "first")
            #expect(batch.advertisements == [try .madeUp("a"), try .madeUp("b")])
            #expect(batch.start == info.start)
            #expect(batch.skipped == 0)

            let reply = try await listener.ask(listener.acknowledgement(of: batch, of: "first"))
            #expect(reply.body == .acknowledged(recorded: 2))

            // The delivery and both outcomes, once each.
            let books = try await running.books { $0.total.played == 2 }
            #expect(books.breaks.map(\.summary.key) == [try .of("radio1", "first")])
            #expect(books.breaks.first?.sessions == 1)
            #expect(books.total.delivered == 2)
            #expect(books.total.unknown == 0)
            #expect(books.total.heardMilliseconds == 30_000)
            #expect(books.balances)
            #expect(try await running.ledger.audit() == [])

            #expect(running.metrics.value(.notifiedListeners) == 1)
            #expect(running.metrics.value(.deliveredAdvertisements) == 2)
            try await until("the outcomes are counted") { running.metrics.value(.countedOutcomes, .played) == 2 }
            #expect(running.metrics.value(.countedOutcomes, .ignored) == 0)
            #expect(running.metrics.value(.countedOutcomes, .failed) == 0)
        }
    }

    @Test func `time and leave are answered, and a listener that left does not count`() async throws {
        try await self.station.run { running in
            let listener = try await running.listener()
            _ = try await listener.join()
            try await until("the listener counts") { running.metrics.value(.listeners) == 1 }

            let before = SystemClock().now()
            let time = try await listener.ask(.getTime)
            #expect(time.body == .done)
            #expect(time.gatewayTime >= before)
            #expect(time.gatewayTime <= SystemClock().now())

            #expect(try await listener.ask(.leave(listener.stream)).body == .done)
            try await until("none counts") { running.metrics.value(.listeners) == 0 }
        }
    }

    @Test func `listeners of one stream hear nothing of a stream whose id only begins the same`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener(of: "radio1")
            let other = try await running.listener(of: "radio10")
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("theirs", of: "radio10")
            #expect(try await other.notice().breakID == (try BreakID("theirs")))
            try await broadcaster.publish("own", of: "radio1")
            #expect(try await listener.notice().breakID == (try BreakID("own")))
            #expect(
                await listener.notices.takeAll()
                    .allSatisfy {
                        $0[0].starts(with: Array("radio1\0".utf8)) || $0[0].starts(with: NoticeFrame.syncTopic)
                    }
            )
        }
    }

    @Test func `the same publication again is the same break, without a second notice`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            let first = try await broadcaster.publish("twice")
            let again = try await broadcaster.publish("twice")
            #expect(again == first)
            try await broadcaster.publish("next", start: .after(.seconds(60)), duration: .seconds(10))
            try await broadcaster.do(.cancel(BreakKey(stream: listener.stream, id: try BreakID("twice"))))
            #expect(try await listener.notice().position.sequence == 1)
            let second = try await listener.notice()
            #expect(second.kind == .cancelled)
            #expect(second.position.sequence == 2)
        }
    }

    @Test func `two publications of the same break sent at once get the same answer`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            let publish = BroadcastRequest.Kind.publish(
                BroadcastRequest.Publish(
                    key: BreakKey(stream: try StreamID("radio1"), id: try BreakID("twin")),
                    start: .after(.seconds(20)),
                    advertisements: [try .madeUp("a")]
                )
            )
            var ids: [UInt64] = []
            for _ in 0..<10 { ids.append(try await broadcaster.send(publish)) }
            var infos: Set<Timestamp?> = []
            for id in ids {
                guard case .break(let info) = try await broadcaster.reply(to: id) else {
                    Issue.record("request \(id) was refused")
                    continue
                }
                infos.insert(info.start)
            }
            #expect(infos.count == 1)
            #expect(running.board.keys.count == 1)
        }
    }

    @Test func `an acknowledgement sent again is confirmed again`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            try await running.broadcaster().publish("again")
            let batch = try await listener.batch(of: "again")
            let acknowledgement = try listener.acknowledgement(of: batch, of: "again", .ignored)
            for _ in 0..<3 {
                #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
            }
            #expect(running.metrics.value(.repeatedOutcomes) == 4)
            let books = try await running.books { $0.total.ignored == 2 }
            #expect(books.total.repeats == 0, "what memory knows is not logged again")
            #expect(books.total.ignored == 2)
            #expect(books.total.ignoredBy == [.user: 2])
            #expect(books.balances)
        }
    }

    @Test func `breaks are listed page by page`() async throws {
        try await self.station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            for stream in ["one", "two"] {
                for index in 0..<3 {
                    try await broadcaster.publish(
                        "break-\(index)",
                        of: stream,
                        start: .after(.seconds(100 * (index + 1))),
                        duration: .seconds(10)
                    )
                }
            }
            guard
                case .list(let all, let after) = try await broadcaster.ask(.list(BroadcastRequest.List()))
            else { throw PeerError.unexpected("no list") }
            #expect(
                all.map(\.key.description) == [
                    "one/break-0", "one/break-1", "one/break-2", "two/break-0", "two/break-1", "two/break-2",
                ]
            )
            #expect(after.isEmpty)
            guard
                case .list(let some, _) = try await broadcaster.ask(
                    .list(BroadcastRequest.List(stream: try StreamID("two"), id: try BreakID("break-1")))
                )
            else { throw PeerError.unexpected("no list") }
            #expect(some.map(\.key.description) == ["two/break-1"])
        }
    }
}
