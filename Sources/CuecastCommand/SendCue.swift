// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import CommandSupport
import CueWatching
import CuecastBroadcast
import CuecastWire
import Foundation

struct SendCue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send the signals of an SCTE-35 cue to the gateway.",
        discussion: """
            A cue has a time of its stream's clock. Say when that is: --pts-now gives the clock's value now, --at the time of the \
            cue, and --immediate takes it as of now. A cue that itself says "at once" needs none of them.

            Example: cuecast cue --stream sport1 --source encoder --immediate \\
                       /DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=
            """
    )

    @Argument(help: "The cue: base64, hexadecimal digits, a file with one of the forms, or - for standard input.")
    var cue: String

    @Option(help: "The stream.")
    var stream: String

    @Option(
        help: "The name of the source, as the cue policy has it: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-'."
    )
    var source: String

    @Option(help: "The value of the stream's clock now, in ticks of 90 kHz.")
    var ptsNow: UInt64?

    @Option(help: "The time of the cue (RFC 3339), for instance 2026-11-21T12:00:00Z.", transform: TimeArgument.read)
    var at: TimeArgument?

    @Flag(help: "The cue is about now, whatever time it has.")
    var immediate = false

    @OptionGroup var segmentation: SegmentationOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func validate() throws {
        guard [self.ptsNow != nil, self.at != nil, self.immediate].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give one of --pts-now, --at and --immediate.")
        }
        guard self.ptsNow.map({ $0 < 1 << 33 }) ?? true else {
            throw ValidationError("--pts-now takes a number of 33 bits.")
        }
    }

    func run() async throws {
        let now = Int((Date().timeIntervalSince1970 * 1_000).rounded(.down))
        let input = try CueInput.bytes(of: self.cue)
        let bytes: [UInt8]
        do throws(SpliceSectionError) {
            bytes = try CueInput.section(of: input)
        } catch {
            let isText = CueInput.isText(self.cue)
            throw CueInput.refused(isText ? "there is no file with this name, and as a cue, \(error)" : "\(error)")
        }
        var splices = SpliceSignals(
            stream: self.stream,
            source: self.source,
            rule: self.segmentation.choice.rule(SegmentPolicy())
        )
        let observations = splices.observations(of: bytes, clock: self.clock(now), atMilliseconds: now)
        var signals: [ProgrammeSignal] = []
        var isRefused = false
        for observation in observations {
            switch observation.meaning {
            case .signal(let signal): signals.append(signal)
            case .ignored(let reason): complain("\(observation.seen): ignored: \(reason)")
            case .refused(let refusal):
                complain("\(observation.seen): \(refusal)")
                isRefused = true
            }
        }
        let statuses = try await self.gateway.asBroadcaster { [signals] (client) async throws(BroadcastError) in
            var statuses: [BreakStatus] = []
            for signal in signals { statuses.append(try await client.signal(signal)) }
            return statuses
        }
        let printer = BreakPrinter(format: self.output.format)
        for status in statuses { printer.print(status) }
        if isRefused { throw CommandExit.badData }
    }

    private func clock(_ now: Int) -> CueClock {
        if let ptsNow { return .reference(ptsTicks: ptsNow, atMilliseconds: now) }
        if let at { return .fixed(atMilliseconds: Int((at.date.timeIntervalSince1970 * 1_000).rounded())) }
        return self.immediate ? .fixed(atMilliseconds: now) : .none
    }
}
