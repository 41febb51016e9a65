// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SystemSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file of lines that grows to a bound and begins anew; one older file is kept beside it, with `.1` behind its name.
///
/// It is made for its owner only. What cannot be written in full is not in it: it is cut back to where it was. Nothing is forced to the
/// disk. Used by one thread at a time.
struct TraceFile: ~Copyable {
    /// Why a line was not written, as a sentence.
    struct Fault: Error, Hashable, CustomStringConvertible {
        let description: String

        init(_ what: String, _ code: Int32) {
            self.description = "\(what): \(System.describe(code))"
        }

        init(_ sentence: String) {
            self.description = sentence
        }
    }

    let path: String
    /// The most bytes before a new one is begun.
    let bytesMax: Int
    private var descriptor: Int32 = -1
    private var bytes = 0
    /// Writes some bytes; answers with how many, or with the negated errno.
    private let write: @Sendable (Int32, ArraySlice<UInt8>) -> Int

    /// - Parameters:
    ///   - path: where it is.
    ///   - bytesMax: how large it grows.
    ///   - write: for tests: what writes.
    init(
        path: String,
        bytesMax: Int,
        write: @escaping @Sendable (Int32, ArraySlice<UInt8>) -> Int = TraceFile.writeSome
    ) {
        self.path = path
        self.bytesMax = bytesMax
        self.write = write
    }

    deinit {
        if self.descriptor >= 0 { _ = Self.closeFile(self.descriptor) }
    }

    /// Writes a line at the end.
    ///
    /// - Parameter line: with its end.
    /// - Returns: whether a new file was begun for it.
    /// - Throws: why nothing of it is in the file; the next line is tried on a file that is opened anew.
    mutating func append(_ line: [UInt8]) throws(Fault) -> Bool {
        if self.descriptor < 0 { try self.open() }
        var isNew = false
        if self.bytes > 0, self.bytes + line.count > self.bytesMax {
            try self.beginAnew()
            isNew = true
        }
        var written = 0
        while written < line.count {
            let count = self.write(self.descriptor, line[written...])
            if count == -Int(EINTR) { continue }
            guard count > 0 else {
                // A part of a line would spoil the next one too.
                if written > 0 { _ = ftruncate(self.descriptor, off_t(self.bytes)) }
                self.close()
                throw Fault("\(self.path) cannot be written", Int32(clamping: -count))
            }
            written += count
        }
        self.bytes += written
        return isNew
    }

    private mutating func open() throws(Fault) {
        // A special file, such as a pipe, must not block the thread.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = Self.openFile(self.path, flags, 0o600)
        guard descriptor >= 0 else { throw Fault("\(self.path) cannot be opened", errno) }
        var facts = stat()
        // Safety: the kernel writes the one value during the call.
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            _ = Self.closeFile(descriptor)
            throw Fault("\(self.path) is no plain file")
        }
        self.descriptor = descriptor
        self.bytes = Int(facts.st_size)
    }

    private mutating func beginAnew() throws(Fault) {
        self.close()
        guard unsafe rename(self.path, self.path + ".1") == 0 else {
            throw Fault("\(self.path) is full and cannot be renamed", errno)
        }
        try self.open()
    }

    private mutating func close() {
        if self.descriptor >= 0 { _ = Self.closeFile(self.descriptor) }
        self.descriptor = -1
        self.bytes = 0
    }

    private static func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
        #if canImport(Glibc)
        unsafe Glibc.open(path, flags, mode)
        #else
        unsafe Darwin.open(path, flags, mode)
        #endif
    }

    private static func closeFile(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.close(descriptor)
        #else
        Darwin.close(descriptor)
        #endif
    }

    /// Writes as much as the system takes.
    ///
    /// - Parameters:
    ///   - descriptor: of the file.
    ///   - bytes: the bytes to write.
    /// - Returns: how many bytes were, or the negated errno.
    static func writeSome(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            // Safety: the kernel reads the bytes during the call only.
            #if canImport(Glibc)
            let count = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #else
            let count = unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
            return count < 0 ? -Int(errno) : count
        }
    }
}
