// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open file that bytes are appended to, closed when nobody uses it any more.
///
/// What was written survives the end of the app at once, and the end of the device after `synchronize()`.
final class JournalFile: Sendable {
    /// What the operating system said.
    struct Failure: Error, Hashable, CustomStringConvertible {
        let call: String
        let code: Int32

        init(_ call: String) {
            self.call = call
            self.code = errno
        }

        var description: String { "\(self.call): \(unsafe String(cString: strerror(self.code)))" }
    }

    private let descriptor: Int32

    /// Opens a file to be appended to; empties it first where `truncates`.
    init(path: String, truncates: Bool) throws(Failure) {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (truncates ? O_TRUNC : 0)
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { throw Failure("open") }
        self.descriptor = descriptor
    }

    deinit {
        close(self.descriptor)
    }

    /// Writes all the bytes, or none of them.
    func append(_ bytes: [UInt8]) throws(Failure) {
        let before = lseek(self.descriptor, 0, SEEK_END)
        guard before >= 0 else { throw Failure("lseek") }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe write(self.descriptor, buffer.baseAddress?.advanced(by: written), bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = Failure("write")
                // Best effort: half a record would only be counted as damage.
                _ = ftruncate(self.descriptor, before)
                throw failure
            }
            written += count
        }
    }

    /// Everything that is in the file.
    func readAll(atMost maximum: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < maximum {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe pread(self.descriptor, buffer.baseAddress, buffer.count, off_t(bytes.count))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("read") }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Returns when what was written is on the disk.
    func synchronize() throws(Failure) {
        guard fsync(self.descriptor) == 0 else { throw Failure("fsync") }
    }

    /// Puts the file at `path` in the place of another, at once.
    static func replace(_ target: String, with path: String) throws(Failure) {
        guard unsafe rename(path, target) == 0 else { throw Failure("rename") }
    }
}

/// The hold on a journal: one client at a time, of whatever process.
///
/// A lock of the operating system on a file beside the journal, which is never replaced. It ends with this value, and
/// with the process, however that ends.
final class JournalLock: Sendable {
    private let descriptor: Int32

    /// - Returns: `nil` where somebody else holds it.
    init?(path: String) throws(JournalFile.Failure) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw JournalFile.Failure("open") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let failure = JournalFile.Failure("flock")
            close(descriptor)
            guard failure.code == EWOULDBLOCK else { throw failure }
            return nil
        }
        self.descriptor = descriptor
    }

    deinit {
        // Said in so many words: a process that is just being started has a copy of the descriptor until it runs.
        flock(self.descriptor, LOCK_UN)
        close(self.descriptor)
    }
}
