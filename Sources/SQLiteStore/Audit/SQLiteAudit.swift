// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
import GRDB
package import GatewayCore

/// The audit in one SQLite file of its own, beside the log and the ledger.
///
/// A kill of the process takes nothing away that was kept; a loss of power may take the newest lines (`synchronous=NORMAL`): what was
/// changed stands in the event log besides.
package final class SQLiteAudit: AuditStore, CachingStore {
    /// The name of the file in the data directory.
    package static let fileName = "audit.sqlite"
    /// The name to which a damaged file is moved.
    package static let damagedFileName = "audit.sqlite.damaged"
    /// The most lines that one transaction lets go of.
    static let pruneRecordsMax = 1_000

    private let connection: StoreConnection<AuditWriter>
    let file: String

    /// Opens the audit, or makes it.
    ///
    /// - Parameter directory: where.
    /// - Throws: `damaged` or `laterSchema`.
    package init(in directory: StoreDirectory) throws(StoreError) {
        let file = directory.file(Self.fileName)
        let settings = StoreFile.Settings(
            writerCacheKiB: 2 * 1_024,
            readerCacheKiB: 1_024,
            autocheckpointPages: 1_000,
            walBytesKept: 4 * 1_048_576
        )
        let pool = try StoreFile.open(file, settings: settings, migrator: AuditSchema.migrator)
        do {
            self.connection = try StoreConnection(pool) { database in
                let problems = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
                guard problems == ["ok"] else { throw AuditError(problems.joined(separator: "; ")) }
                return try AuditWriter(database)
            }
        } catch {
            try? pool.close()
            throw .damaged(file: file, reason: StoreFile.sentence(error))
        }
        self.file = file
    }

    /// The audit of a data directory, and what an operator should know about it.
    ///
    /// A damaged file is kept under another name, in place of one that was kept before, and a new one begun. One of a later version is
    /// left as it is: then nothing is kept.
    ///
    /// - Parameter directory: where.
    /// - Returns: the store; `nil`: none can be had. The sentence; `nil`: all is well.
    package static func open(in directory: StoreDirectory) -> (store: SQLiteAudit?, fault: String?) {
        do throws(StoreError) {
            return (try SQLiteAudit(in: directory), nil)
        } catch .damaged(let file, let reason) {
            let aside = directory.file(Self.damagedFileName)
            do {
                StoreFiles.remove(aside)
                for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: file + suffix) {
                    try StoreFiles.rename(file + suffix, to: aside + suffix)
                }
                try StoreFiles.rename(file, to: aside)
                let store = try SQLiteAudit(in: directory)
                return (store, "The audit could not be read (\(reason)): it is kept as \(aside), and a new one begins.")
            } catch {
                return (
                    nil, "The audit cannot be read (\(reason)), and no new one begun (\(error)): nothing of it is kept."
                )
            }
        } catch {
            return (nil, "\(error) Nothing of the audit is kept until that is mended.")
        }
    }

    package func releaseCaches() async { await self.connection.releaseCaches() }
    package func cacheBytes() async -> Int { await self.connection.cacheBytes() }

    package func append(_ records: [AuditRecord]) async throws(AuditError) {
        try await self.write { database, writer in
            try database.inTransaction(.immediate) {
                try writer.insert(records, database)
                return .commit
            }
            writer.kept(records)
        }
    }

    package func records(_ query: AuditQuery) async throws(AuditError) -> [NumberedAuditRecord] {
        do {
            return try await self.connection.read { try AuditSchema.records(query, $0) }
        } catch {
            throw AuditError(StoreFile.sentence(error))
        }
    }

    package func prune(before limit: Timestamp?, recordsMax: Int) async throws(AuditError) -> Int {
        try await self.write { database, writer in
            var gone = 0
            try database.inTransaction(.immediate) {
                gone = try writer.prune(before: limit, recordsMax: recordsMax, database)
                return .commit
            }
            try writer.count(database)
            return gone
        }
    }

    package func close() async {
        await self.connection.close { _, _ in }
    }

    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, AuditWriter) throws -> Value
    ) async throws(AuditError) -> Value {
        do {
            return try await self.connection.write(body)
        } catch {
            throw AuditError(StoreFile.sentence(error))
        }
    }
}

/// The state of the writing connection.
///
/// Safety: touched only on that connection's queue (`StoreConnection`).
private final class AuditWriter: @unchecked Sendable {
    private var total = 0
    private var refused = 0

    init(_ database: Database) throws {
        try self.count(database)
    }

    /// How many lines there are.
    func count(_ database: Database) throws {
        self.total = try Int.fetchOne(database, sql: "SELECT count(*) FROM audit") ?? 0
        self.refused =
            try Int.fetchOne(database, sql: "SELECT count(*) FROM audit WHERE outcome = 'refused'") ?? 0
    }

    func insert(_ records: [AuditRecord], _ database: Database) throws {
        let statement = try database.cachedStatement(sql: AuditSchema.insert)
        for each in records { try statement.execute(arguments: AuditSchema.arguments(each)) }
    }

    /// The lines are there for good.
    func kept(_ records: [AuditRecord]) {
        self.total += records.count
        self.refused += records.count { $0.outcome == .refused }
    }

    func prune(before limit: Timestamp?, recordsMax: Int, _ database: Database) throws -> Int {
        var gone = 0
        var room: Int { SQLiteAudit.pruneRecordsMax - gone }
        if let limit {
            // The clock of an entry may be behind that of the one before: what stands behind a younger one goes with it.
            try database.execute(
                sql: """
                    DELETE FROM audit WHERE number IN (
                        SELECT number FROM (SELECT number, at_us FROM audit ORDER BY number LIMIT ?) WHERE at_us < ?
                    )
                    """,
                arguments: [SQLiteAudit.pruneRecordsMax, limit.microseconds]
            )
            gone += database.changesCount
        }
        if gone > 0 { try self.count(database) }
        let surplus = self.total - recordsMax
        guard surplus > 0, room > 0 else { return gone }
        let refusals = min(surplus, max(0, self.refused - recordsMax / 2), room)
        try database.execute(
            sql: """
                DELETE FROM audit WHERE number IN (
                    SELECT number FROM audit WHERE outcome = 'refused' ORDER BY number LIMIT ?
                )
                """,
            arguments: [refusals]
        )
        gone += database.changesCount
        try database.execute(
            sql: "DELETE FROM audit WHERE number IN (SELECT number FROM audit ORDER BY number LIMIT ?)",
            arguments: [min(surplus - refusals, room)]
        )
        gone += database.changesCount
        return gone
    }
}

/// The table of the audit.
enum AuditSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("audit 1") { database in
            try database.execute(
                sql: """
                    -- AUTOINCREMENT: a number is never used twice, also when the newest lines went.
                    CREATE TABLE audit (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, at_us INTEGER NOT NULL, principal TEXT NOT NULL,
                        entrance TEXT NOT NULL, address TEXT NOT NULL, request_id TEXT NOT NULL, action TEXT NOT NULL,
                        stream TEXT, break TEXT, outcome TEXT NOT NULL, status INTEGER, sentence TEXT NOT NULL,
                        revision INTEGER
                    ) STRICT;
                    CREATE INDEX audit_by_stream ON audit (stream, number);
                    CREATE INDEX audit_by_break ON audit (break, number);
                    CREATE INDEX audit_by_principal ON audit (principal, number);
                    CREATE INDEX audit_refused ON audit (number) WHERE outcome = 'refused';
                    """
            )
        }
        return migrator
    }

    fileprivate static let insert = """
        INSERT INTO audit (
            at_us, principal, entrance, address, request_id, action, stream, break, outcome, status, sentence, revision
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    fileprivate static func arguments(_ record: AuditRecord) -> StatementArguments {
        [
            record.at.microseconds, record.principal, record.origin.entrance.rawValue, record.origin.address,
            record.origin.requestID, record.action, record.stream?.description, record.key?.id.description,
            record.outcome.rawValue, record.status?.rawValue, record.sentence,
            record.revision.map(Int64.init(clamping:)),
        ]
    }

    static func records(_ query: AuditQuery, _ database: Database) throws -> [NumberedAuditRecord] {
        var conditions: [String] = []
        var arguments: StatementArguments = []
        func add(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            conditions.append(condition)
            arguments += [value]
        }
        add("stream = ?", query.stream?.description)
        add("break = ?", query.breakID?.description)
        add("principal = ?", query.principal)
        add("number < ?", query.before)
        add("at_us >= ?", query.from?.microseconds)
        add("at_us < ?", query.to?.microseconds)
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        arguments += [min(max(query.limit, 0), AuditLimits.auditPageMax + 1)]
        return
            try Row.fetchAll(
                database,
                sql: """
                    SELECT number, at_us, principal, entrance, address, request_id, action, stream, break, outcome,
                        status, sentence, revision
                    FROM audit \(filter) ORDER BY number DESC LIMIT ?
                    """,
                arguments: arguments
            )
            .map { try Self.record($0) }
    }

    private static func record(_ row: Row) throws -> NumberedAuditRecord {
        let (way, word): (String, String) = (row[3], row[9])
        guard let entrance = RequestOrigin.Entrance(rawValue: way), let outcome = AuditRecord.Outcome(rawValue: word)
        else { throw AuditError("a line of the audit has a word that this version does not know") }
        let (stream, id): (String?, String?) = (row[7], row[8])
        var key: BreakKey?
        if let stream, let id { key = BreakKey(stream: try StreamID(stream), id: try BreakID(id)) }
        let status: Int? = row[10]
        let revision: Int64? = row[12]
        return NumberedAuditRecord(
            number: row[0],
            record: AuditRecord(
                at: Timestamp(microseconds: row[1]),
                principal: row[2],
                origin: RequestOrigin(entrance, address: row[4], requestID: row[5]),
                action: row[6],
                stream: try stream.map { try StreamID($0) },
                key: key,
                outcome: outcome,
                status: status.flatMap { StatusCode(rawValue: $0) },
                sentence: row[11],
                revision: revision.map { UInt64(clamping: $0) }
            )
        )
    }
}
