// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
import GatewayCore
import SQLiteStore

/// A data directory with a log and the ledger that is kept beside it, and what is done to its files.
final class KeptBooks: Sendable {
    static let lane = Books.lane

    let path: String
    let log: SQLiteEventLog
    let ledger: KeptLedger
    var ledgerFile: String { self.path + "/ledger.sqlite" }

    /// Opens a data directory.
    init(_ path: String, settings: KeptLedger.Settings = KeptLedger.Settings()) async throws {
        self.path = path
        let directory = try StoreDirectory(path: path)
        let stores = try await KeptStores.open(in: directory, settings: settings, now: Books.start + .seconds(60))
        (self.log, self.ledger) = (stores.log, stores.ledger)
    }

    /// Records what happened, and counts it.
    func record(_ postings: [LedgerPosting]) async throws {
        for posting in postings {
            _ = try await self.log.append(try Self.group(posting).encoded(), to: Self.lane)
        }
        try await self.catchUp()
    }

    /// Counts what the log has and the ledger does not.
    func catchUp() async throws {
        let head = try await self.log.head(of: Self.lane)
        while true {
            let applied = try await self.ledger.appliedOffset(of: Self.lane)
            guard applied < head else { return }
            let records = try await self.log.read(Self.lane, after: applied, recordsMax: 16, bytesMax: .max)
            try await self.ledger.apply(try LedgerPosting.postings(of: records), of: Self.lane)
        }
    }

    func close() async {
        await self.log.close()
        await self.ledger.close()
    }

    /// Copies all files into another folder, as a kill of the process leaves them.
    func killed(into folder: String) throws {
        try copyStoreFiles(from: self.path, to: folder)
        let copies = "/" + LedgerCopies.folderName
        if FileManager.default.fileExists(atPath: self.path + copies) {
            try FileManager.default.copyItem(atPath: self.path + copies, toPath: folder + copies)
        }
    }

    /// The totals of everything, without what says how far they count.
    func totals() async throws -> [Report.Break] { try await self.ledger.everything().breaks }

    /// A record of the log that comes to a posting.
    static func group(_ posting: LedgerPosting) throws -> AcknowledgementGroup {
        AcknowledgementGroup(
            requests: try posting.outcomes.map { row in
                let request = ListenerRequest(
                    id: 1,
                    session: row.session,
                    kind: .acknowledge(
                        ListenerRequest.Acknowledge(
                            key: BreakKey(stream: try StreamID("radio1"), id: try BreakID("break")),
                            delivery: [1],
                            outcomes: [
                                Outcome(row.outcome, of: try AdvertisementID("ad-\(row.ordinal)"))
                            ]
                        )
                    )
                )
                return AcknowledgementGroup.AcceptedRequest(
                    request: request.encoded(),
                    received: row.received,
                    breakNumber: row.breakNumber,
                    ordinals: [row.ordinal]
                )
            },
            deliveries: posting.deliveries
        )
    }
}

/// Changes bytes of a file.
func change(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
}

/// Changes a ledger behind its back.
func execute(_ sql: String, in file: String) throws {
    let queue = try DatabaseQueue(path: file)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
}
