// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import JetStreamLog
import SQLiteStore

struct ClusterBackup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the whole log that several gateways share, also while they use it.",
        discussion: """
            Reads every record from the servers, checks that each can be read, and writes all of them to one file. Ledgers and \
            boards are made anew of the records, so no gateway has to be copied. With --data-dir the keys of that gateway go with the \
            records, so keep a backup secret; a file of keys that the configuration names does not. 'cuecast cluster restore' \
            brings the log back.

            While a session is being forgotten there is no backup: records still name it.

            Exit codes: 0 done, 64 the folder is not empty, 65 the log lacks records, or is not usable, 69 no backup was made.

            Example: cuecast cluster backup --servers nats://a:4222,nats://b:4222,nats://c:4222 --data-dir /var/lib/cuecast --to \
            /mnt/backup/2026-11-28
            """
    )

    @OptionGroup var options: ClusterOptions

    @Option(help: "The folder to make; it may exist empty.")
    var to: String

    @Option(help: "The data directory of a gateway on this machine, whose keys go with the records.")
    var dataDir: String?

    @OptionGroup var output: OutputOptions

    private struct Document: Encodable {
        let to: String
        let log: String
        let epoch: String
        let records: [String: UInt64]
        let bytes: Int
        let files: [String]
    }

    func run() async throws {
        let settings = try await self.options.read()
        let line = ProgressLine()
        defer { line.end() }
        let manifest: BackupManifest
        do {
            if let directory = self.dataDir, try SharedLogMark.read(in: directory) == nil {
                throw BackupError.failed("no gateway of a shared log has run in \(directory)")
            }
            let log = try await ClusterAccess.inspect(settings)
            let logID = log.identity.logID
            manifest = try await SharedLogBackups.make(
                of: log,
                forgotten: { try await ClusterAccess.forgotten(settings, of: logID) },
                keysOf: self.dataDir,
                in: self.to,
                version: CuecastVersion.text,
                at: SystemClock().now(),
                progress: { lane, record, last in line.show("\(lane): record \(record) of \(last)") }
            )
        } catch let error as ExitCode {
            throw error
        } catch {
            line.end()
            complain("no backup was made: \(error)")
            if case VerificationError.unusable = error { throw CommandExit.badData }
            throw BackupExit.code(error)
        }
        line.end()
        let bytes = manifest.files.values.reduce(0) { $0 + $1.bytes }
        guard !self.output.isJSON else {
            return try CommandOutput.say(
                json: Document(
                    to: self.to,
                    log: manifest.logID,
                    epoch: manifest.epoch,
                    records: manifest.logOffsets,
                    bytes: bytes,
                    files: manifest.files.keys.sorted()
                )
            )
        }
        let records = manifest.logOffsets.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        CommandOutput.say(
            "backup to=\(self.to) log=\(manifest.logID) epoch=\(manifest.epoch)\(records) bytes=\(bytes)"
        )
        if !manifest.files.keys.contains(KeyRingFile.name) {
            complain("no signing keys are in the backup: keep the file of a gateway (signing.keys) as well")
        }
    }
}
