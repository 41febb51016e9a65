// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A fault of keys, or of a file of them; it never contains a secret.
package struct KeyRingFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The end of a sentence about the file.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The bounds of keys.
package enum KeyRingLimits {
    /// The most keys.
    package static let keysMax = 16
    /// The longest file of keys.
    package static let keyRingFileBytesMax = 16_384
    /// How long after its last use for signing a key is still taken, at least: longer than acknowledgements are accepted.
    package static let verifyOnlyFor: Duration = .seconds(9 * 86_400)
}

/// The keys that sign and check deliveries and tickets: one signs, others are only taken, or not any more.
///
/// As text, which `KeyRing(text:)` reads, it is lines of words: what it is, then for each key its id, its state, since when it has it
/// (microseconds since 1970) and the secret (64 hexadecimal digits), and `end` with the number of keys, so that half a file is
/// known as one. Lines that begin with `#` are for people.
package struct KeyRing: Hashable, Sendable {
    /// The one that signs first, then in the order in which they were made, newest first.
    package let keys: [SigningKey]

    /// The one that signs.
    package var signing: SigningKey { self.keys[0] }

    /// - Throws: unless there are at most `KeyRingLimits.keysMax` keys, no two with the same id, and one that signs.
    package init(_ keys: [SigningKey]) throws(KeyRingFault) {
        guard keys.count <= KeyRingLimits.keysMax else {
            throw KeyRingFault("it has \(keys.count) keys; the limit keysMax is \(KeyRingLimits.keysMax)")
        }
        guard Set(keys.map(\.id)).count == keys.count else { throw KeyRingFault("a key is there twice") }
        let signing = keys.filter { $0.state == .signing }
        guard signing.count == 1 else {
            throw KeyRingFault("one of its keys must have the state signing, and \(signing.count) have")
        }
        self.keys = signing + keys.filter { $0.state != .signing }
    }

    private init(checked keys: [SigningKey]) {
        self.keys = keys
    }

    /// A ring of one new key.
    package static func make(at now: Timestamp) -> KeyRing { KeyRing(checked: [.make(.signing, at: now)]) }

    // MARK: - Changes

    /// The same with a new key that signs.
    ///
    /// The previous key is only accepted from now on. Keys that are no longer needed are removed: by the log's own time, which a
    /// wrong clock does not move, and not by `now`. Where that time is unknown, no key is removed.
    ///
    /// - Parameters:
    ///   - now: the latest instant that is believed: by a gateway's clock, or by the wall clock.
    ///   - retentionTime: the log's own time; `nil`: it is unknown.
    /// - Returns: the new content of the file.
    /// - Throws: where there would be too many keys.
    package func rotated(at now: Timestamp, retentionTime: Timestamp? = nil) throws(KeyRingFault) -> KeyRing {
        // A clock that was set back does not make a key look as if it had not signed for long.
        let now = self.keys.reduce(max(now, retentionTime ?? now)) { max($0, $1.since) }
        var before = self.signing
        before.state = .verifyOnly
        before.since = now
        let kept = self.keys.dropFirst()
            .filter { key in retentionTime.map { key.since + KeyRingLimits.verifyOnlyFor > $0 } ?? true }
        return try KeyRing([.make(.signing, at: now), before] + kept)
    }

    /// The same with a key of which nothing is taken any more.
    ///
    /// Where it signed, a new one signs.
    ///
    /// - Parameters:
    ///   - id: the key.
    ///   - now: the wall clock.
    /// - Returns: the new content of the file.
    /// - Throws: where there is no such key, or there would be too many.
    package func revoking(_ id: KeyID, at now: Timestamp) throws(KeyRingFault) -> KeyRing {
        guard self.keys.contains(where: { $0.id == id }) else { throw KeyRingFault("it has no key \(id)") }
        var keys = self.keys
        for index in keys.indices where keys[index].id == id {
            keys[index].state = .revoked
            keys[index].since = now
        }
        if self.signing.id == id { keys.insert(.make(.signing, at: now), at: 0) }
        return try KeyRing(keys)
    }

    /// The same with what older keys signed taken too, as far as there is room: these keys are newer, and decide.
    package func adding(older: KeyRing) -> KeyRing {
        let known = Set(self.keys.map(\.id))
        let added = older.keys.filter { !known.contains($0.id) }
            .map { key in
                var key = key
                if key.state == .signing { key.state = .verifyOnly }
                return key
            }
        return KeyRing(checked: Array((self.keys + added).prefix(KeyRingLimits.keysMax)))
    }

    // MARK: - Text

    private static let title = "cuecast signing keys 1"

    /// As it stands in a file.
    package var text: String {
        var lines = [
            "# The keys that sign deliveries and tickets. With this file they can be forged: keep it secret (mode 600).",
            Self.title,
        ]
        for key in self.keys {
            let secret = key.secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            lines.append("\(key.id) \(key.state.rawValue) \(key.since.microseconds) \(secret)")
        }
        return lines.joined(separator: "\n") + "\nend \(self.keys.count)\n"
    }

    /// Reads what `text` wrote; never traps.
    ///
    /// - Throws: with the number of the line that is wrong, and nothing of its content.
    package init(text: String) throws(KeyRingFault) {
        var keys: [SigningKey] = []
        var (hasTitle, hasEnd) = (false, false)
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard !line.isEmpty, line.utf8.first != UInt8(ascii: "#") else { continue }
            guard !hasEnd else { throw KeyRingFault("line \(index + 1): nothing may follow the end") }
            guard hasTitle else {
                guard line == Self.title else { throw KeyRingFault("it does not begin with '\(Self.title)'") }
                hasTitle = true
                continue
            }
            if line.utf8.starts(with: "end ".utf8) {
                guard line == "end \(keys.count)" else {
                    throw KeyRingFault("line \(index + 1): the number of keys is another: it is not whole")
                }
                hasEnd = true
                continue
            }
            guard keys.count < KeyRingLimits.keysMax else {
                throw KeyRingFault("it has too many keys; the limit keysMax is \(KeyRingLimits.keysMax)")
            }
            keys.append(try Self.key(line, "line \(index + 1)"))
        }
        guard hasTitle else { throw KeyRingFault("it is empty") }
        guard hasEnd else { throw KeyRingFault("its end is missing: it is not whole") }
        try self.init(keys)
    }

    private static func key(_ line: Substring, _ place: String) throws(KeyRingFault) -> SigningKey {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4 else {
            throw KeyRingFault("\(place): a key has an id, a state, a time in microseconds and a secret")
        }
        guard let state = SigningKey.State(rawValue: String(words[1])) else {
            let states = SigningKey.State.allCases.map(\.rawValue).joined(separator: ", ")
            throw KeyRingFault("\(place): the state must be one of \(states)")
        }
        guard let since = Int64(words[2]) else {
            throw KeyRingFault("\(place): the time must be a whole number of microseconds since 1970")
        }
        let digits = words[3].utf8.map { hexadecimalValue($0) }
        var secret: [UInt8] = []
        for index in stride(from: 0, to: digits.count - 1, by: 2) {
            if let high = digits[index], let low = digits[index + 1] { secret.append(high << 4 | low) }
        }
        guard digits.count == 2 * SigningKey.secretBytes,
            let key = SigningKey(secret: secret, state: state, since: Timestamp(microseconds: since))
        else {
            throw KeyRingFault("\(place): the secret must be \(2 * SigningKey.secretBytes) hexadecimal digits")
        }
        guard key.id.description == words[0] else {
            throw KeyRingFault("\(place): the id does not belong to the secret: one of them was changed")
        }
        return key
    }
}

private func hexadecimalValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}
