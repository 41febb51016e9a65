// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ArgumentParser

/// The form in which a command prints.
package enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// For people: a table, or lines of text.
    case table
    /// For programs.
    case json
}

/// How a command prints: `--format json`, or `--json` for the same.
///
/// Every command that can print JSON has both, so that a script need not know which command has which.
package struct OutputOptions: ParsableArguments {
    @Option(name: .customLong("format"), help: "table (for people) or json. (default: table)")
    package var chosen: OutputFormat?

    @Flag(help: "The same as --format json.")
    package var json = false

    package init() {}

    package func validate() throws {
        guard !self.json || self.chosen != .table else {
            throw ValidationError("--json and --format table contradict each other.")
        }
    }

    package var format: OutputFormat { self.json ? .json : self.chosen ?? .table }

    /// Whether a program reads it.
    package var isJSON: Bool { self.format == .json }
}
