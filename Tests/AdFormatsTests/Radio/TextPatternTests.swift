// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport
import Testing

/// Patterns: what they find, what they cost, and which are refused.
@Suite(.suiteLimit)
struct TextPatternTests {
    @Test(
        arguments: [
            ("abc", "xabcx", true), ("^abc", "xabc", false), ("abc$", "abcx", false), ("a.c", "a\nc", false),
            ("", "", true),
            ("a|b|", "c", true), ("^(?:a|bc)+$", "abcbca", true), ("^(?:a|bc)+$", "abcb", false),
            ("^a{2,3}$", "aaaa", false),
            ("^a{2,3}$", "aaa", true), ("^a{2,}$", "a", false), ("^a{2}$", "aa", true), ("^a{0}$", "", true),
            ("^[a-c-]+$", "a-c", true), ("^[^a-c]+$", "xbx", false), ("^[]a]$", "]", false),
            (#"^[\]\-a]+$"#, "]-a", true),
            (#"^\d+\s\w+\S$"#, "12 ab_9!", true), (#"^\D\W$"#, "1a", false), (#"\bad\b"#, "an ad!", true),
            (#"\bad\b"#, "bad", false),
            (#"\Bad"#, "bad", true), ("(?i)stRASSE[k-m]", "Strasse L", false), ("(?i)stRASSE[k-m]", "StrasseL", true),
            ("ü.", "süß", true), (#"\.\*\\"#, #".*\"#, true), ("(a*)*b", "aaab", true), ("(?:)*x", "x", true),
            ("((?:){1000}){1000}", "", true),
        ] as [(String, String, Bool)]
    )
    func `patterns match what they say`(pattern: String, text: String, matches: Bool) {
        // An empty list of characters is refused.
        guard let prepared = try? TextPattern(pattern) else {
            #expect(!matches, "\(pattern)")
            return
        }
        #expect((prepared.firstMatch(in: text) != nil) == matches, "\(pattern)")
    }

    @Test(
        arguments: [
            (#"(?<a>\d+)-(?<b>\d*)"#, "x12-34y56-7", ["a": "12", "b": "34"]),
            ("(?<a>a+?)(?<b>a*)", "aaa", ["a": "a", "b": "aa"]),
            ("(?<a>a|ab)(?<b>c|bcd)?", "abcd", ["a": "a", "b": "bcd"]), ("(?:(?<a>x)|y)+", "xy", ["a": "x"]),
            ("(?<a>b)|c", "c", [:]), ("(?<a>.*)x(?<b>.*?)$", "axbx", ["a": "axb", "b": ""]),
            ("(?:(?<a>.))*", "abc", ["a": "c"]),
        ] as [(String, String, [String: String])]
    )
    func `groups have what the order of the pattern prefers`(pattern: String, text: String, groups: [String: String])
        throws
    {
        #expect(try TextPattern(pattern).firstMatch(in: text) == groups)
    }

    @Test(arguments: [
        ("(", 1), (")", 1), ("a(b", 2), ("*", 1), ("a**", 3), ("a{2", 2), ("a{3,2}", 2), ("a{1001}", 2), ("a{}", 2),
        ("[", 1), ("[]", 1),
        ("[b-a]", 5), (#"[\D]"#, 4), (#"\"#, 2), (#"\1"#, 2), (#"\z"#, 2), ("(?=a)", 3), ("(?<>a)", 4),
        ("(?<a>b)(?<a>c)", 13),
        ("(?<a-b>c)", 5), ("a?+", 3),
    ])
    func `what is no pattern is refused with its column`(pattern: String, column: Int) throws {
        let error = #expect(throws: TextPatternError.self) { try TextPattern(pattern) }
        #expect(error?.column == column, "\(pattern): \(String(describing: error))")
        #expect(error?.description.contains("column \(column)") == true)
    }

    @Test func `limits hold at the limit and one past it`() throws {
        #expect((try? TextPattern(String(repeating: "a", count: 512))) != nil)
        #expect((try? TextPattern(String(repeating: "a", count: 513))) == nil)
        // One step for each, and one that says that it matches.
        #expect((try? TextPattern("a{999}")) != nil)
        #expect((try? TextPattern("a{1000}")) == nil)
        #expect((try? TextPattern("(?:a{100}){100}")) == nil)
        func groups(_ count: Int) -> String { (0..<count).map { "(?<g\($0)>a)" }.joined() }
        #expect((try? TextPattern(groups(8))) != nil)
        #expect((try? TextPattern(groups(9))) == nil)
        func nested(_ count: Int) -> String {
            String(repeating: "(", count: count) + String(repeating: ")", count: count)
        }
        #expect((try? TextPattern(nested(31))) != nil)
        #expect((try? TextPattern(nested(32))) == nil)
        let end = try TextPattern("b")
        #expect(end.firstMatch(in: String(repeating: "a", count: 4_095) + "b") != nil)
        #expect(end.firstMatch(in: String(repeating: "a", count: 4_096) + "b") == nil)
    }

    @Test(arguments: ["(a|a)*b", "(a+)+$b", "(.*)*(.*)*(.*)*b", "(?:a?){300}(?:a){300}b"])
    func `patterns that take others exponential time take none here`(pattern: String) throws {
        // `Regex` of Swift needs more than a minute for the first one and 24 letters.
        #expect(try TextPattern(pattern).firstMatch(in: String(repeating: "a", count: 500)) == nil)
    }

    @Test func `random patterns find what Swift's find`() throws {
        var random = SeededGenerator(for: #function)
        let pieces = [
            "a", "b", "c", ".", "[ab]", "[^a]", "(a|b)", "(?:ab|c)", "a*", "b+", "c?", "(?:a|b)*?", "a{1,2}", "|", "^",
            "$", "(?<g>a*)",
        ]
        var compared = 0
        for _ in 0..<1_500 {
            var parts = random.list(1...5) { $0.pick(pieces) }
            // A name may be there once.
            if let first = parts.firstIndex(of: "(?<g>a*)") {
                parts = parts.enumerated().filter { $0.offset <= first || $0.element != "(?<g>a*)" }.map(\.element)
            }
            let pattern = parts.joined()
            let text = String(random.list(0...8) { $0.pick(Array("abcd")) })
            guard let ours = try? TextPattern(pattern) else { continue }
            let theirs = try Regex(pattern).firstMatch(in: text)
            let found = ours.firstMatch(in: text)
            #expect((found == nil) == (theirs == nil), "\(pattern) in \(text), CUECAST_SEED=\(SeededGenerator.seed)")
            if let theirs, parts.contains("(?<g>a*)") {
                let group = theirs["g"]?.substring.map(String.init)
                #expect(found?["g"] == group, "\(pattern) in \(text), CUECAST_SEED=\(SeededGenerator.seed)")
            }
            compared += 1
        }
        #expect(compared > 1_000)
    }
}
