// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

/// How acknowledgements go into the ledger: what comes soon after a transaction waits for the next one.
@Suite(.suiteLimit)
struct LedgerGatheringTests {
    private var station = Station()
    private static let lane = Lane.acknowledgements(0)

    /// Fetches a break and acknowledges it.
    private func acknowledge(_ id: String, by listener: RawListener, at running: RunningGateway) async throws {
        try await running.broadcaster().publish(id, start: nil, duration: .seconds(30), preStream: true)
        let batch = try await listener.batch(of: id)
        let reply = try await listener.ask(try listener.acknowledgement(of: batch, of: id))
        #expect(reply.body == .acknowledged(recorded: 2))
    }

    @Test func `the first group is counted at once, the next ones together, and none is lost by a stop`() async throws {
        let ledger = InMemoryLedger()
        var station = self.station
        station.configuration.ledgerGatherFor = .seconds(3_600)
        try await withGateway(configuration: station.configuration, log: station.log, ledger: ledger) { running in
            let listener = try await running.listener()
            _ = try await listener.join()
            try await self.acknowledge("a", by: listener, at: running)
            try await until("the first group is counted") { try await ledger.appliedOffset(of: Self.lane) > 0 }
            let counted = try await ledger.appliedOffset(of: Self.lane)
            for id in ["b", "c", "d"] { try await self.acknowledge(id, by: listener, at: running) }
            #expect(try await station.memory.head(of: Self.lane) > counted)
            #expect(try await ledger.appliedOffset(of: Self.lane) == counted)
        }
        let next = ledger.reopened()
        try await withGateway(
            configuration: self.station.configuration,
            log: ControlledLog(station.memory.reopened()),
            ledger: next
        ) { running in
            let books = try await running.books { $0.breaks.count == 4 && $0.total.played == 8 }
            #expect(books.balances)
        }
    }
}
