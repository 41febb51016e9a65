// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import DequeModule

/// Knows the newest appends of a log by their ids, so that a repeat adds no record.
///
/// An append is under way until `settle`; a repeat of it meanwhile waits for the same answer. Of those that became durable the newest
/// `EventLogLimits.appendIDsKept` are known with their offsets. Nothing of it is kept when the log closes: an id names a run of a
/// gateway, and a gateway that starts again has another one.
package struct RecentAppends<Repeat: Sendable>: Sendable {
    /// The state of an id in the log.
    package enum Standing: Hashable, Sendable {
        /// A new append; it is under way from now on.
        case new
        /// A repeat of one that is under way: it waits for that one's answer.
        case underWay
        /// A repeat of one that became durable at this offset.
        case durable(UInt64)
    }

    private struct Key: Hashable {
        let lane: Int
        let id: AppendID
    }

    private let keptMax: Int
    /// The appends under way, with the repeats that wait for their answers.
    private var underWay: [Key: [Repeat]] = [:]
    private var offsets: [Key: UInt64] = [:]
    /// The keys of `offsets`, the oldest first.
    private var order: Deque<Key> = []

    /// - Parameter keptMax: how many of those that became durable are known.
    package init(keptMax: Int = EventLogLimits.appendIDsKept) {
        self.keptMax = keptMax
    }

    /// Takes an append, where its id is new, or a repeat of one.
    ///
    /// - Parameters:
    ///   - id: of the append.
    ///   - lane: the number of its lane.
    ///   - waiting: waits for the answer where it is a repeat of one under way.
    /// - Returns: whether the id is new or a repeat.
    package mutating func begin(_ id: AppendID, in lane: Int, _ waiting: Repeat) -> Standing {
        let key = Key(lane: lane, id: id)
        if let offset = self.offsets[key] { return .durable(offset) }
        guard self.underWay[key] == nil else {
            self.underWay[key]?.append(waiting)
            return .underWay
        }
        self.underWay[key] = []
        return .new
    }

    /// An append is answered.
    ///
    /// - Parameters:
    ///   - id: of the append.
    ///   - lane: the number of its lane.
    ///   - offset: where it became durable; `nil`: it failed, and a repeat is a new append.
    /// - Returns: the repeats that get the same answer.
    package mutating func settle(_ id: AppendID, in lane: Int, at offset: UInt64?) -> [Repeat] {
        let key = Key(lane: lane, id: id)
        let repeats = self.underWay.removeValue(forKey: key) ?? []
        guard let offset else { return repeats }
        if self.offsets.updateValue(offset, forKey: key) == nil { self.order.append(key) }
        while self.order.count > self.keptMax, let oldest = self.order.popFirst() { self.offsets[oldest] = nil }
        return repeats
    }
}
