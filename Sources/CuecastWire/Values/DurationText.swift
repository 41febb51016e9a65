// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension Duration {
    /// Reads a duration as people write it: `250ms`, `10s`, `1m30s`, `2h`, `8d`; parts in falling order of unit.
    ///
    /// `nil` where it is anything else: without a unit, negative, with a fraction, or longer than 100 years.
    package init?(text: String) {
        var milliseconds: Int64 = 0
        var lastUnit = Int64.max
        var digits = ""
        var rest = Substring(text)
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            digits = String(rest.prefix { $0.isASCII && $0.isNumber })
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(letters.count)
            guard let unit = Self.units[String(letters)], unit < lastUnit, digits.count <= 15,
                let count = Int64(digits)
            else { return nil }
            lastUnit = unit
            let (part, overflow) = count.multipliedReportingOverflow(by: unit)
            guard !overflow, part <= Self.longestMilliseconds else { return nil }
            milliseconds += part
        }
        guard milliseconds <= Self.longestMilliseconds else { return nil }
        self = .milliseconds(milliseconds)
    }

    private static let longestMilliseconds: Int64 = 36_525 * 86_400_000
    private static let units: [String: Int64] = [
        "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
}

extension Duration {
    /// Seconds with up to three decimals, for sentences: `2 s`, `0.25 s`.
    package var inSecondsText: String {
        let milliseconds = self.inMicroseconds / 1_000
        let fraction = abs(milliseconds % 1_000)
        guard fraction > 0 else { return "\(milliseconds / 1_000) s" }
        var digits = String(fraction + 1_000).dropFirst()
        while digits.last == "0" { digits = digits.dropLast() }
        return "\(milliseconds < 0 && milliseconds > -1_000 ? "-" : "")\(milliseconds / 1_000).\(digits) s"
    }
}
