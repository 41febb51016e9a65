// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CommandSupport
import CuecastWire
import Foundation
import GatewayCore
import GatewayDocuments

/// The ads that other breaks of a stream have: of the gateway's reports, or of a file.
struct PlayedAds {
    private struct Entry {
        var milliseconds: Int64
        var id: String
        var advertiser: String?
        var categories: [String]?
        /// `nil`: the break has no variants.
        var variant: String?
    }

    /// The most breaks that are looked at.
    private static let breaksMax = 5_000
    private static let pageMax = 500

    private var entries: [Entry] = []

    /// Reads them.
    ///
    /// - Parameters:
    ///   - source: a file, or `none`; `nil`: the gateway is asked.
    ///   - name: the break that they are for, which is left out.
    ///   - milliseconds: when it starts.
    ///   - gap: the longest time between breaks that matters, in milliseconds; 0: none does.
    ///   - gateway: where it is.
    ///   - access: the caller's token.
    /// - Returns: the ads.
    /// - Throws: an exit code; the reason is told before.
    static func read(
        _ source: String?,
        of name: BreakName,
        around milliseconds: Int64,
        gap: Int,
        gateway: GatewayOptions,
        access: OperatorOptions
    ) async throws -> PlayedAds {
        var result = PlayedAds()
        switch source {
        case "none": break
        case let path?:
            let bytes = try InputFile.told(path, upTo: CandidatesDocument.bytesMax)
            do throws(DocumentFault) {
                let document = try PlayedAdsDocument.read(bytes)
                result.entries = document.ads.map {
                    Entry(
                        milliseconds: $0.at.microseconds / 1_000,
                        id: $0.id,
                        advertiser: $0.advertiser.isEmpty ? nil : $0.advertiser,
                        categories: $0.categories.isEmpty ? nil : $0.categories
                    )
                }
            } catch {
                complain("\(path): \(error)")
                throw CommandExit.badData
            }
        case nil:
            guard gap > 0 else { break }
            let gateway = try OperatorGateway(gateway, access, for: "The history of a stream")
            do throws(OperatorGateway.Fault) {
                try await result.ask(gateway, name, from: milliseconds - Int64(gap), to: milliseconds + Int64(gap))
            } catch {
                throw error.told()
            }
        }
        return result
    }

    private mutating func ask(
        _ gateway: OperatorGateway,
        _ name: BreakName,
        from: Int64,
        to: Int64
    ) async throws(OperatorGateway.Fault) {
        var before: UInt64?
        var breaks = 0
        repeat {
            let page = try await gateway.document(
                ReportDocument.self,
                OperatorGateway.target(
                    "/v1/reports",
                    [
                        ("stream", name.stream), ("before", before.map { String($0) }),
                        ("limit", String(Self.pageMax)), ("from", Self.text(from)), ("to", Self.text(to)),
                    ]
                )
            )
            for each in page.breaks where each.break != name.breakID && !each.cancelled && !each.expired {
                guard let start = each.start.flatMap({ Timestamp(rfc3339: $0) }) else { continue }
                for ad in each.ads {
                    self.entries.append(
                        Entry(
                            milliseconds: start.microseconds / 1_000,
                            id: CandidatesDocument.ownID(ad.id),
                            variant: ad.variantName
                        )
                    )
                }
            }
            breaks += page.breaks.count
            before = page.before
        } while before != nil && breaks < Self.breaksMax
        guard before == nil else {
            throw OperatorGateway.Fault(
                sentence:
                    "the limit historyBreaksMax is \(Self.breaksMax), and the stream has more breaks in the time that the rules are about",
                exit: CommandExit.badData
            )
        }
    }

    private static func text(_ milliseconds: Int64) -> String {
        Timestamp(microseconds: milliseconds * 1_000).description
    }

    /// The ads that count for a variant: those of a variant of its name, of `default`, and of breaks without variants.
    ///
    /// - Parameters:
    ///   - variant: the variant's name.
    ///   - candidates: the candidates; by their ids they say advertiser and categories of ads of which only the id is known.
    /// - Returns: the ads.
    func ads(for variant: String, known candidates: [CandidatesDocument.Candidate]) -> [PlayedAd] {
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
