// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// The macros of addresses that a server asks.
@Suite(.suiteLimit)
struct VASTMacrosTests {
    private let macros = VASTMacros(
        cacheBusting: 4_711,
        timestamp: "2026-11-28T09:00:00.123Z",
        transactionID: "0b5a6f10-6a5e-4c3c-9d67-5f3a2a1b0c9d",
        breakMaxDuration: 90,
        userAgent: "cuecast/0.1.0"
    )

    @Test(arguments: [
        ("[CACHEBUSTING]", "00004711"), ("[TIMESTAMP]", "2026-11-28T09%3A00%3A00.123Z"),
        ("[TRANSACTIONID]", "0b5a6f10-6a5e-4c3c-9d67-5f3a2a1b0c9d"), ("[BREAKMAXDURATION]", "90"),
        ("[VASTVERSIONS]", "2,3,5,6,7,8,11,12,13,14"), ("[SERVERSIDE]", "1"), ("[SERVERUA]", "cuecast%2F0.1.0"),
    ])
    func `each macro has its value, also with encoded brackets`(macro: String, value: String) {
        let filled = self.macros.filled("https://a.example/?x=\(macro)&y=\(macro)")
        #expect(filled == "https://a.example/?x=\(value)&y=\(value)")
        let encoded = macro.replacing("[", with: "%5B").replacing("]", with: "%5d")
        #expect(self.macros.filled("https://a.example/?x=\(encoded)") == "https://a.example/?x=\(value)")
    }

    @Test func `each macro is filled, and no other one is`() {
        for macro in VASTMacro.allCases { #expect(self.macros.filled("[\(macro.rawValue)]") != "[\(macro.rawValue)]") }
        for text in [
            "[IFA]", "[ERRORCODE]", "[cachebusting]", "[CACHEBUSTING", "CACHEBUSTING]", "[]", "[[", "%5B", "%5", "",
            "[" + String(repeating: "A", count: 60) + "]", "[CACHE BUSTING]",
        ] {
            #expect(self.macros.filled(text) == text)
        }
        #expect(self.macros.filled("[[SERVERSIDE]]") == "[1]")
    }

    @Test func `a break of no known duration has -1`() {
        var macros = self.macros
        macros.breakMaxDuration = nil
        #expect(macros.filled("[BREAKMAXDURATION]") == "-1")
        macros.cacheBusting = Int.min
        #expect(macros.filled("[CACHEBUSTING]").utf8.count == 8)
    }

    @Test func `the code of an error is filled, and nothing else`() {
        #expect(
            VASTMacros.filled("https://a.example/[ERRORCODE]?%5BERRORCODE%5D&[TIMESTAMP]", errorCode: 303)
                == "https://a.example/303?303&[TIMESTAMP]"
        )
    }
}
