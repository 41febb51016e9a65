// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A regular file that another program writes to, and may cut or replace.
struct FollowedFile: Sendable {
    let path: String
    let descriptor: CInt
    private let device: UInt64
    private let number: UInt64

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - fromEnd: Whether what is in it already is passed over.
    /// - Throws: ``CueRefusal`` where it is no regular file, or cannot be read.
    init(_ path: String, fromEnd: Bool) throws(CueRefusal) {
        switch try ByteFile.opened(path) {
        case .pipe(let descriptor):
            ByteFile.closeFile(descriptor)
            throw CueRefusal(.unreachable, "\(path) is no regular file.")
        case .regular(let descriptor): self.descriptor = descriptor
        }
        var status = stat()
        guard unsafe fstat(self.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            ByteFile.closeFile(self.descriptor)
            throw CueRefusal(.unreachable, "\(path) is no regular file.")
        }
        self.path = path
        self.device = UInt64(status.st_dev)
        self.number = UInt64(status.st_ino)
        if fromEnd { lseek(self.descriptor, 0, SEEK_END) }
    }

    /// Whether the path has another file, or none.
    var isReplaced: Bool {
        var status = stat()
        guard unsafe stat(self.path, &status) == 0 else { return true }
        return UInt64(status.st_dev) != self.device || UInt64(status.st_ino) != self.number
    }

    /// Whether another path, opened meanwhile, is the same file: while both are open, no other file can have its number.
    func isSame(as other: FollowedFile) -> Bool { self.device == other.device && self.number == other.number }

    /// Goes to the place that another opening of the same file has.
    func goOn(from other: FollowedFile) { lseek(self.descriptor, lseek(other.descriptor, 0, SEEK_CUR), SEEK_SET) }

    /// Whether the file is shorter than what was read of it.
    var isCut: Bool {
        var status = stat()
        return unsafe fstat(self.descriptor, &status) == 0 && status.st_size < lseek(self.descriptor, 0, SEEK_CUR)
    }

    /// Goes to its beginning.
    func rewind() { lseek(self.descriptor, 0, SEEK_SET) }

    /// Closes it.
    func close() { ByteFile.closeFile(self.descriptor) }
}
