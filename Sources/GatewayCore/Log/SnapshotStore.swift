// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One part of what a lane looked like after its records up to some offset.
package struct SnapshotPart: Hashable, Sendable {
    /// Its name in the snapshot; parts are read in the order of the bytes of their names.
    package let key: String
    package let bytes: [UInt8]

    package init(key: String, bytes: [UInt8]) {
        self.key = key
        self.bytes = bytes
    }
}

/// A change of the snapshot of a lane, or a portion of one, so that a reader need not start at the beginning.
///
/// A change consists of portions that are kept one after the other. Readers see nothing of it before its last one.
package struct SnapshotPortion: Hashable, Sendable {
    /// The snapshot is what the lane looks like after its records up to this one.
    package var offset: UInt64
    /// Parts that are new or changed; no part stands in a change twice.
    package var parts: [SnapshotPart] = []
    /// The keys of parts that are no more.
    package var removed: [String] = []
    /// Whether a change begins with it; one that was begun before and not ended has no effect.
    package var isFirst: Bool
    package var isLast: Bool

    package init(
        offset: UInt64,
        parts: [SnapshotPart] = [],
        removed: [String] = [],
        isFirst: Bool = false,
        isLast: Bool = false
    ) {
        self.offset = offset
        self.parts = parts
        self.removed = removed
        self.isFirst = isFirst
        self.isLast = isLast
    }
}

/// Keeps snapshots of lanes, so that a reader need not begin at the first record.
package protocol SnapshotStore: Sendable {
    /// Keeps a portion of a change of a lane's snapshot, each in a transaction of its own, so that appends go between.
    ///
    /// The change has an effect with its last portion, all at once. Refused with `failed` where the offset is ahead of the
    /// lane's head, or where a portion that is not the first follows none.
    func save(_ portion: SnapshotPortion, of lane: Lane) async throws(EventLogError)

    /// The offset of the snapshot of a lane; `nil`: there is none.
    func snapshotOffset(of lane: Lane) async throws(EventLogError) -> UInt64?

    /// Parts of the snapshot of a lane, in the order of the bytes of their keys. No snapshot is saved while they are read.
    ///
    /// - Parameters:
    ///   - lane: which lane.
    ///   - key: begins behind this key; `nil`: at the first part.
    ///   - bytesMax: returns no further part once this many bytes are collected.
    /// - Returns: at least one, where there is one.
    /// - Throws: `closed` when the log is closed.
    func snapshotParts(
        of lane: Lane,
        after key: String?,
        bytesMax: Int
    ) async throws(EventLogError) -> [SnapshotPart]
}
