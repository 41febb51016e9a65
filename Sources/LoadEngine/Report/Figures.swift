// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Glibc

/// Numbers as people read them; the same in every locale.
enum Figures {
    /// A count with thin groups of three digits, for instance `27 000`.
    static func count(_ value: some BinaryInteger) -> String {
        let digits = String(value.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "\u{202F}" }
            text.append(digit)
        }
        return value < 0 ? "-" + text : text
    }

    /// Microseconds as milliseconds with three significant digits.
    static func milliseconds(_ microseconds: some BinaryInteger) -> String {
        Self.decimal(Double(microseconds) / 1_000)
    }

    /// A latency with its unit: µs, ms or s.
    static func latency(_ microseconds: Double) -> String {
        if microseconds < 1_000 { return Self.decimal(microseconds) + "\u{202F}µs" }
        if microseconds < 1_000_000 { return Self.decimal(microseconds / 1_000) + "\u{202F}ms" }
        return Self.decimal(microseconds / 1_000_000) + "\u{202F}s"
    }

    /// Three significant digits, and no more than three decimals.
    static func decimal(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        let size = abs(value)
        return Self.fixed(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3)
    }

    /// So many decimals.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "–" }
        let scale = Int(pow(10, Double(decimals)))
        let rounded = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && rounded > 0 ? "-" : ""
        guard decimals > 0 else { return sign + Self.count(rounded) }
        let fraction = String(rounded % scale)
        return sign + Self.count(rounded / scale) + "." + String(repeating: "0", count: decimals - fraction.count)
            + fraction
    }

    /// A share as a percentage; 100 % only where nothing is missing.
    static func percent(_ share: Double) -> String {
        let text = Self.fixed(share * 100, 1)
        return (text == "100.0" && share < 1 ? "99.9" : share == 1 ? "100" : text) + "\u{202F}%"
    }

    /// `1 stream`, `3 streams`.
    static func plural(_ count: Int, _ word: String) -> String {
        "\(Self.count(count)) \(word)\(count == 1 ? "" : "s")"
    }
}
