// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import GatewayCore
import TestSupport

extension FuzzTarget {
    /// Files of candidates, and a choice from them.
    static let candidates = FuzzTarget(
        name: "candidates",
        sample: { generator in
            let candidates = generator.list(1...6) { generator in
                let more = generator.list(0...3) { $0.pick(members) }
                return "{\"ad\":\(ad(&generator))\(more.map { ",\($0)" }.joined())}"
            }
            let rules = generator.pick(ruleSets)
            return Array("{\(rules)\"candidates\":[\(candidates.joined(separator: ","))]}".utf8)
        },
        change: { input, generator in changed(input, pieces: pieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                guard let document = try? CandidatesDocument.read(input) else { return }
                try insist((try? CandidatesDocument.read(input)) == document, "read twice it differs")
                try insist(
                    (1...CandidatesDocument.candidatesMax).contains(document.candidates.count),
                    "\(document.candidates.count) candidates"
                )
                var ids: Set<String> = []
                for each in document.candidates {
                    try insist(AdCandidate.priorities.contains(each.priority), "the priority \(each.priority)")
                    try insist(AdCandidate.weights.contains(each.weight), "the weight \(each.weight)")
                    try insist(AdCandidate.times.contains(each.times), "\(each.times) times")
                    try insist(AdCandidate.Role(rawValue: each.role) != nil, "the role \(each.role)")
                    for time in 1...each.times {
                        let id = CandidatesDocument.id(each.ad.id.description, time: time)
                        try insist(ids.insert(id).inserted, "the id \(id) is there twice")
                        try insist((try? AdvertisementID(id)) != nil, "the id \(id) is none of the wire")
                    }
                    try insist(
                        each.variants.allSatisfy { name in
                            name == AudienceVariant.defaultName || document.variants.contains { $0.name == name }
                        },
                        "a variant that is not there"
                    )
                }
                try check(document)
            }
        }
    )

    /// Files of the ads of other breaks.
    static let playedAds = FuzzTarget(
        name: "played-ads",
        sample: { generator in
            let ads = generator.list(0...6) { generator in
                let more = generator.list(0...2) { $0.pick(playedMembers) }
                return
                    "{\"at\":\"\(generator.pick(instants))\",\"ad\":\"\(generator.pick(names))\"\(more.map { ",\($0)" }.joined())}"
            }
            return Array("{\"played\":[\(ads.joined(separator: ","))]}".utf8)
        },
        change: { input, generator in changed(input, pieces: pieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                guard let document = try? PlayedAdsDocument.read(input) else { return }
                try insist((try? PlayedAdsDocument.read(input)) == document, "read twice it differs")
                try insist(document.ads.count <= PlayedAdsDocument.adsMax, "\(document.ads.count) ads")
                for each in document.ads {
                    try insist(each.categories.count <= CandidatesDocument.categoriesMax, "\(each.categories)")
                    // The ad's own id is one that has no number behind it, or it is as it was.
                    let own = CandidatesDocument.ownID(each.id)
                    try insist(each.id.hasPrefix(own), "\(own) of \(each.id)")
                }
            }
        }
    )

    /// Files of the streams of a group, and of the variants of a schedule.
    static let groups = FuzzTarget(
        name: "groups",
        sample: { generator in
            let streams = generator.list(1...4) { generator in
                let more = generator.list(0...2) { $0.pick(streamMembers) }
                return "{\"stream\":\"\(generator.pick(names))\"\(more.map { ",\($0)" }.joined())}"
            }
            let variants = generator.list(1...3) { generator in
                let more = generator.list(1...2) { $0.pick(variantMembers) }
                return
                    "{\"name\":\"\(generator.pick(names))\",\"if\":[{\"attribute\":\"device\",\"is\":\"car\"}]\(more.map { ",\($0)" }.joined())}"
            }
            return generator.pick([true, false])
                ? Array("{\"streams\":[\(streams.joined(separator: ","))]}".utf8)
                : Array("{\"variants\":[\(variants.joined(separator: ","))]}".utf8)
        },
        change: { input, generator in changed(input, pieces: pieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                if let document = try? GroupDocument.read(input) {
                    try insist((try? GroupDocument.read(input)) == document, "read twice it differs")
                    let streams = document.streams
                    try insist((1...GroupDocument.streamsMax).contains(streams.count), "\(streams.count) streams")
                    try insist(Set(streams.map(\.stream)).count == streams.count, "a stream is there twice")
                    for each in streams {
                        let most = GroupDocument.offsetMax
                        try insist(each.offset <= most && each.offset >= .zero - most, "the offset \(each.offset)")
                        try insist(!(each.ads?.isEmpty ?? false), "a list without ads")
                    }
                }
                if let id = try? BreakID("noon"), let publication = try? GroupPublication.read(id, input) {
                    let streams = publication.streams
                    try insist((1...GroupDocument.streamsMax).contains(streams.count), "\(streams.count) streams")
                    let names = Set(streams.map(\.publish.key.stream))
                    try insist(names.count == streams.count, "a stream is there twice")
                    for each in streams {
                        try insist(!each.publish.advertisements.isEmpty, "a break without ads")
                        try insist(each.publish.start == publication.start, "a start of its own")
                    }
                    // A file of a group says the same.
                    if let document = try? GroupDocument.read(input) {
                        try insist(document.streams.map(\.offset) == streams.map(\.offset), "other offsets")
                    }
                }
                guard let document = try? ScheduleVariantsDocument.read(input) else { return }
                try insist((try? ScheduleVariantsDocument.read(input)) == document, "read twice it differs")
                let variants = document.variants
                try insist((1..<WireLimits.variantsPerBreakMax).contains(variants.count), "\(variants.count) variants")
                try insist(Set(variants.map(\.name)).count == variants.count, "a name is there twice")
                for each in variants {
                    try insist(each.name != AudienceVariant.defaultName, "a variant default")
                    try insist(each.question != nil || each.fallback != .ofDefault, "\(each.name) has no ads")
                }
            }
        }
    )
}

/// Insists on what holds for every choice: it fits, each candidate has a decision, and nothing is there more often than it may.
private func check(_ document: CandidatesDocument) throws(Broken) {
    // The search is bounded by steps; few candidates keep a run short.
    let candidates = document.candidates.prefix(40)
        .map { each in
            var candidate = AdCandidate(
                id: each.ad.id.description,
                durationMilliseconds: Int(each.ad.duration.inMicroseconds / 1_000)
            )
            candidate.role = AdCandidate.Role(rawValue: each.role) ?? .ad
            candidate.priority = each.priority
            candidate.weight = each.weight
            candidate.advertiser = each.ad.advertiser
            candidate.categories = each.categories
            candidate.timesMax = each.times
            return candidate
        }
    var rules = ChoosingRules(fillMilliseconds: 60_000)
    rules.adsMax = document.adsMax
    rules.jinglesMax = document.jinglesMax
    rules.isAdvertiserOnce = document.isAdvertiserOnce
    rules.isCategoryOnce = document.isCategoryOnce
    var limits = ChoosingLimits()
    limits.searchStepsMax = 500
    let occasion = ChoosingOccasion(milliseconds: 1_795_780_800_000, seed: "radio1/noon")
    let choice = AdChooser(rules: rules, limits: limits).choose(from: candidates, for: occasion)
    try insist(choice.durationMilliseconds <= 60_000, "\(choice.durationMilliseconds) ms of 60 s")
    try insist(choice.places.count <= rules.adsMax, "\(choice.places.count) ads of \(rules.adsMax)")
    try insist(choice.decisions.count == candidates.count, "\(choice.decisions.count) decisions")
    for (index, candidate) in candidates.enumerated() {
        let count = choice.places.count { $0.candidate == index }
        try insist(count <= candidate.timesMax, "\(candidate.id) \(count) times of \(candidate.timesMax)")
    }
}

@Sendable private func ad(_ generator: inout SeededGenerator) -> String {
    let more = generator.pick(["", ",\"advertiser\":\"Shop\"", ",\"advertiser\":\"shop\""])
    return
        "{\"id\":\"\(generator.pick(names))\",\"duration\":\(generator.pick(durations)),\"media\":[{\"url\":\"https://a.example/a.mp3\"}]\(more)}"
}

private let names = ["a", "b", "c~2", "radio1", "x.y_z-1", "", "ä", "default", "cars", "~", "a~9"]
private let durations = ["\"10s\"", "\"1m30s\"", "15", "0.001", "0", "-1", "\"6h\"", "null"]
private let instants = ["2026-11-21T12:00:00Z", "2026-11-21T13:00:00+01:00", "1970-01-01T00:00:00Z", "noon", ""]
private let members = [
    "\"role\":\"opener\"", "\"role\":\"closer\"", "\"role\":\"jingle\"", "\"priority\":1", "\"priority\":10",
    "\"weight\":100", "\"times\":8", "\"lock\":\"l\"", "\"categories\":[\"IAB2\"]",
    "\"categories\":[\"IAB2-3\",\"IAB9\"]",
    "\"variants\":[\"cars\"]", "\"variants\":[\"default\"]", "\"from\":\"2026-11-21T12:00:00Z\"",
    "\"until\":\"2026-11-20T12:00:00Z\"", "\"dayparts\":[{\"days\":[\"mon\"],\"from\":\"22:00\",\"until\":\"06:00\"}]",
    "\"dayparts\":[{}]", "\"other\":1",
]
private let ruleSets = [
    "", "\"rules\":{},", "\"rules\":{\"ads\":2,\"jingles\":8},", "\"rules\":{\"oncePerBreak\":[]},",
    "\"rules\":{\"apart\":{\"ad\":\"30m\",\"category\":\"168h\"}},", "\"timeZone\":\"Europe/Oslo\",",
    "\"variants\":[{\"name\":\"cars\",\"if\":[{\"attribute\":\"device\",\"is\":\"car\"}]}],",
]
private let playedMembers = [
    "\"advertiser\":\"Shop\"", "\"categories\":[]", "\"categories\":[\"IAB2\"]", "\"other\":1", "\"advertiser\":null",
]
private let streamMembers = [
    "\"offset\":\"2s\"", "\"offset\":\"-500ms\"", "\"offset\":\"2h\"", "\"offset\":\"--1s\"", "\"ads\":[]",
    "\"ads\":[{\"id\":\"a\",\"duration\":\"10s\",\"media\":[{\"url\":\"https://a.example/a.mp3\"}]}]",
    "\"variants\":[]",
]
private let variantMembers = [
    "\"query\":\"aud=cars\"", "\"vastUrl\":\"https://a.example/v\"", "\"list\":\"house\"", "\"query\":\"?\"",
    "\"ads\":[{\"id\":\"a\",\"duration\":\"10s\",\"media\":[{\"url\":\"https://a.example/a.mp3\"}]}]", "\"ads\":[]",
]
private let pieces = [
    ",", ":", "{", "}", "[", "]", "\"", "\\\"", "\\u0000", "null", "true", "1e9", "-", "0", "9999999999", "é",
    "\u{FEFF}",
    "\"candidates\":[", "\"played\":", "\"streams\":", "\"variants\":", "\"ad\":{",
]
