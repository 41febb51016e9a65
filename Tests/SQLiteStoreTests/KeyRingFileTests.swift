// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import SecretFiles
import Testing

@testable import SQLiteStore

/// The files of a data directory that decide what a gateway takes for its own: keys, and since when they sign.
@Suite(.suiteLimit)
struct KeyRingFileTests {
    private let directory: TemporaryDirectory
    private let now = Timestamp(microseconds: 1_800_000_000_000_000)

    init() throws { self.directory = try TemporaryDirectory() }

    private func folder(_ name: String = "data") throws -> String {
        let path = self.directory.fresh(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `the first start makes a key that only its owner may read, and later ones read it`() throws {
        let path = try self.folder() + "/" + KeyRingFile.name
        let first = try KeyRingFile.readOrMake(path, at: self.now)
        #expect(first.isNew && first.0.keys.map(\.state) == [.signing])
        #expect(try self.mode(path) == 0o600)
        let second = try KeyRingFile.readOrMake(path, at: self.now)
        #expect(!second.isNew && second.0 == first.0)
        #expect(try KeyRingFile.read(path) == first.0)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o777])
    func `a file that others may read is refused, and not changed either`(mode: Int) throws {
        let path = try self.folder() + "/" + KeyRingFile.name
        _ = try KeyRingFile.readOrMake(path, at: self.now)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let reason =
            "it holds a secret, and others may read or change it (mode \(String(mode, radix: 8))); say chmod 600 to it"
        let error = KeyFileError(path: path, reason: reason)
        #expect(throws: error) { try KeyRingFile.read(path) }
        #expect(throws: error) { try KeyRingFile.readOrMake(path, at: self.now) }
        #expect(throws: error) {
            try KeyRingFile.change(path) { (_) throws(KeyRingFault) in .make(at: self.now) }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func `a damaged file is refused with the place, and never made anew`() throws {
        let path = try self.folder() + "/" + KeyRingFile.name
        let ring = try KeyRingFile.readOrMake(path, at: self.now).0
        for text in ["", String(ring.text.dropLast(40)), ring.text.replacingOccurrences(of: "signing ", with: "x ")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: KeyFileError.self) { try KeyRingFile.readOrMake(path, at: self.now) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        let large = Data(repeating: UInt8(ascii: "#"), count: KeyRingLimits.keyRingFileBytesMax + 1)
        try large.write(to: URL(fileURLWithPath: path))
        #expect(throws: KeyFileError(path: path, reason: "it is too large; the limit keyRingFileBytesMax is 16384")) {
            try KeyRingFile.read(path)
        }
        try large.dropLast().write(to: URL(fileURLWithPath: path))
        #expect(throws: KeyFileError(path: path, reason: "it is empty")) { try KeyRingFile.read(path) }
    }

    @Test func `files that a killed process left do no harm`() throws {
        let path = try self.folder() + "/" + KeyRingFile.name
        let ring = try KeyRingFile.readOrMake(path, at: self.now).0
        try Data("half of a".utf8).write(to: URL(fileURLWithPath: path + ".new"))
        #expect(try KeyRingFile.readOrMake(path, at: self.now).0 == ring)
        let rotated = try KeyRingFile.change(path) { (ring) throws(KeyRingFault) in
            try (ring ?? .make(at: self.now)).rotated(at: self.now)
        }
        #expect(rotated.keys.count == 2)
        #expect(try KeyRingFile.read(path) == rotated)
        #expect(try self.mode(path) == 0o600)
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }

    @Test func `a change that fails, or that another makes, leaves the file as it is`() throws {
        let path = try self.folder() + "/" + KeyRingFile.name
        let ring = try KeyRingFile.readOrMake(path, at: self.now).0
        do {
            let other = try SecretFile.Draft(of: path)
            withExtendedLifetime(other) {
                _ = #expect(throws: KeyFileError(path: path, reason: "another process changes it; try again")) {
                    try KeyRingFile.change(path) { (_) throws(KeyRingFault) in .make(at: self.now) }
                }
            }
        }
        #expect(throws: KeyFileError(path: path, reason: "no")) {
            try KeyRingFile.change(path) { (_) throws(KeyRingFault) in throw KeyRingFault("no") }
        }
        #expect(try KeyRingFile.read(path) == ring)
    }

    @Test func `many who rotate at once each make one key, or are told to try again`() async throws {
        let path = try self.folder() + "/" + KeyRingFile.name
        _ = try KeyRingFile.readOrMake(path, at: self.now)
        let now = self.now
        let done = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    do throws(KeyFileError) {
                        try KeyRingFile.change(path) { (ring) throws(KeyRingFault) in
                            try (ring ?? .make(at: now)).rotated(at: now)
                        }
                        return true
                    } catch {
                        #expect(error.reason == "another process changes it; try again")
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(try KeyRingFile.read(path).keys.count == 1 + done)
        #expect(done > 0)
    }

    // MARK: - Backups

    private func stores(_ folder: String) throws -> Stores { try Stores.open(in: StoreDirectory(path: folder)) }

    private func backup(of folder: String) async throws -> String {
        let stores = try self.stores(folder)
        let backup = self.directory.fresh("backup")
        _ = try await StoreBackups.make(
            of: stores.log,
            stores.ledger,
            keysOf: folder,
            in: backup,
            version: "test",
            at: Books.start
        )
        await stores.close()
        return backup
    }

    @Test func `keys go with a backup, and what they signed is taken after a restore`() async throws {
        let folder = try self.folder()
        let path = folder + "/" + KeyRingFile.name
        let ring = try KeyRingFile.readOrMake(path, at: self.now).0
        let backup = try await self.backup(of: folder)
        #expect(try self.mode(backup + "/" + KeyRingFile.name) == 0o600)

        let fresh = self.directory.fresh("restored")
        _ = try await StoreBackups.restore(from: backup, to: fresh)
        #expect(try KeyRingFile.read(fresh + "/" + KeyRingFile.name) == ring)

        // Over a directory that has rotated since: the newest key signs, and those of the backup are taken.
        let newer = try KeyRingFile.change(path) { (ring) throws(KeyRingFault) in
            try (ring ?? .make(at: self.now)).rotated(at: self.now)
        }
        _ = try await StoreBackups.restore(from: backup, to: folder, replacing: true)
        #expect(try KeyRingFile.read(path) == newer)

        // Over one whose file was lost and made anew.
        try FileManager.default.removeItem(atPath: path)
        let lost = try KeyRingFile.readOrMake(path, at: self.now).0
        _ = try await StoreBackups.restore(from: backup, to: folder, replacing: true)
        let both = try KeyRingFile.read(path)
        #expect(both.signing == lost.signing)
        #expect(both.keys.map(\.id) == [lost.signing.id, ring.signing.id])
    }

    @Test func `a restore with keys that cannot be used changes nothing`() async throws {
        let folder = try self.folder()
        let path = folder + "/" + KeyRingFile.name
        _ = try KeyRingFile.readOrMake(path, at: self.now)
        let backup = try await self.backup(of: folder)
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: path))
        let before = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + StoreDirectory.logFile))
        await #expect(throws: KeyFileError.self) {
            try await StoreBackups.restore(from: backup, to: folder, replacing: true)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/" + StoreDirectory.logFile)) == before)
        #expect(!FileManager.default.fileExists(atPath: folder + "/" + StoreBackups.unfinishedFile))
        try Data("changed".utf8).write(to: URL(fileURLWithPath: backup + "/" + KeyRingFile.name))
        await #expect(throws: BackupError.self) {
            try await StoreBackups.restore(from: backup, to: self.directory.fresh("other"))
        }
    }
}
