// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import Testing

/// The page about ad servers, and the code.
@Suite(.suiteLimit)
struct VASTResolutionPageTests {
    @Test func `the page lists each macro with its meaning, and each limit with its default`() throws {
        let page = try Places.page("broadcasters/from-your-ad-server.md")
        for macro in VASTMacro.allCases {
            #expect(page.contains("| `[\(macro.rawValue)]` | \(macro.meaning) |"), "\(macro)")
        }
        let limits = VASTResolutionLimits()
        for (name, value) in [
            ("wrappersMax", limits.wrappersMax), ("documentsMax", limits.documentsMax), ("adsMax", limits.adsMax),
        ] {
            #expect(page.contains("| `\(name)` | \(value) |"), "\(name)")
        }
    }

    @Test func `the page lists each reason in the row of its code`() throws {
        let rows = try Places.page("broadcasters/from-your-ad-server.md").split(separator: "\n")
        let faults: [VASTDocumentFault] = [
            .timedOut(""), .unavailable(""), .refused(""), .noContent,
            .unreadable(.malformed(fault: "", line: 1, column: 1)), .unreadable(.unsupportedEncoding("")),
            .unreadable(.tooLarge(limit: "", maximum: 0)), .unreadable(.notVAST(root: "")),
            .unreadable(.unsupportedVersion("")), .unreadable(.noAds(errorURLs: [])),
        ]
        let unplayable: [SkipReason] = [
            .notOneAd(inLines: 0, wrappers: 0), .conditional, .noLinear, .noMediaFile, .needsFramework(""),
            .noUsableMediaFile([]), .noDuration, .unusableDuration("", line: 1), .tooLong(milliseconds: 0, maximum: 0),
            .tooManyTrackers(found: 0, maximum: 0), .notNeeded,
        ]
        let reasons: [VASTLeftReason] =
            faults.map { .noDocument($0) } + unplayable.map { .unplayable($0) } + [
                .noAddress, .unusableAddress(""), .addressTooLong(maximum: 0), .wrapperNotAllowed,
                .tooManyWrappers(maximum: 0), .loop, .tooManyDocuments(maximum: 0), .nothingTaken, .podNotAllowed,
                .notTheOnlyOne, .blockedCategory(""), .tooManyAds(maximum: 0),
            ]
        for reason in reasons {
            let row = rows.first { $0.hasPrefix("| ") && $0.contains("`\(reason.name)`") }
            let code = reason.vastErrorCode.map(String.init) ?? "–"
            #expect(row?.split(separator: "|").last?.contains(code) == true, "\(reason.name) \(code)")
        }
    }
}
