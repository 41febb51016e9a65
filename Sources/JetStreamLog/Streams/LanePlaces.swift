// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// Where the records of a lane stand in its stream.
///
/// The first message is the record of the identity, and the records follow it without a hole: in the log's first epoch an offset is one less
/// than the sequence of its message. A restore begins a new epoch, and offsets go on far above all before. Sequences do not jump.
///
/// ```swift
/// let places = LanePlaces(identity, of: .breaks)
/// let head = places.offset(of: facts.lastSequence)
/// ```
struct LanePlaces: Hashable, Sendable {
    /// The records of one epoch.
    private struct Stretch: Hashable {
        /// Of the message before the first record.
        let sequence: UInt64
        /// The first record has one more.
        let base: UInt64
        /// The offset of the record before the first one.
        let last: UInt64
    }

    let lane: Lane
    /// By their sequences; never empty.
    private let stretches: [Stretch]

    /// - Parameters:
    ///   - identity: of the log.
    ///   - lane: of the stream.
    init(_ identity: LogIdentity, of lane: Lane) {
        self.lane = lane
        self.stretches = identity.epochs.map { epoch in
            let last = epoch.last(of: lane)
            return Stretch(
                sequence: 1 + identity.count(after: 0, through: last, in: lane),
                base: epoch.base,
                last: last
            )
        }
    }

    /// The last message that a restore stored; 1, the record of the identity, where the log was never restored.
    var restored: UInt64 { self.stretches[self.stretches.count - 1].sequence }

    /// The sequence of a record's message; for an offset that was left out, that of the record before it.
    func sequence(of offset: UInt64) -> UInt64 {
        guard let place = self.stretches.lastIndex(where: { $0.base < offset }) else { return 1 }
        let sequence = self.stretches[place].sequence + (offset - self.stretches[place].base)
        // Between the last record of an epoch and the first one of the next.
        return place + 1 < self.stretches.count ? min(sequence, self.stretches[place + 1].sequence) : sequence
    }

    /// The offset of a message's record; 0 for the record of the identity.
    func offset(of sequence: UInt64) -> UInt64 {
        // Of two epochs that begin behind one message, the later one counts: nothing was recorded in the other one.
        guard let stretch = self.stretches.last(where: { $0.sequence < sequence }) else { return 0 }
        return stretch.base + (sequence - stretch.sequence)
    }

    /// The offset of the record before one; 0 for the first.
    func preceding(_ offset: UInt64) -> UInt64 {
        self.stretches.last { $0.base + 1 == offset }?.last ?? offset - 1
    }

    /// When a message's record was stored first.
    ///
    /// A restore says that beside it. No gateway may say it of its own.
    func storedFirst(_ message: StreamMessage) -> String {
        message.sequence <= self.restored ? message.storedFirst ?? message.time : message.time
    }

    /// Whether everything that a restore has to store is there.
    ///
    /// - Parameter sequence: of the newest message.
    /// - Returns: why the lane cannot be used yet; `nil`: it can.
    func unfinished(at sequence: UInt64) -> String? {
        guard sequence < self.restored else { return nil }
        return "a restore of the log did not end: the lane \(self.lane) has \(max(1, sequence) - 1) of"
            + " \(self.restored - 1) records; run 'cuecast cluster restore' again with the same backup"
    }

    /// Refuses a lane that a restore did not fill: nothing but the restore itself may use it.
    ///
    /// - Parameter sequence: of the newest message.
    /// - Throws: `unusable`, with what to do.
    func requireFinished(at sequence: UInt64) throws(NATSError) {
        if let reason = self.unfinished(at: sequence) { throw .unusable(reason) }
    }
}
