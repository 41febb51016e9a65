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
    package let prefix: String

    /// Fails where the text is no prefix (``SharedLogPrefix``).
    package init?(prefix: String) {
        guard SharedLogPrefix.isPrefix(prefix) else { return nil }
        self.prefix = prefix
    }

    /// The names under the prefix that is used where none is given.
    package init() { self.prefix = SharedLogPrefix.value }

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
