// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Figures as people read them.
enum TopText {
    /// A number with a comma at each thousand.
    static func count(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + text
    }

    /// A number with one digit behind the point, where it says something.
    static func rate(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "-" }
        let tenths = Int((number * 10).rounded())
        if abs(tenths) >= 1_000 || tenths.isMultiple(of: 10) { return self.count(Int(number.rounded())) }
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    static func milliseconds(_ microseconds: Int) -> String { self.rate(Double(microseconds) / 1_000) }

    /// Bytes in the unit that leaves the fewest digits.
    static func bytes(_ bytes: Int) -> String {
        var (number, unit) = (Double(bytes), "B")
        for larger in ["KiB", "MiB", "GiB", "TiB"] where number >= 1_024 { (number, unit) = (number / 1_024, larger) }
        return "\(self.rate(number)) \(unit)"
    }

    /// How long: `21s`, `4:30`, `3h25m`, `2d4h`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e15 else { return "-" }
        let seconds = Int(max(0, seconds).rounded(.up))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        switch seconds {
        case ..<60: return "\(seconds)s"
        case ..<3_600: return "\(seconds / 60):\(two(seconds % 60))"
        case ..<86_400: return "\(seconds / 3_600)h\(two(seconds / 60 % 60))m"
        default: return "\(seconds / 86_400)d\(seconds / 3_600 % 24)h"
        }
    }

    /// Seconds since 1970 of an instant as the gateway writes it, RFC 3339 in UTC; `nil`: it is none.
    static func seconds(_ text: String) -> Double? {
        Timestamp(rfc3339: text).map { Double($0.microseconds) / 1_000_000 }
    }
}
