// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Small files that hold keys: who may read them, and how they are made so that none is ever half there.
///
/// A file that others than its owner may read holds no secret. A file of root's may be readable by its group: that is how secrets
/// reach a container that runs as another user.
///
///     let found = try SecretFile.read("studio.key", bytesMax: 256, limit: "keyFileBytesMax")
///     try found.requireSecret()
package enum SecretFile {
    /// Why a file was not read or made; never with what stands in it.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file.
        package let path: String
        /// The end of a sentence about it.
        package let reason: String
        /// Whether a file stood in the way of a new one.
        package let isInTheWay: Bool
        /// Whether there is no such file.
        package let isMissing: Bool

        package init(path: String, reason: String, isInTheWay: Bool = false, isMissing: Bool = false) {
            self.path = path
            self.reason = reason
            self.isInTheWay = isInTheWay
            self.isMissing = isMissing
        }

        package var description: String { "\(self.path): \(self.reason)" }
    }

    /// A file that was read whole, and who else may do what with it.
    package struct Contents: Sendable {
        /// The file.
        package let path: String
        package let bytes: [UInt8]
        /// The bits of who may do what (`man 2 chmod`).
        package let mode: UInt32
        private let isOfRoot: Bool

        fileprivate init(path: String, bytes: [UInt8], status: stat) {
            self.path = path
            self.bytes = bytes
            self.mode = UInt32(status.st_mode & 0o777)
            self.isOfRoot = status.st_uid == 0 && geteuid() != 0
        }

        /// Only its owner may read or change it.
        package func requireSecret() throws(Fault) {
            try self.require(
                self.isOfRoot ? 0o037 : 0o077,
                "it holds a secret, and others may read or change it",
                "600"
            )
        }

        /// Only its owner may change it: a user who can add a key to a list of keys gains access.
        package func requireUnchangedByOthers() throws(Fault) {
            try self.require(0o022, "it says whom to trust, and others may change it", "644")
        }

        private func require(_ forbidden: UInt32, _ what: String, _ right: String) throws(Fault) {
            guard self.mode & forbidden != 0 else { return }
            throw Fault(
                path: self.path,
                reason: "\(what) (mode \(String(self.mode, radix: 8))); say chmod \(right) to it"
            )
        }
    }

    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - bytesMax: nothing larger is read.
    ///   - limit: the name of that limit, for the sentence.
    /// - Returns: its content, and the other users that may read or change it.
    /// - Throws: a fault; also where it is no file, such as a pipe, which must not hold up a start.
    package static func read(_ path: String, bytesMax: Int, limit: String) throws(Fault) -> Contents {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw self.systemFault(self.shown(path), "it cannot be read", isMissing: errno == ENOENT)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw self.systemFault(path, "it cannot be looked at") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Fault(path: path, reason: "it is no file") }
        var bytes = [UInt8](repeating: 0, count: min(bytesMax, max(0, Int(status.st_size))) + 1)
        var count = 0
        while true {
            // It may grow while it is read.
            if count == bytes.count {
                guard count <= bytesMax else { break }
                bytes.append(contentsOf: repeatElement(0, count: min(count, bytesMax + 1 - count)))
            }
            let found = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe self.get(descriptor, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
            }
            if found < 0, errno == EINTR { continue }
            guard found >= 0 else { throw self.systemFault(path, "it cannot be read") }
            guard found > 0 else { break }
            count += found
        }
        guard count <= bytesMax else {
            throw Fault(path: path, reason: "it is too large; the limit \(limit) is \(bytesMax)")
        }
        return Contents(path: path, bytes: Array(bytes[..<count]), status: status)
    }

    /// Makes a file that is not there yet, and brings it to the disk; where root makes it, it is the folder's owner's (`FolderOwner`).
    ///
    /// - Throws: where there is one already: a key that is in use is never written over.
    package static func create(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(Fault) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else {
            guard errno == EEXIST else { throw self.systemFault(path, "it cannot be made") }
            throw Fault(
                path: path,
                reason: "it is there already, and keys are never written over",
                isInTheWay: true
            )
        }
        // Whatever the process leaves out of new files' modes.
        let isWritten =
            fchmod(descriptor, mode_t(mode)) == 0 && FolderOwner.take(descriptor, at: path)
            && self.put(bytes, into: descriptor)
        let fault = self.systemFault(path, "it cannot be written")
        close(descriptor)
        guard isWritten else {
            _ = unsafe unlink(path)
            throw fault
        }
    }

    /// Reads a whole file that only its owner may read or change.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - bytesMax: nothing larger is read.
    ///   - limit: the name of that limit, for the sentence.
    /// - Returns: its content.
    /// - Throws: a fault; also where others may read it, because then it is no secret.
    package static func secret(_ path: String, bytesMax: Int, limit: String) throws(Fault) -> [UInt8] {
        let found = try self.read(path, bytesMax: bytesMax, limit: limit)
        try found.requireSecret()
        return found.bytes
    }

    /// Reads a whole file that says whom to trust: only its owner may change it.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - bytesMax: nothing larger is read.
    ///   - limit: the name of that limit, for the sentence.
    /// - Returns: its content, and the other users that may read it.
    /// - Throws: a fault; also where others may change it.
    package static func trusted(_ path: String, bytesMax: Int, limit: String) throws(Fault) -> Contents {
        let found = try self.read(path, bytesMax: bytesMax, limit: limit)
        try found.requireUnchangedByOthers()
        return found
    }

    /// Replaces the contents of a file, or makes it; a concurrent reader reads either the old contents or the new contents, whole.
    ///
    /// The file keeps its owner, where this process may give it away: root may renew the keys of a gateway that runs as another
    /// user. A file that root makes anew belongs to the folder's owner (`FolderOwner`).
    ///
    /// - Throws: also where another process changes it at the same time.
    package static func replace(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(Fault) {
        try Draft(of: path).commit(bytes, mode: mode)
    }

    /// Writes everything, and brings it to the disk.
    static func put(_ bytes: [UInt8], into descriptor: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe self.put(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return fsync(descriptor) == 0
    }

    private static func put(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private static func get(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.read(descriptor, buffer, count)
        #elseif canImport(Musl)
        unsafe Musl.read(descriptor, buffer, count)
        #else
        unsafe Darwin.read(descriptor, buffer, count)
        #endif
    }

    /// A name of a file that cannot be opened, as it may be shown: a token or a key that was given where its file belongs is not.
    private static func shown(_ path: String) -> String {
        let isLikeSecret =
            path.utf8.count >= 40
            && path.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "="): true
                default: false
                }
            }
        return isLikeSecret ? "\(path.prefix(4))… (\(path.utf8.count) characters; a file's name belongs here)" : path
    }

    static func systemFault(_ path: String, _ what: String, isMissing: Bool = false) -> Fault {
        Fault(path: path, reason: "\(what): \(unsafe String(cString: strerror(errno)))", isMissing: isMissing)
    }
}
