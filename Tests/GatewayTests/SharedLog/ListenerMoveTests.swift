// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import SystemSupport
import TestSupport
import Testing

@testable import Gateway

/// Gateways of one log that name each other to their listeners, and one that stops and asks its listeners to move.
@Suite(.suiteLimit)
struct ListenerMoveTests {
    private let server = FarServer(.calm)
    private let exchange = FarExchange(.late, seed: SeededGenerator.seed)

    /// Runs one gateway of the cluster, which advertises an address.
    private func run<Result>(
        advertises address: String,
        moveWithin: Duration = waitMax,
        _ body: (RunningGateway) async throws -> Result
    ) async throws -> Result {
        let far = self.server.connect()
        let log = try await WriterLog(over: far, settledAfter: .milliseconds(50))
        var configuration = GatewayConfiguration.forTests
        configuration.beatInterval = .milliseconds(50)
        configuration.gatewayGoneAfter = TestPatience.condition
        configuration.advertised = address
        configuration.moveWithin = moveWithin
        return try await withGateway(
            configuration: configuration,
            parts: LogParts(log: log, snapshots: far, watermarks: far, maintenance: nil),
            ledger: InMemoryLedger(),
            bus: GatewayBusParts(bus: self.exchange.connect(), writer: log.writer, version: "test"),
            body
        )
    }

    private func listener(at running: RunningGateway, session: SessionID = .random()) async throws -> RawListener {
        try await RawListener(of: StreamID("radio1"), at: running.endpoints, session: session, in: running.network)
    }

    private func named(by running: RunningGateway) async throws -> [String] {
        let listener = try await self.listener(at: running)
        let named = try await listener.joinPushed().alternatives.map(\.description)
        await listener.close()
        return named
    }

    @Test func `a join names the others that are alive, and no longer one that has gone or advertises nothing`()
        async throws
    {
        try await self.run(advertises: "tcp://one:7401") { one in
            #expect(try await self.named(by: one).isEmpty)
            try await self.run(advertises: "tcp://two:7401, wss://two/listen") { two in
                try await self.run(advertises: "") { three in
                    for running in [one, two, three] {
                        try await until("all know each other") { running.metrics.value(.gateways) == 3 }
                    }
                    try await until("one names the other") { one.metrics.value(.alternativeGateways) == 1 }
                    #expect(try await self.named(by: one) == ["tcp://two:7401", "wss://two/listen"])
                    #expect(try await self.named(by: two) == ["tcp://one:7401"])
                    #expect(
                        Set(try await self.named(by: three)) == [
                            "tcp://one:7401", "tcp://two:7401", "wss://two/listen",
                        ]
                    )
                }
            }
            try await until("it has gone") { one.metrics.value(.alternativeGateways) == 0 }
            #expect(try await self.named(by: one).isEmpty)
        }
    }

    @Test
    func `a gateway that stops tells every listener at once, serves until they have gone, and refuses joins only`()
        async throws
    {
        try await self.run(advertises: "tcp://one:7401") { one in
            let (pushed, session, heads) = try await self.run(advertises: "tcp://two:7401") { two in
                for running in [one, two] {
                    try await until("they know each other") { running.metrics.value(.alternativeGateways) == 1 }
                }
                // By each of the ways that notices come.
                let pushed = try await self.listener(at: two)
                _ = try await pushed.joinPushed()
                let subscribed = try await two.listener()
                _ = try await subscribed.join()
                let reader = try await two.gateway.listeners.listen(
                    .init(stream: StreamID("radio1"), last: nil, instance: 0),
                    of: .random(),
                    from: PeerAddress(ipv4: 0x7F00_0001)
                )

                await two.beginShutdown()
                let isMove: @Sendable (Notice) -> Bool = { $0.move != nil }
                let heads = [
                    try await pushed.pushedNotice("to move", where: isMove),
                    try await subscribed.notice("to move", where: isMove),
                ]
                var told: Move?
                // A position may wait for it.
                while told == nil, case .notices(let published) = await reader.reader.next() {
                    told = published.compactMap(\.notice.move).first
                }
                #expect(told == heads[0].move)

                // It still brings notices, and answers all but joins. The other one takes what is published.
                try await one.broadcaster().publish("b", duration: .seconds(1_800))
                #expect(try await pushed.pushedNotice().breakID?.description == "b")
                let batch = try await pushed.batch(of: "b")
                #expect(
                    try await pushed.ask(pushed.acknowledgement(of: batch, of: "b")).body == .acknowledged(recorded: 2)
                )
                let late = try await self.listener(at: two)
                let refusal = try await late.ask(.join(.init(stream: late.stream, instance: 0, push: true))).refusal
                #expect(refusal?.status == .draining)
                #expect(two.gateway.readiness.isDraining)
                try await until("the other one names it no more") { one.metrics.value(.alternativeGateways) == 0 }

                // It ends as soon as they have gone, long before the time is over.
                for each in [pushed, subscribed, late] { await each.close() }
                try await until("their connections have ended") { two.metrics.value(.connections, .requests) == 0 }
                two.gateway.listeners.close(reader.reader)
                return (pushed, pushed.session, heads)
            }
            #expect(
                heads.allSatisfy {
                    $0.kind == .head && $0.move?.within == .milliseconds(WireLimits.moveMillisecondsMax)
                }
            )
            #expect(heads.allSatisfy { $0.move?.addresses.map(\.description) == ["tcp://one:7401"] })
            #expect(pushed.session == session)

            // The session goes on at the other one: nothing is missed, and its outcomes are counted once.
            let moved = try await self.listener(at: one, session: session)
            let joined = try await moved.joinPushed(last: heads[0].position)
            #expect(joined.kind == .recovered && joined.notices.map(\.breakID?.description) == ["b"])
            let again = try await moved.batch(of: "b")
            #expect(try await moved.ask(moved.acknowledgement(of: again, of: "b")).body == .acknowledged(recorded: 2))
            let books = try await one.books { $0.total.played == 2 }
            #expect(books.total.delivered == 2 && books.balances)
        }
    }

    @Test func `listeners that do not move hold the stop up for the time and a second`() async throws {
        let within = Duration.milliseconds(200)
        try await self.run(advertises: "tcp://one:7401") { one in
            // A listener that is not held is closed.
            let (began, listener) = try await self.run(advertises: "tcp://two:7401", moveWithin: within) { two in
                try await until("they know each other") { two.metrics.value(.alternativeGateways) == 1 }
                let listener = try await self.listener(at: two)
                _ = try await listener.joinPushed()
                return (ContinuousClock.now, listener)
            }
            #expect(ContinuousClock.now - began >= within + ListenerMove.graceAfter)
            _ = (one, listener)
        }
    }

    @Test func `a gateway with no one to name, or without listeners, stops at once`() async throws {
        // What waits for this time waits for ever.
        let long = Duration.milliseconds(WireLimits.moveMillisecondsMax) * 60
        try await self.run(advertises: "tcp://one:7401", moveWithin: long) { one in
            try await self.run(advertises: "", moveWithin: long) { two in
                try await until("one hears the other") { one.metrics.value(.gateways) == 2 }
                try await until("the other names it") { two.metrics.value(.alternativeGateways) == 1 }
            }
            let listener = try await self.listener(at: one)
            _ = try await listener.joinPushed()
        }
    }
}
