// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

#if canImport(CryptoKit)
import CryptoKit
#else
import CSHA256
#endif

/// HMAC-SHA256 with one key (RFC 2104, FIPS 198-1), for any number of messages.
///
/// The states of both hashes with the key in them are kept, so that the code of a short message costs two blocks of SHA-256
/// and no allocation. The hash is the system's: OpenSSL's on Linux, CryptoKit's on Apple's systems
/// (docs/internals/decisions/0072-hashes-come-from-the-system.md).
package struct KeyedHash: Sendable {
    /// How long a whole code is, in bytes.
    package static let codeBytes = 32

    #if canImport(CryptoKit)
    private let keyed: HMAC<SHA256>
    #else
    /// The block length of SHA-256, in bytes (FIPS 180-4, figure 1).
    private static let blockBytes = 64

    private let inner: SHA256_CTX
    private let outer: SHA256_CTX
    #endif

    /// Ready to make codes with a key of any length.
    package init(key: [UInt8]) {
        #if canImport(CryptoKit)
        self.keyed = HMAC(key: SymmetricKey(data: key))
        #else
        let short = key.count > Self.blockBytes ? Self.hash(key) : key
        let block = short + Array(repeating: 0, count: Self.blockBytes - short.count)
        self.inner = Self.state(after: block.map { $0 ^ 0x36 })
        self.outer = Self.state(after: block.map { $0 ^ 0x5C })
        #endif
    }

    /// The first 16 bytes of a message's code.
    package func code(of message: ArraySlice<UInt8>) -> AuthenticationCode {
        let words = self.words(of: message)
        return AuthenticationCode(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1))
    }

    /// A message's whole code, `codeBytes` bytes.
    package func wholeCode(of message: [UInt8]) -> [UInt8] { Self.bytes(self.words(of: message[...])) }

    /// 32 bytes as they lie in memory.
    private typealias Words = (UInt64, UInt64, UInt64, UInt64)

    private static func bytes(_ words: Words) -> [UInt8] {
        [words.0, words.1, words.2, words.3]
            .flatMap { word in
                stride(from: 56, through: 0, by: -8)
                    .map { UInt8(truncatingIfNeeded: UInt64(bigEndian: word) >> UInt64($0)) }
            }
    }

    #if canImport(CryptoKit)
    /// The hash of bytes without a key, 32 bytes (FIPS 180-4, section 6.2).
    package static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    private func words(of message: ArraySlice<UInt8>) -> Words {
        var keyed = self.keyed
        keyed.update(data: message)
        // Safety: a code has 32 bytes, and so have the words.
        return unsafe keyed.finalize().withUnsafeBytes { unsafe $0.loadUnaligned(as: Words.self) }
    }
    #else
    /// The hash of bytes without a key, 32 bytes (FIPS 180-4, section 6.2).
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var state = Self.state(after: bytes)
        return Self.bytes(Self.end(&state))
    }

    private static func state(after bytes: [UInt8]) -> SHA256_CTX {
        var state = SHA256_CTX()
        unsafe SHA256_Init(&state)
        Self.add(bytes[...], to: &state)
        return state
    }

    private static func add(_ bytes: ArraySlice<UInt8>, to state: inout SHA256_CTX) {
        // Safety: the slice has as many bytes as it says, and they are not kept.
        unsafe bytes.withUnsafeBytes { unsafe _ = SHA256_Update(&state, $0.baseAddress, $0.count) }
    }

    private static func end(_ state: inout SHA256_CTX) -> Words {
        var words: Words = (0, 0, 0, 0)
        // Safety: a hash has 32 bytes, and so have the words.
        unsafe withUnsafeMutableBytes(of: &words) {
            unsafe _ = SHA256_Final($0.baseAddress?.assumingMemoryBound(to: UInt8.self), &state)
        }
        return words
    }

    private func words(of message: ArraySlice<UInt8>) -> Words {
        var inner = self.inner
        Self.add(message, to: &inner)
        var hash = Self.end(&inner)
        var outer = self.outer
        // Safety: the words are 32 bytes, and they are not kept.
        unsafe withUnsafeBytes(of: &hash) { unsafe _ = SHA256_Update(&outer, $0.baseAddress, $0.count) }
        return Self.end(&outer)
    }
    #endif
}
