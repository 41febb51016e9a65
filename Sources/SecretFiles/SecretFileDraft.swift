// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension SecretFile {
    /// A draft that will replace a file, held by one process at a time.
    ///
    /// A process that changes the contents of a file reads it while it has a draft: no other process changes it between the two.
    package final class Draft: Sendable {
        private let path: String
        private let descriptor: CInt

        private static func file(_ path: String) -> String { path + ".new" }

        /// - Throws: where another process changes the file, or it cannot be written.
        package init(of path: String) throws(Fault) {
            let file = Self.file(path)
            let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw SecretFile.systemFault(path, "it cannot be written") }
            // The opened draft may have replaced the file before it was locked: then it is the file.
            var (held, named) = (stat(), stat())
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, unsafe fstat(descriptor, &held) == 0,
                unsafe stat(file, &named) == 0, held.st_ino == named.st_ino
            else {
                close(descriptor)
                throw Fault(path: path, reason: "another process changes it; try again")
            }
            self.path = path
            self.descriptor = descriptor
        }

        deinit { close(self.descriptor) }

        /// Takes the file's place, for good.
        package func commit(_ bytes: [UInt8], mode: UInt32) throws(Fault) {
            var status = stat()
            let isThere = unsafe stat(self.path, &status) == 0
            var isWritten = ftruncate(self.descriptor, 0) == 0 && fchmod(self.descriptor, mode_t(mode)) == 0
            if isThere, status.st_uid != geteuid() || status.st_gid != getegid() {
                isWritten =
                    isWritten && (geteuid() != 0 || fchown(self.descriptor, status.st_uid, status.st_gid) == 0)
            } else if !isThere {
                isWritten = isWritten && FolderOwner.take(self.descriptor, at: self.path)
            }
            isWritten = isWritten && SecretFile.put(bytes, into: self.descriptor)
            guard isWritten, unsafe rename(Self.file(self.path), self.path) == 0 else {
                let fault = SecretFile.systemFault(self.path, "it cannot be written")
                _ = unsafe unlink(Self.file(self.path))
                throw fault
            }
            try self.synchronizeFolder()
        }

        /// Makes the name survive a loss of power.
        private func synchronizeFolder() throws(Fault) {
            let descriptor = unsafe open(FolderOwner.folder(of: self.path), O_RDONLY | O_CLOEXEC)
            let fault = SecretFile.systemFault(self.path, "its folder cannot be written")
            guard descriptor >= 0 else { throw fault }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else {
                throw SecretFile.systemFault(self.path, "its folder cannot be written")
            }
        }
    }
}
