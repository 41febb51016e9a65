// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport

/// The version of everything in this package.
enum CuecastVersion {
    static let text = "0.1.0"
}

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the version.",
        discussion: "Example: cuecast version"
    )

    func run() {
        CommandOutput.say("cuecast \(CuecastVersion.text)")
    }
}
