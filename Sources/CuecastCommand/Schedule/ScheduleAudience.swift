// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import BreakDocuments
import BreakPlanning
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import GatewayCore

/// For whom the breaks of a schedule are filled, and from what their ads are chosen.
struct ScheduleAudienceOptions: ParsableArguments {
    @Option(
        help: """
            A JSON file of variants, as docs/broadcasters/audiences.md describes it: breaks with an ad server, and breaks that name no \
            ads, have other ads for some listeners.
            """
    )
    var variants: String?

    @Option(
        help: """
            A JSON file of candidates and rules, as docs/broadcasters/choosing.md describes it: 'follow' chooses from it the ads of breaks \
            that name no ads, and of those whose ad server gives none.
            """
    )
    var choose: String?

    /// The files, which may change while they are followed.
    var files: [String] { [self.variants, self.choose].compactMap(\.self) }

    /// Reads the files.
    ///
    /// - Returns: the variants and the candidates.
    /// - Throws: the first fault of a file.
    func read() throws(FileFault) -> ScheduleAudience {
        var audience = ScheduleAudience()
        if let path = self.variants {
            audience.variants =
                try InputFile.document(
                    path,
                    upTo: AdsDocument.bytesMax,
                    ScheduleVariantsDocument.read
                )
                .variants
        }
        if let path = self.choose {
            let chooser = try CandidateChooser(file: path)
            guard audience.variants.isEmpty || chooser.document.variants.isEmpty else {
                throw FileFault(
                    sentence: "\(path): variants: there are some in the file of --variants too; name them in one file"
                )
            }
            audience.chooser = chooser
        }
        return audience
    }
}

/// The ads of one variant of a scheduled break: where they come from.
struct SchedulePart: Sendable {
    /// `default`, or the variant's name.
    let name: String
    let conditions: [AudienceVariant.Condition]
    /// In order; empty: it has no sources of its own.
    let sources: [ScheduledAds]
    /// The ads where nothing else is found; of `default` those of the list.
    let fallback: ScheduleVariantsDocument.Fallback

    var isDefault: Bool { self.name == AudienceVariant.defaultName }

    /// Its ad servers, by their places among ``sources``.
    var tags: [(place: Int, tag: ScheduledTag)] {
        self.sources.enumerated()
            .compactMap { place, source in
                guard case .tag(let tag) = source else { return nil }
                return (place, tag)
            }
    }
}

/// The variants of a schedule, and the candidates for its breaks.
struct ScheduleAudience: Sendable {
    /// Beside `default`.
    var variants: [ScheduleVariantsDocument.Variant] = []
    /// `nil`: no ads are chosen.
    var chooser: CandidateChooser?

    /// Whether any break may have variants beside `default`.
    var hasVariants: Bool { !self.variants.isEmpty || !(self.chooser?.document.variants ?? []).isEmpty }

    /// Tells that ad servers are not asked; `nil`: there are none.
    ///
    /// - Parameter document: the schedule.
    /// - Returns: a sentence for people.
    func adServerNote(_ document: ScheduleDocument) -> String? {
        let count = document.breaks.count { each in
            guard case .success(let parts) = self.parts(of: each) else { return false }
            return parts.contains { !$0.tags.isEmpty }
        }
        guard count > 0 else { return nil }
        let ofVariants = self.variants.contains { if case .address? = $0.question { true } else { false } }
        let breaks =
            count == 1
            ? "1 break\(ofVariants ? ", or a variant of it," : "") has an ad server"
            : "\(count) breaks\(ofVariants ? ", or variants of them," : "") have ad servers"
        return "\(breaks): 'cuecast schedule follow --ask-ad-servers' asks, and until then the ads of --list are there"
            + (self.chooser == nil ? "" : "; without --ask-ad-servers no ads are chosen for them")
    }

    /// The variants of a break, `default` first.
    ///
    /// A break that names its own ads has them for all listeners.
    ///
    /// - Parameter scheduled: the break.
    /// - Returns: the parts; a fault where an address becomes too long.
    func parts(of scheduled: ScheduledBreak) -> Result<[SchedulePart], ScheduleFault> {
        var parts = [
            SchedulePart(
                name: AudienceVariant.defaultName,
                conditions: [],
                sources: scheduled.ads,
                fallback: .ofDefault
            )
        ]
        guard scheduled.isOpen else { return .success(parts) }
        for each in self.chooser?.document.variants ?? [] {
            parts.append(
                SchedulePart(name: each.name, conditions: each.conditions, sources: [], fallback: .ofDefault)
            )
        }
        for each in self.variants {
            var sources: [ScheduledAds] = []
            switch each.question {
            case .address(let tag): sources = [.tag(tag)]
            case .query(let query):
                for source in scheduled.ads {
                    guard case .tag(let tag) = source else {
                        sources.append(source)
                        continue
                    }
                    guard let longer = tag.adding(query: query) else {
                        return .failure(
                            ScheduleFault(
                                "the address with the query of the variant \(each.name) is too long",
                                line: scheduled.line
                            )
                        )
                    }
                    sources.append(.tag(longer))
                }
            case nil: break
            }
            parts.append(
                SchedulePart(
                    name: each.name,
                    conditions: each.conditions,
                    sources: sources,
                    fallback: each.fallback
                )
            )
        }
        return .success(parts)
    }

    /// Whether ads of a break's variant may be chosen.
    func mayChoose(_ part: SchedulePart, of scheduled: ScheduledBreak) -> Bool {
        scheduled.isOpen && self.chooser?.variantNames.contains(part.name) ?? false
    }

    /// How a break gets its ads.
    ///
    /// - Parameters:
    ///   - scheduled: the break.
    ///   - parts: its variants.
    ///   - asks: whether this program asks ad servers.
    ///   - chooses: whether it chooses ads.
    /// - Returns: the kind.
    func filling(of scheduled: ScheduledBreak, _ parts: [SchedulePart], asks: Bool, chooses: Bool) -> BreakFilling {
        if parts.contains(where: { !$0.tags.isEmpty }) { return asks ? .here : .elsewhere }
        guard self.chooser != nil, scheduled.isOpen else { return .never }
        return chooses ? .here : .elsewhere
    }
}

extension ScheduledBreak {
    /// Whether the document leaves open which ads it has: it names none, or an ad server.
    fileprivate var isOpen: Bool { self.ads.isEmpty || !self.tags.isEmpty }
}
