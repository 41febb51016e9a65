// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Gateway
import GatewayDocuments

struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have the gateway that runs in a data directory read its configuration, keys and rights again.",
        discussion: """
            Prints what changed and what needs a restart. Where anything is wrong, everything stays as it was, each fault is said, and the \
            exit code is 65. SIGHUP does the same without an answer.

            Example: cuecast reload --data-dir ./data
            """
    )

    @OptionGroup var control: ControlOptions

    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try self.control.ask(Self.command)
        if self.output.isJSON { return try CommandOutput.say(json: answer, isPretty: true) }
        for (name, what) in [("changed", "changed"), ("needRestart", "needs a restart")] {
            for line in answer[name]?.asArray ?? [] { CommandOutput.say("\(what): \(line.asString ?? "")") }
        }
        CommandOutput.say("read again")
    }

    /// The name of the command on the control socket.
    private static let command = "reload"

    /// Lets the command line ask a gateway for it.
    static func register(_ reloader: Reloader, with commands: ControlCommands) {
        commands.register(Self.command, changes: true) { _, _ in
            do {
                let document = try await reloader.reload("control socket")
                return [
                    "changed": .array(document.changed.map { .string($0) }),
                    "needRestart": .array(document.needRestart.map { .string($0) }),
                ]
            } catch let faults as ConfigurationFaults {
                throw ControlError(
                    "everything stays as it was: " + faults.faults.map(\.description).joined(separator: "; "),
                    exitCode: CommandExit.badData.rawValue
                )
            }
        }
    }
}
