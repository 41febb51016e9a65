// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import BreakScheduling
import CuecastBroadcast
import CuecastWire
import Foundation

/// Finds the ads of scheduled breaks: in the document, in files beside it, and in lists of the gateway.
///
/// Where an ad server is to give them, or where they are to be chosen, the list stands in their place. Every list and file is read once.
struct ScheduleAdsFinder {
    /// A break ends at most so long after its start, in milliseconds; the ads of one that is over matter no more.
    private static let overAfter = ScheduleLimits.breakMillisecondsMax

    private let folder: URL
    private let list: String?
    private let client: BroadcastClient
    /// The variants of the breaks.
    let audience: ScheduleAudience
    /// Whether this program asks ad servers.
    private let asks: Bool
    /// Whether it chooses ads.
    private let chooses: Bool
    private var lists: [String: Result<[AdvertisementDescription], ScheduleFault>] = [:]
    private var files: [String: Result<[AdvertisementDescription], ScheduleFault>] = [:]

    init(
        _ file: ScheduleFile,
        client: BroadcastClient,
        audience: ScheduleAudience,
        asks: Bool = false,
        chooses: Bool = false
    ) {
        let own = URL(fileURLWithPath: file.file).deletingLastPathComponent()
        self.folder = file.adsFolder.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? own
        self.list = file.list
        self.client = client
        self.audience = audience
        self.asks = asks
        self.chooses = chooses
    }

    /// Ads that were found for one variant of a break.
    enum Found: Sendable {
        /// The ads that ad servers gave, by the place of the tag among the variant's sources.
        case answers([Int: [AdvertisementDescription]])
        /// The ads that were chosen.
        case chosen([AdvertisementDescription])
    }

    /// The breaks with their ads; what cannot be found becomes a fault of the document.
    ///
    /// - Throws: where the gateway cannot be asked.
    mutating func wanted(_ document: inout ScheduleDocument, now: Int64) async throws(BroadcastError) -> [WantedBreak] {
        var wanted: [WantedBreak] = []
        for each in document.breaks {
            if each.startMilliseconds < now - Self.overAfter {
                wanted.append(Self.wanted(each, BreakAds(advertisements: []), .never))
                continue
            }
            switch self.audience.parts(of: each) {
            case .failure(let fault): document.refuse(each.id, fault)
            case .success(let parts):
                switch try await self.ads(of: each, parts) {
                case .success(let found):
                    let filling = self.audience.filling(of: each, parts, asks: self.asks, chooses: self.chooses)
                    wanted.append(Self.wanted(each, found, filling))
                case .failure(let fault): document.refuse(each.id, fault)
                }
            }
        }
        return wanted
    }

    private static func wanted(_ each: ScheduledBreak, _ ads: BreakAds, _ filling: BreakFilling) -> WantedBreak {
        WantedBreak(
            id: each.id,
            startMilliseconds: each.startMilliseconds,
            durationMilliseconds: each.durationMilliseconds ?? max(ads.playingTime.inMicroseconds / 1_000, 1),
            advertisements: ads.advertisements,
            variants: ads.variants,
            filling: filling,
            lastsAsItsAds: each.durationMilliseconds == nil,
            title: each.title,
            line: each.line
        )
    }

    /// The ads of a break.
    ///
    /// - Parameters:
    ///   - scheduled: the break.
    ///   - parts: its variants, `default` first.
    ///   - found: the ads that were asked for or chosen, by the variants' names; for others the fallbacks count.
    /// - Returns: its ads, or why it has none.
    /// - Throws: where the gateway cannot be asked.
    mutating func ads(
        of scheduled: ScheduledBreak,
        _ parts: [SchedulePart],
        found: [String: Found] = [:]
    ) async throws(BroadcastError) -> Result<BreakAds, ScheduleFault> {
        var lists: [[AdvertisementDescription]] = []
        for part in parts {
            let result = try await self.ads(of: part, found[part.name], ofDefault: lists.first)
            switch result {
            case .failure(let fault): return .failure(ScheduleFault(fault.reason, line: scheduled.line))
            case .success(let ads):
                guard (1...WireLimits.advertisementsPerBreakMax).contains(ads.count) else {
                    let maximum = WireLimits.advertisementsPerBreakMax
                    let variant = part.isDefault ? "break" : "variant \(part.name)"
                    return .failure(
                        ScheduleFault(
                            "the \(variant) has \(ads.count) ads; it may have 1 to \(maximum)",
                            line: scheduled.line
                        )
                    )
                }
                lists.append(Self.named(ads))
            }
        }
        guard parts.count > 1 else {
            // It may have been put in with variants, before its row named its own ads.
            return .success(BreakAds(advertisements: lists[0], variants: self.audience.hasVariants ? [] : nil))
        }
        let variants = zip(parts, lists).dropFirst()
            .map { part, ads in AdVariant(name: part.name, said: part.conditions, advertisements: ads) }
        return .success(BreakAds(advertisements: lists[0], variants: variants))
    }

    /// The ads of one variant.
    private mutating func ads(
        of part: SchedulePart,
        _ found: Found?,
        ofDefault: [AdvertisementDescription]?
    ) async throws(BroadcastError) -> Result<[AdvertisementDescription], ScheduleFault> {
        var answers: [Int: [AdvertisementDescription]] = [:]
        switch found {
        case .chosen(let ads): return .success(ads)
        case .answers(let given): answers = given
        case nil: break
        }
        // Without an answer a variant has its fallback alone; `default` has the list in the place of each ad server.
        guard !part.sources.isEmpty, !answers.isEmpty || part.isDefault else {
            return try await self.fallback(of: part, ofDefault: ofDefault)
        }
        var ads: [AdvertisementDescription] = []
        for (place, source) in part.sources.enumerated() {
            let result: Result<[AdvertisementDescription], ScheduleFault>
            switch source {
            case .list(let name): result = try await self.ads(ofList: name)
            case .tag:
                if let answer = answers[place] {
                    result = .success(answer)
                } else {
                    result = try await self.fallback(of: part, ofDefault: ofDefault)
                }
            case .file(let name): result = self.ads(ofFile: name)
            case .inline(let contents): result = .success(contents.map { AdvertisementDescription($0) })
            }
            switch result {
            case .success(let more): ads += more
            case .failure: return result
            }
        }
        return .success(ads)
    }

    private mutating func fallback(
        of part: SchedulePart,
        ofDefault: [AdvertisementDescription]?
    ) async throws(BroadcastError) -> Result<[AdvertisementDescription], ScheduleFault> {
        switch part.fallback {
        case .list(let name): return try await self.ads(ofList: name)
        case .ads(let contents): return .success(contents.map { AdvertisementDescription($0) })
        case .ofDefault:
            if let ofDefault { return .success(ofDefault) }
            guard let list = self.list else {
                return .failure(ScheduleFault("the break names no ads; give a list for such breaks with --list"))
            }
            return try await self.ads(ofList: list)
        }
    }

    /// Ids that differ: ads of different sources may have the same.
    private static func named(_ advertisements: [AdvertisementDescription]) -> [AdvertisementDescription] {
        var taken: Set<String> = []
        return advertisements.map { each in
            var each = each
            let own = each.id
            var number = 2
            while !taken.insert(each.id).inserted {
                let end = "-\(number)"
                // Cut between characters, so that it stays text.
                var kept = own
                while kept.utf8.count + end.utf8.count > WireLimits.advertisementIDBytesMax { kept.removeLast() }
                each.id = kept + end
                number += 1
            }
            return each
        }
    }

    private mutating func ads(
        ofList name: String
    ) async throws(BroadcastError) -> Result<[AdvertisementDescription], ScheduleFault> {
        if let known = self.lists[name] { return known }
        let result: Result<[AdvertisementDescription], ScheduleFault>
        do throws(BroadcastError) {
            result = .success(try await self.client.list(name: name).advertisements)
        } catch .refused(let refusal) where refusal.status == .notFound {
            result = .failure(ScheduleFault("the gateway has no list \(name); put it with 'cuecast lists put'"))
        } catch .invalid {
            result = .failure(ScheduleFault("'\(name)' is no name of a list"))
        }
        self.lists[name] = result
        return result
    }

    private mutating func ads(ofFile name: String) -> Result<[AdvertisementDescription], ScheduleFault> {
        if let known = self.files[name] { return known }
        let result: Result<[AdvertisementDescription], ScheduleFault>
        do throws(ScheduleFault) {
            result = .success(try self.read(name))
        } catch {
            result = .failure(error)
        }
        self.files[name] = result
        return result
    }

    private func read(_ name: String) throws(ScheduleFault) -> [AdvertisementDescription] {
        // The name comes from another system: it leads to no other folder.
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard !name.isEmpty, !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }), !name.contains("\0")
        else {
            throw ScheduleFault("the file of ads '\(name)' is not in the folder of ads")
        }
        let bytes: [UInt8]
        do throws(ScheduleFault) {
            bytes = try ScheduleFile.contents(of: self.folder.appendingPathComponent(name).path)
        } catch {
            throw ScheduleFault("the file of ads '\(name)': \(error.reason)")
        }
        do {
            let isXML = bytes.first { $0 > 0x20 && $0 < 0x80 } == UInt8(ascii: "<")
            return isXML ? try VAST.read(bytes).ads.map { AdvertisementDescription($0) } : try AdsFile.read(bytes)
        } catch {
            throw ScheduleFault("the file of ads '\(name)': \(error)")
        }
    }
}
