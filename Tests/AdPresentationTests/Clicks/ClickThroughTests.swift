// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Testing

@_spi(Rendering) @testable import AdPresentation

@Suite(.suiteLimit)
@MainActor
struct ClickThroughTests {
    @Test(arguments: [
        "https://shop.example/a?b=[CACHEBUSTING]#c", "http://shop.example", "HTTPS://Shop.Example/ü",
        "https://user@shop.example:8443/",
    ])
    func `addresses of http and https are opened`(address: String) throws {
        #expect(throws: Never.self) { try ClickThrough(address) }
    }

    private static let refused: [(String?, ClickThroughRefusal)] = [
        (nil, .nothingToOpen), ("", .nothingToOpen), ("javascript:alert(1)", .scheme("javascript")),
        ("JavaScript:alert(1)", .scheme("javascript")), ("tel:+15550100", .scheme("tel")),
        ("itms-apps://store.example/app", .scheme("itms-apps")), ("file:///etc/passwd", .scheme("file")),
        ("data:text/html,x", .scheme("data")), ("intent://scan/", .scheme("intent")),
        ("about:blank", .scheme("about")), ("shop.example/a", .unreadable("shop.example/a")),
        ("//shop.example/a", .unreadable("//shop.example/a")),
        ("https://shop.example/a b", .unreadable("https://shop.example/a b")),
        ("https://shop.example/\u{7F}", .unreadable("https://shop.example/\u{7F}")),
        (" https://shop.example", .unreadable(" https://shop.example")),
        ("java\nscript:alert(1)", .unreadable("java\nscript:alert(1)")),
        ("https://", .noHost("https://")), ("https:///path", .noHost("https:///path")),
        ("http:shop.example", .noHost("http:shop.example")),
    ]

    @Test func `nothing else is opened, and each refusal has its reason`() {
        for (address, reason) in Self.refused {
            let error = #expect(throws: ClickThroughRefusal.self) { try ClickThrough(address) }
            #expect(error == reason, "\(address ?? "nil")")
        }
    }

    @Test func `an address is opened up to its longest, and not one byte further`() throws {
        let head = "https://shop.example/"
        let longest = head + String(repeating: "a", count: ClickThrough.addressBytesMax - head.utf8.count)
        #expect(try ClickThrough(longest).url.absoluteString == longest)
        #expect(throws: ClickThroughRefusal.tooLong(bytesMax: ClickThrough.addressBytesMax)) {
            try ClickThrough(longest + "a")
        }
    }

    @Test func `a chosen link is reported first and then opened, and the result is reported`() throws {
        let log = LinkLog()
        let url = try #require(URL(string: "https://shop.example/a"))
        var reports = 0
        log.onOpen = { #expect(reports == 1, "the app may be in the background by now") }
        log.handling().follow(url.absoluteString) { reports += 1 }
        #expect(log.opened == [url.absoluteString])
        #expect(log.events == [.chosen(url), .opened(url)])
        log.works = false
        reports = 0
        log.handling().follow(url.absoluteString) { reports += 1 }
        #expect(log.events.suffix(2) == [.chosen(url), .notOpened(url)])
    }

    @Test func `without something that opens, the app is told the address`() throws {
        let log = LinkLog()
        let url = try #require(URL(string: "https://shop.example/a"))
        var reports = 0
        log.handling(opens: false).follow(url.absoluteString) { reports += 1 }
        #expect(log.opened.isEmpty && reports == 1)
        #expect(log.events == [.chosen(url)])
        #if !canImport(UIKit) && !canImport(AppKit)
        #expect(ClickThroughHandling().opener == nil, "there is no system that opens anything")
        #endif
    }

    @Test func `a refused link is neither reported nor opened, and the app gets the reason`() {
        let log = LinkLog()
        var reports = 0
        log.handling().follow("tel:+15550100") { reports += 1 }
        log.handling().follow(nil) { reports += 1 }
        #expect(log.opened.isEmpty && reports == 0)
        #expect(
            log.events == [
                .refused(address: "tel:+15550100", .scheme("tel")), .refused(address: "", .nothingToOpen),
            ]
        )
    }

    @Test func `the image without a screen is acted upon like any other`() async throws {
        let log = LinkLog()
        let renderer = ImageSizeRenderer()
        renderer.activate()
        let image = AdContent(mediaType: "image/png", bytes: Images.png(4, 2), targetURL: "https://renderer.example/")
        _ = try await renderer.render(image, in: PlatformView(frame: CGRect(x: 0, y: 0, width: 8, height: 8)))
        // Other tests have the shared settings while this one waits; from here on it does not.
        AdvertisementSettings.shared.clickThroughs = log.handling()
        defer { AdvertisementSettings.shared.clickThroughs = ClickThroughHandling() }
        renderer.activate()
        #expect(log.opened == ["https://renderer.example/"])
        var own: [String] = []
        renderer.openURL = { own.append($0.absoluteString) }
        renderer.activate()
        #expect(own == ["https://renderer.example/"] && log.opened.count == 1, "its own opener goes first")
        var clicks = 0
        renderer.onClick = { _ in clicks += 1 }
        renderer.activate()
        #expect(clicks == 1 && own.count == 1, "the delegate decides")
    }
}
