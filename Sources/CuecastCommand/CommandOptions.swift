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

/// A duration as people write it: `250ms`, `10s`, `1m30s`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
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
