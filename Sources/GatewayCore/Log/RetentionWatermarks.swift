// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A reader of the event log that needs its records until it says otherwise.
package enum LogReader: Hashable, Sendable, CaseIterable {
    /// Folds breaks; needs what its snapshot does not hold.
    case board
    /// Counts outcomes; needs what it does not have for good.
    case ledger

    /// The readers of a lane.
    package static func readers(of lane: Lane) -> Set<LogReader> { lane == .breaks ? [.board, .ledger] : [.ledger] }
}

/// Up to where each reader of the log is done.
///
/// A record is forgotten only when every reader of its lane is done with it: no reader prunes by what it has itself.
package protocol RetentionWatermarks: Sendable {
    /// A reader needs no record of a lane up to and including an offset any more; an offset below an earlier one changes nothing.
    func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64)

    /// Forgets the records that no reader needs.
    ///
    /// - Parameter records: how many records of each lane stay that no reader needs.
    /// - Throws: the error of the log.
    func release(keeping records: UInt64) async throws(EventLogError)
}

/// The watermarks of the readers of one log.
package struct Watermarks: Hashable, Sendable {
    private var offsets: [Lane: [LogReader: UInt64]] = [:]

    package init() {}

    /// The lanes of which any reader has said something.
    package var lanes: [Lane] { Array(self.offsets.keys) }

    /// A reader is done with a lane up to and including an offset.
    package mutating func advance(_ reader: LogReader, in lane: Lane, through offset: UInt64) {
        let before = self.offsets[lane]?[reader] ?? 0
        self.offsets[lane, default: [:]][reader] = max(before, offset)
    }

    /// The last offset that no reader of a lane needs; 0 as long as one of them has said nothing.
    package func lowest(of lane: Lane) -> UInt64 {
        LogReader.readers(of: lane).map { self.offsets[lane]?[$0] ?? 0 }.min() ?? 0
    }

    /// Up to where a lane is to be forgotten.
    ///
    /// - Parameters:
    ///   - lane: which lane.
    ///   - identity: of the log.
    ///   - records: how many records stay that no reader needs.
    /// - Returns: the last offset to forget; 0: nothing.
    package func releasable(of lane: Lane, in identity: LogIdentity, keeping records: UInt64) -> UInt64 {
        identity.offset(records, before: self.lowest(of: lane), in: lane)
    }
}
