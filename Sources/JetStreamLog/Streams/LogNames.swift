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
/// stream    PREFIX-forgotten, with all subjects PREFIX.forgotten.…: sessions that are forgotten (`ForgottenSubjects`)
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

    /// The stream about sessions that are forgotten.
    package var forgottenStream: String { "\(self.prefix)-forgotten" }

    package var forgotten: ForgottenSubjects { ForgottenSubjects(prefix: "\(self.prefix).forgotten") }
}

/// The subjects of the stream about sessions that are forgotten.
package struct ForgottenSubjects: Hashable, Sendable {
    let prefix: String

    var all: String { "\(self.prefix).>" }
    /// The first message: the log's id, and the key of the hashes by which sessions are refused.
    var head: String { "\(self.prefix).order.head" }
    /// All that gateways read in order.
    var orders: String { "\(self.prefix).order.>" }
    /// A session is refused from now on, and forgotten.
    var sessions: String { "\(self.prefix).order.session.*" }
    func session(_ hash: UInt64) -> String { "\(self.prefix).order.session.\(Self.digits(hash))" }
    /// No record names the session any more.
    func erased(_ hash: UInt64) -> String { "\(self.prefix).order.erased.\(Self.digits(hash))" }
    /// The names that replace a session; erased when all gateways have used them.
    var names: String { "\(self.prefix).names.*" }
    func names(_ hash: UInt64) -> String { "\(self.prefix).names.\(Self.digits(hash))" }
    /// The records that stand for those that were erased.
    var standIns: String { "\(self.prefix).record.>" }
    func standIns(of lane: Lane) -> String { "\(self.prefix).record.\(Self.text(lane)).*" }
    func standIn(for sequence: UInt64, of lane: Lane) -> String {
        "\(self.prefix).record.\(Self.text(lane)).\(sequence)"
    }
    /// How far the books of each gateway are.
    var books: String { "\(self.prefix).books.*" }
    func books(_ id: String) -> String { "\(self.prefix).books.\(id)" }

    /// The last word of a subject.
    static func last(of subject: String) -> Substring { subject.split(separator: ".").last ?? "" }

    private static func text(_ lane: Lane) -> String { lane.description.replacing("/", with: ".") }

    private static func digits(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
