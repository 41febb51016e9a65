// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport

extension FuzzTarget {
    /// Documents of ad servers, each behind a zero byte, and the whole input as gzip.
    ///
    /// The first is what the first address gives; the address `https://a.example/N` gives document N.
    static let vastWrappers = FuzzTarget(
        name: "vast-wrappers",
        sample: { generator in
            let documents = generator.list(1...5) { generator in
                let ads = generator.list(0...3) { $0.wrapperOrAd() }
                return "<VAST version='4.2'>\(ads.joined())</VAST>"
            }
            return Array(documents.joined(separator: "\0").utf8)
        },
        change: { input, generator in
            var bytes = input
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
            case 1: bytes += [0] + Array("<VAST>\(generator.wrapperOrAd())</VAST>".utf8)
            default:
                guard !bytes.isEmpty else { break }
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                let turned = bytes[place] ^ 1 << UInt8.random(in: 0...7, using: &generator)
                bytes[place] = generator.bool() ? turned : generator.number(0...255)
            }
            return bytes
        },
        fault: { input in
            firstBroken { () throws(Broken) in
                try checkResolution(of: input)
                let bytesMax = 4_096
                if let inflated = try? Gzip.inflated(input, bytesMax: bytesMax) {
                    try insist(inflated.count <= bytesMax, "gzip gives \(inflated.count) bytes")
                }
            }
        }
    )
}

extension SeededGenerator {
    fileprivate mutating func wrapperOrAd() -> String {
        let place = self.maybe { " sequence='\($0.number(0...3))'" } ?? ""
        guard self.bool() else {
            let media = self.bool() ? "<MediaFile type='audio/mpeg'>https://cdn.example/a.mp3</MediaFile>" : ""
            return """
                <Ad id='a'\(place)><InLine><AdTitle>An ad</AdTitle><Error>https://t.example/[ERRORCODE]</Error>
                <Creatives><Creative><Linear><Duration>00:00:1\(self.number(0...9))</Duration><MediaFiles>\(media)</MediaFiles>
                </Linear></Creative></Creatives></InLine></Ad>
                """
        }
        let attributes = ["allowMultipleAds='1'", "followAdditionalWrappers='0'", "fallbackOnNoAd='0'"]
            .filter { _ in self.bool() }
        let address = "https://a.example/\(self.number(0...6))"
        return """
            <Ad\(place)><Wrapper \(attributes.joined(separator: " "))><VASTAdTagURI>\(address)</VASTAdTagURI>
            <Impression>https://t.example/w</Impression><Error>https://t.example/w?[ERRORCODE]</Error></Wrapper></Ad>
            """
    }
}

/// Resolves the documents of an input, the answers in one order and in the other.
private func checkResolution(of input: [UInt8]) throws(Broken) {
    let documents = input.split(separator: 0, maxSplits: 7, omittingEmptySubsequences: false).map { Array($0) }
    var limits = VASTResolutionLimits()
    limits.documentsMax = 12
    var results: [VASTResolution] = []
    for isLastFirst in [false, true] {
        var resolver = VASTResolver(address: "https://a.example/0", limits: limits)
        var waiting: [VASTResolver.Request] = []
        var asked = 0
        while resolver.resolution == nil {
            waiting += resolver.takeRequests()
            try insist(!waiting.isEmpty, "there is no result, and nothing to ask")
            let request = isLastFirst ? waiting.removeLast() : waiting.removeFirst()
            asked += 1
            let number = request.address.split(separator: "/").last.flatMap { Int($0) } ?? -1
            let answer =
                documents.indices.contains(number)
                ? VASTResolver.Answer.document(documents[number], charset: nil) : .fault(.noContent)
            resolver.answer(request.document, answer)
        }
        try insist(asked <= limits.documentsMax, "\(asked) addresses were asked")
        if let resolution = resolver.resolution { results.append(resolution) }
    }
    for result in results {
        try insist(result.documents.allSatisfy { $0.wrappers <= limits.wrappersMax }, "a document is too deep")
        try insist(Set(result.taken.map(\.ad.id)).count == result.taken.count, "two ads have the same id")
        try insist(result.taken.count <= limits.adsMax, "there are too many ads")
        for each in result.left {
            try insist(!each.reason.description.isEmpty, "an ad is left without a sentence")
            try insist(each.reason.vastErrorCode != nil || each.errorURLs.isEmpty, "an error has no code")
        }
    }
    // At the limit of addresses the order of the answers says which are asked.
    guard results.allSatisfy({ $0.documents.count < limits.documentsMax }) else { return }
    let titles = results.map { $0.taken.map(\.ad.title) }
    try insist(titles.allSatisfy { $0 == titles.first }, "the order of the answers changes the ads: \(titles)")
}
