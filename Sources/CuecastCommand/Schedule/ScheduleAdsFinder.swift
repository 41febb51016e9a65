// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakScheduling
import CuecastBroadcast
import CuecastWire
import Foundation

/// Finds the ads of scheduled breaks: in the document, in files beside it, and in lists of the gateway.
///
/// Where an ad server is to give them, the list stands in its place. Every list and file is read once.
struct ScheduleAdsFinder {
    /// A break ends at most so long after its start, in milliseconds; the ads of one that is over matter no more.
    private static let overAfter = ScheduleLimits.breakMillisecondsMax

    private let folder: URL
    private let list: String?
    private let client: BroadcastClient
    private var lists: [String: Result<[AdvertisementDescription], ScheduleFault>] = [:]
    private var files: [String: Result<[AdvertisementDescription], ScheduleFault>] = [:]

    init(_ file: ScheduleFile, client: BroadcastClient) {
        let own = URL(fileURLWithPath: file.file).deletingLastPathComponent()
        self.folder = file.adsFolder.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? own
        self.list = file.list
        self.client = client
    }

    /// The breaks with their ads; what cannot be found becomes a fault of the document.
    ///
    /// - Throws: where the gateway cannot be asked.
    mutating func wanted(_ document: inout ScheduleDocument, now: Int64) async throws(BroadcastError) -> [WantedBreak] {
        var wanted: [WantedBreak] = []
        for each in document.breaks {
            if each.startMilliseconds < now - Self.overAfter {
                wanted.append(Self.wanted(each, [], durationMilliseconds: each.durationMilliseconds ?? 1))
                continue
            }
            switch try await self.advertisements(of: each) {
            case .success(let found):
                let sum = found.reduce(Duration.zero) { $0 + $1.duration }.inMicroseconds / 1_000
                wanted.append(Self.wanted(each, found, durationMilliseconds: each.durationMilliseconds ?? sum))
            case .failure(let fault): document.refuse(each.id, fault)
            }
        }
        return wanted
    }

    private static func wanted(
        _ each: ScheduledBreak,
        _ advertisements: [AdvertisementDescription],
        durationMilliseconds: Int64
    ) -> WantedBreak {
        WantedBreak(
            id: each.id,
            startMilliseconds: each.startMilliseconds,
            durationMilliseconds: durationMilliseconds,
            advertisements: advertisements,
            hasAdServers: !each.tags.isEmpty,
            lastsAsItsAds: each.durationMilliseconds == nil,
            title: each.title,
            line: each.line
        )
    }

    /// The ads of a break whose ad servers were asked.
    ///
    /// - Parameters:
    ///   - scheduled: the break.
    ///   - answers: the ads that ad servers gave, by the place of the tag among the break's sources; without one the list counts.
    /// - Returns: its ads, or why it has none.
    /// - Throws: where the gateway cannot be asked.
    mutating func advertisements(
        of scheduled: ScheduledBreak,
        answers: [Int: [AdvertisementDescription]] = [:]
    ) async throws(BroadcastError) -> Result<[AdvertisementDescription], ScheduleFault> {
        var sources = scheduled.ads
        if sources.isEmpty {
            guard let list = self.list else {
                return .failure(
                    ScheduleFault(
                        "the break names no ads; give a list for such breaks with --list",
                        line: scheduled.line
                    )
                )
            }
            sources = [.list(list)]
        }
        var found: [AdvertisementDescription] = []
        for (place, source) in sources.enumerated() {
            let result: Result<[AdvertisementDescription], ScheduleFault>
            switch source {
            case .list(let name): result = try await self.ads(ofList: name)
            case .tag:
                if let answer = answers[place] {
                    result = .success(answer)
                } else {
                    result = try await self.ads(ofList: self.list ?? "")
                }
            case .file(let name): result = self.ads(ofFile: name)
            case .inline(let contents): result = .success(contents.map { AdvertisementDescription($0) })
            }
            switch result {
            case .success(let ads): found += ads
            case .failure(let fault): return .failure(ScheduleFault(fault.reason, line: scheduled.line))
            }
        }
        guard (1...WireLimits.advertisementsPerBreakMax).contains(found.count) else {
            let maximum = WireLimits.advertisementsPerBreakMax
            return .failure(
                ScheduleFault("the break has \(found.count) ads; it may have 1 to \(maximum)", line: scheduled.line)
            )
        }
        return .success(Self.named(found))
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
