// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@Suite(.suiteLimit)
struct TimestampTests {
    private static let instants: [Int64] = [
        .min, .min + 1, -1_000_001, -1, 0, 1, 1_700_000_000_000_000, .max - 1, .max,
    ]
    private static let durations: [Duration] = [
        .zero, .microseconds(1), .microseconds(-1), .seconds(3), .seconds(-3), .microseconds(Int64.max),
        .microseconds(Int64.min), .seconds(Int64.max), .seconds(Int64.min), .nanoseconds(1), .nanoseconds(-1),
        .seconds(Int64.max) + .seconds(Int64.max), .seconds(Int64.min) + .seconds(Int64.min),
        Duration(attoseconds: .max), Duration(attoseconds: .min),
    ]

    @Test func `arithmetic with any instant and any duration saturates`() {
        for microseconds in Self.instants {
            let instant = Timestamp(microseconds: microseconds)
            #expect(instant - Timestamp(microseconds: microseconds) == .zero)
            for duration in Self.durations {
                let change = duration.attoseconds / 1_000_000_000_000
                let later = Int64(clamping: Int128(microseconds) + change)
                let earlier = Int64(clamping: Int128(microseconds) - change)
                #expect((instant + duration).microseconds == later, "\(microseconds) + \(change) µs")
                #expect((instant - duration).microseconds == earlier, "\(microseconds) - \(change) µs")
            }
            for other in Self.instants {
                let difference = Int64(clamping: Int128(microseconds) - Int128(other))
                #expect((instant - Timestamp(microseconds: other)) == .microseconds(difference))
                #expect((instant < Timestamp(microseconds: other)) == (microseconds < other))
            }
        }
    }

    @Test func `any duration has whole microseconds, milliseconds and seconds`() {
        for duration in Self.durations {
            let microseconds = duration.attoseconds / 1_000_000_000_000
            #expect(duration.inMicroseconds == Int64(clamping: microseconds))
            #expect(duration.inMilliseconds == UInt32(clamping: microseconds / 1_000))
            #expect(abs(duration.inSeconds - Double(duration.attoseconds) / 1e18) <= abs(duration.inSeconds) * 1e-15)
        }
        #expect(Duration.microseconds(1_999).inMilliseconds == 1)
        #expect(Duration.microseconds(-1_999).inMicroseconds == -1_999)
        #expect(Duration.nanoseconds(1_999).inMicroseconds == 1)
        #expect(Duration.nanoseconds(-1_999).inMicroseconds == -1)
        #expect(Duration.milliseconds(1_500).inSeconds == 1.5)
    }

    /// Worked out with Python's `datetime` where it reaches, and for years outside 1 to 9999 by hand: 400 years are
    /// 146,097 days.
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"),
        (1, "1970-01-01T00:00:00.000001Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (951_868_799_999_999, "2000-02-29T23:59:59.999999Z"),
        (951_868_800_000_000, "2000-03-01T00:00:00.000000Z"),
        (1_078_012_800_000_000, "2004-02-29T00:00:00.000000Z"),
        (1_709_209_845_123_456, "2024-02-29T12:30:45.123456Z"),
        (1_735_689_599_999_999, "2024-12-31T23:59:59.999999Z"),
        (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
        (4_107_542_399_000_000, "2100-02-28T23:59:59.000000Z"),
        (13_574_563_200_000_000, "2400-02-29T00:00:00.000000Z"),
        (-2_203_891_200_000_000, "1900-03-01T00:00:00.000000Z"),
        (-2_203_977_600_000_000, "1900-02-28T00:00:00.000000Z"),
        (-11_676_096_000_000_000, "1600-01-01T00:00:00.000000Z"),
        (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        // RFC 3339 ends here; what follows is written as ISO 8601 does it, with a sign.
        (253_402_300_800_000_000, "+10000-01-01T00:00:00.000000Z"),
        (-62_135_596_800_000_001, "0000-12-31T23:59:59.999999Z"),
        (-62_162_121_600_000_000, "0000-02-29T00:00:00.000000Z"),
        (-62_167_219_200_000_000, "0000-01-01T00:00:00.000000Z"),
        (-62_167_219_200_000_001, "-0001-12-31T23:59:59.999999Z"),
        (Int64.max, "+294247-01-10T04:00:54.775807Z"),
        (Int64.min, "-290308-12-21T19:59:05.224192Z"),
    ])
    func `an instant is written as RFC 3339 does it`(microseconds: Int64, text: String) {
        #expect(Timestamp(microseconds: microseconds).description == text)
    }

    @Test func `every day of four centuries has the date that counting gives`() {
        var (year, month, day) = (1_970, 1, 1)
        for each in 0..<146_097 as Range<Int64> {
            // All parts of one date would be 146,097 comparisons of text; the day alone says enough, most of the time.
            if day == 1 || day >= 28 {
                let text = Timestamp(microseconds: each * 86_400_000_000).description
                let date = "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)T"
                guard text.hasPrefix(date) else {
                    Issue.record("\(text) is not \(date)")
                    return
                }
            }
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            day += 1
            if day > days { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }
}
