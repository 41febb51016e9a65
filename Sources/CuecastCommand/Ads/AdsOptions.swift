// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import AdServers
import ArgumentParser
import CommandSupport
import CuecastBroadcast
import Foundation
import Gateway

/// Where the ads of a break or a list come from.
struct AdsOptions: ParsableArguments {
    @Option(help: "A VAST document, 2.0 to 4.x.")
    var vast: String?

    @Option(help: "A JSON file of ads, as docs/broadcasters/ads-file.md describes it.")
    var ads: String?

    @Option(
        name: .customLong("vast-url"),
        help: "The address of an ad tag (http or https): ask the ad server for a VAST document, and follow wrappers."
    )
    var vastURL: String?

    @Flag(help: "Take all stand-alone ads of a VAST document without a pod, not only the first that can be played.")
    var all = false

    @Option(help: "With --vast-url: a VAST document to take where the ad server gives no ad.")
    var fallbackVast: String?

    @Option(help: "With --vast-url: a JSON file of ads to take where the ad server gives no ad.")
    var fallbackAds: String?

    @Option(help: "With --vast-url: a list of the gateway whose ads to take where the ad server gives no ad.")
    var fallbackList: String?

    @OptionGroup var adServer: AdServerOptions

    func validate() throws {
        guard [self.vast, self.ads, self.vastURL].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError("Give one of --vast, --ads and --vast-url.")
        }
        let fallbacks = [self.fallbackVast, self.fallbackAds, self.fallbackList].count { $0 != nil }
        guard fallbacks <= 1 else {
            throw ValidationError("Give one of --fallback-vast, --fallback-ads and --fallback-list.")
        }
        if let address = self.vastURL {
            try AdServerOptions.check(address, of: "--vast-url")
        } else if fallbacks > 0 {
            throw ValidationError("--fallback-vast, --fallback-ads and --fallback-list go with --vast-url.")
        }
    }

    /// Whether a source is given.
    var isGiven: Bool { self.vast != nil || self.ads != nil || self.vastURL != nil }

    /// Fails where no source is given: for commands that need ads.
    func requireSource() throws {
        if !self.isGiven {
            throw ValidationError("Give --vast, --ads or --vast-url.")
        }
    }

    /// The ads; `nil`: no source was given.
    ///
    /// - Parameters:
    ///   - breakDuration: how long the break lasts at most, for the ad server; `nil`: that is not known.
    ///   - gateway: the gateway with the list to fall back to.
    /// - Returns: the ads, at least one where they are of VAST.
    /// - Throws: an exit code; the reasons are told before.
    func read(
        forBreakOf breakDuration: Duration? = nil,
        gateway: BroadcasterOptions
    ) async throws -> [AdvertisementDescription]? {
        guard let found = try await self.find(forBreakOf: breakDuration, gateway: gateway, tell: complain) else {
            return nil
        }
        if let report = found.report { try await self.adServer.reportErrors(of: report) }
        guard let ads = found.ads else { throw CommandExit.badData }
        return ads
    }

    /// Ads that were found, and where.
    struct Found {
        /// `nil`: an ad server gave none, and there is no fallback.
        var ads: [AdvertisementDescription]?
        /// The origin of the ads, for people.
        var source: String
        /// The answer of an ad server.
        var report: AdServerReport?
    }

    /// Finds the ads, and calls no `Error` address.
    ///
    /// - Parameters:
    ///   - breakDuration: how long the break lasts at most, for the ad server; `nil`: that is not known.
    ///   - gateway: the gateway with the list to fall back to.
    ///   - answers: recorded answers, instead of asking ad servers.
    ///   - tell: gets a line for each ad that was taken or left.
    /// - Returns: the ads; `nil`: no source was given.
    /// - Throws: an exit code; the reasons are told before.
    func find(
        forBreakOf breakDuration: Duration?,
        gateway: BroadcasterOptions,
        answers: RecordedAnswers? = nil,
        tell: (String) -> Void
    ) async throws -> Found? {
        if let path = self.vast { return Found(ads: try self.readVAST(path), source: path) }
        if let path = self.ads { return Found(ads: try self.readAds(path), source: path) }
        guard let address = self.vastURL else { return nil }
        let resolver = VASTResolver(address: address, reading: VASTReadingOptions(allStandAlone: self.all))
        let report: AdServerReport
        if let answers {
            report = answers.resolve(resolver)
        } else {
            report = try await self.adServer.resolve(resolver, breakDuration: breakDuration)
        }
        for line in AdServerLines(report).lines { tell(line) }
        let server = AdServerLines.shown(address)
        guard report.resolution.taken.isEmpty else {
            let ads = report.resolution.taken.map { AdvertisementDescription($0.ad) }
            return Found(ads: ads, source: server, report: report)
        }
        if let path = self.fallbackVast {
            tell("\(server) gave no ad; those of \(path) are taken instead")
            return Found(ads: try self.readVAST(path), source: path, report: report)
        }
        if let path = self.fallbackAds {
            tell("\(server) gave no ad; those of \(path) are taken instead")
            return Found(ads: try self.readAds(path), source: path, report: report)
        }
        if let name = self.fallbackList {
            tell("\(server) gave no ad; those of the list \(name) are taken instead")
            let ads = try await gateway.asBroadcaster { (client) throws(BroadcastError) in
                try await client.list(name: name).advertisements
            }
            return Found(ads: ads, source: "the list \(name)", report: report)
        }
        tell("\(server) gave no ad")
        return Found(ads: nil, source: server, report: report)
    }

    private func readVAST(_ path: String) throws -> [AdvertisementDescription] {
        let document = try InputFile.told(path)
        do throws(AdFormatError) {
            let batch = try VAST.read(document, options: VASTReadingOptions(allStandAlone: self.all))
            for each in batch.skipped { complain("\(path): skipped \(each)") }
            for each in batch.leftOut + batch.ads.flatMap(\.leftOut) { complain("\(path): left out \(each)") }
            return batch.ads.map { AdvertisementDescription($0) }
        } catch {
            complain("\(path): \(error)")
            throw CommandExit.badData
        }
    }

    private func readAds(_ path: String) throws -> [AdvertisementDescription] {
        let document = try InputFile.told(path)
        do throws(AdsFileError) {
            return try AdsFile.read(document)
        } catch {
            complain("\(path): \(error)")
            throw CommandExit.badData
        }
    }
}
