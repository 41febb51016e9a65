// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import Testing
import ZeroMQ

/// A listener with one connection: a stock DEALER that asks, and gets its notices beside its answers.
@Suite(.suiteLimit)
struct OneConnectionTests {
    var station = Station()

    private func listener(of stream: String = "radio1", at running: RunningGateway) async throws -> RawListener {
        try await RawListener(
            of: StreamID(stream),
            at: running.endpoints,
            session: .random(),
            in: running.network
        )
    }

    @Test func `it hears, fetches and acknowledges, and the books balance`() async throws {
        try await self.station.runByHand { running in
            let listener = try await self.listener(at: running)
            let joined = try await listener.joinPushed()
            #expect(joined.pushed)
            #expect(running.metrics.value(.pushedConnections) == 1)
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let notice = try await listener.pushedNotice()
            #expect(notice.position.sequence == joined.head.sequence + 1)
            let batch = try await listener.batch(of: "b")
            let reply = try await listener.ask(listener.acknowledgement(of: batch, of: "b"))
            #expect(reply.body == .acknowledged(recorded: 2))
            let books = try await running.books { $0.total.played == 2 }
            #expect(books.total.delivered == 2)
            #expect(books.balances)
            #expect(try await running.ledger.audit() == [])
            #expect(try await listener.ask(.leave(listener.stream)).body == .done)
            #expect(running.metrics.value(.pushedConnections) == 0)
            #expect(running.metrics.value(.listeners) == 0)
        }
    }

    @Test func `joining again recovers, and another session or stream is refused on the same connection`() async throws
    {
        try await self.station.runByHand { running in
            let listener = try await self.listener(at: running)
            let joined = try await listener.joinPushed()
            let broadcaster = try await running.broadcaster()
            for number in 1...3 { try await broadcaster.publish("b\(number)", start: nil) }
            for number in 1...3 {
                #expect(try await listener.pushedNotice().position.sequence == joined.head.sequence + UInt64(number))
            }
            let again = try await listener.joinPushed(last: joined.head)
            #expect(again.kind == .recovered)
            #expect(again.notices.count == 3)
            let other = try await listener.ask(.join(.init(stream: StreamID("radio2"), instance: 0, push: true)))
            #expect(other.refusal?.status == .invalid)
            try await broadcaster.publish("b4", start: nil)
            #expect(try await listener.pushedNotice().position.sequence == joined.head.sequence + 4)
        }
    }

    @Test func `after a restart of the gateway it recovers what it missed, and hears on`() async throws {
        let head = try await self.station.runByHand { running in
            let listener = try await self.listener(at: running)
            let joined = try await listener.joinPushed()
            try await running.broadcaster().publish("b1", start: nil)
            #expect(try await listener.pushedNotice().position.sequence == 1)
            return joined.head
        }
        try await self.station.runByHand { running in
            let listener = try await self.listener(at: running)
            let joined = try await listener.joinPushed(last: head)
            #expect(joined.kind == .recovered)
            #expect(joined.notices.map(\.position.sequence) == [1])
            try await running.broadcaster().publish("b2", start: nil)
            #expect(try await listener.pushedNotice().position.sequence == 2)
        }
    }

    @Test func `a REQ socket is refused and hears why`() async throws {
        try await self.station.runByHand { running in
            let peer = try RawPeer(.req, in: running.network)
            try await peer.connect(running.endpoints.requests)
            let request = ListenerRequest(
                id: 7,
                session: .random(),
                kind: .join(.init(stream: try StreamID("radio1"), instance: 0, push: true))
            )
            try await peer.send([request.encoded()])
            let reply = try await peer.next("the refusal") { try? ListenerReply(decoding: $0[0]) }
            #expect(reply.refusal?.status == .invalid)
            #expect(reply.refusal?.sentence.contains("DEALER") == true)
            #expect(running.metrics.value(.listeners) == 0)
        }
    }
}
