// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The operating system's error about a file.
struct JournalFailure: Error, Hashable, CustomStringConvertible {
    let call: String
    let code: Int32

    init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    var description: String { "\(self.call): \(unsafe String(cString: strerror(self.code)))" }
}

/// The file system's operations for the journal; `DiskFileSystem` is the real one.
///
/// Every method may take as long as the disk likes: none is called but on the journal's own thread.
protocol JournalFileSystem: Sendable {
    /// Makes the folder in which the file `path` is to lie, and those above it, where they are missing.
    func makeFolder(of path: String) throws(JournalFailure)
    /// Takes the lock file `path`, which is made where there is none; `nil` where another holder has it.
    func lock(_ path: String) throws(JournalFailure) -> (any JournalLock)?
    /// Opens the file `path` to be appended to, which is made where there is none; empties it first where `truncates`.
    func open(_ path: String, truncates: Bool) throws(JournalFailure) -> any JournalFile
    /// Gives the file `path` the name `target`, whatever has that name now; it is on the disk when this returns.
    func rename(_ path: String, to target: String) throws(JournalFailure)
    /// Removes the file `path`, where it is there and that is possible.
    func remove(_ path: String)
    /// Whether there is something named `path`.
    func exists(_ path: String) -> Bool
}

/// An open file that bytes are appended to, closed when its last reference is released.
protocol JournalFile: AnyObject, Sendable {
    /// Writes all the bytes, or none of them; they survive the end of the app at once.
    func append(_ bytes: [UInt8]) throws(JournalFailure)
    /// Everything that is in the file, but no more than about `maximum` bytes.
    func readAll(atMost maximum: Int) throws(JournalFailure) -> [UInt8]
    /// Returns when what was written survives the end of the device.
    func synchronize() throws(JournalFailure)
}

/// The hold on a journal: one client at a time, of whatever process; it ends with this value, and with the process.
protocol JournalLock: AnyObject, Sendable {}
