// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
import Synchronization

/// A stream of snapshots in memory, whose messages a test may damage.
package final class ArchiveInMemory: SnapshotStream {
    private struct Message {
        let sequence: UInt64
        var bytes: [UInt8]
        let isManifest: Bool
    }

    private struct State {
        var messages: [Message] = []
        var last: UInt64 = 0
        /// How many more are stored; `nil`: there is no bound.
        var left: Int?
    }

    private let state = Mutex(State())

    package init() {}

    /// The sequences of what is there.
    package var sequences: [UInt64] { self.state.withLock { $0.messages.map(\.sequence) } }

    /// Stores so many more messages, and then fails, as for a gateway that is killed.
    package func fail(after count: Int?) { self.state.withLock { $0.left = count } }

    /// Changes a message.
    package func change(_ sequence: UInt64, _ body: (inout [UInt8]) -> Void) {
        self.state.withLock { state in
            guard let place = state.messages.firstIndex(where: { $0.sequence == sequence }) else { return }
            body(&state.messages[place].bytes)
        }
    }

    /// Removes a message.
    package func lose(_ sequence: UInt64) { self.state.withLock { $0.messages.removeAll { $0.sequence == sequence } } }

    package func append(_ bytes: [UInt8], isManifest: Bool) async throws(SnapshotFault) -> UInt64 {
        let sequence = self.state.withLock { state -> UInt64? in
            if let left = state.left {
                guard left > 0 else { return nil }
                state.left = left - 1
            }
            state.last += 1
            state.messages.append(Message(sequence: state.last, bytes: bytes, isManifest: isManifest))
            return state.last
        }
        guard let sequence else { throw .unavailable("no more is stored") }
        return sequence
    }

    package func messages(
        from sequence: UInt64,
        manifestsOnly: Bool
    ) async throws(SnapshotFault) -> [SnapshotMessage] {
        // A few at a time, as servers give them.
        self.state.withLock { state in
            state.messages.filter { $0.sequence >= sequence && ($0.isManifest || !manifestsOnly) }.prefix(3)
                .map { SnapshotMessage(sequence: $0.sequence, bytes: $0.bytes) }
        }
    }

    package func remove(below sequence: UInt64) async throws(SnapshotFault) {
        self.state.withLock { $0.messages.removeAll { $0.sequence < sequence } }
    }
}

extension SnapshotArchive {
    /// The board of a snapshot.
    package func board(of entry: Entry, in identity: LogIdentity) async throws -> Board {
        var loader = BoardLoader(epoch: identity.epoch, names: SipHash(key: identity.logID.low, identity.logID.high))
        try await self.read(entry) { parts in
            for part in parts { try loader.read(try BoardRecord(decoding: part.bytes)) }
        }
        return loader.finish(at: entry.manifest.offset)
    }

    /// Leaves a snapshot of a board, as of records that need not be.
    package func leave(_ board: Board, of identity: LogIdentity, rules: UInt32? = nil) async throws(SnapshotFault)
        -> Entry
    {
        try await self.write(
            SnapshotManifest(
                identity: identity,
                rules: rules ?? board.rules,
                board: BoardDigest(board).value(of: board),
                writers: board.writers.count,
                made: Timestamp(microseconds: 1_790_000_000_000_000),
                lanes: [.breaks: SnapshotManifest.Mark(offset: board.offset, digest: 17)]
            ),
            of: board
        )
    }
}
