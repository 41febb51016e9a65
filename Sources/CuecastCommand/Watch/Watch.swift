// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CueWatching
import CuecastBroadcast
import CuecastWire
import UnixSignals

struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch a source of cues, and send its signals to the gateway.",
        discussion: """
            A watcher runs beside the encoder, or as a service of its own. Two watchers of one source make each break once.

            Example: cuecast watch hls https://encoder.example/live.m3u8 --stream sport1 --source playlist
            """,
        subcommands: [WatchHLS.self, WatchTransportStream.self, WatchIcecast.self, WatchLines.self]
    )
}

/// The options of every watcher.
struct WatchOptions: ParsableArguments {
    @Option(
        help: "The name of the source, as the cue policy has it: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-'."
    )
    var source: String

    @Flag(help: "Send nothing, and print what would be sent.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var gateway: BroadcasterOptions

    func validate() throws {
        do {
            _ = try SignalSource(self.source)
        } catch {
            throw ValidationError("--source: \(error)")
        }
    }

    /// Runs watchers until they end, or until SIGTERM or SIGINT, and prints the counts then.
    ///
    /// - Parameter body: watches until its task is cancelled, and gives what it sees to the sender.
    /// - Throws: exit codes for what is wrong with the options.
    func run(_ body: @escaping @Sendable (SignalSender) async -> Void) async throws {
        let json = self.output.isJSON
        if self.dryRun {
            await Self.watch(nil, json: json, body)
        } else {
            try await self.gateway.asBroadcaster { (client) async throws(BroadcastError) in
                await Self.watch(client, json: json, body)
            }
        }
    }

    private static func watch(
        _ client: BroadcastClient?,
        json: Bool,
        _ body: @escaping @Sendable (SignalSender) async -> Void
    ) async {
        let output = WatchOutput(
            line: { line in
                let text = json ? try? CommandOutput.json(line) : nil
                CommandOutput.say(text ?? line.text)
            },
            complain: { complain($0) }
        )
        let sender = SignalSender(receiver: client, output: output)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let watching = Task(name: "Watching") { await body(sender) }
        let ending = Task(name: "Signals of the process") {
            for await _ in signals { watching.cancel() }
        }
        await watching.value
        await sender.end()
        ending.cancel()
        let counts = await sender.counts
        if json, let text = try? CommandOutput.json(["counts": counts]) {
            CommandOutput.say(text)
        } else {
            CommandOutput.say(counts.text)
        }
    }
}

/// Which SCTE-35 segments open a break.
struct SegmentationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The segmentation types that open a break, for instance 0x22,0x34: their starts, with commas between them. \
            (default: breaks, placement opportunities, ad blocks and ads)
            """
        ),
        transform: SegmentationOptions.types
    )
    var opens: Set<UInt8>?

    @Option(
        help: "The segmentation types that end every break that runs: 0x10, 0x11 or 0x12, with commas between them.",
        transform: SegmentationOptions.types
    )
    var ends: Set<UInt8>?

    @Flag(help: "Ignore segments that may not be delivered on the web.")
    var obeyRestrictions = false

    @Flag(help: "Ignore segments that are blacked out in regions.")
    var obeyBlackout = false

    func validate() throws {
        let wrong =
            (self.opens ?? []).subtracting(SegmentationRule.possibleTypes).sorted()
            + (self.ends ?? []).subtracting(SegmentationRule.possibleEndingTypes).sorted()
        if let first = wrong.first {
            throw ValidationError("the segmentation type 0x\(String(first, radix: 16)) is none that can stand here")
        }
    }

    /// The rule of the options.
    var rule: SegmentationRule {
        var rule = SegmentationRule()
        if let opens { rule.openingTypes = opens }
        if let ends { rule.endingTypes = ends }
        rule.obeysDeliveryRestrictions = self.obeyRestrictions
        rule.obeysRegionalBlackout = self.obeyBlackout
        return rule
    }

    @Sendable private static func types(_ text: String) throws -> Set<UInt8> {
        var types: Set<UInt8> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.lowercased().hasPrefix("0x") ? part.dropFirst(2) : part[...]
            guard let type = UInt8(digits, radix: 16) else {
                throw ValidationError("write segmentation types in hexadecimal, with commas between them: 0x22,0x34")
            }
            types.insert(type)
        }
        return types
    }
}
