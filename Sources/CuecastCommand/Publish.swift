// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import BreakPlanning
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation
import Gateway
import GatewayCore

/// Where the variants of a break come from.
struct VariantOptions: ParsableArguments {
    @Option(
        help: "A JSON file of variants: other ads for some listeners, as docs/broadcasters/audiences.md describes it."
    )
    var variants: String?

    /// The variants; `nil`: no file was given.
    func read() throws -> [AdVariant]? {
        guard let path = self.variants else { return nil }
        let document = try InputFile.told(path)
        do throws(AdsFileError) {
            return try AdsFile.readVariants(document)
        } catch {
            complain("\(path): \(error)")
            throw CommandExit.badData
        }
    }
}

struct Publish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish a break.",
        discussion: """
            Without --in, --at, --now, --cued or --pre-stream it starts when the gateway receives it. Without --duration it \
            lasts as long as its ads together, with --variants those of the longest list. \
            Publishing the same break again is harmless: it is the same break.

            With --vast-url the ads are asked of an ad server first, once for all listeners; then the break is published with them.

            With --choose the ads are chosen from candidates, by rules. 'cuecast dry-run' has the same options, and publishes nothing.

            Example: cuecast publish --stream radio1 --break noon-1 --vast ads.xml --in 10s
            """
    )

    @OptionGroup var name: BreakName
    @OptionGroup var options: PublishOptions
    @OptionGroup var ads: AdsOptions
    @OptionGroup var variants: VariantOptions
    @OptionGroup var choosing: ChooseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: BroadcasterOptions

    func validate() throws {
        try self.options.validate(ads: self.ads, variants: self.variants, choosing: self.choosing)
    }

    func run() async throws {
        let adBreak = try await self.adBreak()
        let status = try await self.gateway.asBroadcaster { (client) throws(BroadcastError) in
            try await client.publish(adBreak)
        }
        BreakPrinter(format: self.output.format).print(status)
    }

    private func adBreak() async throws -> AdBreak {
        guard let choices = try await self.choosing.choices(for: self.name, self.options, gateway: self.gateway.gateway)
        else {
            let ads = try await self.ads.read(forBreakOf: self.options.longest, gateway: self.gateway)
            return try self.adBreak(ads ?? [], self.variants.read() ?? [])
        }
        var isEmpty = false
        for each in choices {
            let lines = ChoiceLines(chosen: each)
            let variant = choices.count == 1 ? "" : "variant \(each.variant): "
            complain("\(variant)chose \(lines.summary)")
            for (place, ad) in each.advertisements.enumerated() {
                let candidate = each.choice.places[place].candidate
                let text = TextTable.shown("\(ad.id), \(ad.duration.inSecondsText)")
                complain("\(variant)\(place + 1). \(text): \(lines.sentence(taken: candidate))")
            }
            if each.choice.places.isEmpty { isEmpty = true }
        }
        guard !isEmpty else {
            complain("nothing was published; 'cuecast dry-run' with the same options says why each candidate was left")
            throw CommandExit.badData
        }
        return try self.adBreak(choices[0].advertisements, choices.dropFirst().map(\.adVariant))
    }

    private func adBreak(_ ads: [AdvertisementDescription], _ variants: [AdVariant]) throws -> AdBreak {
        try self.options.adBreak(on: self.name.stream, id: self.name.breakID, ads, variants)
    }
}
