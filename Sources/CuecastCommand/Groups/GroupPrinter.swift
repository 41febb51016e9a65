// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire

/// Prints what became of the streams of a group.
struct GroupPrinter {
    let format: OutputFormat
    /// The id of the break.
    let group: String

    /// One stream, for programs.
    private struct Line: Encodable {
        let stream: String
        /// `published`, `present` (it had the break before), `cancelled` or `failed`.
        let result: String
        let status: BreakPrinter.Line?
        /// Why it has not.
        let reason: String?
        /// Whether the same command again may publish it.
        let canRetry: Bool?
    }

    private struct Document: Encodable {
        let group: String
        let start: String?
        let streams: [Line]
        let failed: Int
    }

    private struct Shown: Encodable {
        let group: String
        let states: [String: Int]
        let missing: [String]
        let streams: [BreakPrinter.Line]
    }

    func print(_ outcomes: [StreamGroup.Outcome], time: Int64?) {
        let lines = outcomes.map { Self.line($0) }
        let failed = lines.count { $0.result == "failed" }
        let start = time.map { Timestamp.text(ofMilliseconds: $0) }
        guard self.format == .table else {
            BreakPrinter.printJSON(Document(group: self.group, start: start, streams: lines, failed: failed))
            return
        }
        for each in outcomes { Self.say(each) }
        let there = lines.count - failed
        let new = lines.count { $0.result == "published" }
        let canRetry = lines.contains { $0.canRetry ?? false }
        CommandOutput.say(
            "group \(self.group)\(start.map { " at \($0)" } ?? ""): \(there) of \(lines.count) streams have the break, \(new) of them new"
                + (failed == 0
                    ? "" : canRetry ? "; the same command again goes on with the others" : "; see the reasons")
        )
    }

    func printCancelled(_ outcomes: [StreamGroup.Outcome]) {
        let lines = outcomes.map { each -> Line in
            switch each.result {
            case .published(let status, _):
                Line(
                    stream: each.stream,
                    result: status.state.rawValue,
                    status: BreakPrinter.Line(status),
                    reason: nil,
                    canRetry: nil
                )
            case .failed: Self.line(each)
            }
        }
        let failed = lines.count { $0.result == "failed" }
        guard self.format == .table else {
            BreakPrinter.printJSON(Document(group: self.group, start: nil, streams: lines, failed: failed))
            return
        }
        for each in outcomes { Self.say(each) }
        CommandOutput.say("group \(self.group): cancelled on \(lines.count - failed) of \(lines.count) streams")
    }

    func print(_ breaks: [BreakStatus], missing: [String]) {
        var states: [String: Int] = [:]
        for each in breaks { states[each.state.rawValue, default: 0] += 1 }
        guard self.format == .table else {
            BreakPrinter.printJSON(
                Shown(
                    group: self.group,
                    states: states,
                    missing: missing,
                    streams: breaks.map { BreakPrinter.Line($0) }
                )
            )
            return
        }
        BreakPrinter(format: .table).print(breaks)
        let counts = states.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let text = breaks.isEmpty ? "no stream has the break" : counts.joined(separator: ", ")
        let lacking = missing.isEmpty ? "" : "; missing on \(missing.joined(separator: ", "))"
        CommandOutput.say("group \(self.group): \(text)\(lacking)")
    }

    /// The exit code of a publication; `nil`: every stream has the break.
    static func exitCode(_ outcomes: [StreamGroup.Outcome]) -> ExitCode? {
        let failed = outcomes.filter { !$0.isPublished }
        guard !failed.isEmpty else { return nil }
        let errors = failed.compactMap { each -> BroadcastError? in
            guard case .failed(let error) = each.result else { return nil }
            return error
        }
        // A break that was cancelled before is there, and cannot be published again.
        guard errors.count == failed.count else {
            return errors.contains { $0.exitCode == CommandExit.unavailable }
                ? CommandExit.unavailable : CommandExit.checkFailed
        }
        return Self.exitCode(errors, of: outcomes.count)
    }

    /// The exit code of requests for many streams; `nil`: none failed.
    static func exitCode(_ errors: [BroadcastError], of count: Int) -> ExitCode? {
        guard let first = errors.first else { return nil }
        let codes = errors.map(\.exitCode)
        if codes.contains(CommandExit.unavailable) { return CommandExit.unavailable }
        guard errors.count == count else { return CommandExit.checkFailed }
        return codes.allSatisfy { $0 == first.exitCode } ? first.exitCode : CommandExit.badData
    }

    private static func line(_ outcome: StreamGroup.Outcome) -> Line {
        switch outcome.result {
        case .published(let status, let isNew):
            let isThere = outcome.isPublished
            return Line(
                stream: outcome.stream,
                result: !isThere ? "failed" : isNew ? "published" : "present",
                status: BreakPrinter.Line(status),
                reason: isThere ? nil : "it is \(status.state.rawValue) already",
                canRetry: isThere ? nil : false
            )
        case .failed(let error):
            return Line(
                stream: outcome.stream,
                result: "failed",
                status: nil,
                reason: "\(error)",
                canRetry: error.exitCode == CommandExit.unavailable
            )
        }
    }

    private static func say(_ outcome: StreamGroup.Outcome) {
        switch outcome.result {
        case .published(let status, _): BreakPrinter(format: .table).print(status)
        case .failed(let error): CommandOutput.say(TextTable.shown("! \(outcome.stream): \(error)"))
        }
    }
}
