// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

/// Signed deliveries and tickets at a running gateway, and what a reload of keys does to them.
@Suite(.suiteLimit)
struct SigningTests {
    var station = Station()

    private func key(_ byte: UInt8, _ state: SigningKey.State) throws -> SigningKey {
        try #require(
            SigningKey(secret: Array(repeating: byte, count: 32), state: state, since: Timestamp(microseconds: 0))
        )
    }

    private func keys(_ keys: SigningKey...) throws -> MessageKeys { MessageKeys(try KeyRing(keys)) }

    private func run<Result>(
        keys: MessageKeys = .fixed,
        _ body: (RunningGateway) async throws -> Result
    ) async throws -> Result {
        try await withGateway(
            configuration: self.station.configuration,
            log: self.station.log,
            ledger: InMemoryLedger(),
            keys: keys,
            clock: self.station.clock,
            body
        )
    }

    @Test func `a reload of keys is in effect with the next request, on open connections too`() async throws {
        try await self.run(keys: try self.keys(self.key(1, .signing))) { running in
            let listener = try await running.listener()
            try await running.broadcaster().publish("b", duration: .seconds(30))
            let batch = try await listener.batch(of: "b")
            let acknowledgement = try listener.acknowledgement(of: batch, of: "b")
            let configuration = self.station.configuration
            await running.gateway.reload(
                configuration,
                nil,
                try self.keys(self.key(2, .signing), self.key(1, .revoked))
            )
            let refused = try await listener.ask(acknowledgement)
            #expect(
                refused.refusal == Refusal(.deliveryInvalid, "The delivery was signed with a key that was withdrawn.")
            )
            // Without keys a reload leaves them alone.
            await running.gateway.reload(configuration, nil)
            #expect(try await listener.ask(acknowledgement).refusal?.status == .deliveryInvalid)
            await running.gateway.reload(
                configuration,
                nil,
                try self.keys(self.key(2, .signing), self.key(1, .verifyOnly))
            )
            #expect(try await listener.ask(acknowledgement).body == .acknowledged(recorded: 2))
        }
    }

    @Test func `another gateway of the log takes a delivery with the keys, and not without`() async throws {
        let session = SessionID(high: 1, low: 2)
        let acknowledgement = try await self.run(keys: try self.keys(self.key(1, .signing))) { running in
            let listener = try await running.listener(session: session)
            try await running.broadcaster().publish("b", duration: .seconds(30))
            return try listener.acknowledgement(of: try await listener.batch(of: "b"), of: "b")
        }
        try await self.run(keys: try self.keys(self.key(2, .signing))) { running in
            let refused = try await running.listener(session: session).ask(acknowledgement)
            #expect(refused.refusal?.status == .deliveryInvalid)
        }
        try await self.run(keys: try self.keys(self.key(2, .signing), self.key(1, .verifyOnly))) { running in
            let reply = try await running.listener(session: session).ask(acknowledgement)
            #expect(reply.body == .acknowledged(recorded: 2))
        }
    }

    @Test func `a ticket that ends closes the connection that hears by it, and loses no outcome`() async throws {
        var station = self.station
        station.configuration.protectedStreams = [StreamPattern("radio1")].compactMap(\.self)
        try await station.runByHand { running in
            let listener = try await running.listener()
            let ticket = try #require(
                MessageKeys.fixed.ticket(
                    SessionTicket(
                        session: listener.session,
                        stream: listener.stream,
                        fetchUntil: station.clock.now() + .seconds(60),
                        acknowledgeUntil: station.clock.now() + .seconds(600)
                    )
                )
            )
            #expect(running.metrics.value(.framesRefused, .protectedTopic) == 1, "it subscribed")
            let without = try await listener.ask(.join(.init(stream: listener.stream, instance: 0, push: true)))
            #expect(without.refusal?.status == .notAllowed)
            let join = ListenerRequest.Kind.join(.init(stream: listener.stream, instance: 0, push: true))
            guard case .joined(let joined) = try await listener.ask(join, ticket: ticket).body else {
                throw PeerError.unexpected("not joined")
            }
            #expect(joined.pushed && SessionTicket(bytes: joined.ticket) == SessionTicket(bytes: ticket))
            try await running.broadcaster().publish("b", duration: .seconds(30))
            #expect(try await listener.pushedNotice().breakID == BreakID("b"))
            let get = ListenerRequest.Kind.getBatch(.init(key: try .of("radio1", "b")))
            guard case .batch(let batch) = try await listener.ask(get, ticket: ticket).body else {
                throw PeerError.unexpected("no batch")
            }
            let acknowledgement = try listener.acknowledgement(of: batch, of: "b")
            station.clock.advance(by: .seconds(61))
            try await until("the connection is closed") { running.metrics.value(.connectionsClosed, .expired) == 1 }
            let again = try await running.listener(session: listener.session)
            #expect(try await again.ask(get, ticket: ticket).refusal?.status == .notAllowed)
            #expect(try await again.ask(acknowledgement, ticket: ticket).body == .acknowledged(recorded: 2))
        }
    }
}
