// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayCore
import SecretFiles
import Testing

@testable import SQLiteStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files that root makes in another user's data directory stay readable for that user.
@Suite(.suiteLimit)
struct FolderOwnerTests {
    private let directory: TemporaryDirectory
    private let owner: uid_t = 4_321
    private let group: gid_t = 4_322

    init() throws { self.directory = try TemporaryDirectory() }

    /// A folder of another user.
    private func folder(_ name: String = UUID().uuidString) throws -> String {
        guard geteuid() == 0 else { try Test.cancel("only root gives files away") }
        let path = self.directory.fresh(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(unsafe chown(path, self.owner, self.group) == 0)
        return path
    }

    private func isOwners(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_uid == self.owner && status.st_gid == self.group
    }

    /// The files in a folder, and below it, that are not its owner's.
    private func others(in path: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { !self.isOwners(path + "/" + $0) }
    }

    @Test func `a file of keys is the folder's owner's, and keeps its own owner afterwards`() throws {
        let folder = try self.folder()
        let (made, replaced) = (folder + "/made", folder + "/replaced")
        try SecretFile.create(made, [1], mode: 0o600)
        try SecretFile.replace(replaced, [1], mode: 0o600)
        _ = try KeyRingFile.readOrMake(folder + "/" + KeyRingFile.name, at: Books.start)
        let files = ForgettingFiles(directory: folder)
        try files.write(.empty())
        try files.writePending(SessionPseudonyms(of: Books.session(1)))
        #expect(self.others(in: folder) == [])
        try #require(unsafe chown(replaced, self.owner + 1, self.group) == 0)
        try SecretFile.replace(replaced, [2], mode: 0o600)
        var status = stat()
        #expect(unsafe stat(replaced, &status) == 0 && status.st_uid == self.owner + 1)
    }

    @Test func `a file with other names, or a link, stays whose it is`() throws {
        let folder = try self.folder()
        let secret = self.directory.fresh("secret")
        try Data([1]).write(to: URL(fileURLWithPath: secret))
        try #require(unsafe link(secret, folder + "/second") == 0)
        try #require(unsafe symlink(secret, folder + "/link") == 0)
        #expect(!FolderOwner.take(folder + "/second") && !FolderOwner.take(folder + "/link"))
        var status = stat()
        #expect(unsafe stat(secret, &status) == 0 && status.st_uid == 0)
    }

    @Test func `books that root opens, and restores twice, are the folder's owner's`() async throws {
        let data = try self.folder()
        let backup = self.directory.fresh("backup")
        let stores = try Stores.open(in: StoreDirectory(path: data))
        _ = try KeyRingFile.readOrMake(data + "/" + KeyRingFile.name, at: Books.start)
        _ = try await StoreBackups.make(
            of: stores.log,
            stores.ledger,
            keysOf: data,
            in: backup,
            version: "test",
            at: Books.start
        )
        #expect(self.others(in: data) == [])
        await stores.close()
        _ = try await StoreBackups.restore(from: backup, to: data, replacing: true)
        #expect(self.others(in: data) == [])
        let fresh = try self.folder("fresh")
        _ = try await StoreBackups.restore(from: backup, to: fresh)
        #expect(self.others(in: fresh) == [])
        let books = try await KeptBooks(fresh)
        _ = try await books.ledger.copy(at: Books.start)
        await books.close()
        #expect(self.others(in: fresh) == [])
    }
}
