// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import SQLiteStore
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Count the event log anew and compare with the ledger.",
        discussion: """
            Counts from the first record of the log, or where it is not kept any more from the oldest checked copy of the \
            ledger, and compares every total, reason and row; and the ledger's totals with its own rows. It writes nothing to \
            the books, and may run beside the gateway.

            Where several gateways share the log, it is read from its servers, from the first record on: name them with --servers \
            or --config. Then the board that the gateway keeps is compared, too, and each record that is missing, damaged, or \
            another one than the gateway has counted is named.

            Exit codes: 0 nothing differs, 1 something does (each difference is named, up to a limit), 65 there is nothing \
            that can be verified, 69 it cannot be counted anew at present.

            Examples:
              cuecast verify --data-dir ./data
              cuecast verify --data-dir /var/lib/cuecast --servers nats://a:4222,nats://b:4222,nats://c:4222
            """
    )

    @OptionGroup var control: ControlOptions
    @OptionGroup var cluster: ClusterOptions
    @Flag(help: "Compare the ledger only with itself: totals with rows.") var ledgerOnly = false
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let openShared = try await self.sharedLogOpener()
        let line = ProgressLine()
        let result: LedgerVerification
        do {
            result = try await LedgerVerification.run(
                in: self.control.directory,
                ledgerOnly: self.ledgerOnly,
                openShared: openShared
            ) { progress in
                line.show(Self.text(progress))
            }
            line.end()
        } catch let error as VerificationError {
            line.end()
            complain(error.description)
            if case .unavailable = error { throw CommandExit.unavailable }
            throw CommandExit.badData
        }
        if self.output.isJSON { try Self.printJSON(result) } else { Self.printText(result) }
        if !result.isRight { throw ExitCode(1) }
    }

    /// Opens the log where several gateways share it; `nil`: no servers are named.
    private func sharedLogOpener() async throws -> LedgerVerification.SharedLogOpener? {
        guard !self.ledgerOnly, self.cluster.namesSomething,
            let mark = try? SharedLogMark.read(in: self.control.directory)
        else { return nil }
        var settings = try await self.cluster.read()
        // The directory says which log it belongs to; another one is an error only where it was asked for.
        if self.cluster.prefix == nil { settings.prefix = mark.prefix }
        return { [settings] _ in try await ClusterAccess.inspect(settings) }
    }

    static func text(_ progress: LedgerVerification.Progress) -> String {
        switch progress {
        case .copying: "copying the ledger"
        case .counting(let done, let total): "counting record \(done) of \(total)"
        case .folding(let done, let total): "making the board anew: record \(done) of \(total)"
        case .comparing: "comparing"
        }
    }

    private static func printText(_ result: LedgerVerification) {
        for sentence in result.audit { CommandOutput.say("totals and rows: \(sentence)") }
        for sentence in result.differences?.sentences ?? [] { CommandOutput.say("ledger and log: \(sentence)") }
        if let differences = result.differences, differences.count > differences.sentences.count {
            CommandOutput.say("and \(differences.count - differences.sentences.count) more differences")
        }
        if let shared = result.shared {
            Self.printText(shared.log, "log")
            if let board = shared.board { Self.printText(board, "board and log") }
            if let offset = shared.boardOffset { CommandOutput.say("the board was compared at record \(offset)") }
        }
        for gap in result.gaps { CommandOutput.say(gap.sentence) }
        for (lane, offset) in result.offsets.sorted(by: { $0.key.description < $1.key.description })
        where lane != .breaks {
            CommandOutput.say("the ledger counts \(lane) up to record \(offset)")
        }
        if result.differences != nil {
            CommandOutput.say("counted anew from \(result.base.map { "the copy of \($0)" } ?? "the first record")")
        }
        CommandOutput.say(result.isRight ? "nothing differs" : Self.verdict(result))
    }

    /// In which of the books there is something wrong.
    private static func verdict(_ result: LedgerVerification) -> String {
        let isLedgerRight = result.audit.isEmpty && result.differences?.count ?? 0 == 0
        guard isLedgerRight, let shared = result.shared else { return "the ledger is NOT right" }
        return shared.log.count > 0 ? "the log is NOT right" : "the board is NOT right"
    }

    private static func printText(_ found: LedgerDifferences, _ place: String) {
        for sentence in found.sentences { CommandOutput.say("\(place): \(sentence)") }
        if found.count > found.sentences.count {
            CommandOutput.say("and \(found.count - found.sentences.count) more in the \(place)")
        }
    }

    private struct Document: Encodable {
        var right: Bool
        var audit: [String]
        /// Absent where nothing was counted anew.
        var differences: [String]?
        var differenceCount: Int?
        /// Absent where the recount began with the first record.
        var base: String?
        var lanes: [String: UInt64]
        var gaps: [String]
        /// Faults of a log that several gateways share; absent where it was not read.
        var log: [String]?
        var logFaultCount: Int?
        /// Differences of the kept board; absent where none was compared.
        var board: [String]?
        var boardDifferenceCount: Int?
        /// The record as of which the board was compared.
        var boardOffset: UInt64?
    }

    private static func printJSON(_ result: LedgerVerification) throws {
        let document = Document(
            right: result.isRight,
            audit: result.audit,
            differences: result.differences?.sentences,
            differenceCount: result.differences?.count,
            base: result.base?.description,
            lanes: Dictionary(uniqueKeysWithValues: result.offsets.map { ($0.key.description, $0.value) }),
            gaps: result.gaps.map(\.sentence),
            log: result.shared?.log.sentences,
            logFaultCount: result.shared?.log.count,
            board: result.shared?.board?.sentences,
            boardDifferenceCount: result.shared?.board?.count,
            boardOffset: result.shared?.boardOffset
        )
        try CommandOutput.say(json: document)
    }
}

/// One line on a terminal that says how far something is; nothing where standard error is no terminal.
final class ProgressLine: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let shown = Mutex("")

    func show(_ text: String) {
        guard self.isTerminal else { return }
        self.shown.withLock { shown in
            guard shown != text else { return }
            shown = text
            FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
        }
    }

    func end() {
        guard self.isTerminal, self.shown.withLock({ !$0.isEmpty }) else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    }
}
