// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayDocuments

struct ClockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Show the clock of the gateway that runs in a data directory, set it, or confirm it.",
        discussion: """
            A gateway's clock follows the machine's wall clock slowly, and only if the two are close. After the \
            wall clock was set, 'clock step' confirms that it is right; if retention waits because the clock was far ahead of the \
            books at the start, 'clock confirm' resumes it.

            Example: cuecast clock --data-dir ./data
            """,
        subcommands: [Show.self, Step.self, Confirm.self],
        defaultSubcommand: Show.self
    )

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the clocks and how far they are apart.")
        @OptionGroup var output: ClockOutput

        func run() throws { try self.output.run("clock") }
    }

    struct Step: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take the wall clock for right.",
            discussion: """
                Where the wall clock is ahead, the gateway's clock jumps to it. Where it is behind, the gateway's clock runs slower \
                until it is reached: players never see an earlier time again.

                Example: cuecast clock step --data-dir ./data
                """
        )
        @OptionGroup var output: ClockOutput

        func run() throws { try self.output.run("clock.step") }
    }

    struct Confirm: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Confirm that the clock is right, so that old things are forgotten again.",
            discussion: "Example: cuecast clock confirm --data-dir ./data"
        )
        @OptionGroup var output: ClockOutput

        func run() throws { try self.output.run("clock.confirm") }
    }
}

/// Asks about the clock, and prints the answer.
struct ClockOutput: ParsableArguments {
    @OptionGroup var control: ControlOptions

    @OptionGroup var output: OutputOptions

    func run(_ command: String) throws {
        let answer = try self.control.ask(command)
        if self.output.isJSON {
            try CommandOutput.say(json: answer, isPretty: true)
        } else {
            CommandOutput.say(Self.text(of: answer))
        }
    }

    static func text(of answer: [String: JSONValue]) -> String {
        let difference = Duration.microseconds(answer["differenceMicroseconds"]?.asInteger ?? 0)
        let apart =
            difference < .zero
            ? "\(Self.seconds(-difference.inSeconds)) behind" : "\(Self.seconds(difference.inSeconds)) ahead"
        let state =
            switch answer["state"]?.asString {
            case "following": "follows the wall clock"
            case "apart": "goes on alone: the wall clock is too far away (see 'cuecast clock step --help')"
            case "goingBack":
                "runs slower until the wall clock is reached, in \(Self.seconds(answer["settlesAfterSeconds"]?.asNumber))"
            case let other: other ?? "?"
            }
        var lines = [
            "wall clock    \(answer["wall"]?.asString ?? "?")  (\(apart))",
            "gateway time  \(answer["gateway"]?.asString ?? "?")  \(state)",
        ]
        let time = answer["retentionTime"]?.asString ?? "nothing recorded yet"
        if answer["retention"]?.asString == "frozen" {
            let ahead = Self.seconds(answer["aheadSeconds"]?.asNumber)
            let confirms = Self.seconds(answer["confirmsAfterSeconds"]?.asNumber)
            lines.append(
                "retention     \(time)  frozen: the wall clock was \(ahead) ahead; 'cuecast clock confirm', or by itself in \(confirms)"
            )
        } else {
            lines.append("retention     \(time)  runs")
        }
        return lines.joined(separator: "\n")
    }

    private static func seconds(_ seconds: Double?) -> String {
        guard let seconds else { return "?" }
        return Duration.microseconds(Int64((seconds * 1e6).rounded())).inSecondsText
    }
}
