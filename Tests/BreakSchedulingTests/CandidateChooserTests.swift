// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import BreakPlanning
import BreakScheduling
import CuecastBroadcast
import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The choice of the ads of scheduled breaks, one after the other, and the history that it looks at.
@Suite(.suiteLimit)
struct CandidateChooserTests {
    static let start: Int64 = 1_795_780_800_000
    static let minute: Int64 = 60_000

    /// Reads a file of candidates: `name:seconds:advertiser:category`.
    private static func chooser(_ candidates: [String], apart: String, variants: String = "") throws -> CandidateChooser
    {
        let ads = candidates.map { text in
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
            let categories = parts[3].isEmpty ? "[]" : "[\"\(parts[3])\"]"
            return """
                {"ad": {"id": "\(parts[0])", "duration": "\(parts[1])s", "advertiser": "\(parts[2])",
                 "media": [{"url": "https://a.example/a.mp3"}]}, "categories": \(categories)}
                """
        }
        let text = """
            {"rules": {"apart": {\(apart)}}, \(variants) "candidates": [\(ads.joined(separator: ", "))]}
            """
        return CandidateChooser(try CandidatesDocument.read(Array(text.utf8))) { _ in 0 }
    }

    private static func ids(_ choice: VariantChoice) -> [String] { choice.advertisements.map(\.id) }

    @Test func `breaks that are chosen one after the other keep the rules about time between them`() throws {
        var generator = SeededGenerator(for: #function)
        for round in 0..<60 {
            let names = ["a", "b", "c", "d", "e", "f", "g", "h"]
            let advertisers = names.map { _ in ["", "Shop", "shop", "Cars"].randomElement(using: &generator) ?? "" }
            let categories = names.map { _ in ["", "IAB2", "IAB2-3", "IAB9"].randomElement(using: &generator) ?? "" }
            let candidates = names.indices.map { "\(names[$0]):10:\(advertisers[$0]):\(categories[$0])" }
            let gaps = (
                ad: Int64.random(in: 0...40, using: &generator), advertiser: Int64.random(in: 0...20, using: &generator)
            )
            let category = Int64.random(in: 0...20, using: &generator)
            let chooser = try Self.chooser(
                candidates,
                apart:
                    "\"ad\": \"\(gaps.ad)m\", \"advertiser\": \"\(gaps.advertiser)m\", \"category\": \"\(category)m\""
            )
            var history = PlayedHistory()
            var played: [(time: Int64, ad: Int)] = []
            for place in 0..<8 {
                let time = Self.start + Int64(place) * 7 * Self.minute
                let choice = try #require(
                    chooser.choices(
                        stream: "radio1",
                        breakID: "day.\(place)",
                        at: time,
                        rules: chooser.rules(fillMilliseconds: 30_000),
                        history: history
                    )
                    .first
                )
                for id in Self.ids(choice) {
                    let index = try #require(names.firstIndex(of: id))
                    for other in played where other.time != time {
                        let distance = abs(time - other.time)
                        let seed = "CUECAST_SEED=\(SeededGenerator.seed) round \(round)"
                        if other.ad == index { try #require(distance >= gaps.ad * Self.minute, "\(seed)") }
                        let (mine, its) = (advertisers[index].lowercased(), advertisers[other.ad].lowercased())
                        if !mine.isEmpty, mine == its {
                            try #require(distance >= gaps.advertiser * Self.minute, "\(seed)")
                        }
                        if !categories[index].isEmpty, !categories[other.ad].isEmpty,
                            ChoosingRules.overlap(categories[index], categories[other.ad])
                        {
                            try #require(distance >= category * Self.minute, "\(seed)")
                        }
                    }
                    played.append((time, index))
                }
                history.set("day.\(place)", at: time, BreakAds(advertisements: choice.advertisements))
            }
        }
    }

    @Test func `each variant has its own choice, and the ads of others do not keep its away`() throws {
        let variants = #""variants": [{"name": "cars", "if": [{"attribute": "device", "is": "car"}]}],"#
        let chooser = try Self.chooser(["a:10::", "b:10::"], apart: #""ad": "30m""#, variants: variants)
        func choices(_ history: PlayedHistory) -> [[String]] {
            chooser.choices(
                stream: "radio1",
                breakID: "day.2",
                at: Self.start,
                rules: chooser.rules(fillMilliseconds: 20_000),
                history: history
            )
            .map { Self.ids($0).sorted() }
        }
        #expect(chooser.variantNames == ["default", "cars"])
        #expect(choices(PlayedHistory()) == [["a", "b"], ["a", "b"]])
        func ad(_ id: String) -> AdvertisementDescription {
            AdvertisementDescription(id: id, title: "", duration: .seconds(10), media: [])
        }
        var history = PlayedHistory()
        let cars = AdVariant(name: "cars", conditions: [], advertisements: [ad("b~2")])
        history.set("day.1", at: Self.start - Self.minute, BreakAds(advertisements: [ad("x")], variants: [cars]))
        #expect(choices(history) == [["a", "b"], ["a"]])
        // A break's own ads do not keep its ads away, and what is set again takes the place of what was there.
        history.set("day.2", at: Self.start, BreakAds(advertisements: [ad("a"), ad("b")]))
        #expect(choices(history) == [["a", "b"], ["a"]])
        history.set("day.1", at: Self.start - Self.minute, BreakAds(advertisements: [ad("a")]))
        #expect(choices(history) == [["b"], ["b"]])
        #expect(choices(history.without(["day.1"])) == [["a", "b"], ["a", "b"]])
    }

    @Test func `a choice becomes the ads and variants of a break`() throws {
        let variants = """
            "variants": [{"name": "cars", "if": [{"attribute": "device", "is": ["car", "bus"]}, {"attribute": "region", "isNot": "de"}]}],
            """
        let chooser = try Self.chooser(["a:10::"], apart: "", variants: variants)
        let choices = chooser.choices(
            stream: "s",
            breakID: "b",
            at: Self.start,
            rules: chooser.rules(fillMilliseconds: 10_000, minimumMilliseconds: 10_000),
            history: PlayedHistory()
        )
        #expect(chooser.gapMilliseconds == 0)
        #expect(choices[1].adVariant.conditions.map(\.description) == ["device=car|bus", "region!=de"])
        #expect(choices[1].adVariant.advertisements == choices[0].advertisements)
        #expect(BreakAds(advertisements: [], variants: [choices[1].adVariant]).playingTime == .seconds(10))
    }
}

/// Reading the history of a stream, page by page.
@Suite(.suiteLimit)
struct PlayedHistoryTests {
    /// Pages of so many breaks with one ad each.
    private static func pages(_ count: Int, of size: Int) -> (UInt64?) -> HistoryPage {
        { key in
            let first = Int(key ?? 0)
            let last = min(first + size, count)
            return HistoryPage(
                entries: (first..<last)
                    .map { PlayedHistory.Entry(milliseconds: Int64($0), breakID: "\($0)", id: "a\($0)") },
                breakCount: last - first,
                next: last < count ? UInt64(last) : nil
            )
        }
    }

    @Test func `as many breaks as historyBreaksMax are read, and one more is too many`() async {
        #expect(PlayedHistory.historyBreaksMax == 5_000)
        for size in [1, 7, 499, 500, 5_000, 6_000] {
            let full = await PlayedHistory.read(Self.pages(5_000, of: size))
            #expect(full?.entries.map(\.id) == (0..<5_000).map { "a\($0)" }, "pages of \(size)")
            #expect(await PlayedHistory.read(Self.pages(5_001, of: size)) == nil, "pages of \(size)")
        }
    }

    @Test func `pages without breaks lead on, and a page that leads to itself is no history`() async {
        var keys: [UInt64?] = []
        let empty = await PlayedHistory.read { key in
            keys.append(key)
            let next: UInt64? = (key ?? 0) < 3 ? (key ?? 0) + 1 : nil
            return HistoryPage(entries: [], breakCount: 0, next: next)
        }
        #expect(empty?.entries == [] && keys == [nil, 1, 2, 3])
        let endless = await PlayedHistory.read { _ in HistoryPage(entries: [], breakCount: 0, next: 7) }
        #expect(endless == nil)
    }
}
