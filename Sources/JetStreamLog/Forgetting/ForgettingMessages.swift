// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// The first message of the stream about forgotten sessions.
struct ForgettingHead: Hashable, Sendable {
    private static let head = "cuecast-forgotten 1"

    let logID: LogID
    let key: ForgottenSessions.Key

    var bytes: [UInt8] { ForgettingLines(Self.head, [("log", "\(self.logID)"), ("key", "\(self.key)")]).bytes }

    init(logID: LogID, key: ForgottenSessions.Key) { (self.logID, self.key) = (logID, key) }

    /// - Returns: `nil` where it is not of this log.
    init?(_ bytes: [UInt8], of logID: LogID) {
        guard let lines = ForgettingLines(bytes, under: Self.head), lines["log"] == "\(logID)",
            let key = lines["key"].flatMap({ ForgottenSessions.Key(digits: $0) })
        else { return nil }
        self.init(logID: logID, key: key)
    }
}

/// The order to forget a session.
package struct ForgettingOrder: Hashable, Sendable {
    private static let head = "cuecast-session 1"
    private static let erasedHead = "cuecast-erased 1"

    /// Of the session, under the key of the log.
    package let hash: UInt64
    /// The sequence of its message: orders are followed in this order.
    package let number: UInt64
    package let at: Timestamp
    /// Of the session; `nil`: every gateway has used them, and they are erased.
    package var names: ForgettingNames?
    /// The sequence of the message that says that no record names the session any more; `nil`: there is none.
    package var erased: UInt64?
    /// Up to where no record of each lane names it.
    package var heads: [Lane: UInt64] = [:]

    static func bytes(at now: Timestamp) -> [UInt8] {
        ForgettingLines(Self.head, [("at", "\(now.microseconds)")]).bytes
    }

    static func bytes(erasedThrough heads: [Lane: UInt64]) -> [UInt8] {
        let lines = heads.map { ("\($0.key)", "\($0.value)") }.sorted { $0.0 < $1.0 }
        return ForgettingLines(Self.erasedHead, lines).bytes
    }

    static func instant(_ bytes: [UInt8]) -> Timestamp? {
        ForgettingLines(bytes, under: Self.head)?["at"].flatMap { Int64($0) }.map { Timestamp(microseconds: $0) }
    }

    static func heads(_ bytes: [UInt8]) -> [Lane: UInt64]? {
        guard let lines = ForgettingLines(bytes, under: Self.erasedHead) else { return nil }
        var heads: [Lane: UInt64] = [:]
        for (name, value) in lines.lines { heads[Lane(name: name)] = UInt64(value) }
        return heads
    }
}

/// How far the books of a gateway are with the sessions that are forgotten.
package struct ForgettingBooks: Hashable, Sendable {
    private static let head = "cuecast-books 1"

    /// Of the data directory.
    package let id: String
    /// Sessions of orders up to this one are refused, and have other names in the ledger.
    package var refused: UInt64 = 0
    /// The newest message about erased records after which no file of the directory that the gateway writes names those sessions.
    package var done: UInt64 = 0
    package var version = ""

    package init(id: String) { self.id = id }

    var bytes: [UInt8] {
        ForgettingLines(
            Self.head,
            [("refused", "\(self.refused)"), ("done", "\(self.done)"), ("version", self.version)]
        )
        .bytes
    }

    init?(id: String, _ bytes: [UInt8]) {
        guard let lines = ForgettingLines(bytes, under: Self.head),
            let refused = lines["refused"].flatMap({ UInt64($0) }),
            let done = lines["done"].flatMap({ UInt64($0) })
        else { return nil }
        self.init(id: id)
        (self.refused, self.done, self.version) = (refused, done, lines["version"] ?? "")
    }
}

/// A head line, then lines of a name and a value.
struct ForgettingLines {
    let head: String
    let lines: [(String, String)]

    init(_ head: String, _ lines: [(String, String)]) { (self.head, self.lines) = (head, lines) }

    init?(_ bytes: [UInt8], under head: String) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard let first = lines.first, first == head else { return nil }
        self.init(
            head,
            lines.dropFirst()
                .compactMap { line in
                    let words = line.split(separator: " ", maxSplits: 1)
                    return words.count == 2 ? (String(words[0]), String(words[1])) : nil
                }
        )
    }

    subscript(name: String) -> String? { self.lines.first { $0.0 == name }?.1 }

    var bytes: [UInt8] {
        Array(([self.head] + self.lines.map { "\($0.0) \($0.1)" } + [""]).joined(separator: "\n").utf8)
    }
}
