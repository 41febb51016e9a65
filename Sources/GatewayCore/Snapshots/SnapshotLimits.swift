// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of the snapshots that the gateways of one log leave for those that begin.
package enum SnapshotLimits {
    /// The largest message of a snapshot, in bytes (1 MiB).
    package static let messageBytesMax = 1_048_576
    /// The most chunks of a snapshot (4 GiB).
    package static let chunksMax = LimitName.snapshotChunksMax.value
    /// The largest text of a manifest, in bytes (16 KiB).
    package static let manifestBytesMax = 16_384
    /// How many whole snapshots are kept (2).
    package static let kept = 2
    /// The most snapshots of which a start looks for one that is right (64): older ones are passed over.
    package static let listedMax = 64
    /// After how many records of the lane `breaks` a snapshot is due (10,000).
    package static let records: UInt64 = 10_000
    /// After how long a snapshot is due, where there are `recordsMin` records (1 h).
    package static let interval: Duration = .seconds(3_600)
    /// Fewer records than this are no reason for a snapshot (100).
    package static let recordsMin: UInt64 = 100
    /// A gateway begins from a snapshot of the log, and not from its own one, where its own one is more records behind than this (10,000).
    package static let ownBehindMax: UInt64 = 10_000
    /// After a snapshot could not be written, the next one comes at the earliest after this time (10 s), doubled with each further failure, and
    /// at most after `interval`.
    package static let retryInterval: Duration = .seconds(10)
    /// How often a gateway looks whether a snapshot is due (10 s).
    package static let lookInterval: Duration = .seconds(10)
}
