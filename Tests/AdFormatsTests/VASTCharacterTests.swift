// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import AdFormats

/// Characters that nothing which is published may have, in documents as ad servers write them.
@Suite(.suiteLimit)
struct VASTCharacterTests {
    @Test func `control characters are dropped from texts, and make ids and URLs as if they were not there`() throws {
        let ad = try Documents.onlyAd(
            Documents.ad(
                "id='a&#x0A;b'",
                title: "Don&#x92;t\u{7F} &#x85;stop",
                inLinear: "<VideoClicks><ClickThrough>https://shop.example.com/\u{85}</ClickThrough></VideoClicks>"
            )
        )
        #expect(ad.title == "Dont stop")
        #expect(!ad.id.unicodeScalars.contains(where: \.isControl) && !ad.id.isEmpty)
        #expect(ad.clickThrough == nil)
    }

    /// WHATWG Encoding standard, "windows-1252".
    @Test func `declared Latin 1 is read as Windows-1252`() throws {
        let title = "Don’t – 5 € off, naïve"
        let bytes: [UInt8] = title.unicodeScalars.map { scalar in
            switch scalar {
            case "’": 0x92
            case "–": 0x96
            case "€": 0x80
            default: UInt8(scalar.value)
            }
        }
        let document =
            Array("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>".utf8)
            + Documents.vast(Documents.ad(title: "TITLE")).split(separator: Array("TITLE".utf8))
            .joined(separator: bytes)
        #expect(try VAST.read(document).ads.first?.title == title)
    }

    @Test(arguments: [
        ("", "https://cdn.example/a.mp3?x=1.mp4", "audio/mpeg"),
        ("", "https://cdn.example/a.M3U8#x", "application/vnd.apple.mpegurl"),
        ("", "https://cdn.example/a", ""), ("", "https://cdn.mp3", ""),
        ("video/mp4", "https://cdn.example/a.mp3", "video/mp4"),
        ("", "https://cdn.example/b.c/a.webm", "video/webm"),
    ])
    func `a media file without a type has that of its name`(said: String, url: String, type: String) {
        #expect(VAST.mediaType(of: said, at: url) == type)
    }
}
