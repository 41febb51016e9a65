// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// The file that says that the ledger was closed properly, and what its bytes came to.
///
/// It is taken away before the ledger is written to again: where it is missing, the process that had the ledger ended
/// without closing it.
enum LedgerSeal {
    private static let name = "ledger.seal"

    /// What a seal says.
    struct Content: Hashable {
        let bytes: Int
        /// What the file's bytes came to; `nil` where the file is large.
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
        // What is in the write-ahead log belongs to the file: it was not closed properly.
        guard wal == 0 else { return }
        let bytes = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        let digest = bytes <= digestBytesMax ? String(try FileDigest.of(file).digest, radix: 16) : "-"
        let path = directory.file(Self.name)
        try Data("\(bytes) \(digest)\n".utf8).write(to: URL(fileURLWithPath: path + ".partial"))
        try StoreFiles.synchronize(path + ".partial")
        try StoreFiles.rename(path + ".partial", to: path)
    }

    /// Reads the seal and takes it away.
    ///
    /// - Returns: `nil` where there is none.
    static func take(from directory: StoreDirectory) throws -> Content? {
        let path = directory.file(Self.name)
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let words = try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        try FileManager.default.removeItem(atPath: path)
        try StoreFiles.synchronizeFolder(of: path)
        guard words.count == 2, let bytes = Int(words[0]) else { return nil }
        return Content(bytes: bytes, digest: UInt64(words[1], radix: 16))
    }
}
