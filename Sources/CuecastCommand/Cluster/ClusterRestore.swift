// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import JetStreamLog
import SQLiteStore

struct ClusterRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring a shared log back from a backup, on servers that have lost it.",
        discussion: """
            Makes the streams, stores every record at the offset that it had, and compares all of them with the backup. The \
            log goes on in a new epoch, far above every number in the backup: players get a snapshot, and no number is used again. What \
            was recorded after the backup is not in it.

            Stop all gateways before. None starts until the restore has ended: run it again where it was interrupted, with the same \
            backup, and it goes on. Each gateway then sets aside what it has counted of the log before, and counts it anew; its \
            keys stay.

            Exit codes: 0 done, 1 the servers have other records than the backup (delete the streams, and begin again), 64 usage, \
            65 the backup is damaged, there is another log, or gateways have used this one, 69 the servers do not answer, the \
            backup's file cannot be read, or this machine's clock is wrong.

            Example: cuecast cluster restore --from /mnt/backup/2026-11-28 --servers nats://a:4222,nats://b:4222,nats://c:4222
            """
    )

    @OptionGroup var options: ClusterOptions

    @Option(help: "The folder of the backup; it stays as it is.")
    var from: String

    @Option(help: "How many servers have each record: 3, 5, or 1. With 1 the log is lost with the server's disk.")
    var replicas = JetStreamLimits.replicasDefault

    @OptionGroup var output: OutputOptions

    private struct Document: Encodable {
        let right: Bool
        let log: String
        let epoch: String
        /// Every offset of the new epoch is above it.
        let base: UInt64
        let prefix: String
        let records: [String: UInt64]
        /// Whether an earlier run had stored all records.
        var before = false
        var differences: [String] = []
        var copy: [String] = []
    }

    func validate() throws {
        guard [1, 3, 5].contains(self.replicas) else { throw ValidationError("--replicas is 1, 3 or 5.") }
    }

    func run() async throws {
        let settings = try await self.options.read()
        let backup: SharedLogBackup
        do {
            backup = try await SharedLogBackup.open(self.from)
        } catch {
            complain("nothing was restored: \(error)")
            throw BackupExit.code(error)
        }
        defer { backup.close() }
        do {
            try self.say(try await ClusterAccess.telling { try await self.restore(backup, settings) })
        } catch let error as BackupError {
            complain("the restore did not end: \(error)")
            throw BackupExit.code(error)
        } catch let error as VerificationError {
            complain("\(error)")
            if case .unavailable = error { throw CommandExit.unavailable }
            throw CommandExit.badData
        } catch let error as EventLogError {
            complain("the log was not compared with the backup: \(error) Run the command again.")
            throw CommandExit.unavailable
        }
    }

    private func restore(_ backup: SharedLogBackup, _ settings: SharedLogSettings) async throws -> Document {
        let now = SystemClock().now()
        guard now.microseconds >= backup.manifest.takenMicroseconds,
            let wanted = backup.identity.restored(heads: backup.heads, at: now)
        else {
            complain(
                "nothing was restored: this machine's clock says \(now), before the backup was made or far from any time that can be right. Numbers of the new epoch depend on it: set it right"
            )
            throw CommandExit.unavailable
        }
        let identity = try await ClusterAccess.makeRestored(
            wanted,
            key: backup.forgotten.key,
            settings,
            replicas: self.replicas
        )
        let target = try await ClusterAccess.importing(settings, isRestoring: true)
        var document = Document(
            right: true,
            log: "\(identity.logID)",
            epoch: String(identity.epoch, radix: 16),
            base: identity.current.base,
            prefix: settings.prefix,
            records: Dictionary(uniqueKeysWithValues: backup.heads.map { ("\($0.key)", $0.value) }),
            copy: backup.filesToCopy
        )
        // All lanes are looked at before the first record is stored.
        var heads: [Lane: UInt64] = [:]
        for lane in SharedLogBackup.lanes {
            let head = try await target.head(of: lane)
            guard head <= backup.heads[lane] ?? 0 else {
                complain("nothing was restored: the log was restored before, and gateways have used it since")
                throw CommandExit.badData
            }
            heads[lane] = head
        }
        // The last record comes when all others were compared: without it no gateway opens the log.
        var ends = backup.heads
        if let last = backup.last {
            document.before = heads[last.lane] ?? 0 >= last.offset
            if !document.before { ends[last.lane] = identity.preceding(last.offset, in: last.lane) }
        }
        let line = ProgressLine()
        defer { line.end() }
        for lane in SharedLogBackup.lanes {
            let (head, end) = (heads[lane] ?? 0, ends[lane] ?? 0)
            try await self.store(backup, lane, after: head, through: end, to: target, line)
        }
        document.differences = try await self.differences(backup, settings, through: ends, line)
        if document.differences.isEmpty {
            try await ClusterAccess.restoreForgotten(backup.forgotten, through: backup.heads, settings, identity.logID)
            if let last = backup.last, let before = ends[last.lane], before < last.offset {
                try await self.store(backup, last.lane, after: before, through: last.offset, to: target, line)
                document.differences = try await self.differences(
                    backup,
                    settings,
                    after: ends,
                    through: backup.heads,
                    line
                )
            }
        }
        guard document.differences.isEmpty else {
            return Document(
                right: false,
                log: document.log,
                epoch: document.epoch,
                base: document.base,
                prefix: document.prefix,
                records: document.records,
                differences: document.differences
            )
        }
        return document
    }

    private func store(
        _ backup: SharedLogBackup,
        _ lane: Lane,
        after head: UInt64,
        through end: UInt64,
        to target: MigrationTarget,
        _ line: ProgressLine
    ) async throws {
        try await backup.forEachPortion(of: lane, after: head, through: end) { records in
            try await target.append(records, to: lane)
            line.show("\(lane): record \(records.last?.offset ?? 0) of \(end)")
        }
    }

    private func differences(
        _ backup: SharedLogBackup,
        _ settings: SharedLogSettings,
        after begins: [Lane: UInt64] = [:],
        through ends: [Lane: UInt64],
        _ line: ProgressLine
    ) async throws -> [String] {
        let shared = try await ClusterAccess.inspect(settings, isRestoring: true)
        let found = try await backup.compare(with: shared, after: begins, through: ends) { lane, record in
            line.show("\(lane): comparing record \(record) of \(ends[lane] ?? 0)")
        }
        return found.sentences
    }

    private func say(_ document: Document) throws {
        if self.output.isJSON {
            try CommandOutput.say(json: document, isPretty: true)
        } else if document.right {
            let records = document.records.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            CommandOutput.say(
                "restored log=\(document.log) epoch=\(document.epoch) base=\(document.base) prefix=\(document.prefix)"
                    + "\(records)\(document.before ? " before" : "")"
            )
            for file in document.copy {
                CommandOutput.say("copy into the data directory of each gateway that has lost it: \(file)")
            }
        } else {
            for sentence in document.differences { CommandOutput.say(sentence) }
            CommandOutput.say("the servers have other records than the backup: delete the streams, and restore again")
        }
        if !document.right { throw CommandExit.checkFailed }
    }
}
