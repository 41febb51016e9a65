// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Times as VAST writes them.
enum VASTTime {
    /// The longest text that is read as a time, in bytes.
    private static let bytesMax = 32

    /// A time `HH:MM:SS`, with a fraction of any length, in milliseconds (VAST 4.3 section 3.8.1; XML Schema part 2, `xs:time`).
    ///
    /// `.5` is half a second, and `.0400000`, as .NET writes it, is 40 ms. What is finer than a millisecond is rounded to the nearest
    /// one. A part of one digit is read, as other readers do.
    static func milliseconds(_ text: String) -> Int? {
        guard text.utf8.count <= self.bytesMax else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let hours = self.number(parts[0]), let minutes = self.number(parts[1]), minutes < 60
        else { return nil }
        let last = parts[2].split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = self.number(last[0]), seconds < 60 else { return nil }
        var fraction = 0
        if last.count == 2 {
            guard let read = self.fraction(last[1]) else { return nil }
            fraction = read
        }
        return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + fraction
    }

    /// How long something lasts, in milliseconds: a time, or a bare number of seconds.
    ///
    /// A bare number is in no specification; other readers take it, and ad servers write it.
    static func duration(_ text: String) -> Int? {
        text.hasSuffix("%") ? nil : self.offset(text, durationMilliseconds: 0)
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
        guard isNumber, digits.utf8.count <= self.bytesMax, let value = Double(digits), !isPercentage || value <= 100
        else {
            return nil
        }
        let milliseconds = isPercentage ? Double(durationMilliseconds) * value / 100 : value * 1_000
        // Whatever the form, no more than `HH:MM:SS` can say.
        return milliseconds.rounded() < 360_000_000 ? Int(milliseconds.rounded()) : nil
    }

    /// The digits behind a point, in milliseconds; `nil`: there are none, or something else.
    private static func fraction(_ digits: Substring.UTF8View) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy({ self.digit($0) != nil }),
            let value = Double("0.\(Substring(digits))")
        else { return nil }
        return Int((value * 1_000).rounded())
    }

    /// One or two digits.
    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard (1...2).contains(digits.count), digits.allSatisfy({ self.digit($0) != nil }) else { return nil }
        return Int(Substring(digits))
    }

    private static func digit(_ character: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) ? Int(character - UInt8(ascii: "0")) : nil
    }
}
