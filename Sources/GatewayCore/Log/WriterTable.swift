// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import HashTreeCollections

extension EventLogLimits {
    /// How long after its last record, by the log's clock, a writer is remembered (24 h).
    ///
    /// A record that is under way for longer than that is not told from a new one. No network keeps one for so long.
    package static let writerKeptFor: Duration = .seconds(86_400)
    /// The most writers of a lane that are remembered: beyond it those that wrote nothing for longest are forgotten first.
    package static let writersKeptMax = 4_096
}

/// The highest number of each writer of a lane: which records have an effect.
///
/// Every reader of a lane has the same table after the same record. It is in the snapshots of the board, and in the ledger, where it
/// changes in the transaction that applies the records.
package struct WriterTable: Sendable {
    private struct Entry: Hashable {
        var number: UInt64
        /// When it was last written, by the newest instant of the log until then.
        var at: Timestamp
    }

    private var entries: TreeDictionary<UInt64, Entry> = [:]
    /// The newest instant in the table.
    private var newest = Timestamp(microseconds: .min)
    /// No entry is older.
    private var oldest = Timestamp(microseconds: .min)

    /// A table without writers.
    package init() {}

    /// The table as a store kept it.
    package init(_ records: some Sequence<WriterRecord>) {
        for each in records { self.entries[each.writer] = Entry(number: each.number, at: each.at) }
        self.newest = self.entries.values.map(\.at).max() ?? self.newest
        self.oldest = self.entries.values.map(\.at).min() ?? self.oldest
    }

    /// As a store keeps it, by writer.
    package var records: [WriterRecord] {
        self.entries.map { WriterRecord(writer: $0.key, number: $0.value.number, at: $0.value.at) }
            .sorted { $0.writer < $1.writer }
    }

    /// How many writers are remembered.
    package var count: Int { self.entries.count }

    /// The highest number of a writer; `nil`: it is not remembered.
    package func number(of writer: UInt64) -> UInt64? { self.entries[writer]?.number }

    /// Takes the next record of the lane.
    ///
    /// - Parameter mark: of the record; `nil`: the log does not keep who appended it, and has every record once.
    /// - Returns: whether the record has an effect.
    package mutating func take(_ mark: AppendMark?) -> Bool {
        guard let mark else { return true }
        if let known = self.entries[mark.id.origin], mark.id.number <= known.number { return false }
        if self.entries.isEmpty { self.oldest = mark.at }
        // Clocks of servers may go back; the table's time does not.
        self.newest = max(self.newest, mark.at)
        self.entries[mark.id.origin] = Entry(number: mark.id.number, at: self.newest)
        self.forget()
        return true
    }

    /// Forgets the writers that wrote nothing for long, and the ones beyond the limit.
    private mutating func forget() {
        let isOver = self.entries.count > EventLogLimits.writersKeptMax
        guard isOver || self.newest - self.oldest > EventLogLimits.writerKeptFor else { return }
        let limit = self.newest - EventLogLimits.writerKeptFor
        self.entries = self.entries.filter { $0.value.at >= limit }
        if self.entries.count > EventLogLimits.writersKeptMax {
            let first = self.entries.min { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
            if let first { self.entries[first.key] = nil }
        }
        self.oldest = self.entries.values.map(\.at).min() ?? self.newest
    }
}

extension WriterTable: Hashable {
    package static func == (left: Self, right: Self) -> Bool { left.entries == right.entries }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.entries) }
}
