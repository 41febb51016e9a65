// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import BreakDocuments
internal import CuecastWire
internal import GatewayCore
package import GatewayDocuments

/// An ad at its place in a break, as far as a dry run tells of it.
package struct PlannedAd: Hashable, Sendable {
    /// Unique in the break.
    package let id: String
    package let title: String
    package let duration: Duration

    package init(id: String, title: String, duration: Duration) {
        self.id = id
        self.title = title
        self.duration = duration
    }
}

extension DryRunDocument {
    /// The ads of a break with the time of each.
    ///
    /// - Parameters:
    ///   - ads: first to last.
    ///   - breakDuration: how long the break lasts at most; `nil`: until it is ended.
    ///   - why: says why the ad at a place plays; places are counted from 0.
    /// - Returns: the ads.
    package static func ads(_ ads: [PlannedAd], breakDuration: Duration?, why: (Int) -> String) -> [Ad] {
        var offset = Duration.zero
        return ads.enumerated()
            .map { place, ad in
                var line = Ad(
                    place: place + 1,
                    id: ad.id,
                    title: ad.title,
                    durationSeconds: ad.duration.inSeconds,
                    startsAfterSeconds: offset.inSeconds,
                    sentence: why(place),
                    cutAfterSeconds: nil
                )
                offset += ad.duration
                if let breakDuration, offset > breakDuration {
                    line.cutAfterSeconds = max(breakDuration - (offset - ad.duration), .zero).inSeconds
                }
                return line
            }
    }
}

extension DryRunDocument.Variant {
    /// A variant whose ads were chosen.
    ///
    /// - Parameters:
    ///   - chosen: the choice.
    ///   - breakDuration: how long the break lasts at most; `nil`: until it is ended.
    ///   - notes: further lines for people.
    package init(_ chosen: VariantChoice, breakDuration: Duration?, notes: [String] = []) {
        let lines = ChoiceLines(chosen: chosen)
        self.init(
            variant: chosen.variant,
            conditions: chosen.conditions.map(\.description),
            durationSeconds: Double(chosen.choice.durationMilliseconds) / 1_000,
            summary: lines.summary,
            best: chosen.choice.isBest,
            ads: DryRunDocument.ads(chosen.plannedAds, breakDuration: breakDuration) {
                lines.sentence(taken: chosen.choice.places[$0].candidate)
            },
            left: lines.left,
            notes: notes
        )
    }
}

extension VariantChoice {
    /// The ads that play, first to last.
    package var plannedAds: [PlannedAd] {
        self.choice.places.map { place in
            let ad = self.candidates[place.candidate].ad
            return PlannedAd(
                id: CandidatesDocument.id(ad.id.description, time: place.time),
                title: ad.title,
                duration: ad.duration
            )
        }
    }
}

extension ChoiceLines {
    /// The candidates that were left, and why.
    package var left: [DryRunDocument.Left] {
        zip(self.chosen.candidates, self.chosen.choice.decisions)
            .compactMap { candidate, decision in
                guard case .left(let reason) = decision else { return nil }
                return DryRunDocument.Left(
                    id: candidate.ad.id.description,
                    title: candidate.ad.title,
                    durationSeconds: candidate.ad.duration.inSeconds,
                    reason: reason.name,
                    sentence: self.sentence(reason)
                )
            }
    }
}
