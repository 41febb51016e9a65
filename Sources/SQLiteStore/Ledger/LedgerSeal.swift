// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import SecretFiles

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file that says that the ledger was closed properly, and what its bytes came to.
///
/// It is taken away before the ledger is written to again: where it is missing, the process that had the ledger ended
/// without closing it. What has its name and cannot be read as one is no seal, and says nothing about the ledger.
enum LedgerSeal {
    static let name = "ledger.seal"
    /// Nothing longer is a seal.
    private static let fileBytesMax = 64

    /// The content of a seal.
    struct Content: Hashable {
        let bytes: Int
        /// The digest of the file's bytes; `nil` if the file is large.
        let digest: UInt64?

        /// Whether a file is still as it was closed, as far as the seal can tell.
        func fits(_ file: String) -> Bool {
            guard let found = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int,
                found == self.bytes
            else { return false }
            guard let digest = self.digest else { return true }
            return (try? FileDigest.of(file).digest) == digest
        }
    }

    /// Seals a file that is closed.
    ///
    /// Where its write-ahead log still holds something, it was not closed properly, and gets no seal.
    ///
    /// - Parameters:
    ///   - file: the ledger's file.
    ///   - directory: where the seal is put.
    ///   - digestBytesMax: larger files are not read.
    /// - Throws: where the file cannot be read, or the seal not written.
    static func put(on file: String, in directory: StoreDirectory, digestBytesMax: Int) throws {
        let wal = (try? FileManager.default.attributesOfItem(atPath: file + "-wal")[.size] as? Int) ?? 0
        // The write-ahead log belongs to the file: it was not closed properly.
        guard wal == 0 else { return }
        let bytes = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        let digest = bytes <= digestBytesMax ? String(try FileDigest.of(file).digest, radix: 16) : "-"
        let path = directory.file(Self.name)
        try SecretFile.replace(path, Array("\(bytes) \(digest)\n".utf8), mode: 0o600)
    }

    /// Reads the seal and takes it away, whatever it is.
    ///
    /// - Returns: `nil` where there is none, and where what is there is none.
    /// - Throws: `unusable` where it cannot be taken away.
    static func take(from directory: StoreDirectory) throws(StoreError) -> Content? {
        let path = directory.file(Self.name)
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        let bytes = try? SecretFile.read(path, bytesMax: Self.fileBytesMax, limit: "ledgerSealFileBytesMax").bytes
        do {
            try Self.remove(path, from: directory)
        } catch {
            throw .unusable(
                directory: directory.path,
                reason: "\(Self.name) in it cannot be taken away: \(StoreFile.sentence(error))"
            )
        }
        return bytes.flatMap { Self.content($0) }
    }

    /// The content of a seal; `nil` if it is damaged or cut off.
    private static func content(_ bytes: [UInt8]) -> Content? {
        guard let line = String(validating: bytes, as: UTF8.self), line.hasSuffix("\n") else { return nil }
        let words = line.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let bytes = Int(words[0]) else { return nil }
        guard words[1] != "-" else { return Content(bytes: bytes, digest: nil) }
        return UInt64(words[1], radix: 16).map { Content(bytes: bytes, digest: $0) }
    }

    /// A folder of that name may hold data of another program: it is kept where damaged ledgers are.
    private static func remove(_ path: String, from directory: StoreDirectory) throws {
        if unsafe unlink(path) != 0 {
            let folder = try LedgerReplacement.asideFolder(in: directory)
            var target = folder + "/" + Self.name
            var number = 1
            while FileManager.default.fileExists(atPath: target) {
                number += 1
                target = "\(folder)/\(Self.name)-\(number)"
            }
            try StoreFiles.rename(path, to: target)
        }
        try StoreFiles.synchronizeFolder(of: path)
    }
}
