// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The sessions that an operator had forgotten, so that nothing of them is taken again.
///
/// A repeated request of a forgotten session would count a second time, because its rows have another name by then. So every
/// request of it is refused, as long as any delivery to it can be acknowledged. The gateway keeps only a hash of the session's id
/// with a key of its own: a reader that has the id finds out that the session was forgotten, but the hash leads to no session.
package struct ForgottenSessions: Hashable, Sendable {
    /// The most sessions that are known as forgotten at one time.
    package static let forgottenSessionsMax = LimitName.forgottenSessionsMax.value
    /// How long they are, by the log's own time: longer than any acknowledgement is accepted after the last batch.
    package static let keptFor: Duration = .seconds(30 * 86_400)

    /// There are as many as there may be.
    package struct Full: Error, Hashable, CustomStringConvertible {
        package var description: String {
            """
            as many sessions are forgotten as may be at one time; the limit forgottenSessionsMax is \
            \(ForgottenSessions.forgottenSessionsMax), and each counts for 30 days
            """
        }
    }

    private let key: (UInt64, UInt64)
    /// By hash: when each was forgotten.
    private var entries: [UInt64: Timestamp] = [:]

    /// None.
    ///
    /// - Parameters:
    ///   - low: the key of the hash.
    ///   - high: its other half.
    package init(key low: UInt64, _ high: UInt64) { self.key = (low, high) }

    /// No sessions, with a random key that is not kept.
    package static func empty() -> ForgottenSessions {
        ForgottenSessions(key: .random(in: 0 ... .max), .random(in: 0 ... .max))
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.key == right.key && left.entries == right.entries
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.entries) }

    /// Whether there is none.
    package var isEmpty: Bool { self.entries.isEmpty }

    /// How many there are.
    package var count: Int { self.entries.count }

    /// Whether a session was forgotten.
    package func contains(_ session: SessionID) -> Bool {
        !self.entries.isEmpty && self.entries[self.hash(of: session)] != nil
    }

    /// One more is forgotten; one that was forgotten before stays so for longer.
    ///
    /// - Parameters:
    ///   - session: which.
    ///   - now: by the newest record of the books.
    /// - Throws: where there is no room for it.
    package mutating func forget(_ session: SessionID, at now: Timestamp) throws(Full) {
        let hash = self.hash(of: session)
        guard self.entries[hash] != nil || self.entries.count < Self.forgottenSessionsMax else { throw Full() }
        self.entries[hash] = max(self.entries[hash] ?? now, now)
    }

    /// Those of which nothing can be acknowledged any more need not be known.
    ///
    /// - Parameter retentionTime: the log's own time.
    package mutating func prune(at retentionTime: Timestamp) {
        self.entries = self.entries.filter { $0.value + Self.keptFor > retentionTime }
    }

    private func hash(of session: SessionID) -> UInt64 { SipHash(key: self.key.0, self.key.1)(session.bytes) }
}

// MARK: - As text

extension ForgottenSessions {
    /// The content of its file: a line with the key, then one with hash and time of each.
    package var text: String {
        let lines = self.entries.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            .map { "\(Self.digits($0.key)) \($0.value.microseconds)\n" }
        return "key \(Self.digits(self.key.0))\(Self.digits(self.key.1))\n" + lines.joined()
    }

    /// Reads what `text` wrote; `nil`: it is something else.
    package init?(text: String) {
        guard text.hasSuffix("\n") else { return nil }
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.first, first.hasPrefix("key "), first.utf8.count == 36,
            let low = Self.number(first.dropFirst(4).prefix(16)), let high = Self.number(first.suffix(16)),
            lines.count <= 1 + Self.forgottenSessionsMax
        else { return nil }
        self.init(key: low, high)
        for line in lines.dropFirst() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, let hash = Self.number(words[0]), let time = Int64(words[1]) else { return nil }
            self.entries[hash] = Timestamp(microseconds: time)
        }
    }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func number(_ digits: Substring) -> UInt64? {
        digits.utf8.count == 16 ? UInt64(digits, radix: 16) : nil
    }
}

extension SessionID {
    /// A session as `description` writes it: thirty-two hexadecimal digits.
    package init?(digits: String) {
        guard digits.utf8.count == 32, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}
