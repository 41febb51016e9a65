// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Testing

@testable import AdPresentation

/// The scripts of a web view, without one: `Tests/WebContent` runs the scripts themselves in WebKit.
@Suite(.suiteLimit)
struct WebContentTests {
    private func image(_ target: String? = nil, text: String? = nil) -> AdContent {
        AdContent(mediaType: "image/png", bytes: [1, 2, 3], targetURL: target, alternativeText: text)
    }

    @Test func `an image becomes a document, and a link where it leads somewhere`() {
        let plain = WebContent.document(for: self.image())
        #expect(plain.contains("src=\"data:image/png;base64,AQID\"") && !plain.contains("<a"))
        #expect(
            WebContent.document(for: self.image("https://a.example/?b=1&c=2"))
                .contains("href=\"https://a.example/?b=1&amp;c=2\"")
        )
    }

    @Test func `nothing of an advertisement's text becomes markup`() {
        let document = WebContent.document(
            for: self.image("https://a.example/\"><script>1</script>", text: "\" onload=\"1<b>")
        )
        #expect(!document.contains("<script") && !document.contains("<b>") && !document.contains("\" onload"))
        // A quote with a mark on it is a quote to the document's reader.
        let quotes = ["x", "\"\u{301} onload=\"\u{301}1", "<\u{338}b>"]
            .map { text in
                WebContent.document(for: self.image("https://a.example/", text: text)).unicodeScalars
                    .filter { $0 == "\"" || $0 == "<" }.count
            }
        #expect(Set(quotes).count == 1, "\(quotes)")
        let type = AdContent(mediaType: "image/png\"><script>", bytes: [1])
        #expect(!WebContent.document(for: type).contains("<script"))
    }

    @Test func `an address that may not be opened is not in the document, and a click on it is noticed`() {
        for target in ["javascript:alert(1)", "tel:+15550100", "nowhere"] {
            let document = WebContent.document(for: self.image(target))
            #expect(!document.contains(target) && document.contains("href=\"\(WebContent.refusedLink)\""))
        }
        #expect(WebContent.chosen(WebContent.refusedLink) == nil, "the content as a whole: it knows what it leads to")
        #expect(WebContent.chosen("https://a.example/") == "https://a.example/")
        #expect(!WebContent.document(for: self.image("")).contains("<a"))
    }

    @Test func `a document stays as it is`() {
        let page = AdContent(mediaType: "text/html", bytes: Array("<p>Hi</p>".utf8))
        #expect(WebContent.document(for: page) == "<p>Hi</p>")
    }

    @Test func `only a number that a view can have is a height`() {
        #expect(WebContent.height(0) == 0 && WebContent.height(12.5) == 12.5)
        for value in [nil, Double.nan, .infinity, -1] { #expect(WebContent.height(value) == nil) }
    }

    @Test func `links and new windows are clicks, and nothing else leaves the web`() {
        for scheme in ["https", "tel", nil] {
            #expect(WebContent.navigation(isLink: true, opensWindow: false, scheme: scheme) == .click)
            #expect(WebContent.navigation(isLink: false, opensWindow: true, scheme: scheme) == .click)
        }
        for scheme in ["http", "HTTPS", "about", "data", "blob"] {
            #expect(WebContent.navigation(isLink: false, opensWindow: false, scheme: scheme) == .stays)
        }
        for scheme in ["tel", "itms-apps", "file", "javascript", nil] {
            #expect(WebContent.navigation(isLink: false, opensWindow: false, scheme: scheme) == .refused)
        }
    }
}
