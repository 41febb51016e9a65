// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayDocuments
import SQLiteStore

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a gateway's event log and ledger, also while it runs.",
        discussion: """
            The running gateway makes the copies itself, in small steps between its own work; where none runs, the command \
            makes them. Both files are checked, and belong together. The keys of the data directory go with them, so keep a backup \
            secret; a file of keys that the configuration names does not. Use all of it again with cuecast restore.

            Example: cuecast backup --data-dir /var/lib/cuecast --to /mnt/backup/2026-11-22

            Exit codes: 0 done, 64 the folder is not empty, 65 the data are damaged, 69 no backup was made.
            """
    )

    @OptionGroup var gateway: ControlOptions

    @Option(help: "The folder to make; it may exist empty.")
    var to: String

    func run() async throws {
        let folder = URL(fileURLWithPath: self.to).standardizedFileURL.path
        let meter = ProgressMeter()
        let manifest: [String: JSONValue]
        do {
            if let directory = try self.unusedDirectory() {
                manifest = try await self.copy(directory, to: folder, meter)
            } else {
                manifest = try self.gateway.ask("backup", ["to": .string(folder)]) { meter.show($0) }
            }
        } catch let error as ExitCode {
            meter.end()
            throw error
        } catch {
            meter.end()
            complain("no backup was made: \(error)")
            throw BackupExit.code(error)
        }
        meter.end()
        let (epoch, bytes) = (manifest["epoch"]?.asString ?? "", manifest["bytes"]?.asInteger ?? 0)
        CommandOutput.say("backup to=\(folder) epoch=\(epoch) bytes=\(bytes)")
    }

    /// The data directory; `nil`: a gateway runs in it.
    private func unusedDirectory() throws -> StoreDirectory? {
        let path = self.gateway.directory
        var isFolder: ObjCBool = false
        guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            throw BackupError.nothing(path)
        }
        do {
            let directory = try StoreDirectory(path: path)
            guard directory.hasStores else { throw BackupError.nothing(path) }
            return directory
        } catch StoreError.inUse {
            return nil
        }
    }

    private func copy(
        _ directory: StoreDirectory,
        to folder: String,
        _ meter: ProgressMeter
    ) async throws -> [String: JSONValue] {
        try await Stores.lend(of: directory) { stores in
            try await BackupCommand.make(of: stores.log, stores.ledger, keysOf: directory.path, to: folder) {
                meter.show($0)
            }
        }
    }
}

/// The part of `backup` that the gateway and the command line share.
enum BackupCommand {
    static func make(
        of log: SQLiteEventLog,
        _ ledger: SQLiteLedger,
        keysOf directory: String,
        to folder: String,
        progress: @escaping @Sendable ([String: JSONValue]) -> Void
    ) async throws -> [String: JSONValue] {
        let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
        let manifest = try await StoreBackups.make(
            of: log,
            ledger,
            keysOf: directory,
            in: folder,
            version: CuecastVersion.text,
            at: now
        ) { step in
            progress([
                "file": .string(step.file), "pages": .integer(Int64(step.pagesDone)),
                "of": .integer(Int64(step.pagesTotal)),
            ])
        }
        let bytes = manifest.files.values.reduce(0) { $0 + $1.bytes }
        return ["epoch": .string(manifest.epoch), "bytes": .integer(Int64(bytes))]
    }

    /// Lets the running gateway make backups.
    static func register(
        _ log: SQLiteEventLog,
        _ ledger: KeptLedger,
        keysOf directory: String,
        with commands: ControlCommands
    ) {
        commands.register("backup", changes: true) { arguments, progress in
            guard let folder = arguments["to"]?.asString, folder.hasPrefix("/") else {
                throw ControlError("backup needs a folder, as a path that begins with /", exitCode: 64)
            }
            let result = await ledger.whileNothingIsForgotten { serving -> Result<[String: JSONValue], any Error> in
                do {
                    return .success(
                        try await Self.make(of: log, serving, keysOf: directory, to: folder, progress: progress)
                    )
                } catch {
                    return .failure(error)
                }
            }
            do {
                return try result.get()
            } catch {
                throw ControlError("no backup was made: \(error)", exitCode: BackupExit.code(error).rawValue)
            }
        }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a backup in place as the data directory of a gateway that does not run.",
        discussion: """
            The log goes on in a new epoch, far above every number in the backup: players get a snapshot, and no number is \
            used again. What was recorded after the backup is not in it. Keys that are in the data directory stay, and those of the \
            backup are taken too.

            Example: cuecast restore --from /mnt/backup/2026-11-22 --data-dir /var/lib/cuecast

            Exit codes: 0 done, 64 the data directory is not empty, 65 the backup is damaged, 69 the data directory is in use \
            or cannot be written.
            """
    )

    @Option(help: "The folder of the backup; it stays as it is.")
    var from: String

    @Option(help: "The data directory. (default: cuecast-data) [CUECAST_DATA_DIR]")
    var dataDir: String?

    @Flag(help: "Keep the files that are there aside, in the folder 'replaced' of the data directory.")
    var replace = false

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment["CUECAST_DATA_DIR"] ?? ""
        let path = self.dataDir ?? (environment.isEmpty ? GatewayConfiguration().dataDirectory : environment)
        do {
            let restored = try await StoreBackups.restore(
                from: self.from,
                to: path,
                replacing: self.replace,
                at: SystemClock().now()
            )
            let aside = restored.replaced.map { " replaced=\($0)" } ?? ""
            let epoch = String(restored.epoch, radix: 16)
            CommandOutput.say("restored data-dir=\(path) epoch=\(epoch) base=\(restored.base)\(aside)")
        } catch {
            if case BackupError.notEmpty = error {
                complain("nothing was restored: \(error) --replace keeps what is there aside.")
            } else if case BackupError.unfinished = error {
                complain("\(error)")
            } else {
                complain("nothing was restored: \(error)")
            }
            throw BackupExit.code(error)
        }
    }
}

enum BackupExit {
    static func code(_ error: any Error) -> ExitCode {
        switch error {
        case BackupError.notEmpty: CommandExit.usage
        case BackupError.damaged, BackupError.incomplete, StoreError.damaged, StoreError.mismatch,
            StoreError.laterSchema:
            CommandExit.badData
        default: CommandExit.unavailable
        }
    }
}

/// One line on a terminal that says how far a backup is; nothing elsewhere.
private final class ProgressMeter: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ members: [String: JSONValue]) {
        guard self.isTerminal, let file = members["file"]?.asString, let done = members["pages"]?.asInteger,
            let total = members["of"]?.asInteger, total > 0
        else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(file) \(done * 100 / total) %".utf8))
    }

    func end() {
        if self.isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }
}
