// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import TestSupport
import Testing

@Suite(.suiteLimit)
struct TimestampTextTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_795_262_410_001, "2026-11-21T12:00:10.001Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (.max, Timestamp.latest.description),
        ] as [(Int64, String)]
    )
    func `an instant is told to the millisecond`(milliseconds: Int64, text: String) {
        #expect(Timestamp.text(ofMilliseconds: milliseconds) == text)
        #expect(Timestamp.text(ofMilliseconds: Int(milliseconds)) == text)
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01t00:00:00z", 0), ("1970-01-01T00:00:00.000001Z", 1),
        ("1970-01-01T00:00:00.1Z", 100_000), ("1970-01-01T00:00:00.123456789Z", 123_456),
        ("1969-12-31T23:59:59.999999999Z", -1), ("1970-01-01T00:00:00+00:00", 0), ("1970-01-01T00:00:00-00:00", 0),
        ("1970-01-01T01:30:00+01:30", 0), ("1969-12-31T00:01:00-23:59", 0), ("1970-01-01T23:59:00+23:59", 0),
        ("2024-02-29T12:30:45.123456Z", 1_709_209_845_123_456), ("2000-02-29T00:00:00Z", 951_782_400_000_000),
        ("2100-03-01T00:00:00Z", 4_107_542_400_000_000), ("0000-02-29T00:00:00Z", -62_162_121_600_000_000),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000_000), ("0000-01-01T00:00:00+00:01", -62_167_219_260_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ("9999-12-31T23:59:00-00:01", 253_402_300_800_000_000),
    ])
    func `an instant is read as RFC 3339 writes it`(text: String, microseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.microseconds == microseconds)
    }

    @Test(arguments: [
        "", "Z", "noon", "2026-11-24", "2026-11-24T15:59:00", "2026-11-24T15:59Z", "2026-11-24T15:59:00Zfoo",
        "2026-11-24T15:59:00Z ", " 2026-11-24T15:59:00Z", "2026-11-24 15:59:00Z", "2026-11-24T15:59:00ZZ",
        "2026-11-24T15:59:00Z\u{0}", "2026-11-24T15:59:00Z\u{301}", "2026-11-24T15:59:00Z+01:00",
        // Days that there are not.
        "2026-02-30T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
        "2024-02-30T00:00:00Z", "2026-04-31T00:00:00Z", "2026-06-31T00:00:00Z", "2026-09-31T00:00:00Z",
        "2026-11-31T00:00:00Z", "2026-01-32T00:00:00Z", "2026-12-32T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z",
        // Times that there are not, a leap second among them.
        "2026-11-24T24:00:00Z", "2026-11-24T15:60:00Z", "2026-11-24T15:59:61Z", "2016-12-31T23:59:60Z",
        // Fractions.
        "2026-11-24T15:59:00.Z", "2026-11-24T15:59:00.1234567890Z", "2026-11-24T15:59:00,5Z", "2026-11-24T15:59:00.5",
        "2026-11-24T15:59:00.-5Z",
        // Offsets.
        "2026-11-24T15:59:00+24:00", "2026-11-24T15:59:00+01:60", "2026-11-24T15:59:00+0100",
        "2026-11-24T15:59:00+01", "2026-11-24T15:59:00+1:00", "2026-11-24T15:59:00+01:00:00",
        "2026-11-24T15:59:00\u{2212}01:00",
        // Other numbers of digits, and other digits.
        "26-11-24T15:59:00Z", "02026-11-24T15:59:00Z", "+2026-11-24T15:59:00Z", "-2026-11-24T15:59:00Z",
        "2026-1-24T15:59:00Z", "2026-11-4T15:59:00Z", "20261124T155900Z", "2026-11-24T5:59:00Z",
        "\u{FF12}026-11-24T15:59:00Z", "2026-11-24T15:59:0\u{0660}Z", "2026-W48-2T15:59:00Z",
    ])
    func `anything else is none`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `every day of four centuries is read as the date that it was written as`() {
        for day in 0..<146_097 as Range<Int64> {
            let instant = Timestamp(microseconds: day * 86_400_000_000)
            guard Timestamp(rfc3339: instant.description) == instant else {
                Issue.record("\(instant) is read as \(String(describing: Timestamp(rfc3339: instant.description)))")
                return
            }
        }
    }

    @Test func `any instant is read as it is written, and as Foundation writes and reads it`() throws {
        var generator = SeededGenerator(for: "timestampText")
        // The years 1600 to 9999: before them Foundation's calendar is another one.
        let years: ClosedRange<Int64> = -11_676_096_000_000_000...253_402_300_799_999_999
        for _ in 0..<500 {
            let instant = Timestamp(microseconds: generator.number(years))
            #expect(Timestamp(rfc3339: instant.description) == instant)
            #expect(Timestamp(rfc3339: instant.description.lowercased()) == instant)
            let seconds = (instant.microseconds - 86_400_000_000) / 1_000_000
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            // Foundation knows no zone beyond 18 hours.
            let minutes = Int(generator.number(0...UInt32(1_000)))
            let zone = try #require(TimeZone(secondsFromGMT: (generator.next() % 2 == 0 ? 60 : -60) * minutes))
            for style in [
                Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone),
            ] {
                let text = date.formatted(style)
                // Where the offset leads out of the years that RFC 3339 has there is nothing to compare.
                guard text.utf8.count == (text.hasSuffix("Z") ? 20 : 25) else { continue }
                #expect(Timestamp(rfc3339: text)?.microseconds == seconds * 1_000_000, "\(text)")
                #expect(try style.parse(text) == date)
            }
        }
    }
}
