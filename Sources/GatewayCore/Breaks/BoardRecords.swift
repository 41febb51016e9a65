// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

extension Board {
    /// A record of the lane that had an effect.
    package typealias AppliedRecord = (group: BreakGroup, results: [EntryResult])

    /// Applies the next record of the lane.
    ///
    /// - Parameter record: as the log holds it.
    /// - Returns: its group, with the result of each entry in order; `nil`: it has no effect at any gateway, because a later one of its
    ///   writer came before it.
    /// - Throws: when the record is damaged, of a later version, or activates rules that are not known; the caller stops rather than leave it out.
    package mutating func apply(_ record: LoggedRecord) throws(WireError) -> AppliedRecord? {
        let group = try BreakGroup(decoding: record.bytes)
        guard self.writers.take(record.mark) else {
            _ = self.apply(BreakGroup(entries: []), offset: record.offset, after: record.previous)
            return nil
        }
        for case .rules(let version) in group.entries.map(\.kind) {
            try FoldRules.require(version, newest: self.rulesKnown)
        }
        return (group, self.apply(group, offset: record.offset, after: record.previous))
    }
}
