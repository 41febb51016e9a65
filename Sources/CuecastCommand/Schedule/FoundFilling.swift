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
import Foundation
import GatewayCore

/// The filling of one break: for each variant the first source that gave ads, and what each source said.
///
/// The order of the sources is: ad servers, chosen ads, the variant's own list, the ads of `default`, the list of the schedule.
struct FoundFilling: Sendable {
    /// One variant.
    struct Part: Sendable {
        let part: SchedulePart
        /// `nil`: no ad server was asked for it.
        let answer: ScheduleFiller.Answer?
        /// `nil`: nothing was to be chosen for it.
        let choice: VariantChoice?

        /// The ads of an ad server, or chosen ones; `nil`: there are none, so that the fallback counts.
        var found: ScheduleAdsFinder.Found? {
            if let answer, !answer.ads.isEmpty { return .answers(answer.ads) }
            if let choice, !choice.choice.places.isEmpty { return .chosen(choice.advertisements) }
            return nil
        }

        /// Where its ads are from, for people.
        func source(list: String?) -> String {
            switch self.found {
            case .answers: return self.answer?.source ?? ""
            case .chosen: return "the candidates"
            case nil: return self.fallbackName(list: list)
            }
        }

        /// Where ads are from for which nothing was found, for people.
        func fallbackName(list: String?) -> String {
            switch self.part.fallback {
            case .list(let name): "the list \(name)"
            case .ads: "the file of variants"
            case .ofDefault: self.part.isDefault ? Self.own(self.part.sources, list: list) : "default"
            }
        }

        private static func own(_ sources: [ScheduledAds], list: String?) -> String {
            let names = sources.map { source in
                switch source {
                case .list(let name): "the list \(name)"
                case .file(let name): name
                case .inline: "the document"
                case .tag: "the list \(list ?? "")"
                }
            }
            return names.isEmpty ? "the list \(list ?? "")" : names.joined(separator: ", ")
        }
    }

    let parts: [Part]

    /// Whether any variant got other ads than it is put in with.
    var isFilled: Bool { self.parts.contains { $0.found != nil } }

    /// The ads that were found, by the variants' names.
    var found: [String: ScheduleAdsFinder.Found] {
        Dictionary(uniqueKeysWithValues: self.parts.compactMap { part in part.found.map { (part.part.name, $0) } })
    }

    /// Puts together what was found.
    ///
    /// - Parameters:
    ///   - asked: the break and its variants.
    ///   - answers: the answers of ad servers, by the variants' names.
    ///   - choices: the choices; those of variants whose ad server gave ads are not used.
    init(_ asked: ScheduleFiller.Asked, _ answers: [String: ScheduleFiller.Answer], _ choices: [VariantChoice]) {
        self.parts = asked.parts.map { part in
            let answer = part.tags.isEmpty ? nil : answers[part.name]
            let isAnswered = answer.map { !$0.ads.isEmpty } ?? false
            return Part(
                part: part,
                answer: answer,
                choice: isAnswered ? nil : choices.first { $0.variant == part.name }
            )
        }
    }

    /// Where the ads of all variants are from, for people.
    func source(list: String?) -> String {
        self.parts
            .map { each in
                let source = each.source(list: list)
                return each.part.isDefault ? source : "\(each.part.name) from \(source)"
            }
            .joined(separator: "; ")
    }

    /// The answers of all sources, for people and for logs.
    ///
    /// - Parameter list: the list of the schedule.
    /// - Returns: a line for each ad that was asked for or chosen, and one for each variant for which nothing was found.
    func lines(list: String?) -> [String] {
        self.parts.flatMap { each -> [String] in
            let variant = self.parts.count == 1 ? "" : "variant \(each.part.name): "
            return each.lines(list: list).map { variant + $0 }
        }
    }
}

extension FoundFilling.Part {
    /// The answers of all sources for one variant, for people and for logs.
    func lines(list: String?) -> [String] {
        var lines = self.answer?.lines ?? []
        if let choice = self.choice {
            let summary = ChoiceLines(chosen: choice)
            lines.append("chose \(summary.summary)")
            for (place, ad) in zip(choice.choice.places, choice.advertisements) {
                lines.append("took \(ad.id), \(ad.duration.inSecondsText): \(summary.sentence(taken: place.candidate))")
            }
        }
        if let sentence = self.keeps(list: list) { lines.append(sentence) }
        return lines
    }

    /// Which ads it keeps, since nothing was found; `nil`: something was, or nothing was looked for.
    func keeps(list: String?) -> String? {
        guard self.found == nil, self.answer != nil || self.choice != nil else { return nil }
        return "it keeps the ads of \(self.fallbackName(list: list))"
    }
}

extension CandidateChooser {
    /// Chooses the ads of a scheduled break.
    ///
    /// - Parameters:
    ///   - asked: the break.
    ///   - stream: its stream.
    ///   - wanted: the same with its length, which the ads may fill.
    ///   - history: the ads of other breaks of the stream.
    /// - Returns: the choice for each of the file's variants.
    func choices(
        of asked: ScheduleFiller.Asked,
        stream: String,
        _ wanted: WantedBreak,
        history: PlayedHistory
    ) -> [VariantChoice] {
        self.choices(
            stream: stream,
            breakID: asked.id,
            at: wanted.startMilliseconds,
            rules: self.rules(fillMilliseconds: Int(wanted.durationMilliseconds)),
            history: history
        )
    }
}
