// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastBroadcast
import CuecastWire
import CuecastZeroMQ
import Foundation

/// Which break a command is about.
struct BreakName: ParsableArguments {
    @Option(help: "The stream.")
    var stream: String

    @Option(
        name: .customLong("break"),
        help: "The break: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-', unique in its stream."
    )
    var breakID: String
}

/// The revision that a break must have: `--expected-revision 3`.
struct RevisionOption: ParsableArguments {
    @Option(
        help:
            "Change nothing unless the break has this revision ('cuecast breaks --format json'), or has these values already."
    )
    var expectedRevision: UInt64?
}

/// An instant: `--in 10s`, `--at 2026-11-21T12:00:00Z`, or `--now`.
struct MomentOptions: ParsableArguments {
    @Option(
        name: .customLong("in"),
        help: "Start this long after the gateway receives the request, for instance 10s.",
        transform: DurationArgument.read
    )
    var lead: DurationArgument?

    @Option(help: "Start at this time (RFC 3339), for instance 2026-11-21T12:00:00Z.", transform: TimeArgument.read)
    var at: TimeArgument?

    @Flag(help: "Start when the gateway receives the request.")
    var now = false

    /// The given moment; `nil`: none.
    func moment() throws -> BreakMoment? {
        let said = [self.lead != nil, self.at != nil, self.now].count { $0 }
        guard said <= 1 else { throw ValidationError("Give one of --in, --at and --now.") }
        if let lead = self.lead { return .in(lead.duration) }
        if let at = self.at { return .at(at.date) }
        return self.now ? .now : nil
    }
}

/// Which gateway a broadcaster's command asks, and with which keys.
struct BroadcasterOptions: ParsableArguments {
    @OptionGroup var gateway: GatewayOptions

    @Option(help: "The file of this broadcaster's secret key ('cuecast keygen'). [CUECAST_KEY_FILE]")
    var keyFile: String?

    @Option(
        help: "The file of the gateway's public key, where it asks broadcasters for keys. [CUECAST_GATEWAY_KEY_FILE]"
    )
    var gatewayKeyFile: String?

    /// The keys; `nil`: none are named.
    private func keys() throws -> BroadcastKeys? {
        let environment = ProcessInfo.processInfo.environment
        func file(_ option: String?, _ variable: String) -> String? {
            let path = option ?? environment[variable] ?? ""
            return path.isEmpty ? nil : path
        }
        let own = file(self.keyFile, "CUECAST_KEY_FILE")
        let gateway = file(self.gatewayKeyFile, "CUECAST_GATEWAY_KEY_FILE")
        switch (own, gateway) {
        case (nil, nil): return nil
        case (let own?, let gateway?):
            do throws(BroadcastKeysError) {
                return try BroadcastKeys(gatewayPublicKeyFile: gateway, secretKeyFile: own)
            } catch {
                complain("\(error)")
                throw CommandExit.badData
            }
        case (nil, _): throw ValidationError("--gateway-key-file goes with --key-file (or CUECAST_KEY_FILE).")
        case (_, nil): throw ValidationError("--key-file goes with --gateway-key-file (or CUECAST_GATEWAY_KEY_FILE).")
        }
    }

    /// Asks the gateway as a broadcaster, and turns its answer into the exit codes that scripts rely on.
    func asBroadcaster<Value: Sendable>(
        _ body: @Sendable (BroadcastClient) async throws(BroadcastError) -> Value
    ) async throws -> Value {
        let client = BroadcastClient(
            configuration: BroadcastConfiguration(endpoint: try self.gateway.broadcastEndpoint),
            transport: BroadcastZeroMQTransport(keys: try self.keys()),
            logger: GatewayOptions.quietLogger
        )
        defer { client.close() }
        do throws(BroadcastError) {
            return try await body(client)
        } catch {
            complain("\(error)")
            throw error.exitCode
        }
    }
}

extension BroadcastError {
    /// The exit code for scripts.
    var exitCode: ExitCode {
        switch self {
        case .refused(let refusal) where refusal.status == .notAllowed: CommandExit.notAllowed
        case .refused(let refusal): refusal.canRetry ? CommandExit.unavailable : CommandExit.badData
        case .invalid, .tooLarge: CommandExit.badData
        case .timedOut, .unreachable, .unreadableReply, .cancelled, .closed: CommandExit.unavailable
        @unknown default: CommandExit.unavailable
        }
    }
}

struct Punch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start a cued break.",
        discussion: """
            Without --in, --at or --now it starts after the gateway's usual lead (2 s).

            Example: cuecast punch --stream radio1 --break noon-1
            """
    )

    @OptionGroup var name: BreakName
    @OptionGroup var start: MomentOptions
    @OptionGroup var revision: RevisionOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func run() async throws {
        let moment = try self.start.moment()
        let status = try await self.gateway.asBroadcaster { [name, revision] (client) throws(BroadcastError) in
            try await client.punch(
                stream: name.stream,
                breakID: name.breakID,
                start: moment,
                expectedRevision: revision.expectedRevision
            )
        }
        BreakPrinter(format: self.output.format).print(status)
    }
}

struct Update: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Change a break: its start until it starts, its ads until it is announced, its duration until it is over.",
        discussion: "Example: cuecast update --stream radio1 --break noon-1 --duration 45s"
    )

    @OptionGroup var name: BreakName
    @OptionGroup var start: MomentOptions
    @Option(help: "The new duration, for instance 45s.", transform: DurationArgument.read)
    var duration: DurationArgument?
    @OptionGroup var ads: AdsOptions
    @OptionGroup var variants: VariantOptions
    @OptionGroup var revision: RevisionOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func run() async throws {
        var change = BreakChange(
            start: try self.start.moment(),
            duration: self.duration?.duration,
            advertisements: try await self.ads.read(forBreakOf: self.duration?.duration, gateway: self.gateway)
        )
        change.variants = try self.variants.read()
        guard change != BreakChange() else {
            throw ValidationError(
                "Say what is to change: --in, --at, --now, --duration, --vast, --ads, --vast-url or --variants."
            )
        }
        let status = try await self.gateway.asBroadcaster { [name, revision, change] (client) throws(BroadcastError) in
            try await client.update(
                stream: name.stream,
                breakID: name.breakID,
                change,
                expectedRevision: revision.expectedRevision
            )
        }
        BreakPrinter(format: self.output.format).print(status)
    }
}

struct Postpone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Move the start of a break that has not started to later.",
        discussion: """
            With --from it may be repeated: a break that was moved already stays where it is. Without it each call moves the \
            break once more.

            Example: cuecast postpone --stream radio1 --break noon-1 --by 90s
            """
    )

    @OptionGroup var name: BreakName
    @Option(help: "By how much, for instance 90s.", transform: DurationArgument.read)
    var by: DurationArgument
    @Option(
        help: "The start that it has now (RFC 3339); without it the gateway is asked for it.",
        transform: TimeArgument.read
    )
    var from: TimeArgument?
    @OptionGroup var revision: RevisionOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func run() async throws {
        let (delay, start) = (self.by.duration, self.from?.date)
        let status = try await self.gateway.asBroadcaster { [name, revision] (client) throws(BroadcastError) in
            try await client.postpone(
                stream: name.stream,
                breakID: name.breakID,
                by: delay,
                from: start,
                expectedRevision: revision.expectedRevision
            )
        }
        BreakPrinter(format: self.output.format).print(status)
    }
}

struct End: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End a break that plays: early, or because it has no duration.",
        discussion: "Example: cuecast end --stream radio1 --break noon-1 --end-mode finishAd"
    )

    @OptionGroup var name: BreakName
    @Option(help: "What becomes of the ad that plays: cut or finishAd. (default: as the break was published)")
    var endMode: EndModeArgument?
    @Option(
        help: "The time in the programme at which it ends (RFC 3339); without it now.",
        transform: TimeArgument.read
    )
    var at: TimeArgument?
    @OptionGroup var revision: RevisionOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func run() async throws {
        let mode = self.endMode?.mode
        let date = self.at?.date
        let status = try await self.gateway.asBroadcaster { [name, revision] (client) throws(BroadcastError) in
            try await client.end(
                stream: name.stream,
                breakID: name.breakID,
                endMode: mode,
                at: date,
                expectedRevision: revision.expectedRevision
            )
        }
        BreakPrinter(format: self.output.format).print(status)
    }
}

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Call a break off.",
        discussion: "Example: cuecast cancel --stream radio1 --break noon-1"
    )

    @OptionGroup var name: BreakName
    @OptionGroup var revision: RevisionOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func run() async throws {
        let status = try await self.gateway.asBroadcaster { [name, revision] (client) throws(BroadcastError) in
            try await client.cancel(
                stream: name.stream,
                breakID: name.breakID,
                expectedRevision: revision.expectedRevision
            )
        }
        BreakPrinter(format: self.output.format).print(status)
    }
}

struct Breaks: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the breaks that the gateway keeps, or show one with its signals.",
        discussion: """
            Example: cuecast breaks --stream radio1 --format json
            Example: cuecast breaks show radio1/cue-7
            """,
        subcommands: [BreaksList.self, BreaksShow.self],
        defaultSubcommand: BreaksList.self
    )
}

struct BreaksList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the breaks that the gateway keeps.",
        discussion: "Example: cuecast breaks --stream radio1 --format json"
    )

    @Option(help: "Only this stream.") var stream: String?
    @Option(name: .customLong("break"), help: "Only breaks of this name.") var breakID: String?
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func run() async throws {
        let breaks = try await self.gateway.asBroadcaster { [stream, breakID] (client) throws(BroadcastError) in
            try await client.breaks(stream: stream, breakID: breakID)
        }
        BreakPrinter(format: self.output.format).print(breaks)
    }
}

/// `cut` or `finishAd`.
struct EndModeArgument: ExpressibleByArgument {
    let mode: AdBreak.EndMode

    init?(argument: String) {
        guard let mode = AdBreak.EndMode(rawValue: argument) else { return nil }
        self.mode = mode
    }

    static var allValueStrings: [String] { AdBreak.EndMode.allCases.map(\.rawValue) }
}
