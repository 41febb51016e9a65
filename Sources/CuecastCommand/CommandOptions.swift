// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Logging

extension GatewayOptions {
    /// Commands say what went wrong by themselves.
    static var quietLogger: Logger {
        Logger(label: "cuecast") { _ in SwiftLogNoOpLogHandler() }
    }
}

extension CommandOutput {
    /// Writes a line about an error to standard error, with its priority where the system's journal reads it.
    static func complain(_ sentence: String, isForJournal: Bool) {
        Self.complain(sentence, program: isForJournal ? "<3>cuecast" : "cuecast")
    }
}

/// Writes a line for people to standard error.
func complain(_ sentence: String) {
    CommandOutput.complain(sentence, program: "cuecast")
}
