// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport
import Testing

/// Random trees of wrappers against a simple oracle, which has all documents before it.
@Suite(.suiteLimit)
struct VASTResolverPropertyTests {
    /// One ad of a document.
    private struct Ad {
        var sequence: Int?
        var title: String
        /// The number of the document behind it; nil: it is in line.
        var target: Int?
        var isPlayable = true
        var follows = true
        var multiple = false
        var fallsBack: Bool?
    }

    /// Documents by number; one that is not there fails.
    private struct World {
        var documents: [Int: [Ad]]

        func text(of ad: Ad) -> String {
            let place = ad.sequence.map { "sequence='\($0)'" } ?? ""
            guard let target = ad.target else {
                return ad.isPlayable
                    ? Documents.ad(place, title: ad.title) : Documents.vpaid(place, title: ad.title)
            }
            var attributes = ad.multiple ? "allowMultipleAds='true'" : ""
            if !ad.follows { attributes += " followAdditionalWrappers='false'" }
            if let fallsBack = ad.fallsBack { attributes += " fallbackOnNoAd='\(fallsBack)'" }
            let mark = "<Impression>https://track.example.com/wrapper/\(ad.title)</Impression>"
            return Chain.wrapper("\(target)", ad: place, attributes, inWrapper: mark)
        }

        var chain: Chain {
            let chain = Chain()
            for (number, ads) in self.documents { chain.serve("\(number)", ads.map(self.text).joined()) }
            return chain
        }
    }

    /// What plays, by the oracle: the titles of the wrappers around an ad, and its own.
    private struct Oracle {
        let world: World
        let takesAll: Bool

        func ads(_ number: Int, _ wrappers: [Ad], _ numbers: [Int]) -> [[String]] {
            guard let ads = self.world.documents[number] else { return [] }
            let pod = ads.enumerated().filter { $0.element.sequence != nil }
                .sorted { ($0.element.sequence ?? 0, $0.offset) < ($1.element.sequence ?? 0, $1.offset) }
                .map(\.element)
            let alone = ads.filter { $0.sequence == nil }
            if let last = wrappers.last, !last.multiple {
                if let first = alone.first { return self.use(first, wrappers, numbers) }
                return pod.count == 1 ? self.use(pod[0], wrappers, numbers) : []
            }
            if pod.isEmpty, self.takesAll { return alone.flatMap { self.use($0, wrappers, numbers) } }
            var spare = alone[...]
            if pod.isEmpty { return self.first(&spare, wrappers, numbers, mindsFallback: true) }
            return pod.flatMap { ad -> [[String]] in
                let own = self.use(ad, wrappers, numbers)
                guard own.isEmpty, ad.target == nil || ad.fallsBack != false else { return own }
                return self.first(&spare, wrappers, numbers, mindsFallback: false)
            }
        }

        private func first(
            _ ads: inout ArraySlice<Ad>,
            _ wrappers: [Ad],
            _ numbers: [Int],
            mindsFallback: Bool
        ) -> [[String]] {
            while let ad = ads.popFirst() {
                let found = self.use(ad, wrappers, numbers)
                if !found.isEmpty || (mindsFallback && ad.target != nil && ad.fallsBack == false) { return found }
            }
            return []
        }

        private func use(_ ad: Ad, _ wrappers: [Ad], _ numbers: [Int]) -> [[String]] {
            guard let target = ad.target else { return ad.isPlayable ? [wrappers.map(\.title) + [ad.title]] : [] }
            guard wrappers.last?.follows ?? true, !numbers.contains(target), wrappers.count < 5 else { return [] }
            return self.ads(target, wrappers + [ad], numbers + [target])
        }
    }

    private func randomWorld(_ random: inout SeededGenerator) -> World {
        var documents: [Int: [Ad]] = [:]
        for number in 0..<7 where number == 0 || random.number(0...9) > 0 {
            documents[number] = (0..<random.number(0...3))
                .map { index in
                    var ad = Ad(title: "\(number)-\(index)")
                    if random.bool() { ad.sequence = random.number(1...3) }
                    if random.number(0...9) < 6 {
                        ad.target = random.number(0...7)
                        ad.follows = random.number(0...9) > 0
                        ad.multiple = random.bool()
                        ad.fallsBack = random.maybe { $0.bool() }
                    } else {
                        ad.isPlayable = random.number(0...3) > 0
                    }
                    return ad
                }
        }
        return World(documents: documents)
    }

    private func marks(_ resolution: VASTResolution) -> [[String]] {
        resolution.taken.map { taken in
            taken.ad.impressions.map(\.url).filter { $0.contains("/wrapper/") }
                .map { $0.replacing("https://track.example.com/wrapper/", with: "") } + [taken.ad.title]
        }
    }

    @Test func `random trees play as the oracle says, in whatever order the answers come`() async throws {
        var random = SeededGenerator(for: #function)
        var limits = VASTResolutionLimits()
        (limits.documentsMax, limits.adsMax) = (100_000, 100_000)
        var played = 0
        for _ in 0..<300 {
            await Task.yield()
            let world = self.randomWorld(&random)
            let comment: Comment = "CUECAST_SEED=\(SeededGenerator.seed) \(world)"
            for takesAll in [false, true] {
                let options = VASTReadingOptions(allStandAlone: takesAll)
                let chain = world.chain
                let resolution = try #require(chain.resolve("0", options: options, limits: limits), comment)
                let expected = Oracle(world: world, takesAll: takesAll).ads(0, [], [0])
                #expect(self.marks(resolution) == expected, comment)
                self.check(resolution, comment)
                let other = world.chain
                let shuffled = other.resolve("0", options: options, limits: limits) { random.number(0...($0 - 1)) }
                #expect(shuffled.map(self.marks) == expected, comment)
                #expect(shuffled?.left.count == resolution.left.count, comment)
                #expect(other.asked.sorted() == chain.asked.sorted(), comment)
                played += resolution.taken.count
            }
        }
        #expect(played > 100, "CUECAST_SEED=\(SeededGenerator.seed)")
    }

    /// Every ad of every document is taken, or left, or a wrapper of which something is taken; and ids differ.
    private func check(_ resolution: VASTResolution, _ comment: Comment) {
        #expect(Set(resolution.taken.map(\.ad.id)).count == resolution.taken.count, comment)
        let sequences = resolution.taken.compactMap(\.ad.sequence)
        #expect(sequences.isEmpty || sequences.count == resolution.taken.count, comment)
        #expect(sequences == sequences.sorted(), comment)
        for (index, document) in resolution.documents.enumerated() {
            for position in document.ads.indices.map({ $0 + 1 }) {
                let taken = resolution.taken.count { $0.place.document == index && $0.place.position == position }
                let left = resolution.left.count { $0.place.document == index && $0.place.position == position }
                let child = resolution.documents.firstIndex {
                    $0.parent?.document == index && $0.parent?.position == position
                }
                let isFollowed = child.map { self.hasTaken($0, in: resolution) } ?? false
                #expect(taken + left + (isFollowed ? 1 : 0) == 1, comment)
            }
        }
        for each in resolution.left {
            #expect(!each.reason.description.isEmpty && !each.reason.name.isEmpty, comment)
            #expect(each.reason.vastErrorCode != nil || each.errorURLs.isEmpty, comment)
            #expect(each.errorURLs.allSatisfy { !$0.contains("[ERRORCODE]") }, comment)
        }
    }

    private func hasTaken(_ document: Int, in resolution: VASTResolution) -> Bool {
        resolution.taken.contains { $0.place.document == document }
            || resolution.documents.indices.contains {
                resolution.documents[$0].parent?.document == document && self.hasTaken($0, in: resolution)
            }
    }

    @Test func `the limits hold in random trees`() async throws {
        var random = SeededGenerator(for: #function)
        for _ in 0..<200 {
            await Task.yield()
            let world = self.randomWorld(&random)
            let comment: Comment = "CUECAST_SEED=\(SeededGenerator.seed) \(world)"
            var limits = VASTResolutionLimits()
            limits.wrappersMax = random.number(0...5)
            limits.documentsMax = random.number(1...6)
            limits.adsMax = random.number(0...3)
            let chain = world.chain
            let resolution = try #require(chain.resolve("0", limits: limits), comment)
            #expect(resolution.taken.count <= limits.adsMax, comment)
            #expect(chain.asked.count <= limits.documentsMax, comment)
            #expect(resolution.documents.allSatisfy { $0.wrappers <= limits.wrappersMax }, comment)
        }
    }

    @Test func `documents without wrappers give what the reader of VAST gives`() async throws {
        var random = SeededGenerator(for: #function)
        let documents = try documentsToSpoil()
        for document in documents {
            for round in 0..<20 {
                await Task.yield()
                let bytes = round == 0 ? document : Mutation.spoiled(document, with: documents, using: &random)
                for takesAll in [false, true] {
                    let options = VASTReadingOptions(allStandAlone: takesAll)
                    var resolver = VASTResolver(document: bytes, reading: options)
                    // Behind each wrapper is nothing: to the reader they are ads that cannot be played.
                    while resolver.resolution == nil {
                        for each in resolver.takeRequests() { resolver.answer(each.document, .fault(.noContent)) }
                    }
                    let resolution = try #require(resolver.resolution)
                    guard !resolution.documents[0].ads.contains(where: \.isWrapper) else { continue }
                    let comment: Comment = "CUECAST_SEED=\(SeededGenerator.seed)"
                    do throws(AdFormatError) {
                        let batch = try VAST.read(bytes, options: options)
                        #expect(resolution.taken.map(\.ad) == batch.ads, comment)
                        #expect(
                            resolution.left.map(\.reason) == batch.skipped.map { .unplayable($0.reason) },
                            comment
                        )
                        #expect(resolution.documents[0].leftOut == batch.leftOut, comment)
                    } catch .nothingPlayable(let skipped) {
                        #expect(resolution.taken.isEmpty && resolution.documents[0].fault == nil, comment)
                        #expect(resolution.left.map(\.reason) == skipped.map { .unplayable($0.reason) }, comment)
                    } catch {
                        #expect(resolution.documents[0].fault == .unreadable(error), comment)
                    }
                }
            }
        }
    }
}
