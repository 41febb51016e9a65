// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GRDB
import GatewayCore
import Synchronization

extension SQLiteEventLog {
    /// How many records are looked at in one reading.
    private static let recordsPerSearchMax = 256
    /// How many records are changed in one transaction; appends need not wait for more.
    private static let recordsPerChangeMax = 4

    /// How many records of acknowledgements name a session, or hold its bytes otherwise.
    func recordCount(of session: SessionID) async throws(EventLogError) -> Int {
        var count = 0
        for lane in KeptLedger.lanes {
            try await self.search(lane, for: session) { _, found throws(EventLogError) in count += found.count }
        }
        return count
    }

    /// Puts other names in the place of a session, in all records of acknowledgements, for good.
    ///
    /// - Returns: how many records have changed.
    func forget(_ names: SessionPseudonyms) async throws(EventLogError) -> Int {
        var count = 0
        for lane in KeptLedger.lanes {
            try await self.search(lane, for: names.session) { number, found throws(EventLogError) in
                var rest = found[...]
                while !rest.isEmpty {
                    let portion = Array(rest.prefix(Self.recordsPerChangeMax))
                    rest = rest.dropFirst(portion.count)
                    count += try await self.onWriter { database, writer throws(LogWriteError) in
                        let changed = try writer.forget(names, at: portion, of: number, database)
                        self.state.withLock { state in
                            for each in changed { state.replace(each.bytes, at: each.offset, of: number) }
                        }
                        return changed.count
                    }
                }
            }
        }
        return count
    }

    /// Empties the write-ahead log, and writes the file anew where bytes of a session are still in pages that it uses no more.
    ///
    /// - Parameters:
    ///   - session: which.
    ///   - compactBytesMax: a larger file is left as it is: appends wait meanwhile.
    /// - Throws: where the log does not work any more.
    func clean(of session: SessionID, compactBytesMax: Int) async throws(EventLogError) {
        try await self.onWriter { database, writer throws(LogWriteError) in try writer.checkpointAll(database) }
        let file = self.file
        let holds =
            (try? await StoreFiles.onAnotherThread { FileSearch.databaseHolds(session.bytes, file) }) ?? true
        guard holds, self.fileBytes ?? 0 <= compactBytesMax else { return }
        try await self.onWriter { database, writer throws(LogWriteError) in
            writer.compact(database)
            try writer.checkpointAll(database)
        }
    }

    /// Looks at all records of a lane, a few at a time.
    private func search(
        _ lane: Lane,
        for session: SessionID,
        _ body: (Int, [UInt64]) async throws(EventLogError) -> Void
    ) async throws(EventLogError) {
        guard let number = self.state.withLock({ $0.knownNumber(of: lane) }) else { return }
        var last: UInt64 = 0
        while true {
            let after = last
            let (found, end) = try await self.fromFile {
                try EventLogSchema.search(
                    $0,
                    for: session.bytes,
                    lane: Int64(number),
                    after: after,
                    recordsMax: Self.recordsPerSearchMax
                )
            }
            if !found.isEmpty { try await body(number, found) }
            guard let end else { return }
            last = end
        }
    }
}
