// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import TestSupport

/// Ways to spoil a document.
enum Mutation: CaseIterable {
    case flipBit
    case setByte
    case removeRange
    case truncate
    case repeatRange
    case splice
    case insertMarkup

    private static let markup = [
        "<", ">", "&", "\"", "'", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>", "</", "/>", "&#0;", "&#x41;", "&lt;",
        "xmlns=''",
        "<!DOCTYPE a [<!ENTITY b 'c'>]>", "<Ad>", "</Ad>", "<Linear>", "sequence='1'", "00:00:00", "%", "\u{FEFF}",
        "\r\n", "\0",
    ]

    /// A document with one to four spoilings.
    static func spoiled(
        _ document: [UInt8],
        with others: [[UInt8]],
        using random: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = document
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let mutation = Self.allCases.randomElement(using: &random), !bytes.isEmpty else { break }
            mutation.apply(to: &bytes, others: others, using: &random)
        }
        return bytes
    }

    private func apply(to bytes: inout [UInt8], others: [[UInt8]], using random: inout SeededGenerator) {
        let start = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 1...200, using: &random))
        switch self {
        case .flipBit: bytes[start] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case .setByte: bytes[start] = UInt8.random(in: 0...255, using: &random)
        case .removeRange: bytes.removeSubrange(start..<end)
        case .truncate: bytes.removeSubrange(start...)
        case .repeatRange: bytes.insert(contentsOf: bytes[start..<end], at: start)
        case .splice:
            guard let other = others.randomElement(using: &random), !other.isEmpty else { return }
            let from = Int.random(in: 0..<other.count, using: &random)
            let to = min(other.count, from + Int.random(in: 1...400, using: &random))
            bytes.replaceSubrange(start..<end, with: other[from..<to])
        case .insertMarkup:
            bytes.insert(contentsOf: Array((Self.markup.randomElement(using: &random) ?? "").utf8), at: start)
        }
    }
}

/// The documents that properties are tried on: ours, and the samples where they are.
func documentsToSpoil() throws -> [[UInt8]] {
    var documents = [
        [UInt8](try Data(contentsOf: Places.package.appending(path: "Examples/two-ads.vast.xml"))),
        Documents.vast(
            Documents.ad("id='a' sequence='2'"),
            Documents.vpaid("id='b' sequence='1'"),
            Documents.ad("id='a'", linearAttributes: "skipoffset='50%'"),
            Documents.wrapper()
        ),
        Documents.vast(Documents.ad("id='a'"), Documents.ad("id='a'"), Documents.ad()),
    ]
    if Places.hasSamples {
        for folder in ["vast/dailymotion", "sgai", "vmap"] {
            documents += try Places.documents(in: folder).map(\.bytes)
        }
    }
    return documents
}
