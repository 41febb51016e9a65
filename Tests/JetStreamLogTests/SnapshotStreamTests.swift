// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

@testable import JetStreamLog

/// The stream of snapshots on a server.
@Suite(.suiteLimit)
struct SnapshotStreamTests {
    @Test func `a log of an earlier version has none, and gets one`() async throws {
        let servers = try NATSServers.alone.get()
        let (names, access) = (LogNames.random(), servers.access)
        // Without a log there is nothing to add to.
        await #expect(throws: NATSError.self) {
            _ = try await blocking { try LogCluster(NATSConnection(access), names: names).makeSnapshots() }
        }
        _ = try await makeLog(on: servers, names)
        let none = try await JetStreamSnapshots.open(access, names: names)
        #expect(none == nil)
        for isNew in [true, false] {
            #expect(
                try await blocking { try LogCluster(NATSConnection(access), names: names).makeSnapshots() } == isNew
            )
        }
        #expect(try await JetStreamSnapshots.open(access, names: names) != nil)
    }

    @Test func `messages come back in order, manifests alone, and what is older goes`() async throws {
        let servers = try NATSServers.alone.get()
        let (names, access) = (LogNames.random(), servers.access)
        let identity = try await makeLog(on: servers, names)
        _ = try await blocking { try LogCluster(NATSConnection(access), names: names).makeSnapshots() }
        let stream = try #require(try await JetStreamSnapshots.open(access, names: names))
        let largest = [UInt8](repeating: 7, count: SnapshotLimits.messageBytesMax)
        #expect(try await stream.append(largest, isManifest: false) == 1)
        #expect(try await stream.append([2], isManifest: true) == 2)
        #expect(try await stream.append([3], isManifest: false) == 3)
        #expect(try await stream.messages(from: 1, manifestsOnly: false).map(\.bytes) == [largest, [2], [3]])
        #expect(try await stream.messages(from: 1, manifestsOnly: true).map(\.sequence) == [2])
        #expect(try await stream.messages(from: 3, manifestsOnly: true).isEmpty)
        try await stream.remove(below: 3)
        #expect(try await stream.messages(from: 1, manifestsOnly: false).map(\.sequence) == [3])
        #expect(try await stream.messages(from: 1, manifestsOnly: true).isEmpty)

        // A board, and the newest one for `cluster status`.
        let archive = SnapshotArchive(stream)
        var board = Board(epoch: identity.epoch)
        let entry = BreakEntry(at: Timestamp(microseconds: 1), kind: .rules(FoldRules.newest))
        _ = board.apply(BreakGroup(entries: [entry]), offset: 1)
        for _ in 0..<3 {
            let left = try await archive.leave(board, of: identity)
            try await archive.removeOld(of: identity.logID)
            #expect(try await archive.board(of: left, in: identity).rules == board.rules)
            let newest = try await blocking {
                try LogCluster(NATSConnection(access), names: names).newestSnapshot(of: identity)
            }
            #expect(newest == left.manifest)
        }
        // The same log after a restore: those of the epoch before are of no use to it.
        let restored = identity.continued(epoch: identity.epoch ^ 1, base: 1 << 32, last: [.breaks: 1])
        let none = try await blocking {
            try LogCluster(NATSConnection(access), names: names).newestSnapshot(of: restored)
        }
        #expect(none == nil)
        #expect(try await archive.list().entries.count == SnapshotLimits.kept)
    }
}
#endif
