// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// The names that a log has on the servers: everything stands under a prefix, so that several logs share a server.
///
/// ```
/// stream    PREFIX-breaks, PREFIX-acknowledgements-0
/// subject   PREFIX.log.breaks, PREFIX.log.acknowledgements.0   appends
///           PREFIX.news.…                                      a record was stored: a hint for readers
///           PREFIX.bus.…                                       from gateway to gateway
/// ```
package struct LogNames: Hashable, Sendable {
    /// The prefix where none is given.
    package static let prefixDefault = "cuecast"
    /// The longest prefix, in characters.
    package static let prefixLengthMax = 32

    package let prefix: String

    /// Fails where the prefix is something else, empty, or too long.
    ///
    /// - Parameter prefix: letters, digits, `_` and `-`.
    package init?(prefix: String) {
        guard Self.isPrefix(prefix) else { return nil }
        self.prefix = prefix
    }

    /// The names under the prefix that is used where none is given.
    package init() { self.prefix = Self.prefixDefault }

    package static func isPrefix(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= Self.prefixLengthMax
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// All lanes of a log.
    package static let lanes: [Lane] = [.breaks] + Lane.acknowledgementLanes

    package func stream(of lane: Lane) -> String {
        "\(self.prefix)-\(lane.description.replacing("/", with: "-"))"
    }

    package func subject(of lane: Lane) -> String {
        "\(self.prefix).log.\(lane.description.replacing("/", with: "."))"
    }

    /// Where it is told that a record was stored.
    package func news(of lane: Lane) -> String {
        "\(self.prefix).news.\(lane.description.replacing("/", with: "."))"
    }

    package func bus(_ subject: String) -> String { "\(self.prefix).bus.\(subject)" }
}
