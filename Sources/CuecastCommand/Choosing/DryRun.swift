// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdServers
import ArgumentParser
import BreakDocuments
import BreakPlanning
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation
import GatewayCore
import GatewayDocuments

/// `cuecast dry-run …`: what breaks would have, without publishing them.
struct DryRun: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dry-run",
        abstract: "Show what a break, or a whole day, would have and why, for each variant; publish nothing.",
        discussion: """
            Example: cuecast dry-run --stream radio1 --break noon-1 --choose ads.json --fill 90s --at 2026-11-21T12:00:00Z
            Example: cuecast dry-run day traffic.csv --stream radio1 --time-zone Europe/Oslo --list house --choose ads.json
            """,
        subcommands: [DryRunBreak.self, DryRunDay.self],
        defaultSubcommand: DryRunBreak.self
    )
}

/// `cuecast dry-run break`: what one break would have.
struct DryRunBreak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "break",
        abstract: "Show what a break would have and why, for each variant; publish nothing.",
        discussion: """
            It takes the options of 'cuecast publish', and shows what would play, and why each candidate was taken or left. Nothing \
            is published, nothing is counted, and no Error address is called. Ad servers are asked for real, or answer from a folder \
            that 'cuecast vast resolve --record' has made. The gateway is asked only for a list to fall back to, and for the ads of \
            other breaks where rules of --choose are about them.

            Exits with 65 where a variant would have no ads.

            Example: cuecast dry-run --stream radio1 --break noon-1 --choose ads.json --fill 90s --at 2026-11-21T12:00:00Z
            """
    )

    @OptionGroup var name: BreakName
    @OptionGroup var options: PublishOptions
    @OptionGroup var ads: AdsOptions
    @OptionGroup var variants: VariantOptions
    @OptionGroup var choosing: ChooseOptions

    @Option(help: "With --vast-url: a folder of recorded answers; no ad server is asked.")
    var answers: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func validate() throws {
        try self.options.validate(ads: self.ads, variants: self.variants, choosing: self.choosing)
        guard self.answers == nil || self.ads.vastURL != nil else {
            throw ValidationError("--answers goes with --vast-url.")
        }
        guard !self.ads.adServer.reportErrors else {
            throw ValidationError("--report-errors calls addresses, and a dry run calls none.")
        }
    }

    func run() async throws {
        let output = try await self.dryRun()
        if self.output.isJSON {
            BreakPrinter.printJSON(output)
        } else {
            CommandOutput.say(output.document.text)
        }
        guard output.document.variants.allSatisfy({ !$0.ads.isEmpty }) else {
            complain("a variant would have no ads")
            throw CommandExit.badData
        }
    }

    private func dryRun() async throws -> DryRunOutput {
        let (name, date) = (self.name, try self.options.date)
        if let choices = try await self.choosing.choices(for: name, self.options, gateway: self.gateway.gateway) {
            let adBreak = try self.options.adBreak(
                on: name.stream,
                id: name.breakID,
                choices[0].advertisements,
                choices.dropFirst().map(\.adVariant)
            )
            return DryRunOutput(
                name,
                date,
                adBreak.duration,
                choices.map { DryRunDocument.Variant($0, breakDuration: adBreak.duration) },
                adServer: nil
            )
        }
        var lines: [String] = []
        let found = try await self.ads.find(
            forBreakOf: self.options.longest,
            gateway: self.gateway,
            answers: try self.answers.map { try AnswersFolder($0).read() }
        ) { lines.append($0) }
        let variants = try self.variants.read() ?? []
        let ads = found?.ads ?? []
        let duration = try self.options.adBreak(on: name.stream, id: name.breakID, ads, variants).duration
        let others = variants.map {
            DryRunDocument.Variant(
                name: $0.name,
                conditions: $0.conditions.map(\.description),
                ads: $0.advertisements,
                from: self.variants.variants ?? "",
                breakDuration: duration
            )
        }
        return DryRunOutput(
            name,
            date,
            duration,
            [
                DryRunDocument.Variant(
                    name: AudienceVariant.defaultName,
                    conditions: [],
                    ads: ads,
                    from: found?.source ?? "",
                    breakDuration: duration,
                    notes: lines
                )
            ] + others,
            adServer: found?.report.map { ResolutionDocument($0, nil) }
        )
    }
}

/// A dry run, with the documents of ad servers that were asked.
struct DryRunOutput: Encodable {
    let document: DryRunDocument
    let adServer: ResolutionDocument?

    private enum CodingKeys: String, CodingKey {
        case adServer
    }

    init(
        _ name: BreakName,
        _ date: Date,
        _ duration: Duration?,
        _ variants: [DryRunDocument.Variant],
        adServer: ResolutionDocument?
    ) {
        self.document = DryRunDocument(
            stream: name.stream,
            break: name.breakID,
            start: BreakPrinter.text(date),
            durationSeconds: duration?.inSeconds,
            variants: variants
        )
        self.adServer = adServer
    }

    func encode(to encoder: any Encoder) throws {
        try self.document.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(self.adServer, forKey: .adServer)
    }
}

extension DryRunDocument {
    /// For people.
    var text: String {
        let parts = ["\(self.stream)/\(self.break) at \(self.start): nothing is published"]
        return (parts + self.variants.flatMap(\.texts)).joined(separator: "\n")
    }
}

extension DryRunDocument.Variant {
    /// For people.
    var texts: [String] {
        let conditions = self.conditions.isEmpty ? "" : " (\(self.conditions.joined(separator: " and ")))"
        var parts = ["\nvariant \(self.variant)\(conditions): \(self.summary)"]
        parts += self.notes
        if !self.ads.isEmpty {
            var table = TextTable(["PLACE", "AD", "SECONDS", "TITLE", "WHY"], numbers: [0, 2])
            for ad in self.ads {
                let cut = ad.cutAfterSeconds.map { "; the break ends after \($0) s of it" } ?? ""
                table.add(["\(ad.place)", ad.id, "\(ad.durationSeconds)", ad.title, ad.sentence + cut])
            }
            parts.append(table.text)
        }
        if !self.left.isEmpty {
            var table = TextTable(["LEFT", "SECONDS", "TITLE", "WHY"], numbers: [1])
            for ad in self.left { table.add([ad.id, "\(ad.durationSeconds)", ad.title, ad.sentence]) }
            parts.append(table.text)
        }
        return parts
    }
}

extension DryRunDocument.Variant {
    /// A variant whose ads are given.
    init(
        name: String,
        conditions: [String],
        ads: [AdvertisementDescription],
        from source: String,
        breakDuration: Duration?,
        left: [DryRunDocument.Left] = [],
        notes: [String] = []
    ) {
        let total = ads.playingTime
        self.init(
            variant: name,
            conditions: conditions,
            durationSeconds: total.inSeconds,
            summary: "\(ads.count) \(ads.count == 1 ? "ad" : "ads"), \(total.inSecondsText), of \(source)",
            best: nil,
            ads: DryRunDocument.ads(
                ads.map { PlannedAd(id: $0.id, title: $0.title, duration: $0.duration) },
                breakDuration: breakDuration
            ) { _ in "it is of \(source)" },
            left: left,
            notes: notes
        )
    }
}
