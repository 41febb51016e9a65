// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import LiveTerminal

@Suite(.suiteLimit)
struct TopTextTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567"), (Int.min, "-9,223,372,036,854,775,808"),
    ])
    func `numbers have a comma at each thousand`(number: Int, text: String) {
        #expect(TopText.count(number) == text)
    }

    @Test(arguments: [
        (0, "0"), (1, "1"), (0.04, "0"), (0.05, "0.1"), (40.25, "40.3"), (-0.5, "-0.5"), (99.94, "99.9"),
        (100.4, "100"), (.nan, "-"), (.infinity, "-"),
    ])
    func `rates have a digit behind the point where it says something`(number: Double, text: String) {
        #expect(TopText.rate(number) == text)
    }

    @Test(arguments: [
        (0, "0 B"), (1_023, "1,023 B"), (1_024, "1 KiB"), (1_536, "1.5 KiB"), (1 << 40, "1 TiB"),
        (1 << 51, "2,048 TiB"),
    ])
    func `bytes have a unit`(bytes: Int, text: String) {
        #expect(TopText.bytes(bytes) == text)
    }

    @Test(arguments: [
        (-1, "0s"), (0, "0s"), (20.2, "21s"), (59.9, "1:00"), (270, "4:30"), (3_600, "1h00m"), (12_300, "3h25m"),
        (187_200, "2d4h"), (.nan, "-"),
    ])
    func `times are short`(seconds: Double, text: String) {
        #expect(TopText.duration(seconds) == text)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:01.500000Z", 1.5),
            ("2026-05-01T12:00:10.000000Z", 1_777_636_810),
            ("2000-02-29T23:59:59Z", 951_868_799), ("", nil), ("2026-05-01", nil), ("2026-05-01T12:00:10", nil),
            ("2026-13-01T12:00:10Z", nil),
            ("+12026-05-01T12:00:10Z", nil), ("a-b-cTd:e:fZ", nil), ("2026-05-01T12:00:10.xZ", nil),
        ] as [(String, Double?)]
    )
    func `instants are read`(text: String, seconds: Double?) {
        #expect(TopText.seconds(text) == seconds)
    }
}
