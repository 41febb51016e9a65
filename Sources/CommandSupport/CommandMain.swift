// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ArgumentParser
import Foundation

/// Runs a program's commands: what every one of them does at its beginning and at its end.
package enum CommandMain {
    /// Parses the command line, runs the command, and ends the process.
    ///
    /// - Parameters:
    ///   - program: the program's root command.
    ///   - name: the program's name, for sentences.
    ///   - variables: the variables that the environment may have.
    package static func run(
        _ program: any ParsableCommand.Type,
        name: String,
        variables: EnvironmentCheck
    ) async -> Never {
        CrashOutput.withhold(ProcessInfo.processInfo.environment)
        CommandOutput.prepare()
        for warning in variables.warnings(for: ProcessInfo.processInfo.environment.keys) {
            CommandOutput.complain("warning: \(warning)", program: name)
        }
        var code = ExitCode.success
        do {
            var command = try program.parseAsRoot(nil)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            code = program.exitCode(for: error)
            let text = Self.message(for: error, code, of: program)
            if !text.isEmpty {
                // Help and the version are what was asked for; everything else is a complaint.
                if code == .success { CommandOutput.say(text) } else { CommandOutput.writeToError(text + "\n") }
            }
        }
        if let failure = CommandOutput.failure {
            CommandOutput.complain("\(failure)", program: name)
            if code == .success { code = CommandExit.cannotWrite }
        }
        exit(code.rawValue)
    }

    /// The text for a command line that was refused, or for help that was asked for.
    private static func message(for error: any Error, _ code: ExitCode, of program: any ParsableCommand.Type) -> String
    {
        if code == CommandExit.usage,
            let unknown = UnknownWord(in: CommandLine.arguments.dropFirst(), of: program)
        {
            return unknown.complaint
        }
        return program.fullMessage(for: error)
    }
}
