// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore
import Synchronization

/// The snapshot of one lane in memory, as stores in memory keep it.
struct SnapshotInMemory: Sendable {
    private struct Content {
        var offset: UInt64
        var parts: [String: [UInt8]] = [:]
    }

    private var content: Content?
    /// The changes that are not at their last portion yet, by who makes them.
    private var changes: [Int: Content] = [:]

    /// Up to which record it holds the lane; `nil`: there is none.
    var offset: UInt64? { self.content?.offset }

    /// Keeps a portion of a change.
    ///
    /// - Parameters:
    ///   - portion: the next of its change.
    ///   - gateway: which one makes the change.
    /// - Returns: `false` where the portion follows none.
    mutating func keep(_ portion: SnapshotPortion, by gateway: Int = 0) -> Bool {
        if portion.isFirst {
            self.changes[gateway] = Content(offset: portion.offset, parts: self.content?.parts ?? [:])
        }
        guard var change = self.changes[gateway], change.offset == portion.offset else { return false }
        for part in portion.parts { change.parts[part.key] = part.bytes }
        for key in portion.removed { change.parts[key] = nil }
        self.changes[gateway] = portion.isLast ? nil : change
        if portion.isLast, self.content.map({ $0.offset <= change.offset }) ?? true { self.content = change }
        return true
    }

    /// Parts behind a key, as `SnapshotStore.snapshotParts`.
    func parts(after key: String?, bytesMax: Int) -> [SnapshotPart] {
        var found: [SnapshotPart] = []
        var bytes = 0
        for part in (self.content?.parts ?? [:]).sorted(by: { $0.key < $1.key })
        where key.map({ $0 < part.key }) ?? true {
            found.append(SnapshotPart(key: part.key, bytes: part.value))
            bytes += part.value.count
            if bytes >= bytesMax { break }
        }
        return found
    }

    /// Is lost where it holds records after an offset.
    mutating func lose(after offset: UInt64) {
        if let content = self.content, content.offset > offset { self.content = nil }
    }
}

/// Snapshots beside a log that several gateways share, of one of them: in memory.
///
/// Nothing of the log is forgotten.
package final class SnapshotsInMemory: SnapshotStore, RetentionWatermarks {
    private let snapshots: Mutex<[Lane: SnapshotInMemory]> = Mutex([:])

    package init() {}

    package func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError) {
        let isTaken = self.snapshots.withLock { $0[lane, default: SnapshotInMemory()].keep(portion) }
        guard isTaken else { throw .failed("a portion of a snapshot of the lane \(lane) follows none") }
    }

    package func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64? {
        self.snapshots.withLock { $0[lane]?.offset }
    }

    package func snapshotParts(
        of lane: Lane,
        after key: String?,
        bytesMax: Int
    ) async throws(EventLogError) -> [SnapshotPart] {
        self.snapshots.withLock { $0[lane]?.parts(after: key, bytesMax: bytesMax) ?? [] }
    }

    package func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64) {}

    package func release(keeping records: UInt64) async throws(EventLogError) {}
}
