// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The replacements for a session that is forgotten, for readers that do not know which session it is.
///
/// They stand in a log that several gateways share while the session is being forgotten. A reader that has the session recognises it by a
/// keyed hash of 128 bits, and gives it the same names as every other reader (`SessionPseudonyms`). The hash leads to no session. With
/// the names one can tell which rows belong together, so they are erased when every gateway has used them.
package struct ForgettingNames: Hashable, Sendable {
    private static let head = "cuecast-names 1"

    /// The key of the names.
    let words: [UInt64]
    private let hash: SessionID
    private let high: SipHash
    private let low: SipHash

    init(of session: SessionID, words: [UInt64]) {
        let (high, low) = (SipHash(key: words[0], words[1]), SipHash(key: words[2], words[3]))
        self.init(hash: SessionID(high: high(session.bytes), low: low(session.bytes)), words: words)
    }

    private init(hash: SessionID, words: [UInt64]) {
        self.hash = hash
        self.words = words
        self.high = SipHash(key: words[0], words[1])
        self.low = SipHash(key: words[2], words[3])
    }

    /// Whether they are of this session. (A break's number has half as many bytes, so no name of it is this hash.)
    package func areOf(_ session: SessionID) -> Bool {
        let bytes = session.bytes
        return self.high(bytes) == self.hash.high && self.low(bytes) == self.hash.low
    }

    /// For the log.
    package var bytes: [UInt8] {
        let words = self.words.map { String($0, radix: 16) }
        return Array(([Self.head, "\(self.hash)"] + words + [""]).joined(separator: "\n").utf8)
    }

    /// - Returns: `nil` where it is not exactly what `bytes` is.
    package init?(bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count == 6, let hash = SessionID(digits: String(lines[1])) else { return nil }
        let words = lines.dropFirst(2).compactMap { UInt64($0, radix: 16) }
        guard words.count == 4 else { return nil }
        self.init(hash: hash, words: words)
        guard self.bytes == bytes else { return nil }
    }
}

extension AcknowledgementGroup {
    /// The sessions that it names.
    ///
    /// - Throws: where a recorded request cannot be read.
    package func sessions() throws(WireError) -> Set<SessionID> {
        var found = Set(self.deliveries.map(\.session))
        for each in self.requests { found.insert(try ListenerRequest(decoding: each.request).session) }
        return found
    }

    /// The group with other names in the place of all sessions that are being forgotten.
    ///
    /// - Parameter names: of the sessions; the first that are of a session count.
    /// - Returns: the group; `nil`: none of them is in it.
    /// - Throws: where a recorded request cannot be read.
    package func forgetting(_ names: [ForgettingNames]) throws(WireError) -> AcknowledgementGroup? {
        var result: AcknowledgementGroup?
        for session in try self.sessions() {
            guard let found = names.first(where: { $0.areOf(session) }) else { continue }
            result = try (result ?? self).forgetting(SessionPseudonyms(of: session, found)) ?? result
        }
        return result
    }
}

extension LoggedRecord {
    /// The record of a lane of acknowledgements with other names in the place of sessions that are being forgotten.
    ///
    /// - Throws: where it cannot be read.
    package func forgetting(_ names: [ForgettingNames]) throws(WireError) -> LoggedRecord {
        guard !self.bytes.isEmpty, let group = try AcknowledgementGroup(decoding: self.bytes).forgetting(names) else {
            return self
        }
        return LoggedRecord(
            offset: self.offset,
            previous: self.previous,
            bytes: group.encoded(),
            mark: self.mark,
            isStandIn: true
        )
    }
}

extension LedgerPosting {
    /// The rows with other names in the place of sessions that are being forgotten.
    package func forgetting(_ names: [ForgettingNames]) -> LedgerPosting {
        var result = self
        for place in result.deliveries.indices {
            let session = result.deliveries[place].session
            guard let found = names.first(where: { $0.areOf(session) }) else { continue }
            result.deliveries[place].session =
                SessionPseudonyms(of: session, found)[
                    result.deliveries[place].breakNumber
                ]
        }
        for place in result.outcomes.indices {
            let session = result.outcomes[place].session
            guard let found = names.first(where: { $0.areOf(session) }) else { continue }
            result.outcomes[place].session = SessionPseudonyms(of: session, found)[result.outcomes[place].breakNumber]
        }
        return result
    }
}
