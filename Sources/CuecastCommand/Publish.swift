// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation
import Gateway

/// Where the variants of a break come from.
struct VariantOptions: ParsableArguments {
    @Option(
        help: "A JSON file of variants: other ads for some listeners, as docs/broadcasters/audiences.md describes it."
    )
    var variants: String?

    /// The variants; `nil`: no file was given.
    func read() throws -> [AdVariant]? {
        guard let path = self.variants else { return nil }
        let document = try AdsOptions.contents(of: path)
        do throws(AdsFileError) {
            return try AdsFile.readVariants(document)
        } catch {
            complain("\(path): \(error)")
            throw CommandExit.badData
        }
    }
}

struct Publish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish a break.",
        discussion: """
            Without --in, --at, --now, --cued or --pre-stream it starts when the gateway receives it. Without --duration it \
            lasts as long as its ads together, with --variants those of the longest list. \
            Publishing the same break again is harmless: it is the same break.

            With --vast-url the ads are asked of an ad server first, once for all listeners; then the break is published with them.

            Example: cuecast publish --stream radio1 --break noon-1 --vast ads.xml --in 10s
            """
    )

    @OptionGroup var name: BreakName
    @OptionGroup var ads: AdsOptions
    @OptionGroup var variants: VariantOptions
    @OptionGroup var start: MomentOptions

    @Option(help: "The most that the break lasts, for instance 30s; 'none': until it is ended.")
    var duration: String?

    @Flag(help: "Give it to every listener that joins while it is open, before the stream starts.")
    var preStream = false

    @Flag(help: "Announce it now, start it later with 'cuecast punch'.")
    var cued = false

    @Option(
        help: "How long a cued break is held, or a pre-stream break open, for instance 30m.",
        transform: DurationArgument.read
    )
    var hold: DurationArgument?

    @Flag(help: "Never cut the last ad: a late listener gets only what fits.")
    var exact = false

    @Option(help: "What an early end does to the ad that plays: cut or finishAd.")
    var endMode: EndModeArgument?

    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func validate() throws {
        let moment = try self.start.moment()
        let said = [moment != nil, self.cued, self.preStream].count { $0 }
        guard said <= 1 else { throw ValidationError("Give one of --in, --at, --now, --cued and --pre-stream.") }
        try self.ads.requireSource()
        if self.hold != nil, !self.cued, !self.preStream {
            throw ValidationError("--hold goes with --cued or --pre-stream.")
        }
        if let duration = self.duration, duration != "none", Duration(text: duration) == nil {
            throw ValidationError(
                "The value '\(duration)' is invalid for '--duration': \(DurationArgument.advice(for: duration)), or none"
            )
        }
    }

    func run() async throws {
        let adBreak = try await self.adBreak()
        let status = try await self.gateway.asBroadcaster { (client) throws(BroadcastError) in
            try await client.publish(adBreak)
        }
        BreakPrinter(format: self.output.format).print(status)
    }

    private func adBreak() async throws -> AdBreak {
        let start: AdBreak.Start
        if self.preStream {
            start = .preStream(hold: self.hold?.duration)
        } else if self.cued {
            start = .cued(hold: self.hold?.duration)
        } else {
            switch try self.start.moment() {
            case .at(let date): start = .at(date)
            case .in(let lead): start = .in(lead)
            case .now, nil: start = .now
            }
        }
        var adBreak = AdBreak(
            stream: self.name.stream,
            id: self.name.breakID,
            start: start,
            advertisements: try await self.ads.read(
                forBreakOf: self.duration.flatMap { Duration(text: $0) },
                gateway: self.gateway
            ) ?? []
        )
        adBreak.variants = try self.variants.read() ?? []
        switch self.duration {
        case "none": adBreak.duration = nil
        case let text?: adBreak.duration = Duration(text: text)
        case nil: adBreak.duration = adBreak.advertisementsDuration
        }
        adBreak.isExact = self.exact
        adBreak.endMode = self.endMode?.mode ?? .cut
        return adBreak
    }
}
