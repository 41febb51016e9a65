// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

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
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file.
        package let path: String
        /// The end of a sentence about it.
        package let reason: String
        /// Whether a file stood in the way of a new one.
        package let isInTheWay: Bool

        init(path: String, reason: String, isInTheWay: Bool = false) {
            self.path = path
            self.reason = reason
            self.isInTheWay = isInTheWay
        }

        package var description: String { "\(self.path): \(self.reason)" }
    }

    /// Reads a public key.
    package static func publicKey(at path: String) throws(Fault) -> CurvePublicKey {
        let text = try self.text(at: path, isSecret: false)
        guard let key = CurvePublicKey(z85: text) else { throw self.notAKey(path, text) }
        return key
    }

    /// Reads a secret key.
    ///
    /// - Throws: also where others than the file's owner may read it, because then it is no secret. A file of root's may be
    ///   readable by its group: that is how secrets reach a container that runs as somebody else.
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
        try self.write(pair.secretKey.z85, to: secretPath, mode: 0o600)
        do throws(Fault) {
            try self.write(pair.publicKey.z85, to: publicPath, mode: 0o644)
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

    /// Whether somebody gave a key where a file is to be named; it may be a secret, so nobody repeats it.
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
        // A pipe must not hold up the start.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw self.systemFault(path, "it cannot be read") }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw self.systemFault(path, "it cannot be looked at") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Fault(path: path, reason: "it is no file") }
        if isSecret {
            let isOfRoot = status.st_uid == 0 && geteuid() != 0
            let forbidden: mode_t = isOfRoot ? 0o037 : 0o077
            guard status.st_mode & forbidden == 0 else {
                let mode = String(status.st_mode & 0o777, radix: 8)
                throw Fault(
                    path: path,
                    reason: "it holds a secret, and others may read or change it (mode \(mode)); say chmod 600 to it"
                )
            }
        }
        var bytes = [UInt8](repeating: 0, count: self.keyFileBytesMax + 1)
        var count = 0
        while count < bytes.count {
            let found = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
            }
            if found < 0, errno == EINTR { continue }
            guard found >= 0 else { throw self.systemFault(path, "it cannot be read") }
            guard found > 0 else { break }
            count += found
        }
        guard count <= self.keyFileBytesMax else {
            throw Fault(path: path, reason: "it is too large; the limit keyFileBytesMax is \(self.keyFileBytesMax)")
        }
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let rest = bytes[..<count].drop(while: isSpace)
        let end = rest.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? rest.startIndex
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static func write(_ text: String, to path: String, mode: mode_t) throws(Fault) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            guard errno == EEXIST else { throw self.systemFault(path, "it cannot be made") }
            throw Fault(
                path: path,
                reason: "it is there already, and keys are never written over",
                isInTheWay: true
            )
        }
        // Whatever the process leaves out of new files' modes.
        var isWritten = fchmod(descriptor, mode) == 0
        var rest = Array((text + "\n").utf8)[...]
        while isWritten, !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe self.put(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            isWritten = count > 0
            rest = rest.dropFirst(max(0, count))
        }
        isWritten = isWritten && fsync(descriptor) == 0
        let fault = self.systemFault(path, "it cannot be written")
        close(descriptor)
        guard isWritten else {
            _ = unsafe unlink(path)
            throw fault
        }
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

    private static func systemFault(_ path: String, _ what: String) -> Fault {
        Fault(path: path, reason: "\(what): \(unsafe String(cString: strerror(errno)))")
    }
}
