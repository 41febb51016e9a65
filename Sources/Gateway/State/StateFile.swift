// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `open(2)`, which has the name of a function here.
private func openFile(_ path: String, _ flags: Int32, _ rights: mode_t) -> Int32 {
    unsafe open(path, flags, rights)
}

/// A small file of the data directory that only makes the next start better: whole, or not there.
///
/// It is written beside itself and moved into place (but for a few bytes of it), readable by its owner only. It is not forced to
/// the disk: after a loss of power it may be old or damaged, and then it is ignored. So is whatever is no file, such as a pipe,
/// which must not hold up a start.
struct StateFile: Sendable {
    let directory: String
    let name: String
    /// Nothing larger is read.
    let bytesMax: Int

    /// The content; `nil` if there is no file, or if it is too large.
    func read() -> [UInt8]? {
        guard let descriptor = self.open(O_RDONLY) else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            var failed = false
            // One byte more than the limit, to see that it is passed.
            let room = self.bytesMax + 1 - bytes.count
            guard room > 0 else { return nil }
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: min(room, 65_536)) { (buffer, count) in
                let read = unsafe Self.read(descriptor, buffer.baseAddress, buffer.count)
                failed = read < 0
                count = max(0, read)
            }
            if failed { return nil }
            if piece.isEmpty { return bytes }
            bytes += piece
        }
    }

    /// Replaces what stands in it.
    ///
    /// - Returns: whether that worked.
    func write(_ bytes: [UInt8]) -> Bool {
        let (path, beside) = (self.directory + "/" + self.name, self.directory + "/" + self.name + ".new")
        // An earlier process, or another user, may have left a file there.
        unsafe unlink(beside)
        let descriptor = openFile(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        var left = bytes[...]
        while !left.isEmpty {
            let written = unsafe left.withUnsafeBytes { unsafe Self.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { break }
            left.removeFirst(written)
        }
        close(descriptor)
        guard left.isEmpty, unsafe rename(beside, path) == 0 else {
            unsafe unlink(beside)
            return false
        }
        return true
    }

    /// Writes over some of its bytes, where it is there and reaches so far.
    ///
    /// - Returns: whether that worked.
    func overwrite(_ bytes: [UInt8], at offset: Int) -> Bool {
        guard let descriptor = self.open(O_WRONLY) else { return false }
        defer { close(descriptor) }
        guard lseek(descriptor, 0, SEEK_END) >= offset + bytes.count else { return false }
        return unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
            == bytes.count
    }

    /// Opens the file if it is there and a regular file; a pipe of that name is not waited for.
    private func open(_ access: Int32) -> Int32? {
        let path = self.directory + "/" + self.name
        let descriptor = openFile(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.read(descriptor, buffer, count)
        #else
        unsafe Darwin.read(descriptor, buffer, count)
        #endif
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(descriptor, bytes, count)
        #else
        unsafe Darwin.write(descriptor, bytes, count)
        #endif
    }
}
