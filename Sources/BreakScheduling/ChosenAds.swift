// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import BreakDocuments
package import BreakPlanning
package import CuecastBroadcast
package import CuecastWire
internal import GatewayCore

extension VariantChoice {
    /// The ads that play, first to last.
    package var advertisements: [AdvertisementDescription] {
        self.choice.places.map { place in
            let candidate = self.candidates[place.candidate]
            var ad = AdvertisementDescription(candidate.ad)
            ad.id = CandidatesDocument.id(ad.id, time: place.time)
            return ad
        }
    }

    /// The variant with what was chosen for it.
    package var adVariant: AdVariant {
        AdVariant(name: self.variant, said: self.conditions, advertisements: self.advertisements)
    }
}

extension AdVariant {
    /// A variant with the conditions of a file.
    package init(
        name: String,
        said conditions: [AudienceVariant.Condition],
        advertisements: [AdvertisementDescription]
    ) {
        self.init(
            name: name,
            conditions: conditions.map {
                $0.isNegated ? Condition($0.key, isNoneOf: $0.values) : Condition($0.key, isAnyOf: $0.values)
            },
            advertisements: advertisements
        )
    }
}
