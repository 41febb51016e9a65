// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Keys: how they are written, what changes them, and what is refused.
@Suite(.suiteLimit)
struct KeyRingTests {
    private static let day: Double = 86_400

    private func fault(_ text: String) -> String? {
        do throws(KeyRingFault) {
            _ = try KeyRing(text: text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a ring is read as it was written`() throws {
        let ring = try KeyRing.make(at: Sample.at(0)).rotated(at: Sample.at(1)).rotated(at: Sample.at(2))
        #expect(ring.keys.map(\.state) == [.signing, .verifyOnly, .verifyOnly])
        #expect(try KeyRing(text: ring.text) == ring)
        #expect(try KeyRing(text: "# mine\n\n" + ring.text) == ring)
        #expect(try KeyRing(text: ring.text.replacing("\n", with: "\r\n")) == ring, "an editor of another system")
    }

    @Test func `half a file and a changed one are known, and no sentence repeats a secret`() throws {
        let ring = try KeyRing.make(at: Sample.at(0)).rotated(at: Sample.at(1))
        let text = ring.text
        for count in 0..<(text.utf8.count - 1) {
            let sentence = try #require(self.fault(String(decoding: text.utf8.prefix(count), as: UTF8.self)))
            for key in ring.keys {
                let secret = key.secret.map { String($0, radix: 16) }.joined()
                #expect(!sentence.contains(secret.prefix(8)))
            }
        }
        var lines = text.split(separator: "\n").map(String.init)
        let last = try #require(lines[2].last)
        lines[2].removeLast()
        lines[2].append(last == "0" ? "1" : "0")
        #expect(
            self.fault(lines.joined(separator: "\n") + "\n")
                == "line 3: the id does not belong to the secret: one of them was changed"
        )
    }

    @Test(arguments: [
        ("", "it is empty"), ("hello\n", "it does not begin with 'cuecast signing keys 1'"),
        ("cuecast signing keys 1\n", "its end is missing: it is not whole"),
        ("cuecast signing keys 1\nend 1\n", "line 2: the number of keys is another: it is not whole"),
        ("cuecast signing keys 1\nend 0\n", "one of its keys must have the state signing, and 0 have"),
        ("cuecast signing keys 1\nend 0\nx\n", "line 3: nothing may follow the end"),
        ("cuecast signing keys 1\na b\n", "line 2: a key has an id, a state, a time in microseconds and a secret"),
        (
            "cuecast signing keys 1\na new 1 b\n",
            "line 2: the state must be one of signing, verify-only, revoked"
        ),
        (
            "cuecast signing keys 1\na signing x b\n",
            "line 2: the time must be a whole number of microseconds since 1970"
        ),
        ("cuecast signing keys 1\na signing 1 abc\n", "line 2: the secret must be 64 hexadecimal digits"),
    ])
    func `an invalid ring gets a sentence`(text: String, sentence: String) {
        #expect(self.fault(text) == sentence)
    }

    @Test func `any text is a ring or a sentence`() {
        var generator = SeededGenerator(for: #function)
        let text = Array(KeyRing.make(at: Sample.at(0)).text.utf8)
        for _ in 0..<500 {
            var bytes = text
            for _ in 0..<generator.number(1...8) {
                bytes[generator.number(0...(bytes.count - 1))] = generator.number(0...UInt8.max)
            }
            _ = try? KeyRing(text: String(decoding: bytes, as: UTF8.self))
            _ = try? KeyRing(text: String(decoding: generator.bytes(0...200), as: UTF8.self))
        }
    }

    @Test func `a rotation lets a new key sign, and keeps what signed before for nine days`() throws {
        let first = KeyRing.make(at: Sample.at(0))
        let second = try first.rotated(at: Sample.at(Self.day))
        #expect(second.keys.map(\.state) == [.signing, .verifyOnly])
        #expect(second.keys[1].id == first.signing.id && second.signing.id != first.signing.id)
        let (almost, over) = (Sample.at(10 * Self.day - 1), Sample.at(10 * Self.day))
        let before = try second.rotated(at: almost, retentionTime: almost)
        #expect(before.keys.contains { $0.id == first.signing.id })
        let after = try second.rotated(at: over, retentionTime: over)
        #expect(after.keys.map(\.id).contains(second.signing.id))
        #expect(!after.keys.contains { $0.id == first.signing.id })
    }

    @Test func `a clock that is a year ahead leaves out no key that is still needed`() throws {
        let year = Sample.at(365 * Self.day)
        let first = KeyRing.make(at: Sample.at(0))
        let second = try first.rotated(at: Sample.at(Self.day))
        for retention in [nil, Sample.at(Self.day), Sample.at(10 * Self.day - 1)] {
            let ahead = try second.rotated(at: year, retentionTime: retention)
            #expect(Set(ahead.keys.map(\.id)).isSuperset(of: second.keys.map(\.id)))
            // Its instants are a year ahead too: what it took out of use stays for longer than it must, and not for less.
            let later = try ahead.rotated(at: Sample.at(11 * Self.day), retentionTime: Sample.at(11 * Self.day))
            #expect(later.keys.contains { $0.id == second.signing.id })
            #expect(!later.keys.contains { $0.id == first.signing.id })
        }
        #expect(throws: Never.self) { try second.rotated(at: year) }
    }

    @Test func `a clock that is years back does not make a key look unused`() throws {
        let first = KeyRing.make(at: Sample.at(Self.day))
        // It signed until now, and the books say when that is; or only the keys themselves tell something.
        for retention in [Sample.at(20 * Self.day), nil] {
            let back = try first.rotated(at: Sample.at(-1_000 * Self.day), retentionTime: retention)
            #expect(back.keys[1].since == retention ?? first.signing.since)
            #expect(back.signing.since >= first.signing.since)
        }
        let back = try first.rotated(at: Sample.at(-1_000 * Self.day), retentionTime: Sample.at(20 * Self.day))
        let again = try back.rotated(at: Sample.at(28 * Self.day), retentionTime: Sample.at(28 * Self.day))
        #expect(again.keys.contains { $0.id == first.signing.id })
        let over = try back.rotated(at: Sample.at(29 * Self.day), retentionTime: Sample.at(29 * Self.day))
        #expect(!over.keys.contains { $0.id == first.signing.id })
    }

    @Test func `a ring has so many keys and no more`() throws {
        var ring = KeyRing.make(at: Sample.at(0))
        for _ in 1..<KeyRingLimits.keysMax { ring = try ring.rotated(at: Sample.at(1)) }
        #expect(ring.keys.count == KeyRingLimits.keysMax)
        #expect(try KeyRing(text: ring.text) == ring)
        #expect(ring.text.utf8.count <= KeyRingLimits.keyRingFileBytesMax)
        #expect(throws: KeyRingFault("it has 17 keys; the limit keysMax is 16")) { try ring.rotated(at: Sample.at(1)) }
    }

    @Test func `a key that is revoked stays known, and another signs`() throws {
        let ring = try KeyRing.make(at: Sample.at(0)).rotated(at: Sample.at(1))
        let old = try ring.revoking(ring.keys[1].id, at: Sample.at(2))
        #expect(old.keys.map(\.state) == [.signing, .revoked] && old.signing == ring.signing)
        let both = try old.revoking(ring.signing.id, at: Sample.at(3))
        #expect(both.keys.map(\.state) == [.signing, .revoked, .revoked])
        #expect(throws: KeyRingFault("it has no key 00000000")) {
            try ring.revoking(KeyID(rawValue: 0), at: Sample.at(2))
        }
    }

    @Test func `keys of a backup are taken beside those that are there, which decide`() throws {
        let old = try KeyRing.make(at: Sample.at(0)).rotated(at: Sample.at(1))
        let new = try old.rotated(at: Sample.at(2)).revoking(old.keys[1].id, at: Sample.at(3))
        #expect(new.adding(older: old) == new)
        let other = KeyRing.make(at: Sample.at(5))
        let both = other.adding(older: old)
        #expect(both.signing == other.signing)
        #expect(both.keys.dropFirst().map(\.state) == [.verifyOnly, .verifyOnly])
        #expect(try KeyRing(text: both.text) == both)
    }

    @Test func `nothing that is printed shows a secret`() throws {
        let key = try #require(
            SigningKey(secret: Array(repeating: 0xAB, count: 32), state: .signing, since: Sample.at(0))
        )
        var dumped = ""
        dump(key, to: &dumped)
        for text in [dumped, "\(key)", String(reflecting: key), "\([key])"] {
            #expect(!text.contains("171") && !text.lowercased().contains("abab"), "\(text)")
        }
        #expect("\(key)".hasPrefix("\(key.id) signing since "))
    }
}
