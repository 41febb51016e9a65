// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import BreakDocuments
package import BreakPlanning
internal import CuecastBroadcast
internal import CuecastWire

extension PlayedHistory {
    /// The same without the ads that breaks have only until they are filled.
    ///
    /// Other ads of such a break stay: someone else may have filled it since the difference was made.
    ///
    /// - Parameter waiting: the ads with which breaks were put in, by the breaks' ids.
    /// - Returns: all others.
    package func without(waiting: [String: BreakAds]) -> PlayedHistory {
        let waiting = waiting.mapValues { ads in
            let all = ads.advertisements + (ads.variants ?? []).flatMap(\.advertisements)
            return Set(all.map { CandidatesDocument.ownID($0.id) })
        }
        var result = self
        result.entries.removeAll { entry in
            entry.breakID.flatMap { waiting[$0] }.map { $0.contains(entry.id) } ?? false
        }
        return result
    }

    /// Adds the advertisers of the ads of a break where they are not known.
    ///
    /// - Parameters:
    ///   - breakID: the break.
    ///   - ads: the ads of all its variants.
    package mutating func complete(_ breakID: String, with ads: BreakAds) {
        let all = ads.advertisements + (ads.variants ?? []).flatMap(\.advertisements)
        let advertisers = Dictionary(
            all.map { (CandidatesDocument.ownID($0.id), $0.advertiser) },
            uniquingKeysWith: { first, other in first ?? other }
        )
        for index in self.entries.indices where self.entries[index].breakID == breakID {
            let known = self.entries[index].advertiser
            self.entries[index].advertiser = known ?? advertisers[self.entries[index].id] ?? nil
        }
    }

    /// Puts the ads of a break in the place of those that are known of it.
    ///
    /// - Parameters:
    ///   - breakID: the break.
    ///   - milliseconds: when it starts, in milliseconds since 1970.
    ///   - ads: the ads of all its variants.
    package mutating func set(_ breakID: String, at milliseconds: Int64, _ ads: BreakAds) {
        self = self.without([breakID])
        let others = (ads.variants ?? []).map { (name: $0.name, ads: $0.advertisements) }
        for (name, list) in [(AudienceVariant.defaultName, ads.advertisements)] + others {
            for each in list {
                self.entries.append(
                    Entry(
                        milliseconds: milliseconds,
                        breakID: breakID,
                        id: CandidatesDocument.ownID(each.id),
                        advertiser: each.advertiser,
                        variant: others.isEmpty ? nil : name
                    )
                )
            }
        }
    }
}
