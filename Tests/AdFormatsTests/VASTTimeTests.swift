// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import AdFormats

@Suite(.suiteLimit)
struct VASTTimeTests {
    @Test(arguments: [
        ("00:00:15", 15_000), ("00:01:30.123", 90_123), ("01:00:00", 3_600_000), ("99:59:59.999", 359_999_999),
        ("00:00:00", 0), ("00:00:01.5", 1_500), ("00:00:01.05", 1_050), ("00:00:01.005", 1_005),
        ("00:00:30.0400000", 30_040), ("00:00:30.040000", 30_040), ("00:00:15.1234", 15_123), ("00:00:15.1235", 15_124),
        ("00:00:15.99999", 16_000), ("0:00:15", 15_000), ("0:0:5", 5_000),
    ])
    func `a time is hours, minutes, seconds and a fraction of any length`(text: String, milliseconds: Int) {
        #expect(VASTTime.milliseconds(text) == milliseconds)
    }

    @Test(arguments: [
        "", "30", "00:15", "00:60:00", "00:00:60", "00:00:15.", "00:00:15,5", "-0:00:15", "00:00:1x", "00-00-15",
        "000:00:15", "00:00:15 ", "+1:00:00", "٠٠:٠٠:١٥", "00:00:15.+1", "00:00:15.1.2", ":00:15", "00:00:015",
        "00:00:15." + String(repeating: "0", count: 24), "00:00:15.1e2",
    ])
    func `anything else is no time`(text: String) {
        #expect(VASTTime.milliseconds(text) == nil)
    }

    @Test(arguments: [("120", 120_000), ("120.5", 120_500), ("00:02:00", 120_000), ("0.04", 40), ("0", 0)])
    func `a duration is a time or a number of seconds`(text: String, milliseconds: Int) {
        #expect(VASTTime.duration(text) == milliseconds)
    }

    @Test(arguments: ["", "50%", "-1", "1e3", "two", "00:15", "360000"])
    func `anything else is no duration`(text: String) {
        #expect(VASTTime.duration(text) == nil)
    }

    @Test func `the longest text that is read has 32 bytes`() {
        #expect(VASTTime.milliseconds("00:00:15." + String(repeating: "0", count: 23)) == 15_000)
        #expect(VASTTime.milliseconds("00:00:15." + String(repeating: "0", count: 24)) == nil)
    }

    @Test(arguments: [
        ("00:00:05", 5_000), ("00:00:05.0400000", 5_040), ("25%", 2_500), ("60.5%", 6_050), ("0%", 0), ("100%", 10_000),
        ("33.333%", 3_333),
        ("3", 3_000),
        ("1.5", 1_500), ("20:00:00", 72_000_000), ("359999.99", 359_999_990),
    ])
    func `an offset is a time, a percentage or a number of seconds`(text: String, milliseconds: Int) {
        #expect(VASTTime.offset(text, durationMilliseconds: 10_000) == milliseconds)
    }

    @Test(arguments: [
        "", "%", "101%", "-5%", "5 %", "1e3", "nan", "inf", "0x10", "five", "5%%", "360000", "1234567890",
    ])
    func `anything else is no offset`(text: String) {
        #expect(VASTTime.offset(text, durationMilliseconds: 10_000) == nil)
    }

    @Test func `a percentage is rounded to the nearest millisecond`() {
        #expect(VASTTime.offset("60%", durationMilliseconds: 90_123) == 54_074)
    }
}
