// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// Compares the records of a lane with those that servers have, page by page.
enum RecordComparison {
    /// The most records of a page.
    static let recordsMax = 256
    /// The bytes after which a page gets no further record (4 MiB).
    static let bytesMax = 4 * 1_048_576

    /// Looks for the first difference; nothing is read behind it.
    ///
    /// - Parameters:
    ///   - lane: which lane.
    ///   - begin: compares behind this offset.
    ///   - end: the last offset to compare.
    ///   - source: reads the page behind an offset, up to `end`: at least one record.
    ///   - shared: reads the page behind an offset at the servers; empty where the next record is missing or cannot be read.
    ///   - isSame: whether two records with one offset are the same.
    ///   - body: gets the pairs that are the same, in order.
    /// - Returns: a sentence for operators; `nil`: all are the same.
    /// - Throws: the errors of `source`, `shared` and `body`.
    static func firstDifference(
        of lane: Lane,
        after begin: UInt64,
        through end: UInt64,
        source: (UInt64) async throws -> [LoggedRecord],
        shared: (UInt64) async throws -> [LoggedRecord],
        isSame: (LoggedRecord, LoggedRecord) -> Bool,
        equal body: ([(LoggedRecord, LoggedRecord)]) throws -> Void
    ) async throws -> String? {
        var (offset, read) = (begin, begin)
        var others: ArraySlice<LoggedRecord> = []
        while offset < end {
            try Task.checkCancellation()
            var pairs: [(LoggedRecord, LoggedRecord)] = []
            for record in try await source(offset) {
                if others.isEmpty {
                    others = try await shared(read)[...]
                    read = others.last?.offset ?? read
                }
                guard let other = others.popFirst(), other.offset == record.offset, isSame(record, other) else {
                    try body(pairs)
                    return "the lane \(lane) has another record \(record.offset) at the servers, or none"
                }
                pairs.append((record, other))
                offset = record.offset
            }
            try body(pairs)
        }
        return nil
    }
}
