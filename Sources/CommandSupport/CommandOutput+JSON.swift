// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

extension CommandOutput {
    /// A value as programs read it: one JSON object, its keys in order.
    ///
    /// - Parameters:
    ///   - value: the value to encode.
    ///   - isPretty: whether it takes several lines, for people who look at it too.
    /// - Returns: the text, without an end of line.
    /// - Throws: the error of the value's encoding.
    package static func json(_ value: some Encodable, isPretty: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Prints a value as JSON.
    ///
    /// - Parameters:
    ///   - value: the value to print.
    ///   - isPretty: whether it takes several lines.
    /// - Throws: the error of the value's encoding.
    package static func say(json value: some Encodable, isPretty: Bool = false) throws {
        Self.say(try Self.json(value, isPretty: isPretty))
    }
}
