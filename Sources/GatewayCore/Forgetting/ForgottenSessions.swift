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
        package init() {}

        package var description: String {
            """
            as many sessions are forgotten as may be at one time; the limit forgottenSessionsMax is \
            \(ForgottenSessions.forgottenSessionsMax), and each counts for 30 days
            """
        }
    }

    /// The key of a list of hashes.
    package struct Key: Hashable, Sendable {
        let low: UInt64
        let high: UInt64

        package init(_ low: UInt64, _ high: UInt64) { (self.low, self.high) = (low, high) }

        /// Draws one.
        package static func random() -> Key { Key(.random(in: 0 ... .max), .random(in: 0 ... .max)) }

        /// The hash of a session under this key.
        package func hash(of session: SessionID) -> UInt64 { SipHash(key: self.low, self.high)(session.bytes) }
    }

    private struct Table: Hashable {
        let key: Key
        /// By hash: when each was forgotten.
        var entries: [UInt64: Timestamp] = [:]

        func contains(_ session: SessionID) -> Bool {
            !self.entries.isEmpty && self.entries[self.key.hash(of: session)] != nil
        }
    }

    private var own: Table
    /// Those that all gateways of a shared log refuse; its key is the log's.
    private var shared: Table?

    /// None.
    ///
    /// - Parameters:
    ///   - low: the key of the hash.
    ///   - high: its other half.
    package init(key low: UInt64, _ high: UInt64) { self.own = Table(key: Key(low, high)) }

    /// No sessions, with a random key that is not kept.
    package static func empty() -> ForgottenSessions {
        ForgottenSessions(key: .random(in: 0 ... .max), .random(in: 0 ... .max))
    }

    /// Whether there is none.
    package var isEmpty: Bool { self.count == 0 }

    /// How many there are.
    package var count: Int { self.own.entries.count + (self.shared?.entries.count ?? 0) }

    /// Whether a session was forgotten.
    package func contains(_ session: SessionID) -> Bool {
        self.own.contains(session) || self.shared?.contains(session) ?? false
    }

    /// One more is forgotten; one that was forgotten before stays so for longer.
    ///
    /// - Parameters:
    ///   - session: which.
    ///   - now: by the newest record of the books.
    /// - Throws: where there is no room for it.
    package mutating func forget(_ session: SessionID, at now: Timestamp) throws(Full) {
        let hash = self.own.key.hash(of: session)
        guard self.own.entries[hash] != nil || self.count < Self.forgottenSessionsMax else { throw Full() }
        self.own.entries[hash] = max(self.own.entries[hash] ?? now, now)
    }

    /// All gateways of a shared log refuse one more.
    ///
    /// - Parameters:
    ///   - hash: of the session, under the log's key.
    ///   - key: the log's.
    ///   - now: when it was forgotten.
    /// - Throws: where there is no room for it.
    package mutating func take(_ hash: UInt64, of key: Key, at now: Timestamp) throws(Full) {
        var table = self.shared.flatMap { $0.key == key ? $0 : nil } ?? Table(key: key)
        let count = self.own.entries.count + table.entries.count
        guard table.entries[hash] != nil || count < Self.forgottenSessionsMax else { throw Full() }
        table.entries[hash] = max(table.entries[hash] ?? now, now)
        self.shared = table
    }

    /// Those of which nothing can be acknowledged any more need not be known.
    ///
    /// - Parameter retentionTime: the log's own time.
    package mutating func prune(at retentionTime: Timestamp) {
        self.own.entries = self.own.entries.filter { $0.value + Self.keptFor > retentionTime }
        guard var table = self.shared else { return }
        table.entries = table.entries.filter { $0.value + Self.keptFor > retentionTime }
        self.shared = table
    }
}

// MARK: - As text

extension ForgottenSessions {
    /// The content of its file: a line with the key, then one with hash and time of each; then the same for those of a shared log.
    package var text: String { ([self.own] + (self.shared.map { [$0] } ?? [])).map(Self.text).joined() }

    private static func text(_ table: Table) -> String {
        let lines = table.entries.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            .map { "\(Self.digits($0.key)) \($0.value.microseconds)\n" }
        return "key \(table.key)\n" + lines.joined()
    }

    /// Reads what `text` wrote; `nil`: it is something else.
    package init?(text: String) {
        guard text.hasSuffix("\n") else { return nil }
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count <= 2 + Self.forgottenSessionsMax else { return nil }
        var tables: [Table] = []
        for line in lines {
            if let key = Self.key(line) {
                tables.append(Table(key: key))
                continue
            }
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, let hash = Self.number(words[0]), let time = Int64(words[1]), !tables.isEmpty
            else { return nil }
            tables[tables.count - 1].entries[hash] = Timestamp(microseconds: time)
        }
        guard let own = tables.first, tables.count <= 2,
            tables.reduce(0, { $0 + $1.entries.count }) <= Self.forgottenSessionsMax
        else { return nil }
        self.own = own
        self.shared = tables.count > 1 ? tables[1] : nil
    }

    private static func key(_ line: Substring) -> Key? {
        line.hasPrefix("key ") ? Key(digits: String(line.dropFirst(4))) : nil
    }

    fileprivate static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    fileprivate static func number(_ digits: Substring) -> UInt64? {
        digits.utf8.count == 16 ? UInt64(digits, radix: 16) : nil
    }
}

extension ForgottenSessions.Key: CustomStringConvertible {
    /// Thirty-two hexadecimal digits.
    package var description: String {
        ForgottenSessions.digits(self.low) + ForgottenSessions.digits(self.high)
    }

    /// Reads what `description` wrote; `nil`: it is something else.
    package init?(digits: String) {
        guard digits.utf8.count == 32, let low = ForgottenSessions.number(digits.prefix(16)),
            let high = ForgottenSessions.number(digits.suffix(16))
        else { return nil }
        self.init(low, high)
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
