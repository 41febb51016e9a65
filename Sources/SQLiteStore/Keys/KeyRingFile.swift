// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
package import SecretFiles

/// Why a file of keys was not read or written; never with what stands in it.
package typealias KeyFileError = SecretFile.Fault

/// The file of the keys that sign deliveries and tickets: its owner alone may read it, and it is whole or as it was before.
package enum KeyRingFile {
    /// Its name in a data directory.
    package static let name = "signing.keys"

    /// Reads a file.
    ///
    /// - Throws: also where others than the file's owner may read it, because then it is no secret. A file of root's may be
    ///   readable by its group: that is how secrets reach a container that runs as another user.
    package static func read(_ path: String) throws(KeyFileError) -> KeyRing {
        let bytes = try SecretFile.secret(
            path,
            bytesMax: KeyRingLimits.keyRingFileBytesMax,
            limit: "keyRingFileBytesMax"
        )
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw KeyFileError(path: path, reason: "it is not UTF-8")
        }
        do throws(KeyRingFault) {
            return try KeyRing(text: text)
        } catch {
            throw KeyFileError(path: path, reason: error.description)
        }
    }

    /// The same; `nil` where there is no file.
    private static func readIfThere(_ path: String) throws(KeyFileError) -> KeyRing? {
        do throws(KeyFileError) {
            return try self.read(path)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Reads a file, or makes one with a new key where there is none.
    ///
    /// - Returns: the keys, and whether they were just made.
    package static func readOrMake(_ path: String, at now: Timestamp) throws(KeyFileError) -> (KeyRing, isNew: Bool) {
        do throws(KeyFileError) {
            return (try self.read(path), false)
        } catch {
            guard error.isMissing else { throw error }
            let ring = try self.change(path) { (ring) throws(KeyRingFault) in ring ?? .make(at: now) }
            return (ring, true)
        }
    }

    /// Changes the contents of a file, under a lock against other changes.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - change: gets the present keys, `nil` if there is no file, and returns the new ones.
    /// - Returns: the new keys.
    /// - Throws: where another process changes it at the same time, where it cannot be read or written, or where the change fails.
    @discardableResult
    package static func change(
        _ path: String,
        _ change: (KeyRing?) throws(KeyRingFault) -> KeyRing
    ) throws(KeyFileError) -> KeyRing {
        let draft = try SecretFile.Draft(of: path)
        let before = try self.readIfThere(path)
        let ring: KeyRing
        do throws(KeyRingFault) {
            ring = try change(before)
        } catch {
            throw KeyFileError(path: path, reason: error.description)
        }
        try draft.commit(Array(ring.text.utf8), mode: 0o600)
        return ring
    }
}
