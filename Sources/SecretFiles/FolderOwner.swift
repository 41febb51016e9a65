// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The owner of files that root makes in another user's folder: the folder's owner, who has to read them afterwards.
///
/// A command that root runs in the data directory of a gateway that runs as another user would otherwise leave files there that the
/// gateway cannot read. For all other users there is nothing to do: their files are theirs.
package enum FolderOwner {
    /// Gives a file that this process has just made to the owner of its folder.
    ///
    /// - Parameters:
    ///   - descriptor: the file, open.
    ///   - path: where it is.
    /// - Returns: whether it is the owner's now, or need not be.
    @discardableResult
    package static func take(_ descriptor: CInt, at path: String) -> Bool {
        guard geteuid() == 0 else { return true }
        var (file, folder) = (stat(), stat())
        guard unsafe fstat(descriptor, &file) == 0, unsafe stat(Self.folder(of: path), &folder) == 0 else {
            return false
        }
        let isOthers = file.st_uid != 0 || file.st_uid == folder.st_uid && file.st_gid == folder.st_gid
        return isOthers || fchown(descriptor, folder.st_uid, folder.st_gid) == 0
    }

    /// The same for a file or folder that is not open, by its path.
    ///
    /// A file that has other names too, or that is neither file nor folder, stays root's: the owner of the folder could have put it
    /// there.
    @discardableResult
    package static func take(_ path: String) -> Bool {
        guard geteuid() == 0 else { return true }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFDIR || kind == S_IFREG && status.st_nlink == 1 else { return false }
        return Self.take(descriptor, at: path)
    }

    /// The folder in which a path lies.
    static func folder(of path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return String(path[...slash])
    }
}
