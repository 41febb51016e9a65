// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments

struct Gateways: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the gateways that share a log, as the one of a data directory hears them.",
        discussion: """
            Shows the run, version, listeners, how many records each is behind or ahead of the one that is asked, its clock's \
            difference with the bound of the measurement, and its address. A gateway that has not been heard for 5 s is not listed.

            Example: cuecast gateways --data-dir /var/lib/cuecast --json
            """
    )

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try self.control.ask(GatewaysCommand.name)
        if self.output.isJSON {
            try CommandOutput.say(json: answer, isPretty: true)
        } else {
            for line in GatewaysText.lines(of: answer) { CommandOutput.say(line) }
        }
    }
}

/// The part of `gateways` that the gateway answers.
enum GatewaysCommand {
    static let name = "gateways"

    static func register(_ gateway: Gateway) {
        gateway.control.register(Self.name) { _, _ in
            let known = gateway.knownGateways(version: CuecastVersion.text)
            return ["gateways": .array(known.map { .object(Self.document(of: $0)) })]
        }
    }

    private static func document(of each: KnownGateway) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "instance": .string(String(each.instance, radix: 16)),
            "own": .boolean(each.isOwn),
            "version": .string(each.version),
            "addresses": .array(each.addresses.map { .string($0) }),
            "listeners": .integer(Int64(each.listeners)),
            "draining": .boolean(each.isDraining),
        ]
        if let applied = each.applied { members["offset"] = .integer(Int64(clamping: applied)) }
        if let clock = each.clock {
            members["clockAheadMicroseconds"] = .integer(clock.ahead)
            members["clockBoundMicroseconds"] = .integer(clock.way / 2)
        }
        return members
    }
}

/// The answer for people.
enum GatewaysText {
    static func lines(of answer: [String: JSONValue]) -> [String] {
        let gateways = (answer["gateways"]?.asArray ?? []).compactMap(\.asObject)
        let own = gateways.first { $0["own"]?.asBoolean ?? false }?["offset"]?.asInteger
        return gateways.map { each in
            func text(_ name: String) -> String { each[name]?.asString ?? "" }
            let isOwn = each["own"]?.asBoolean ?? false
            var words = [
                "gateway \(text("instance"))", "version=\(text("version"))",
                "listeners=\(each["listeners"]?.asInteger ?? 0)",
            ]
            if let own, let offset = each["offset"]?.asInteger, !isOwn {
                words.append(offset <= own ? "behind=\(own - offset)" : "ahead=\(offset - own)")
            }
            if let ahead = each["clockAheadMicroseconds"]?.asInteger {
                let bound = each["clockBoundMicroseconds"]?.asInteger ?? 0
                words.append("clock=\(ahead >= 0 ? "+" : "")\(ahead)us±\(bound)us")
            }
            if each["draining"]?.asBoolean ?? false { words.append("draining") }
            words.append((each["addresses"]?.asArray ?? []).compactMap(\.asString).joined(separator: ","))
            return (words + (isOwn ? ["(asked)"] : [])).joined(separator: " ")
        }
    }
}
