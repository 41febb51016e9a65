// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why a file of keys was not read or written; never with what stands in it.
package struct KeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    package let path: String
    /// The end of a sentence about it.
    package let reason: String
    /// Whether there is no such file.
    package let isMissing: Bool

    init(path: String, reason: String, isMissing: Bool = false) {
        self.path = path
        self.reason = reason
        self.isMissing = isMissing
    }

    package var description: String { "\(self.path): \(self.reason)" }
}

/// The file of the keys that sign deliveries and tickets: its owner alone may read it, and it is whole or as it was before.
package enum KeyRingFile {
    /// What it is called in a data directory.
    package static let name = "signing.keys"

    /// Reads a file.
    ///
    /// - Throws: also where others than the file's owner may read it, because then it is no secret. A file of root's may be
    ///   readable by its group: that is how secrets reach a container that runs as somebody else.
    package static func read(_ path: String) throws(KeyFileError) -> KeyRing {
        let bytes = try SecretFile.read(path, bytesMax: KeyRingLimits.keyRingFileBytesMax)
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

    /// Changes what stands in a file, while nobody else does.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - change: gets what stands there, `nil` where there is no file, and gives what is to stand there.
    /// - Returns: what stands there now.
    /// - Throws: where somebody else changes it at the same time, where it cannot be read or written, or where the change fails.
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
        try draft.commit(Array(ring.text.utf8))
        return ring
    }
}

/// Since when the gateways of a log sign deliveries, by the log's own time: what they handed out before has no signature.
///
/// The file `signing.since` in the data directory: one line, a whole number of microseconds since 1970, or `never` where the log was
/// empty: then nothing was handed out before.
package struct SigningSinceFile: SigningRecord {
    package static let name = "signing.since"
    private static let fileBytesMax = 64
    private static let never = "never"

    private let path: String

    package init(directory: String) {
        self.path = directory + "/" + Self.name
    }

    /// Whether a gateway that signs has begun.
    package var isThere: Bool { unsafe access(self.path, F_OK) == 0 }

    package func began(at time: Timestamp?) throws -> Timestamp? {
        do throws(KeyFileError) {
            return try Self.since(try SecretFile.read(self.path, bytesMax: Self.fileBytesMax), self.path)
        } catch {
            guard error.isMissing else { throw error }
            let line = (time.map { String($0.microseconds) } ?? Self.never) + "\n"
            try SecretFile.Draft(of: self.path).commit(Array(line.utf8))
            return time
        }
    }

    private static func since(_ bytes: [UInt8], _ path: String) throws(KeyFileError) -> Timestamp? {
        let line = String(decoding: bytes, as: UTF8.self)
        if line == Self.never + "\n" { return nil }
        guard line.hasSuffix("\n"), let microseconds = Int64(line.dropLast()) else {
            throw KeyFileError(
                path: path,
                reason:
                    "it must be a number of microseconds or '\(Self.never)'; remove it where deliveries that are not signed"
                    + " are to be taken for some days more"
            )
        }
        return Timestamp(microseconds: microseconds)
    }
}

/// Small files that hold a secret, or that decide about one: only their owner may read them, and they are whole or as before.
enum SecretFile {
    /// Reads a file that nobody but its owner may read.
    static func read(_ path: String, bytesMax: Int) throws(KeyFileError) -> [UInt8] {
        // A pipe must not hold up the start.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw KeyFileError(path: path, reason: Self.reason("it cannot be read"), isMissing: errno == ENOENT)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw KeyFileError(path: path, reason: Self.reason("it cannot be looked at"))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw KeyFileError(path: path, reason: "it is no file") }
        let forbidden: mode_t = status.st_uid == 0 && geteuid() != 0 ? 0o037 : 0o077
        guard status.st_mode & forbidden == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw KeyFileError(
                path: path,
                reason: "it holds a secret, and others may read or change it (mode \(mode)); say chmod 600 to it"
            )
        }
        var bytes: [UInt8] = []
        while bytes.count <= bytesMax {
            var count = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: bytesMax + 1 - bytes.count) { buffer, initialized in
                count = unsafe Self.get(descriptor, buffer)
                initialized = max(0, count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw KeyFileError(path: path, reason: Self.reason("it cannot be read")) }
            guard count > 0 else { return bytes }
            bytes += piece
        }
        throw KeyFileError(path: path, reason: "it is too large; the limit is \(bytesMax) bytes")
    }

    /// What is to take a file's place, held by one process at a time.
    final class Draft: Sendable {
        private let path: String
        private let descriptor: Int32

        private static func file(_ path: String) -> String { path + ".new" }

        /// - Throws: where another process changes the file, or it cannot be written.
        init(of path: String) throws(KeyFileError) {
            let file = Self.file(path)
            let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else {
                throw KeyFileError(path: path, reason: SecretFile.reason("it cannot be written"))
            }
            // What was opened may have taken the file's place before it was locked: then it is the file.
            var (held, named) = (stat(), stat())
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, unsafe fstat(descriptor, &held) == 0,
                unsafe stat(file, &named) == 0, held.st_ino == named.st_ino
            else {
                close(descriptor)
                throw KeyFileError(path: path, reason: "another process changes it; try again")
            }
            self.path = path
            self.descriptor = descriptor
        }

        deinit { close(self.descriptor) }

        /// Takes the file's place, for good.
        func commit(_ bytes: [UInt8]) throws(KeyFileError) {
            let file = Self.file(self.path)
            var rest = bytes[...]
            var isWritten = ftruncate(self.descriptor, 0) == 0 && fchmod(self.descriptor, 0o600) == 0
            while isWritten, !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe SecretFile.put(self.descriptor, $0) }
                if count < 0, errno == EINTR { continue }
                isWritten = count > 0
                rest = rest.dropFirst(max(0, count))
            }
            guard isWritten, fsync(self.descriptor) == 0, unsafe rename(file, self.path) == 0 else {
                let error = KeyFileError(path: self.path, reason: SecretFile.reason("it cannot be written"))
                _ = unsafe unlink(file)
                throw error
            }
            do {
                try StoreFiles.synchronizeFolder(of: self.path)
            } catch {
                throw KeyFileError(path: self.path, reason: "its folder cannot be written: \(error)")
            }
        }
    }

    fileprivate static func reason(_ what: String) -> String { "\(what): \(unsafe String(cString: strerror(errno)))" }

    private static func get(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #else
        unsafe Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }

    fileprivate static func put(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
