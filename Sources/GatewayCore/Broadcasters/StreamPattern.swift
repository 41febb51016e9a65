// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Which streams are meant: one by its id, or all whose ids begin alike.
///
/// `radio1` is that stream alone; `radio*` is every stream whose id begins with `radio`, `radio` itself among them; `*` is every
/// stream. Bytes are compared, so upper and lower case differ. A `*` anywhere but at the end is no pattern.
package struct StreamPattern: Hashable, Sendable, CustomStringConvertible {
    /// The rule, for sentences.
    package static let rule = "a stream id, or the beginning of one and a '*'; '*' alone is every stream"

    /// `*`: every stream.
    package static let every = StreamPattern(beginning: "")

    /// As it was written.
    package let description: String
    /// The prefix of ids; `nil`: `description` is the id.
    private let beginning: String?

    private init(beginning: String) {
        self.beginning = beginning
        self.description = beginning + "*"
    }

    /// `nil` unless the text is a stream id, or up to 64 characters of one and a `*`.
    package init?(_ text: String) {
        if text.utf8.last == UInt8(ascii: "*") {
            let beginning = String(decoding: text.utf8.dropLast(), as: UTF8.self)
            guard beginning.isEmpty || (try? StreamID(beginning)) != nil else { return nil }
            self.beginning = beginning
        } else {
            guard (try? StreamID(text)) != nil else { return nil }
            self.beginning = nil
        }
        self.description = text
    }

    /// Whether a stream is meant.
    package func matches(_ stream: StreamID) -> Bool {
        guard let beginning = self.beginning else { return self.description == stream.description }
        return stream.description.utf8.starts(with: beginning.utf8)
    }
}
