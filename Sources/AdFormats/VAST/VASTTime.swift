// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Times as VAST writes them.
enum VASTTime {
    /// A time of the form `HH:MM:SS` or `HH:MM:SS.mmm`, in milliseconds (VAST 4.3 section 3.8.1).
    ///
    /// A fraction of one or two digits is read as what it says: `.5` is half a second.
    static func milliseconds(_ text: String) -> Int? {
        let characters = Array(text.utf8)
        guard characters.count >= 8, characters[2] == UInt8(ascii: ":"), characters[5] == UInt8(ascii: ":"),
            let hours = self.number(characters[0..<2]), let minutes = self.number(characters[3..<5]), minutes < 60,
            let seconds = self.number(characters[6..<8]), seconds < 60, let fraction = self.fraction(characters[8...])
        else { return nil }
        return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + fraction
    }

    /// A place in an ad: a time, a percentage `n%`, or a bare number of seconds, in milliseconds.
    ///
    /// Percentages are rounded to the nearest millisecond. A bare number is in no table of the specification, but the
    /// example of VAST 4.3 section 3.14 has one.
    static func offset(_ text: String, durationMilliseconds: Int) -> Int? {
        if let time = self.milliseconds(text) { return time }
        let isPercentage = text.hasSuffix("%")
        let digits = isPercentage ? text.dropLast() : text[...]
        let isNumber = digits.utf8.allSatisfy { $0 == UInt8(ascii: ".") || self.digit($0) != nil }
        guard isNumber, digits.utf8.count <= 9, let value = Double(digits), !isPercentage || value <= 100 else {
            return nil
        }
        let milliseconds = isPercentage ? Double(durationMilliseconds) * value / 100 : value * 1_000
        // Whatever the form, no more than `HH:MM:SS` can say.
        return milliseconds.rounded() < 360_000_000 ? Int(milliseconds.rounded()) : nil
    }

    /// `.m`, `.mm` or `.mmm` in milliseconds; 0 for nothing.
    private static func fraction(_ characters: ArraySlice<UInt8>) -> Int? {
        guard let point = characters.first else { return 0 }
        let digits = characters.dropFirst()
        guard point == UInt8(ascii: "."), (1...3).contains(digits.count), let number = self.number(digits) else {
            return nil
        }
        return number * [1: 100, 2: 10, 3: 1][digits.count, default: 1]
    }

    private static func number(_ characters: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for character in characters {
            guard let digit = self.digit(character) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private static func digit(_ character: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) ? Int(character - UInt8(ascii: "0")) : nil
    }
}
