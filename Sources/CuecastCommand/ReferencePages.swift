// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP

/// For developers: the tables of `docs/reference`, from the declarations in the code.
struct ReferencePages: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the tables of the reference pages from the code.",
        discussion: """
            Only what stands between the comments for tables changes.

            Example: cuecast reference-pages docs/reference
            """,
        shouldDisplay: false
    )

    @Argument(help: "The folder of the pages.")
    var folder: String

    @Flag(help: "Write nothing; exit with 1 and name the pages that are not current.")
    var check = false

    func run() throws {
        var faults: [String] = []
        for name in Self.tables.keys.sorted() {
            do {
                if try self.update(name) { faults.append("\(name).md is not current; run 'make reference'") }
            } catch let fault as ReferencePage.Fault {
                faults.append("\(fault)")
            }
        }
        for fault in faults { complain(fault) }
        guard faults.isEmpty else { throw CommandExit.checkFailed }
        CommandOutput.say("the reference pages are as the code says")
    }

    /// Makes a page, and writes it unless it is only checked.
    ///
    /// - Parameter name: the name of its file, without `.md`.
    /// - Returns: whether the check has found that it is not current.
    /// - Throws: `ReferencePage.Fault` if it does not fit the code, and what the system says about its file.
    private func update(_ name: String) throws -> Bool {
        let path = "\(self.folder)/\(name).md"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let generated = try ReferencePage(name: name, text: text).generated(from: Self.tables)
        guard generated != text else { return false }
        if !self.check { try generated.write(toFile: path, atomically: true, encoding: .utf8) }
        return self.check
    }

    /// Each table by its name, which its page has too.
    private static let tables: [String: ReferenceTable] = [
        "alarms": alarms, "configuration": configurationKeys, "exit-codes": exitCodes, "limits": limits,
        "metrics": metrics, "status-codes": statusCodes,
    ]

    private static let alarms = ReferenceTable(
        columns: ["alarm", "meaning", "page"],
        rows: Alarm.allCases.map { .init(code: $0.rawValue, [$0.meaning, $0.page.markdown]) }
    )

    private static let configurationKeys = ReferenceTable(
        columns: ["key", "default", "reload", "meaning"],
        rows: ConfigurationTable.rows.map { row in
            let value = row.defaultText
            let link = row.page.map { " (\($0.markdown))" } ?? ""
            return .init(
                code: row.key,
                [value.isEmpty ? "–" : "`\(value)`", row.isReloadable ? "yes" : "", row.meaning + link]
            )
        }
    )

    private static let exitCodes = ReferenceTable(
        columns: ["exit code", "meaning"],
        rows: CommandExit.meanings.map { .init("\($0.code)", ["\($0.code)", $0.text]) }
    )

    private static let limits = ReferenceTable(
        columns: ["limit", "default", "key", "effect when reached"],
        rows: LimitName.allCases.map { name in
            let declaration = name.declaration
            let key = declaration.setting.map { "`\($0.key)`" } ?? ""
            return .init(code: name.rawValue, [declaration.defaultText, key, declaration.effect])
        }
    )

    private static let metrics = ReferenceTable(
        columns: ["metric", "kind", "label", "meaning"],
        rows: Metric.allCases.map { metric in
            let labels = [metric.label, metric.secondLabel].compactMap(\.self).joined(separator: ", ")
            return .init(code: metric.rawValue, [metric.kind.rawValue, labels, metric.meaning])
        }
    )

    private static let statusCodes = ReferenceTable(
        columns: ["code", "number", "HTTP", "retry", "meaning", "what to do"],
        rows: ([ProblemCode.reason(.ok)] + ProblemCode.all)
            .map { code in
                var number = ""
                if case .reason(let status) = code { number = "\(status.rawValue)" }
                return .init(
                    code: code.name,
                    [number, "\(code.httpCode)", code.canRetry ? "yes" : "", code.meaning, code.advice]
                )
            }
    )
}
