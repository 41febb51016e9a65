// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import TestSupport
import Testing

@Suite(.suiteLimit)
struct WebOriginTests {
    @Test(arguments: [
        ("https://radio.example", "https://radio.example"), ("HTTPS://Radio.Example", "https://radio.example"),
        ("https://radio.example:443", "https://radio.example"), ("http://radio.example:80", "http://radio.example"),
        ("https://radio.example", "https://radio.example:443"),
        ("http://radio.example:8080", "http://radio.example:8080"),
        ("capacitor://localhost", "capacitor://localhost"), ("ionic://localhost", "ionic://localhost"),
        ("null", "null"), ("NULL", "null"), ("file://", "file://"), ("http://[::1]:3000", "http://[::1]:3000"),
        ("chrome-extension://abcdefgh", "chrome-extension://abcdefgh"), ("*", "https://any.example"), ("*", "null"),
        ("https://*.radio.example", "https://morning.radio.example"),
        ("https://*.radio.example:443", "https://morning.radio.example"),
        ("https://xn--rdio-loa.example", "https://xn--rdio-loa.example"),
    ])
    func `a rule matches the pages that it names, in every spelling`(_ rule: String, _ origin: String) throws {
        #expect(try OriginPattern(rule).matches(WebOrigin(origin)))
    }

    @Test(arguments: [
        ("https://radio.example", "http://radio.example"), ("https://radio.example", "https://radio.example:8443"),
        ("http://radio.example:443", "https://radio.example"),
        ("https://radio.example", "https://radio.example.evil.example"),
        ("https://*.radio.example", "https://radio.example"), ("https://*.radio.example", "https://a.b.radio.example"),
        ("https://*.radio.example", "https://.radio.example"), ("https://*.radio.example", "https://evilradio.example"),
        ("https://*.radio.example", "http://morning.radio.example"), ("https://radio.example", "null"),
        ("null", "https://null"), ("capacitor://localhost", "http://localhost"),
    ])
    func `a rule matches no other page`(_ rule: String, _ origin: String) throws {
        let page = try? WebOrigin(origin)
        #expect(try page.map { try OriginPattern(rule).matches($0) } != true)
    }

    @Test(arguments: [
        ("radio.example", "scheme"), ("https://", "host"), ("https://radio.example/", "path"),
        ("https://radio.example/listen", "path"), ("https://radio.example?x", "path"),
        ("https://a@radio.example", "host"),
        ("https://radio.example:0", "port"), ("https://radio.example:65536", "port"),
        ("https://radio.example:x", "port"),
        ("https://rädio.example", "xn--"), ("https://radio example", "ASCII"), ("https://*", "first label"),
        ("https://*.", "first label"), ("https://radio.*.example", "first label"),
        ("https://*radio.example", "first label"),
        ("https://*.*.example", "first label"), ("1https://radio.example", "scheme"), ("https://[::1", "host"),
        ("https://" + String(repeating: "a", count: 505), "512"), ("*.radio.example", "scheme"), ("", "scheme"),
    ])
    func `a rule that can match no page is refused with the reason`(_ rule: String, _ word: String) throws {
        let fault = #expect(throws: WebOrigin.Fault.self) { _ = try OriginPattern(rule) }
        #expect(fault?.reason.contains(word) == true, "\(fault?.reason ?? "")")
    }

    @Test func `the longest origin is read`() throws {
        let longest = "https://" + String(repeating: "a", count: 504)
        #expect(longest.utf8.count == WebOrigin.bytesMax)
        #expect(try OriginPattern(longest).matches(WebOrigin(longest)))
    }

    @Test func `any text is read or refused`() {
        var random = SeededGenerator(for: "WebOrigin")
        let pieces = ["http", "s", "://", ":", "/", "*", ".", "a", "[", "]", "80", "null", "é", " ", "@", "-"]
        for _ in 0..<10_000 {
            let text = (0..<random.number(0...8)).map { _ in pieces[random.number(0...(pieces.count - 1))] }.joined()
            guard let origin = try? WebOrigin(text), let rule = try? OriginPattern(text) else { continue }
            guard case .one = rule else { continue }
            #expect(rule.matches(origin), "\(text)")
        }
    }
}
