// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The name of an ad list that the gateway keeps: 1 to 64 characters `A–Z a–z 0–9 . _ -`.
package struct AdListName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name as text.
    package let description: String

    /// Checks the rule of `ChosenID`.
    package init(_ text: String) throws(WireError) {
        guard ChosenID.isValid(text, bytesMax: WireLimits.adListNameBytesMax) else {
            throw .invalid(field: "name", rule: "the name of an ad list \(ChosenID.rule)")
        }
        self.description = text
    }

    package static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}

/// The name of what sends signals, an encoder for instance: 1 to 64 characters `A–Z a–z 0–9 . _ -`.
package struct SignalSource: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name as text.
    package let description: String

    /// Checks the rule of `ChosenID`.
    package init(_ text: String) throws(WireError) {
        guard ChosenID.isValid(text, bytesMax: WireLimits.signalSourceBytesMax) else {
            throw .invalid(field: "source", rule: "a source \(ChosenID.rule)")
        }
        self.description = text
    }

    package static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}

/// The id by which the signals of one event are known in their source: 1 to 64 printable ASCII characters without spaces.
package struct SignalEventID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The id as text.
    package let description: String

    /// Checks the rule above.
    package init(_ text: String) throws(WireError) {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= WireLimits.signalEventIDBytesMax, bytes.allSatisfy({ 0x21...0x7E ~= $0 })
        else {
            throw .invalid(field: "event_id", rule: "it has 1 to 64 printable ASCII characters and no space")
        }
        self.description = text
    }

    package static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}
