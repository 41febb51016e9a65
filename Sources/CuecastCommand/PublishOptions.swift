// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation

/// A break to publish, but for its name, its ads and the gateway: `cuecast publish`, `cuecast group publish` and `cuecast dry-run` have
/// the same.
///
/// Groups with groups of their own, such as ``AdsOptions``, stand in the commands: the parser takes a multiple of the time for each
/// level of groups.
struct PublishOptions: ParsableArguments {
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

    func validate() throws {
        let moment = try self.start.moment()
        let said = [moment != nil, self.cued, self.preStream].count { $0 }
        guard said <= 1 else { throw ValidationError("Give one of --in, --at, --now, --cued and --pre-stream.") }
        if self.hold != nil, !self.cued, !self.preStream {
            throw ValidationError("--hold goes with --cued or --pre-stream.")
        }
        if let duration = self.duration, duration != "none", Duration(text: duration) == nil {
            throw ValidationError(
                "The value '\(duration)' is invalid for '--duration': \(DurationArgument.advice(for: duration)), or none"
            )
        }
    }

    /// Checks that the ads are said once.
    ///
    /// - Throws: where options contradict each other.
    func validate(ads: AdsOptions, variants: VariantOptions, choosing: ChooseOptions) throws {
        if choosing.choose != nil {
            guard ads.vast == nil, ads.ads == nil, ads.vastURL == nil, variants.variants == nil
            else {
                throw ValidationError(
                    "--choose takes the ads of its file: give no --vast, --ads, --vast-url, --variants."
                )
            }
            guard choosing.fill != nil || choosing.fillExactly != nil || self.longest != nil else {
                throw ValidationError("--choose needs --fill, --fill-exactly or --duration.")
            }
        } else if ads.vast == nil, ads.ads == nil, ads.vastURL == nil {
            throw ValidationError("Give --vast, --ads, --vast-url or --choose.")
        }
    }

    /// How long it lasts at most, where that is said.
    var longest: Duration? { self.duration.flatMap { Duration(text: $0) } }

    /// When it starts, by this machine's clock; of a break without a start: now.
    var date: Date {
        get throws {
            switch try self.start.moment() {
            case .at(let date): date
            case .in(let lead): Date(timeIntervalSinceNow: lead.inSeconds)
            case .now, nil: Date.now
            }
        }
    }

    /// The break with these ads.
    ///
    /// - Parameters:
    ///   - stream: its stream.
    ///   - breakID: its id.
    ///   - advertisements: the ads of `default`.
    ///   - variants: the other variants.
    /// - Returns: the break.
    /// - Throws: where options contradict each other.
    func adBreak(
        on stream: String,
        id breakID: String,
        _ advertisements: [AdvertisementDescription],
        _ variants: [AdVariant]
    ) throws -> AdBreak {
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
            stream: stream,
            id: breakID,
            start: start,
            advertisements: advertisements
        )
        adBreak.variants = variants
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
