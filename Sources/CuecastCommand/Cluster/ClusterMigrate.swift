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

struct ClusterMigrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Move the event log of a stopped gateway to an empty shared log.",
        discussion: """
            Stop the gateway, make the log with 'cuecast cluster init', and run this on the machine of the data directory. Every \
            record gets the offset that it had, so breaks keep their numbers, and outcomes that players still keep are counted \
            once. Then both logs are counted and compared. Only where nothing differs, the directory is marked, and no gateway \
            starts on it any more. Nothing in it is deleted. A try that was cut off goes on when you run the command again.

            No gateway may use the shared log before the command says 'migrated'.

            Exit codes: 0 done, 1 the logs differ (each difference is named, and nothing is marked), 64 usage, 65 this log cannot \
            be moved, or the other one is not empty, 69 a gateway runs in the directory, or the servers do not answer.

            Example: cuecast cluster migrate --data-dir /var/lib/cuecast --servers nats://a:4222,nats://b:4222,nats://c:4222
            """
    )

    @OptionGroup var control: ControlOptions
    @OptionGroup var options: ClusterOptions
    @OptionGroup var output: OutputOptions

    private struct Document: Encodable {
        struct Sums: Encodable {
            let breaks: Int64
            let played: Int64
            let ignored: Int64
            let failed: Int64
            let heardMilliseconds: Int64

            init(_ sums: LedgerSums) {
                self.breaks = sums.breaks
                (self.played, self.ignored, self.failed) = (sums.played, sums.ignored, sums.failed)
                self.heardMilliseconds = sums.heardMilliseconds
            }
        }

        let right: Bool
        let log: String
        let prefix: String
        /// Whether an earlier run had done it.
        let before: Bool
        var records: [String: UInt64] = [:]
        var differences: [String] = []
        /// The sums of the directory's ledger, and of what was counted anew at the servers.
        var ledger: Sums?
        var counted: Sums?
        var copy: [String] = []
    }

    func run() async throws {
        let settings = try await self.options.read()
        do {
            let moving = try await MovingLog.open(self.control.directory)
            defer { moving.close() }
            try self.say(try await ClusterAccess.telling { try await self.move(moving, settings) })
        } catch let error as StoreError {
            complain("nothing was migrated: \(error)")
            if case .inUse = error { throw CommandExit.unavailable }
            throw CommandExit.badData
        } catch let error as VerificationError {
            complain("nothing was migrated: \(error)")
            if case .unavailable = error { throw CommandExit.unavailable }
            throw CommandExit.badData
        } catch let error as EventLogError {
            complain("the logs were not compared: \(error) Run the command again.")
            throw CommandExit.unavailable
        }
    }

    private func move(_ moving: MovingLog, _ settings: SharedLogSettings) async throws -> Document {
        let target = try await ClusterAccess.importing(settings)
        let mark = SharedLogMark(logID: target.identity.logID, prefix: settings.prefix)
        var document = Document(
            right: true,
            log: "\(mark.logID)",
            prefix: mark.prefix,
            before: moving.moved != nil,
            copy: moving.filesToCopy
        )
        if let moved = moving.moved {
            guard moved == mark else {
                complain("the directory was migrated to the log \(moved.logID) (prefix \(moved.prefix)) before")
                throw CommandExit.badData
            }
            return document
        }
        let begun = try await moving.compareBeginning(with: try await ClusterAccess.inspect(settings))
        guard begun.count == 0 else {
            for sentence in begun.sentences { complain("the shared log is not empty: \(sentence)") }
            throw CommandExit.badData
        }
        let line = ProgressLine()
        defer { line.end() }
        for lane in MovingLog.lanes {
            let last = moving.heads[lane] ?? 0
            try await moving.forEachPortion(of: lane, after: try await target.head(of: lane)) { records in
                try await target.append(records, to: lane)
                line.show("\(lane): record \(records.last?.offset ?? 0) of \(last)")
            }
            document.records["\(lane)"] = last
        }
        let result = try await moving.compare(
            with: try await ClusterAccess.inspect(settings),
            prefix: settings.prefix
        ) { line.show(Verify.text($0)) }
        guard result.isRight else {
            document = Document(right: false, log: document.log, prefix: document.prefix, before: false)
            document.differences =
                result.audit.map { "the ledger: \($0)" }
                + (result.differences?.sentences ?? []).map { "ledger and log: \($0)" }
                + (result.shared?.log.sentences ?? []).map { "log: \($0)" }
                + (result.shared?.board?.sentences ?? []).map { "log and board: \($0)" }
            return document
        }
        document.ledger = result.shared?.keptSums.map { Document.Sums($0) }
        document.counted = result.shared?.countedSums.map { Document.Sums($0) }
        try moving.markMoved(to: mark)
        return document
    }

    private func say(_ document: Document) throws {
        if self.output.isJSON {
            try CommandOutput.say(json: document, isPretty: true)
        } else {
            for sentence in document.differences { CommandOutput.say(sentence) }
            for (name, sums) in [("ledger", document.ledger), ("shared log", document.counted)] {
                guard let sums else { continue }
                CommandOutput.say(
                    "\(name): breaks=\(sums.breaks) played=\(sums.played) ignored=\(sums.ignored) failed=\(sums.failed)"
                        + " heard-ms=\(sums.heardMilliseconds)"
                )
            }
            let records = document.records.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            if document.right {
                CommandOutput.say(
                    "migrated log=\(document.log) prefix=\(document.prefix)\(records)\(document.before ? " before" : "")"
                )
                for file in document.copy { CommandOutput.say("copy into the data directory of each gateway: \(file)") }
            } else {
                CommandOutput.say("the logs differ: the directory is not marked, and its gateway can go on")
            }
        }
        if !document.right { throw CommandExit.checkFailed }
    }
}

#if JetStream
typealias MigrationTarget = LogImport
#else
/// Built without NATS: nothing is ever moved to it.
struct MigrationTarget {
    let identity: LogIdentity

    func head(of lane: Lane) async throws -> UInt64 { 0 }
    func append(_ records: [LoggedRecord], to lane: Lane) async throws {
        throw VerificationError.unavailable("This program was built without NATS (the package's trait JetStream).")
    }
}
#endif
