// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import AdFormats

@Suite(.suiteLimit)
struct WebAddressTests {
    private func read(_ text: String, bytesMax: Int = 100) -> WebAddress { WebAddress(text, bytesMax: bytesMax) }

    @Test(arguments: [
        "http://example.com", "https://example.com/a?b=c#d", "HTTPS://EXAMPLE.com/", "http://user@example.com:8080/",
        "http://localhost:8000/?event=start", "https://example.com/[CACHEBUSTING]/{a}|b", "https://bücher.example/ä",
        "http://[2001:db8::1]/a",
    ])
    func `an absolute http or https address is taken as it is`(text: String) {
        #expect(self.read(text) == .usable(text))
    }

    @Test(arguments: [
        "example.com/a", "//example.com/a", "/a", "parser.js?a=http://b", "ftp://example.com", "javascript:alert(1)",
        "file:///etc/passwd", "http:/example.com", "http://", "https:///a", "http://:80/", "http://user@/", "http://?a",
        "data:text/html,a", "http://exa\u{7F}mple.com",
    ])
    func `anything else is not`(text: String) {
        #expect(self.read(text) == .unusable(text))
    }

    @Test func `white space around an address is dropped`() {
        #expect(self.read("\n\t  http://example.com/a \r\n") == .usable("http://example.com/a"))
    }

    @Test func `an address split over lines is put together, as VAST 4_3 section 2_3_3 splits one`() {
        #expect(self.read("\n  http://example.com/?s=x]]\n  >\n  x\n") == .usable("http://example.com/?s=x]]>x"))
    }

    @Test func `a space inside an address is encoded`() {
        #expect(self.read("http://example.com/a b  c") == .usable("http://example.com/a%20b%20%20c"))
    }

    @Test func `an address may be as long as the limit and no longer`() {
        let url = "http://example.com/" + String(repeating: "a", count: 81)
        #expect(self.read(url) == .usable(url))
        #expect(self.read(url + "a") == .tooLong)
    }

    @Test func `nothing and the placeholder are told apart`() {
        #expect(self.read(" \n ") == .empty)
        #expect(self.read("about:blank") == .placeholder)
    }
}
