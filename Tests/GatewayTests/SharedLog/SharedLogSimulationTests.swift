// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

@testable import Gateway

/// Gateways on one log far away whose answers get lost, whose records come late, out of order, or never.
@Suite(.suiteLimit)
struct SharedLogSimulationTests {
    /// Random schedules; the seed of a failing one is in the message.
    @Test func `what is confirmed is there once, what is refused never, and nothing old follows something newer`()
        throws
    {
        var generator = SeededGenerator(for: "gateways on a shared log")
        for _ in 0..<20 {
            let seed = UInt64.random(in: 0 ... .max, using: &generator)
            var world = SharedWorld(seed: seed, gateways: 3, requests: 120)
            try world.run()
            try self.check(world, seed)
        }
    }

    @Test func `the same seed comes to the same`() throws {
        func lane() throws -> [LoggedRecord] {
            var world = SharedWorld(seed: 11, gateways: 2, requests: 60)
            try world.run()
            return world.far.everything(in: .breaks)
        }
        #expect(try lane() == lane())
    }

    @Test func `a board from a snapshot and the records after it is the one of the whole log`() async throws {
        var generator = SeededGenerator(for: "snapshots of a shared log")
        for _ in 0..<10 {
            let seed = UInt64.random(in: 0 ... .max, using: &generator)
            var world = SharedWorld(seed: seed, gateways: 3, requests: 120)
            try world.run()
            let records = world.far.everything(in: .breaks)
            let identity = LogIdentity(epoch: 7)
            func empty() -> Board {
                Board(epoch: 7, names: SipHash(key: identity.logID.low, identity.logID.high))
            }
            var whole = empty()
            for record in records { _ = try whole.apply(record) }
            for _ in 0..<4 {
                let count = Int.random(in: 1...records.count, using: &generator)
                var before = empty()
                for record in records.prefix(count) { _ = try before.apply(record) }
                let archive = SnapshotArchive(ArchiveInMemory())
                let entry = try await archive.leave(before, of: identity)
                var after = try await archive.board(of: entry, in: identity)
                #expect(after == before, "seed \(seed), \(count) records")
                for record in records.dropFirst(count) { _ = try after.apply(record) }
                #expect(after == whole, "seed \(seed), \(count) records")
                #expect(BoardDigest(after).value(of: after) == BoardDigest(whole).value(of: whole), "seed \(seed)")
            }
        }
    }

    private func check(_ world: SharedWorld, _ seed: UInt64) throws {
        #expect(world.faults.isEmpty, "seed \(seed)")
        // A gateway that reads everything from the beginning.
        var board = Board(epoch: 7)
        var effective: [SharedWorld.Tag] = []
        for record in world.far.everything(in: .breaks) {
            effective += try board.apply(record)?.group.entries.map { SharedWorld.tag(of: $0) } ?? []
        }
        for gateway in world.gateways { #expect(gateway.board == board, "seed \(seed)") }
        let there = Set(effective)
        #expect(there.count == effective.count, "twice with effect: seed \(seed)")
        #expect(world.confirmed.isSubset(of: there), "confirmed without being there: seed \(seed)")
        #expect(world.refused.isDisjoint(with: there), "refused and there: seed \(seed)")
        for (writer, tags) in Dictionary(grouping: effective, by: \.writer) {
            #expect(tags.map(\.number) == tags.map(\.number).sorted(), "old after new: seed \(seed), writer \(writer)")
        }

        // The ledger.
        var writers = WriterTable()
        let records = world.far.everything(in: SharedWorld.acknowledgements)
        let postings = try LedgerPosting.effective(LedgerPosting.postings(of: records)[...], &writers)
        let sessions = postings.flatMap { $0.deliveries.map(\.session) }
        #expect(Set(sessions).count == sessions.count, "recorded twice: seed \(seed)")
        #expect(world.recorded.isSubset(of: Set(sessions)), "recorded without being there: seed \(seed)")
    }
}
