// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The file system of the device.
struct DiskFileSystem: JournalFileSystem {
    func makeFolder(of path: String) throws(JournalFailure) {
        let folder = Self.folder(of: path)
        guard !self.exists(folder) else { return }
        if Self.folder(of: folder) != folder { try self.makeFolder(of: folder) }
        // Another process may make it in the same moment.
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw JournalFailure("mkdir") }
    }

    func lock(_ path: String) throws(JournalFailure) -> (any JournalLock)? {
        try DiskLock(path: path)
    }

    func open(_ path: String, truncates: Bool) throws(JournalFailure) -> any JournalFile {
        try DiskFile(path: path, truncates: truncates)
    }

    func rename(_ path: String, to target: String) throws(JournalFailure) {
        #if canImport(Glibc)
        let isDone = unsafe Glibc.rename(path, target) == 0
        #elseif canImport(Musl)
        let isDone = unsafe Musl.rename(path, target) == 0
        #else
        let isDone = unsafe Darwin.rename(path, target) == 0
        #endif
        guard isDone else { throw JournalFailure("rename") }
        try Self.synchronizeFolder(of: target)
    }

    func remove(_ path: String) {
        unsafe unlink(path)
    }

    func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// The path without its last part: `.` for a name alone.
    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// A new name in a folder survives the end of the device only when the folder itself is on the disk.
    private static func synchronizeFolder(of path: String) throws(JournalFailure) {
        let descriptor = openDescriptor(Self.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw JournalFailure("open") }
        defer { close(descriptor) }
        // Some file systems cannot do this for folders, and say so.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw JournalFailure("fsync") }
    }
}

/// `open(2)`, whose name the methods here have too.
private func openDescriptor(_ path: String, _ flags: Int32) -> Int32 {
    unsafe open(path, flags, 0o600)
}

private final class DiskFile: JournalFile {
    private let descriptor: Int32

    init(path: String, truncates: Bool) throws(JournalFailure) {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (truncates ? O_TRUNC : 0)
        let descriptor = openDescriptor(path, flags)
        guard descriptor >= 0 else { throw JournalFailure("open") }
        self.descriptor = descriptor
    }

    deinit {
        close(self.descriptor)
    }

    func append(_ bytes: [UInt8]) throws(JournalFailure) {
        let before = lseek(self.descriptor, 0, SEEK_END)
        guard before >= 0 else { throw JournalFailure("lseek") }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe write(self.descriptor, buffer.baseAddress?.advanced(by: written), bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = JournalFailure("write")
                // Best effort: half a record would only be counted as damage.
                _ = ftruncate(self.descriptor, before)
                throw failure
            }
            written += count
        }
    }

    func readAll(atMost maximum: Int) throws(JournalFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < maximum {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe pread(self.descriptor, buffer.baseAddress, buffer.count, off_t(bytes.count))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw JournalFailure("read") }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    func synchronize() throws(JournalFailure) {
        #if canImport(Darwin)
        // There `fsync` does not reach the disk. A barrier does, in order, and costs less than emptying the disk's cache;
        // file systems that know no barrier know that.
        if fcntl(self.descriptor, F_BARRIERFSYNC) == 0 || fcntl(self.descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(self.descriptor) == 0 else { throw JournalFailure("fsync") }
    }
}

/// A lock of the operating system on a file beside the journal, which is never replaced.
private final class DiskLock: JournalLock {
    private let descriptor: Int32

    init?(path: String) throws(JournalFailure) {
        let descriptor = openDescriptor(path, O_RDWR | O_CREAT | O_CLOEXEC)
        guard descriptor >= 0 else { throw JournalFailure("open") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let failure = JournalFailure("flock")
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
