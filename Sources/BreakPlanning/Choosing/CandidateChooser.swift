// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import BreakDocuments
package import CuecastWire
package import GatewayCore

/// Chooses the ads of breaks from a file of candidates, for each of its variants.
package struct CandidateChooser: Sendable {
    package let document: CandidatesDocument
    /// By how much the clocks of the file's zone are ahead of UTC, in milliseconds, at an instant in milliseconds since 1970.
    private let offset: @Sendable (Int64) -> Int64

    /// - Parameters:
    ///   - document: the file.
    ///   - offset: by how much the clocks of its zone are ahead of UTC, in milliseconds, at an instant in milliseconds since 1970.
    package init(_ document: CandidatesDocument, offset: @escaping @Sendable (Int64) -> Int64) {
        self.document = document
        self.offset = offset
    }

    /// The longest time between breaks that a rule is about, in milliseconds; 0: none is.
    package var gapMilliseconds: Int {
        max(self.document.gaps.ad, self.document.gaps.advertiser, self.document.gaps.category)
    }

    /// The names of the variants for which ads are chosen, `default` first.
    package var variantNames: [String] { [AudienceVariant.defaultName] + self.document.variants.map(\.name) }

    /// The rules of the file for a filling.
    ///
    /// - Parameters:
    ///   - fillMilliseconds: how long the ads may last together.
    ///   - minimumMilliseconds: how long they must last together.
    /// - Returns: the rules.
    package func rules(fillMilliseconds: Int, minimumMilliseconds: Int = 0) -> ChoosingRules {
        var rules = ChoosingRules(fillMilliseconds: fillMilliseconds)
        rules.minimumMilliseconds = minimumMilliseconds
        rules.adsMax = self.document.adsMax
        rules.jinglesMax = self.document.jinglesMax
        rules.isAdvertiserOnce = self.document.isAdvertiserOnce
        rules.isCategoryOnce = self.document.isCategoryOnce
        rules.adGapMilliseconds = self.document.gaps.ad
        rules.advertiserGapMilliseconds = self.document.gaps.advertiser
        rules.categoryGapMilliseconds = self.document.gaps.category
        return rules
    }

    /// Chooses the ads of a break.
    ///
    /// - Parameters:
    ///   - stream: its stream.
    ///   - breakID: its id. Stream and id are the seed of the draw.
    ///   - milliseconds: when it starts, in milliseconds since 1970.
    ///   - rules: the rules, as ``rules(fillMilliseconds:minimumMilliseconds:)`` makes them.
    ///   - history: the ads of other breaks of the stream.
    /// - Returns: the choice for `default`, then those for the file's variants.
    package func choices(
        stream: String,
        breakID: String,
        at milliseconds: Int64,
        rules: ChoosingRules,
        history: PlayedHistory
    ) -> [VariantChoice] {
        let question = ChoosingQuestion(
            seed: "\(stream)/\(breakID)",
            milliseconds: milliseconds,
            rules: rules,
            history: history.without([breakID])
        )
        return self.variantNames.indices.map { self.choice(ofVariant: $0, for: question) }
    }

    /// Chooses the ads of one variant of a break.
    ///
    /// It may take some time (``ChoosingLimits``): a program that does other things too asks for one variant after the other.
    ///
    /// - Parameters:
    ///   - index: the place of the variant in ``variantNames``.
    ///   - question: the break.
    /// - Returns: the choice.
    package func choice(ofVariant index: Int, for question: ChoosingQuestion) -> VariantChoice {
        let variant = self.variantNames[index]
        let candidates = self.document.candidates.filter { $0.isFor(variant) }
        let occasion = ChoosingOccasion(
            milliseconds: question.milliseconds,
            offsetMilliseconds: self.offset(question.milliseconds),
            seed: question.seed,
            played: question.history.ads(for: variant, known: self.document.candidates)
        )
        return VariantChoice(
            variant: variant,
            conditions: index == 0 ? [] : self.document.variants[index - 1].conditions,
            candidates: candidates,
            rules: question.rules,
            occasion: occasion,
            timeZone: self.document.timeZone,
            choice: AdChooser(rules: question.rules).choose(from: candidates.map { AdCandidate($0) }, for: occasion)
        )
    }
}

/// A break for which ads are chosen.
package struct ChoosingQuestion: Sendable {
    /// The seed of the draw: stream and break.
    package let seed: String
    /// When the break starts, in milliseconds since 1970.
    package let milliseconds: Int64
    package let rules: ChoosingRules
    /// The ads of other breaks of the stream, without those that this break has already.
    package let history: PlayedHistory

    package init(seed: String, milliseconds: Int64, rules: ChoosingRules, history: PlayedHistory) {
        self.seed = seed
        self.milliseconds = milliseconds
        self.rules = rules
        self.history = history
    }
}

/// The ads that were chosen for a variant, and why.
package struct VariantChoice: Sendable {
    package let variant: String
    package let conditions: [AudienceVariant.Condition]
    package let candidates: [CandidatesDocument.Candidate]
    package let rules: ChoosingRules
    package let occasion: ChoosingOccasion
    package let timeZone: String
    package let choice: AdChoice
}

extension AdCandidate {
    fileprivate init(_ candidate: CandidatesDocument.Candidate) {
        self.init(
            id: candidate.ad.id.description,
            durationMilliseconds: Int(candidate.ad.duration.inMicroseconds / 1_000)
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
