// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import LoadEngine

/// Writes a line for people to standard error.
func complain(_ sentence: String) {
    CommandOutput.complain(sentence, program: "cuecast-load")
}

/// Writes a line to standard output at once.
func say(_ line: String) {
    CommandOutput.say(line)
}

/// One JSON object on one line, its keys in order.
func say(json value: some Encodable) throws {
    try CommandOutput.say(json: value)
}

/// Runs a test; an error becomes a sentence and an exit code.
func perform<Result>(_ test: () throws(LoadError) -> Result) throws -> Result {
    do throws(LoadError) {
        return try test()
    } catch {
        complain(error.description)
        switch error {
        case .usage, .endpoint, .tooManyConnections: throw CommandExit.usage
        case .unavailable, .system: throw CommandExit.unavailable
        }
    }
}

/// A number of microseconds for people.
func microseconds(_ value: Double) -> String {
    value < 10_000 ? "\(Int(value.rounded())) µs" : "\((value / 100).rounded() / 10) ms"
}
