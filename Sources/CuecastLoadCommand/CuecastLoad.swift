// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport

@main
struct CuecastLoad: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cuecast-load",
        abstract: "Put a gateway under load, and check all that it sends.",
        discussion: """
            Example: cuecast-load --stream radio1 --listeners 9000 --breaks 3 --html load.html

            Exit codes: 0 done; 1 something was lost, repeated or out of order; 64 usage; 69 no answer; 74 output cannot be \
            written.
            """,
        subcommands: [Run.self, Requests.self, Notices.self, Idle.self, Worker.self],
        defaultSubcommand: Run.self
    )

    static func main() async {
        await CommandMain.run(
            Self.self,
            name: "cuecast-load",
            variables: EnvironmentCheck(known: EnvironmentCheck.commandVariables, isComplete: false)
        )
    }
}
