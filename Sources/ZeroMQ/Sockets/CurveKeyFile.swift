// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import SecretFiles

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Files that hold one CURVE key each: 40 characters of Z85 and a line's end.
package enum CurveKeyFile {
    /// The most bytes of such a file: a key, and some white space around it.
    package static let keyFileBytesMax = 256

    /// Why a file was not read or made; never with what stands in it.
    package typealias Fault = SecretFile.Fault

    /// Reads a public key.
    package static func publicKey(at path: String) throws(Fault) -> CurvePublicKey {
        let text = try self.text(at: path, isSecret: false)
        guard let key = CurvePublicKey(z85: text) else { throw self.notAKey(path, text) }
        return key
    }

    /// Reads a secret key.
    ///
    /// - Throws: also where others than the file's owner may read it, because then it is no secret (``bytes(at:isSecret:bytesMax:limit:)``).
    package static func secretKey(at path: String) throws(Fault) -> CurveSecretKey {
        let text = try self.text(at: path, isSecret: true)
        guard let key = CurveSecretKey(z85: text) else { throw self.notAKey(path, text) }
        return key
    }

    /// Writes a pair as `BASE.key`, which only its owner may read, and `BASE.pub`.
    ///
    /// - Returns: the two paths.
    /// - Throws: where one of them is there already: a key that is in use is never written over. Then neither is made.
    package static func write(
        _ pair: CurveKeyPair,
        as base: String
    ) throws(Fault) -> (secretKey: String, publicKey: String) {
        let (secretPath, publicPath) = (base + ".key", base + ".pub")
        try SecretFile.create(secretPath, Array((pair.secretKey.z85 + "\n").utf8), mode: 0o600)
        do throws(Fault) {
            try SecretFile.create(publicPath, Array((pair.publicKey.z85 + "\n").utf8), mode: 0o644)
        } catch {
            _ = unsafe unlink(secretPath)
            throw error
        }
        return (secretPath, publicPath)
    }

    private static func notAKey(_ path: String, _ text: String) -> Fault {
        let count = text.utf8.count
        return Fault(
            path: path,
            reason: count == 40
                ? "it holds no key: not all of its 40 characters are of Z85"
                : "it holds no key: a key has 40 characters of Z85, and this has \(count)"
        )
    }

    /// Whether the text is a key where a file is to be named; it may be a secret, so messages must not repeat it.
    ///
    /// Names of files may have 40 characters of Z85 too: what is there is a file.
    package static func isKey(_ path: String) -> Bool {
        guard CurvePublicKey(z85: path) != nil else { return false }
        return unsafe access(path, F_OK) != 0
    }

    private static func text(at path: String, isSecret: Bool) throws(Fault) -> String {
        guard !self.isKey(path) else {
            throw Fault(
                path: "a file of a key",
                reason: "what is given is a key itself, and must be the name of a file"
            )
        }
        let found = try SecretFile.read(path, bytesMax: self.keyFileBytesMax, limit: "keyFileBytesMax")
        if isSecret { try found.requireSecret() }
        let bytes = found.bytes
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let rest = bytes.drop(while: isSpace)
        let end = rest.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? rest.startIndex
        return String(decoding: rest[..<end], as: UTF8.self)
    }
}
