// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import ArgumentParser
import Foundation
internal import GatewayDocuments

/// A word of a command line that names no command or option, with the name that was most likely meant.
///
/// The argument parser decodes all options of a command before it looks for words that are left over. So it names the option that a
/// misspelt one leaves out as missing. This is asked once the parser has refused a command line, and finds the misspelt word first.
package struct UnknownWord: Hashable, Sendable {
    /// `command` or `option`.
    package let kind: String
    /// The word as it was written, without its value.
    package let word: String
    /// The name that was most likely meant; `nil`: none is near.
    package let suggestion: String?
    /// The names of the commands before it, the program's first.
    package let commands: [String]
    /// How the last of these commands is used.
    package let usage: String

    /// Finds the first unknown word of a command line.
    ///
    /// - Parameters:
    ///   - arguments: the command line, without the program's name.
    ///   - program: the root command.
    package init?(in arguments: some Collection<String>, of program: any ParsableCommand.Type) {
        var rest = arguments[...]
        var command: any ParsableCommand.Type = program
        var commands = [program._commandName]
        while !command.configuration.subcommands.isEmpty {
            guard let word = rest.first, !word.hasPrefix("-") else {
                guard let chosen = command.configuration.defaultSubcommand else { return nil }
                command = chosen
                break
            }
            // The parser has this one from itself.
            if word == "help", commands.count == 1 {
                rest = rest.dropFirst()
                continue
            }
            if let next = command.configuration.subcommands.first(where: { $0.answers(to: word) }) {
                rest = rest.dropFirst()
                commands.append(next._commandName)
                command = next
                continue
            }
            let suggestion = Spelling.nearest(to: word, among: command.shownNames)
            if suggestion == nil, let chosen = command.configuration.defaultSubcommand {
                command = chosen  // The word is an argument of it.
                break
            }
            self.init("command", word, suggestion, commands, program.usageString(for: command))
            return
        }
        let options = CommandOptions(of: command)
        for word in rest.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
            let name = String(word.dropFirst(2).prefix { $0 != "=" })
            guard !options.known.contains(name) else { continue }
            let suggestion = Spelling.nearest(to: name, among: options.shown)
            self.init("option", "--" + name, suggestion.map { "--" + $0 }, commands, program.usageString(for: command))
            return
        }
        return nil
    }

    private init(_ kind: String, _ word: String, _ suggestion: String?, _ commands: [String], _ usage: String) {
        self.kind = kind
        self.word = word
        self.suggestion = suggestion
        self.commands = commands
        self.usage = usage
    }

    /// The text for standard error, in the form of the parser's own.
    package var complaint: String {
        let meant = self.suggestion.map { " Did you mean '\($0)'?" } ?? ""
        return """
            Error: Unknown \(self.kind) '\(self.word)'.\(meant)
            Usage: \(self.usage)
              See '\(self.commands.joined(separator: " ")) --help' for more information.
            """
    }
}

extension ParsableCommand {
    fileprivate static func answers(to word: String) -> Bool {
        Self._commandName == word || Self.configuration.aliases.contains(word)
    }

    /// The names of the commands below it that the help shows.
    fileprivate static var shownNames: [String] {
        Self.configuration.subcommands.compactMap { $0.configuration.shouldDisplay ? $0._commandName : nil }
    }
}

/// The long options of one command, from the parser's own description of it.
private struct CommandOptions {
    /// Those of every command.
    private static let common: Set<String> = [
        "help", "help-hidden", "version", "generate-completion-script", "experimental-dump-help",
    ]

    let known: Set<String>
    /// Those that the help shows.
    let shown: [String]

    init(of command: any ParsableCommand.Type) {
        let description = try? JSONDecoder().decode(Description.self, from: Data(command._dumpHelp().utf8))
        let arguments = description?.command.arguments ?? []
        self.known = Set(arguments.flatMap(\.longNames)).union(Self.common)
        self.shown = arguments.filter { $0.shouldDisplay ?? true }.flatMap(\.longNames)
    }

    private struct Description: Decodable {
        struct Command: Decodable {
            let arguments: [Argument]?
        }

        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }

            let names: [Name]?
            let shouldDisplay: Bool?

            var longNames: [String] { (self.names ?? []).filter { $0.kind == "long" }.map(\.name) }
        }

        let command: Command
    }
}
