// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Testing

private struct Radio: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "radio",
        subcommands: [Publish.self, Cue.self, Secret.self]
    )
}

private struct Place: ParsableArguments {
    @Option var gateway: String?
}

private struct Publish: ParsableCommand {
    @Option var stream: String
    @Option(name: .customLong("break")) var breakID: String
    @Option(help: .private) var seed: Int?
    @Flag var now = false
    @OptionGroup var place: Place
}

private struct Cue: ParsableCommand {
    static let configuration = CommandConfiguration(
        subcommands: [Send.self, Explain.self],
        defaultSubcommand: Send.self
    )
}

private struct Send: ParsableCommand {
    @Argument var cue: String
    @Option var stream: String
}

private struct Explain: ParsableCommand {
    @Argument var cue: String
}

private struct Secret: ParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)
}

/// Which word of a refused command line is named, and what is proposed in its place.
@Suite(.suiteLimit)
struct UnknownWordTests {
    @Test(arguments: [
        ("publish --stream s --brake n2", "option", "--brake", "--break"),
        ("publish --steam=s --break b", "option", "--steam", "--stream"),
        ("publish --stream s --break b --gatway h", "option", "--gatway", "--gateway"),
        ("publish --stream s --break b --loudness 4", "option", "--loudness", nil),
        ("publsh --stream s", "command", "publsh", "publish"),
        ("help publsh", "command", "publsh", "publish"),
        ("listen --stream s", "command", "listen", nil),
        ("cue explan x", "command", "explan", "explain"),
        ("cue explain x --stram s", "option", "--stram", nil),
        ("cue /DAR --stram s", "option", "--stram", "--stream"),
        ("secrt", "command", "secrt", nil),
    ])
    func `the first unknown word is named, with the name that is near`(
        _ line: String,
        _ kind: String,
        _ word: String,
        _ suggestion: String?
    ) throws {
        let arguments = line.split(separator: " ").map(String.init)
        let unknown = try #require(UnknownWord(in: arguments, of: Radio.self))
        #expect(unknown.kind == kind)
        #expect(unknown.word == word)
        #expect(unknown.suggestion == suggestion)
    }

    @Test(arguments: [
        "", "--help", "publish", "publish --stream", "publish --stream s --break b --now --gateway h",
        "publish --seed 4",
        "publish -- --brake", "publish --stream=--brake", "publish --help-hidden", "cue", "cue --stream s", "secret",
        "help publish", "publish -x",
    ])
    func `a line of known words is left to the parser`(_ line: String) {
        #expect(UnknownWord(in: line.split(separator: " ").map(String.init), of: Radio.self) == nil)
    }

    @Test func `the text has the sentence, the usage of the command, and the way to its help`() throws {
        let unknown = try #require(UnknownWord(in: ["publish", "--brake", "b"], of: Radio.self))
        let lines = unknown.complaint.split(separator: "\n")
        #expect(lines.first == "Error: Unknown option '--brake'. Did you mean '--break'?")
        #expect(lines.dropFirst().first?.hasPrefix("Usage: radio publish ") == true)
        #expect(lines.last == "  See 'radio publish --help' for more information.")
    }
}
