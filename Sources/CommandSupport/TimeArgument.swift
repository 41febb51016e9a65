// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ArgumentParser
internal import CuecastWire
package import Foundation

/// A time as RFC 3339 writes it, with or without fractions of a second.
///
/// ```swift
/// @Option(help: "Start at this time (RFC 3339).", transform: TimeArgument.read)
/// var at: TimeArgument?
/// ```
package struct TimeArgument: Sendable {
    package let date: Date

    /// Reads the value of an option.
    ///
    /// - Throws: the form to write instead.
    @Sendable package static func read(_ text: String) throws -> Self {
        guard let instant = Timestamp(rfc3339: text) else { throw ValidationError(Self.advice(for: text)) }
        return Self(date: Date(timeIntervalSince1970: Double(instant.microseconds) / 1e6))
    }

    /// Reads the value of an option that may say how long ago: `24h` is a day before now.
    ///
    /// - Throws: the form to write instead.
    @Sendable package static func readPast(_ text: String) throws -> Self {
        if let ago = Duration(text: text) {
            return Self(date: Date(timeIntervalSinceNow: -Double(ago.inMicroseconds) / 1e6))
        }
        // A number alone lacks its unit; everything else was meant as a time.
        if Double(text) != nil { throw ValidationError(DurationArgument.advice(for: text)) }
        return try Self.read(text)
    }

    /// As RFC 3339 writes it, in UTC.
    package var text: String {
        Timestamp(microseconds: Int64((self.date.timeIntervalSince1970 * 1e6).rounded())).description
    }

    /// A correct text to propose for one that is no time.
    static func advice(for text: String) -> String {
        let example = "2026-11-21T12:00:00Z"
        if Timestamp(rfc3339: text + "Z") != nil { return "add the zone: \(text)Z for UTC, or \(text)+01:00" }
        for time in [text, text + ":00"] where Timestamp(rfc3339: "2026-11-21T\(time)Z") != nil {
            return "add date and zone, for instance 2026-11-21T\(time)Z"
        }
        return "write a time as RFC 3339 has it, with date and zone: \(example)"
    }
}
