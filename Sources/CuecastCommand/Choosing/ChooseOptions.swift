// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import BreakDocuments
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation
import GatewayCore

/// From which ads those of a break are chosen, and how long they are to last.
struct ChooseOptions: ParsableArguments {
    @Option(
        help:
            "A JSON file of candidates and rules: choose the ads from it, as docs/broadcasters/choosing.md describes it."
    )
    var choose: String?

    @Option(
        help: "With --choose: how long the chosen ads may last together. (default: --duration, where there is one)",
        transform: DurationArgument.read
    )
    var fill: DurationArgument?

    @Option(
        help: "With --choose: how long the chosen ads last together, to the millisecond.",
        transform: DurationArgument.read
    )
    var fillExactly: DurationArgument?

    @Option(
        help: "With --choose and --fill: how long the chosen ads last together at least.",
        transform: DurationArgument.read
    )
    var fillAtLeast: DurationArgument?

    @Option(
        help: """
            With --choose: a JSON file of the ads of other breaks, for rules about the time between breaks; 'none': there were none. \
            (default: the gateway's reports about the stream, over HTTP)
            """
    )
    var history: String?

    @OptionGroup var access: OperatorOptions

    /// The longest filling.
    private static let fillMax: Duration = .seconds(6 * 3_600)

    func validate() throws {
        guard self.choose != nil else {
            guard self.fill == nil, self.fillExactly == nil, self.fillAtLeast == nil, self.history == nil else {
                throw ValidationError("--fill, --fill-exactly, --fill-at-least and --history go with --choose.")
            }
            return
        }
        guard self.fill == nil || self.fillExactly == nil else {
            throw ValidationError("Give one of --fill and --fill-exactly.")
        }
        guard self.fillExactly == nil || self.fillAtLeast == nil else {
            throw ValidationError("--fill-at-least and --fill-exactly contradict each other.")
        }
        for (name, duration) in [
            ("--fill", self.fill), ("--fill-exactly", self.fillExactly), ("--fill-at-least", self.fillAtLeast),
        ] {
            guard let duration = duration?.duration else { continue }
            guard duration > .zero, duration <= Self.fillMax else {
                throw ValidationError("\(name) must be more than 0s and at most 6h, which are 21600s.")
            }
        }
        if let fill = self.fill, let least = self.fillAtLeast, least.duration > fill.duration {
            throw ValidationError("--fill-at-least is more than --fill.")
        }
    }

    /// The rules of the file, and the durations of the filling.
    ///
    /// - Parameters:
    ///   - document: the file.
    ///   - duration: how long the break lasts at most.
    /// - Returns: the rules.
    /// - Throws: where no duration is said.
    private func rules(_ document: CandidatesDocument, duration: Duration?) throws -> ChoosingRules {
        guard let fill = self.fillExactly?.duration ?? self.fill?.duration ?? duration else {
            throw ValidationError("--choose needs --fill, --fill-exactly or --duration.")
        }
        var rules = ChoosingRules(fillMilliseconds: Int(fill.inMilliseconds))
        if let least = self.fillExactly ?? self.fillAtLeast {
            rules.minimumMilliseconds = Int(least.duration.inMilliseconds)
        }
        rules.adsMax = document.adsMax
        rules.jinglesMax = document.jinglesMax
        rules.isAdvertiserOnce = document.isAdvertiserOnce
        rules.isCategoryOnce = document.isCategoryOnce
        rules.adGapMilliseconds = document.gaps.ad
        rules.advertiserGapMilliseconds = document.gaps.advertiser
        rules.categoryGapMilliseconds = document.gaps.category
        return rules
    }

    /// Chooses the ads of each variant of a break.
    ///
    /// - Parameters:
    ///   - options: the break.
    ///   - gateway: the gateway that knows the ads of other breaks.
    /// - Returns: the choice for `default`, then those for the file's variants; `nil`: nothing is to be chosen.
    /// - Throws: an exit code; the reason is told before.
    func choices(for options: PublishOptions, gateway: GatewayOptions) async throws -> [VariantChoice]? {
        guard let path = self.choose else { return nil }
        let (name, date) = (options.name, try options.date)
        let bytes = try InputFile.told(path, upTo: CandidatesDocument.bytesMax)
        let document: CandidatesDocument
        do throws(DocumentFault) {
            document = try CandidatesDocument.read(bytes)
        } catch {
            complain("\(path): \(error)")
            throw CommandExit.badData
        }
        // Abbreviations such as CST mean several zones.
        guard document.timeZone.contains("/") || document.timeZone == "UTC",
            let zone = TimeZone(identifier: document.timeZone)
        else {
            complain("\(path): timeZone: '\(document.timeZone)' is not known; write a name such as Europe/Oslo, or UTC")
            throw CommandExit.badData
        }
        let rules = try self.rules(document, duration: options.longest)
        let milliseconds = Int64((date.timeIntervalSince1970 * 1_000).rounded())
        let history = try await PlayedAds.read(
            self.history,
            of: name,
            around: milliseconds,
            gap: max(rules.adGapMilliseconds, rules.advertiserGapMilliseconds, rules.categoryGapMilliseconds),
            gateway: gateway,
            access: self.access
        )
        let names = [AudienceVariant.defaultName] + document.variants.map(\.name)
        return names.enumerated()
            .map { index, variant in
                let candidates = document.candidates.filter { $0.isFor(variant) }
                let occasion = ChoosingOccasion(
                    milliseconds: milliseconds,
                    offsetMilliseconds: Int64(zone.secondsFromGMT(for: date)) * 1_000,
                    seed: "\(name.stream)/\(name.breakID)",
                    played: history.ads(for: variant, known: document.candidates)
                )
                let choice = AdChooser(rules: rules).choose(from: candidates.map { AdCandidate($0) }, for: occasion)
                return VariantChoice(
                    variant: variant,
                    conditions: index == 0 ? [] : document.variants[index - 1].conditions,
                    candidates: candidates,
                    rules: rules,
                    occasion: occasion,
                    timeZone: document.timeZone,
                    choice: choice
                )
            }
    }
}

extension AdCandidate {
    fileprivate init(_ candidate: CandidatesDocument.Candidate) {
        self.init(
            id: candidate.ad.id.description,
            durationMilliseconds: Int(candidate.ad.duration.inMilliseconds)
        )
        self.role = Role(rawValue: candidate.role) ?? .ad
        self.priority = candidate.priority
        self.weight = candidate.weight
        self.advertiser = candidate.ad.advertiser
        self.categories = candidate.categories
        self.from = candidate.from.map { $0.microseconds / 1_000 }
        self.until = candidate.until.map { $0.microseconds / 1_000 }
        self.dayparts = candidate.dayparts.map {
            Daypart(weekdays: $0.weekdays, fromMinute: $0.fromMinute, untilMinute: $0.untilMinute)
        }
        self.lock = candidate.lock
        self.timesMax = candidate.times
    }
}

/// The ads that were chosen for a variant, and why.
struct VariantChoice {
    let variant: String
    let conditions: [AudienceVariant.Condition]
    let candidates: [CandidatesDocument.Candidate]
    let rules: ChoosingRules
    let occasion: ChoosingOccasion
    let timeZone: String
    let choice: AdChoice

    /// The ads that play, first to last.
    var advertisements: [AdvertisementDescription] {
        self.choice.places.map { place in
            let candidate = self.candidates[place.candidate]
            var ad = AdvertisementDescription(candidate.ad)
            ad.id = CandidatesDocument.id(ad.id, time: place.time)
            return ad
        }
    }
}
