// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Crypto
import CuecastWire
import GatewayCore
import Testing

/// Codes of HMAC-SHA256, against published ones and against another library.
@Suite(.suiteLimit)
struct KeyedHashTests {
    /// A case of RFC 4231, section 4.
    struct Published: Sendable, CustomTestStringConvertible {
        let number: Int
        let key: [UInt8]
        let message: [UInt8]
        let code: String

        var testDescription: String { "case \(self.number)" }
    }

    static let published: [Published] = [
        Published(
            number: 1,
            key: Array(repeating: 0x0B, count: 20),
            message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        Published(
            number: 2,
            key: Array("Jefe".utf8),
            message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        Published(
            number: 3,
            key: Array(repeating: 0xAA, count: 20),
            message: Array(repeating: 0xDD, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        Published(
            number: 4,
            key: Array(1...25),
            message: Array(repeating: 0xCD, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        Published(
            number: 5,
            key: Array(repeating: 0x0C, count: 20),
            message: Array("Test With Truncation".utf8),
            code: "a3b6167473100ee06e0c796c2955552b"
        ),
        Published(
            number: 6,
            key: Array(repeating: 0xAA, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        Published(
            number: 7,
            key: Array(repeating: 0xAA, count: 131),
            message: Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.")
                    .utf8
            ),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The first 16 of a code's bytes.
    private static func short(_ code: [UInt8]) -> AuthenticationCode {
        let numbers = [code[0..<8], code[8..<16]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return AuthenticationCode(high: numbers[0], low: numbers[1])
    }

    @Test(arguments: published)
    func `codes are those of RFC 4231`(_ published: Published) {
        let code = KeyedHash(key: published.key).wholeCode(of: published.message)
        #expect(code.count == KeyedHash.codeBytes)
        #expect(Self.hexadecimal(code).hasPrefix(published.code))
        #expect(KeyedHash(key: published.key).code(of: published.message[...]) == Self.short(code))
    }

    @Test func `codes and hashes are those of another library, at every length around a block`() {
        var generator = SystemRandomNumberGenerator()
        func random(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in .random(in: .min ... .max, using: &generator) }
        }
        let lengths = [0, 1, 31, 32, 55, 56, 63, 64, 65, 119, 120, 128, 1_000]
        for keyLength in lengths {
            let key = random(keyLength)
            let ours = KeyedHash(key: key)
            for length in lengths {
                let message = random(length)
                let theirs = Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
                #expect(ours.wholeCode(of: message) == theirs, "key \(key), message \(message)")
                // A slice that begins elsewhere, and the same keyed hash once more: no message leaves anything in it.
                #expect(ours.code(of: ([0xFF] + message)[1...]) == Self.short(theirs))
                #expect(KeyedHash.hash(message) == Array(SHA256.hash(data: message)))
            }
        }
    }
}
