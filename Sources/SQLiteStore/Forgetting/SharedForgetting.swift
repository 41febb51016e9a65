// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GRDB
package import GatewayCore
package import SecretFiles

/// How far the books of a data directory are with the sessions that are forgotten in a log that several gateways share.
package struct SharedForgettingFile: Sendable {
    /// The name of the file in the data directory.
    package static let fileName = "shared-log-forgotten"
    private static let head = "cuecast forgotten 1"
    private static let bytesMax = 256
    /// The name of the limit, for sentences.
    private static let limit = "sharedLogForgottenFileBytesMax"

    /// The state of the books.
    package struct Progress: Hashable, Sendable {
        /// Tells this directory from all others.
        package var id: String
        /// Sessions of orders up to this one have other names in the ledger.
        package var refused: UInt64 = 0
        /// The newest message about erased records after which the files were written anew.
        package var done: UInt64 = 0

        package init(id: String = String(UInt64.random(in: 1 ... .max), radix: 16)) { self.id = id }
    }

    private let path: String

    package init(directory: String) { self.path = directory + "/" + Self.fileName }

    /// - Returns: the state; a new one where there is no file.
    package func read() throws(SecretFile.Fault) -> Progress {
        let bytes: [UInt8]
        do throws(SecretFile.Fault) {
            bytes = try SecretFile.read(self.path, bytesMax: Self.bytesMax, limit: Self.limit).bytes
        } catch {
            guard error.isMissing else { throw error }
            return Progress()
        }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard words.count == 4, words[0] == Self.head, let refused = UInt64(words[2]), let done = UInt64(words[3])
        else {
            throw SecretFile.Fault(path: self.path, reason: "it is not what a gateway wrote")
        }
        var progress = Progress(id: String(words[1]))
        (progress.refused, progress.done) = (refused, done)
        return progress
    }

    package func write(_ progress: Progress) throws(SecretFile.Fault) {
        let text = "\(Self.head)\n\(progress.id)\n\(progress.refused)\n\(progress.done)\n"
        try SecretFile.replace(self.path, Array(text.utf8), mode: 0o600)
    }
}

/// The sessions that are being forgotten in a shared log when the books are opened.
package struct SharedForgettingStart: Sendable {
    package var names: [ForgettingNames] = []
    /// Whether a session was forgotten while this gateway was away, and its names are erased: then the ledger is counted anew.
    package var hasMissed = false

    package init() {}
}

extension LedgerForgetting {
    /// Puts other names in the place of all sessions that the names are of; not to be called in a transaction.
    static func replace(_ names: [ForgettingNames], _ database: Database) throws {
        guard !names.isEmpty else { return }
        var found: [SessionID: ForgettingNames] = [:]
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT session FROM sessions UNION ALL SELECT session FROM outcomes"
        )
        while let row = try rows.next() {
            guard let bytes = row[0] as Data?, let session = try? SessionID(bytes: bytes),
                let each = names.first(where: { $0.areOf(session) })
            else { continue }
            found[session] = each
        }
        for (session, each) in found { try Self.replace(SessionPseudonyms(of: session, each), database) }
    }
}

extension SQLiteLedger {
    /// Puts other names in the place of sessions, in the rows that are there and in all that are written while it is open.
    func forget(_ names: [ForgettingNames]) async throws(LedgerError) {
        let file = self.file
        try await self.write { database, writer in
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            try StoreFile.makeDurable(database, file: file)
            try LedgerForgetting.replace(names, database)
            writer.forgetting = names
        }
    }

    /// Writes the file anew, so that nothing stays in pages that it uses no more.
    ///
    /// Only readers of reports wait for the ledger meanwhile.
    func compact() async throws(LedgerError) {
        try await self.write { database, _ in
            _ = try? database.checkpoint(.truncate)
            try database.execute(sql: "VACUUM")
            // Readers may keep the write-ahead log from being emptied: then it has to be done again.
            try database.checkpoint(.truncate)
        }
    }
}
