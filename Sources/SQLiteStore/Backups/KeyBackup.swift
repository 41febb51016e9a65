// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayCore
import SecretFiles

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The part of a backup that is not in the stores: the keys of a data directory, and which sessions are refused because they
/// were forgotten.
enum KeyBackup {
    static let files = [KeyRingFile.name, ForgettingFiles.refusedName]

    /// Copies what is there of it.
    ///
    /// Made after the copies of the stores: keys come and stay for days, so the newest ones are those that all in the stores was signed with.
    ///
    /// - Parameters:
    ///   - directory: a data directory.
    ///   - folder: the backup.
    /// - Returns: the names of the files that were copied.
    /// - Throws: where one is there and cannot be read, or not be written.
    static func copy(of directory: String, to folder: String) throws -> [String] {
        try Self.files.filter { name in
            do throws(SecretFile.Fault) {
                let bytes = try Self.read(directory + "/" + name)
                try SecretFile.replace(folder + "/" + name, bytes, mode: 0o600)
                return true
            } catch {
                guard error.isMissing else { throw error }
                return false
            }
        }
    }

    /// Brings the keys of a backup into a data directory; keys that are there already decide, because they are newer.
    ///
    /// - Parameters:
    ///   - folder: the backup.
    ///   - manifest: says which files are in it.
    ///   - directory: the data directory.
    /// - Throws: where the keys on one of both sides cannot be used; then everything is as it was.
    static func restoreKeys(from folder: String, _ manifest: BackupManifest, to directory: StoreDirectory) throws {
        guard manifest.files[KeyRingFile.name] != nil else { return }
        let older = try KeyRingFile.read(folder + "/" + KeyRingFile.name)
        try KeyRingFile.change(directory.file(KeyRingFile.name)) { (ring) throws(KeyRingFault) in
            ring?.adding(older: older) ?? older
        }
    }

    private static func read(_ path: String) throws(SecretFile.Fault) -> [UInt8] {
        guard path.hasSuffix("/" + ForgettingFiles.refusedName) else {
            return try SecretFile.secret(
                path,
                bytesMax: KeyRingLimits.keyRingFileBytesMax,
                limit: "keyRingFileBytesMax"
            )
        }
        return try SecretFile.secret(
            path,
            bytesMax: ForgettingFiles.refusedBytesMax,
            limit: ForgettingFiles.refusedLimit
        )
    }

    /// Refuses the sessions that a backup refuses; where the data directory has a list of its own, that is newer and stays.
    static func restoreRefused(from folder: String, _ manifest: BackupManifest, to directory: StoreDirectory) throws {
        let name = ForgettingFiles.refusedName
        guard manifest.files[name] != nil, unsafe access(directory.file(name), F_OK) != 0 else { return }
        try SecretFile.replace(directory.file(name), try Self.read(folder + "/" + name), mode: 0o600)
    }
}
