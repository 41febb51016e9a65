// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import CuecastWire

/// URLs are kept as URIs.
@Suite(.suiteLimit)
struct URLRuleTests {
    @Test(arguments: [
        "http://h", "hTTps://h/[CACHEBUSTING]?x={y}&z=%%A%%", "https://[::1]:8/", "http://h/%C3%A4?q=%20+|~!$'()*,;",
    ])
    func `a URL in ASCII is kept as it is, macros and all`(url: String) throws {
        #expect(try requireURL(url, field: "url") == url)
    }

    @Test(arguments: [
        ("https://h/ä", "https://h/%C3%A4"), ("https://h/%C3%A4/ä", "https://h/%C3%A4/%C3%A4"),
        ("https://h/?q=€\"<>", "https://h/?q=%E2%82%AC%22%3C%3E"), ("https://h/\\^`", "https://h/%5C%5E%60"),
        ("http://ä.example/", "http://%C3%A4.example/"), ("https://h/[M]?ü={x}", "https://h/[M]?%C3%BC={x}"),
        ("https://h/🙂", "https://h/%F0%9F%99%82"),
    ])
    func `characters that a URI forbids are percent-encoded, once`(url: String, encoded: String) throws {
        #expect(try requireURL(url, field: "url") == encoded)
        #expect(try requireURL(encoded, field: "url") == encoded)
    }

    @Test func `the longest URL counts as it is encoded`() throws {
        let room = WireLimits.urlBytesMax - "https://h/".utf8.count
        let letters = String(repeating: "a", count: room % 6) + String(repeating: "ä", count: room / 6)
        #expect(try requireURL("https://h/" + letters, field: "url").utf8.count == WireLimits.urlBytesMax)
        #expect(throws: WireError.self) { _ = try requireURL("https://h/b" + letters, field: "url") }
    }
}
