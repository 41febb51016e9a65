// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CueWatching
import CuecastBroadcast
import CuecastWire
import Foundation
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
    /// - Parameters:
    ///   - sources: the watched sources; the gateway gets their reports, and tells its cue rules.
    ///   - body: watches until its task is cancelled, and gives what it sees to the sender.
    /// - Throws: exit codes for what is wrong with the options.
    func run(_ sources: [WatchedSource], _ body: @escaping @Sendable (SignalSender) async -> Void) async throws {
        let json = self.output.isJSON
        if self.dryRun {
            await Self.watch(nil, sources, json: json, body)
        } else {
            try await self.gateway.asBroadcaster { (client) async throws(BroadcastError) in
                await Self.watch(client, sources, json: json, body)
            }
        }
    }

    /// The source of a stream.
    ///
    /// - Parameters:
    ///   - stream: the stream, checked.
    ///   - kind: the kind of the source.
    ///   - address: the place where it is read.
    ///   - isSteady: whether it always sends something, so that silence is a fault.
    ///   - choice: the options about segments.
    /// - Returns: it, with nothing seen yet.
    /// - Throws: the rule that a name breaks.
    func source(
        of stream: String,
        _ kind: WatcherKind,
        at address: String,
        isSteady: Bool = true,
        choice: SegmentationChoice = SegmentationChoice()
    ) throws -> WatchedSource {
        let facts = WatchedSource.Facts(
            stream: try StreamID(stream),
            source: try SignalSource(self.source),
            kind: kind,
            address: address,
            isSteady: isSteady
        )
        return WatchedSource(facts, choice: choice)
    }

    /// A name that no other watcher has: the machine, the process, and something random, since numbers of processes come again.
    private static func watcherName() -> SignalSource? {
        let random = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let end = "-\(ProcessInfo.processInfo.processIdentifier)-\(random)"
        let allowed = ProcessInfo.processInfo.hostName.unicodeScalars
            .map {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil) ? Character($0) : "-"
            }
        let host = String(allowed.prefix(WireLimits.signalSourceBytesMax - end.utf8.count))
        return try? SignalSource(host + end)
    }

    private static func watch(
        _ client: BroadcastClient?,
        _ sources: [WatchedSource],
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
        let sender = SignalSender(receiver: client, output: output, sources: sources)
        var reporter: WatchReporter?
        if let client, let name = Self.watcherName() {
            reporter = WatchReporter(sources, watcher: name, receiver: client) { complain($0) }
        }
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let watching = Task(name: "Watching") { [reporter] in
            // The first playlist already is read by the rules of the gateway.
            await reporter?.begin()
            let reporting = Task(name: "Reports of the watcher") {
                if let reporter { await reporter.run() }
            }
            await body(sender)
            reporting.cancel()
            await reporting.value
        }
        let ending = Task(name: "Signals of the process") {
            for await _ in signals { watching.cancel() }
        }
        await watching.value
        await sender.end()
        await reporter?.end()
        ending.cancel()
        let counts = await sender.counts
        if json, let text = try? CommandOutput.json(["counts": counts]) {
            CommandOutput.say(text)
        } else {
            CommandOutput.say(counts.text)
        }
    }
}

/// Which SCTE-35 segments open a break: an option goes before the gateway's cue policy.
struct SegmentationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The segmentation types that open a break, for instance 0x22,0x34: their starts, with commas between them. \
            (default: as the gateway's cue policy says; else breaks, placement opportunities, ad blocks and ads)
            """
        ),
        transform: SegmentationOptions.types
    )
    var opens: Set<UInt8>?

    @Option(
        help: ArgumentHelp(
            """
            The segmentation types that end every break that runs: 0x10, 0x11 or 0x12, with commas between them. (default: as the \
            gateway's cue policy says)
            """
        ),
        transform: SegmentationOptions.types
    )
    var ends: Set<UInt8>?

    @Flag(help: "Ignore segments that may not be delivered on the web, whatever the gateway's cue policy says.")
    var obeyRestrictions = false

    @Flag(help: "Ignore segments that are blacked out in regions, whatever the gateway's cue policy says.")
    var obeyBlackout = false

    func validate() throws {
        let wrong =
            (self.opens ?? []).subtracting(SegmentPolicy.possibleOpeningTypes).sorted()
            + (self.ends ?? []).subtracting(SegmentPolicy.possibleEndingTypes).sorted()
        if let first = wrong.first {
            throw ValidationError("the segmentation type 0x\(String(first, radix: 16)) is none that can stand here")
        }
    }

    /// The choice of the options; the rest is left to the gateway's cue policy.
    var choice: SegmentationChoice {
        var choice = SegmentationChoice()
        choice.openingTypes = self.opens
        choice.endingTypes = self.ends
        choice.obeysDeliveryRestrictions = self.obeyRestrictions
        choice.obeysRegionalBlackout = self.obeyBlackout
        return choice
    }

    @Sendable private static func types(_ text: String) throws -> Set<UInt8> {
        guard let types = SegmentPolicy.types(text) else {
            throw ValidationError("write segmentation types in hexadecimal, with commas between them: 0x22,0x34")
        }
        return types
    }
}
