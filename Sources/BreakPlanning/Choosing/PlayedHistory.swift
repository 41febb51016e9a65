// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import BreakDocuments
internal import CuecastWire
package import GatewayCore

/// The ads that other breaks of a stream have: those that keep ads away by rules about the time between breaks.
package struct PlayedHistory: Hashable, Sendable {
    /// An ad of a break.
    package struct Entry: Hashable, Sendable {
        /// When the break starts, in milliseconds since 1970.
        package var milliseconds: Int64
        /// The break; `nil`: it is not said.
        package var breakID: String?
        /// The ad's own id.
        package var id: String
        /// `nil`: it is not known.
        package var advertiser: String?
        /// `nil`: they are not known.
        package var categories: [String]?
        /// The name of the variant; `nil`: the break has no variants.
        package var variant: String?

        package init(
            milliseconds: Int64,
            breakID: String? = nil,
            id: String,
            advertiser: String? = nil,
            categories: [String]? = nil,
            variant: String? = nil
        ) {
            self.milliseconds = milliseconds
            self.breakID = breakID
            self.id = id
            self.advertiser = advertiser
            self.categories = categories
            self.variant = variant
        }
    }

    package var entries: [Entry] = []

    package init() {}

    /// The ads of a file.
    package init(_ document: PlayedAdsDocument) {
        self.entries = document.ads.map {
            Entry(
                milliseconds: $0.at.microseconds / 1_000,
                id: $0.id,
                advertiser: $0.advertiser.isEmpty ? nil : $0.advertiser,
                categories: $0.categories.isEmpty ? nil : $0.categories
            )
        }
    }

    /// The same without some breaks.
    ///
    /// - Parameter breaks: the ids of the breaks.
    /// - Returns: the ads of all others.
    package func without(_ breaks: Set<String>) -> PlayedHistory {
        var result = self
        result.entries.removeAll { entry in entry.breakID.map { breaks.contains($0) } ?? false }
        return result
    }

    /// The ads that count for a variant: those of a variant of its name, of `default`, and of breaks without variants.
    ///
    /// - Parameters:
    ///   - variant: the variant's name.
    ///   - candidates: the candidates; by their ids they say advertiser and categories of ads of which only the id is known.
    /// - Returns: the ads.
    package func ads(for variant: String, known candidates: [CandidatesDocument.Candidate]) -> [PlayedAd] {
        var known: [String: CandidatesDocument.Candidate] = [:]
        for candidate in candidates { known[candidate.ad.id.description] = candidate }
        return self.entries
            .filter { [nil, AudienceVariant.defaultName, variant].contains($0.variant) }
            .map { entry in
                PlayedAd(
                    milliseconds: entry.milliseconds,
                    id: entry.id,
                    advertiser: entry.advertiser ?? known[entry.id]?.ad.advertiser ?? "",
                    categories: entry.categories ?? known[entry.id]?.categories ?? []
                )
            }
    }
}

/// A page of the breaks of a stream, as a report has it.
package struct HistoryPage: Hashable, Sendable {
    package var entries: [PlayedHistory.Entry]
    /// How many breaks it has, those without ads among them.
    package var breakCount: Int
    /// The key of the next page; `nil`: it is the last one.
    package var next: UInt64?
    /// How far the ledger has read the log of the breaks; `nil`: it does not say.
    package var lane: Progress?
    /// Whether the ledger has not read older breaks yet.
    package var isPartial = false

    package struct Progress: Hashable, Sendable {
        package var offset: UInt64
        /// The newest record of the log; `nil`: it is not known.
        package var head: UInt64?

        package init(offset: UInt64, head: UInt64?) {
            self.offset = offset
            self.head = head
        }
    }

    package init(entries: [PlayedHistory.Entry], breakCount: Int, next: UInt64?) {
        self.entries = entries
        self.breakCount = breakCount
        self.next = next
    }
}

extension PlayedHistory {
    /// The most breaks that are looked at.
    package static let historyBreaksMax = 5_000

    /// Reads pages until the last one.
    ///
    /// - Parameter page: gives the page of a key; `nil`: the first one.
    /// - Returns: the ads of all pages; `nil`: they have more than ``historyBreaksMax`` breaks.
    /// - Throws: the errors of `page`.
    package static func read<Failure>(
        _ page: (UInt64?) async throws(Failure) -> HistoryPage
    ) async throws(Failure) -> PlayedHistory? {
        var history = PlayedHistory()
        var breaks = 0
        var key: UInt64?
        repeat {
            let next = try await page(key)
            breaks += next.breakCount
            guard breaks <= Self.historyBreaksMax else { return nil }
            history.entries += next.entries
            // A page that leads to itself has no end.
            guard next.next == nil || next.next != key else { return nil }
            key = next.next
        } while key != nil
        return history
    }
}
