// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ArgumentParser
internal import CuecastWire

/// A duration as people write it: `250ms`, `10s`, `1m30s`.
///
/// ```swift
/// @Option(help: "How long to hold them.", transform: DurationArgument.read)
/// var hold = DurationArgument(.seconds(20))
/// ```
package struct DurationArgument: Sendable, CustomStringConvertible {
    package let duration: Duration

    package init(_ duration: Duration) {
        self.duration = duration
    }

    /// Reads the value of an option.
    ///
    /// - Throws: the form to write instead.
    @Sendable package static func read(_ text: String) throws -> Self {
        guard let duration = Duration(text: text) else { throw ValidationError(Self.advice(for: text)) }
        return Self(duration)
    }

    /// A correct text to propose for one that is no duration.
    package static func advice(for text: String) -> String {
        // The most likely meaning, where only the unit is missing.
        Duration(text: text + "s") == nil ? "write a duration such as 10s, 250ms or 1m30s" : "add a unit: \(text)s"
    }

    /// As it is read, for the help.
    package var description: String {
        let milliseconds = self.duration.inMicroseconds / 1_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
    }
}
