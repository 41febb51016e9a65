// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@Suite(.suiteLimit)
struct DurationTextTests {
    @Test(arguments: [
        ("0s", 0), ("250ms", 250), ("10s", 10_000), ("1m30s", 90_000), ("2h", 7_200_000), ("8d", 691_200_000),
        ("1d2h3m4s5ms", 93_784_005), ("90s", 90_000), ("007s", 7_000), ("36525d", 3_155_760_000_000),
        ("36524d24h", 3_155_760_000_000),
    ])
    func `a duration is read as people write it`(text: String, milliseconds: Int64) {
        #expect(Duration(text: text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", " ", "10", "s", "-1s", "+1s", "1.5s", "1 s", " 1s", "1s ", "1s1m", "1s1s", "1S", "1y", "1ss", "10s5", "٣s",
        "1\u{FF11}s", "²s", "36526d", "36525d1ms", "999999999999999d", "9223372036854775807ms", "99999999999999999999s",
    ])
    func `anything else is none`(text: String) {
        #expect(Duration(text: text) == nil)
    }
}
