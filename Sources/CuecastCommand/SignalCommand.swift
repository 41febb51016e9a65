// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastBroadcast

struct Signal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell the gateway what the programme of a stream does: a break begins, ends or is taken back.",
        discussion: """
            The gateway makes breaks of it by the stream's cue policy (breaks.cues). Without --in, --at and --now it is so when the \
            gateway receives it. The same signal again changes nothing.

            Example: cuecast signal out --stream radio1 --source studio --event 4711 --in 10s --duration 30s
            """
    )

    @Argument(help: "out: a break begins; in: the programme is back; cancel: the break does not take place.")
    var kind: SignalKindArgument

    @Option(help: "The stream.")
    var stream: String

    @Option(
        help: "The name of the source, as the cue policy has it: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-'."
    )
    var source: String

    @Option(help: "The id of the event; 'in' and 'cancel' mean the break of the 'out' with the same one.")
    var event: String

    @OptionGroup var start: MomentOptions

    @Flag(
        help: "The time of --at is a place in the programme: it may lie in the past, and the break is not moved to now."
    )
    var programmeTime = false

    @Option(help: "How long the break is to last, for instance 30s.", transform: DurationArgument.read)
    var duration: DurationArgument?

    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func run() async throws {
        let signal = ProgrammeSignal(
            stream: self.stream,
            source: self.source,
            eventID: self.event,
            kind: self.kind.kind,
            start: try self.start.moment(),
            isProgrammeTime: self.programmeTime,
            duration: self.duration?.duration
        )
        let status = try await self.gateway.asBroadcaster { (client) throws(BroadcastError) in
            try await client.signal(signal)
        }
        BreakPrinter(format: self.output.format).print(status)
    }
}

/// `out`, `in` or `cancel`.
struct SignalKindArgument: ExpressibleByArgument {
    let kind: ProgrammeSignal.Kind

    init?(argument: String) {
        guard let kind = ProgrammeSignal.Kind(rawValue: argument) else { return nil }
        self.kind = kind
    }

    static var allValueStrings: [String] { ProgrammeSignal.Kind.allCases.map(\.rawValue) }
}
