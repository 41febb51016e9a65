// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CBuildFacts
import CommandSupport
import Foundation
import SQLiteStore
import ZeroMQ

/// The version of everything in this package, and of the packages that are made of it.
enum CuecastVersion {
    static let text = "0.1.0"
}

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the version.",
        discussion: """
            As JSON it is one object: version, what it was built from (commit, swift), and what it found on this machine (libzmq, sqlite).

            Example: cuecast version --json
            """
    )

    @OptionGroup var output: OutputOptions

    func run() throws {
        guard self.output.isJSON else {
            CommandOutput.say("cuecast \(CuecastVersion.text)")
            return
        }
        try CommandOutput.say(json: BuildFacts(), isPretty: true)
    }
}

/// The output of `cuecast version --json`.
private struct BuildFacts: Encodable {
    let version = CuecastVersion.text
    /// The commit, `unknown` where it was built without git or as a development build.
    let commit = unsafe String(cString: cuecast_build_commit())
    /// The libraries that this process loaded.
    let libzmq = "\(ZeroMQCapabilities.version)"
    let sqlite = SQLiteVersion.text
    let swift = Self.compiler

    private static var compiler: String {
        let told = unsafe String(cString: cuecast_build_swift_version())
        guard told.isEmpty else { return told }
        #if compiler(>=6.4)
        return "6.4 or newer"
        #else
        return "6.3"
        #endif
    }
}
