// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
import GRDB
package import GatewayCore
import SecretFiles

/// A copy of the ledger on the disk.
package struct LedgerCopy: Hashable, Sendable {
    package let path: String
    /// Copies are counted: a later one has a higher number, whatever the clock said.
    package let number: UInt64
    package let made: Timestamp
    /// The digest of its bytes when it was checked.
    let digest: UInt64

    init(path: String, number: UInt64, made: Timestamp, digest: UInt64) {
        self.path = path
        self.number = number
        self.made = made
        self.digest = digest
    }

    /// A copy by the name of its file, for instance `ledger-17-20261122T010203Z-o12345-0123456789abcdef.sqlite`.
    ///
    /// - Returns: `nil` for a file that is none.
    init?(folder: String, name: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "ledger", parts[4].hasSuffix(".sqlite"), let number = UInt64(parts[1]),
            let made = CopyTime.instant(String(parts[2])),
            let digest = UInt64(parts[4].dropLast(".sqlite".count), radix: 16)
        else { return nil }
        self.init(path: folder + "/" + name, number: number, made: made, digest: digest)
    }

    /// The name of its file.
    ///
    /// - Parameters:
    ///   - number: one more than the copy before.
    ///   - made: when.
    ///   - offset: up to which acknowledgement it counts; for people.
    ///   - digest: the digest of its bytes.
    /// - Returns: the name, without the folder.
    static func name(_ number: UInt64, made: Timestamp, offset: UInt64, digest: UInt64) -> String {
        let digits = String(digest, radix: 16)
        let padded = String(repeating: "0", count: 16 - digits.count) + digits
        return "ledger-\(number)-\(CopyTime.text(made))-o\(offset)-\(padded).sqlite"
    }

    /// Why it cannot be used; `nil`: it is as it was when it was checked.
    package func fault() async -> String? {
        do {
            let digest = self.digest
            let path = self.path
            let isSame = try await StoreFiles.atLowPriority(.awaited) { _ in try FileDigest.of(path).digest == digest }
            return isSame ? nil : "the copy \(path) is not what was written"
        } catch {
            return "the copy \(self.path) cannot be read: \(StoreFile.sentence(error))"
        }
    }

    /// Up to which offset of each lane it counts.
    package func offsets() throws -> [Lane: UInt64] {
        let reader = try StoreFiles.reader(of: self.path)
        defer { try? reader.close() }
        return try reader.read { try LedgerSchema.appliedOffsets($0) }
    }
}

/// The folder with copies of the ledger.
package struct LedgerCopies: Sendable {
    /// The folder's name in the data directory.
    package static let folderName = "copies"
    /// Under which name a copy is made.
    private static let newName = "ledger-new.sqlite"

    package let folder: String

    package init(dataDirectory: String) { self.folder = dataDirectory + "/" + Self.folderName }

    /// All copies, newest first; whether they are right is not looked at.
    package func list() -> [LedgerCopy] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder)) ?? []
        return names.compactMap { LedgerCopy(folder: self.folder, name: $0) }.sorted { $0.number > $1.number }
    }

    /// Makes a copy and checks it.
    ///
    /// - Parameters:
    ///   - ledger: the ledger to copy; it may be written to meanwhile.
    ///   - now: when.
    /// - Returns: the copy, under its name, and what is known of it.
    /// - Throws: `StoreCopyError`, or why the folder or the copy cannot be used; no copy is left then.
    func make(of ledger: SQLiteLedger, at now: Timestamp) async throws -> (copy: LedgerCopy, facts: LedgerCopyFacts) {
        try FileManager.default.createDirectory(
            atPath: self.folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        FolderOwner.take(self.folder)
        let new = self.folder + "/" + Self.newName
        let made = try await ledger.copyUnhurried(to: new)
        do {
            let reader = try StoreFiles.reader(of: new)
            defer { try? reader.close() }
            let (offsets, differences) = try await StoreFiles.atLowPriority(
                .unhurried,
                interrupting: reader
            ) { cancellation in
                try reader.read { database in
                    (
                        try LedgerSchema.appliedOffsets(database),
                        try LedgerAudit.differences(database, cancellation)
                    )
                }
            }
            guard differences.isEmpty else {
                let problems = Array(differences.prefix(StoreCopyLimits.problemsMax))
                throw StoreCopyError.damaged(path: new, problems: problems)
            }
            let number = (self.list().first?.number ?? 0) + 1
            let offset = offsets.filter { $0.key != .breaks }.values.max() ?? 0
            let path =
                self.folder + "/" + LedgerCopy.name(number, made: now, offset: offset, digest: made.digest)
            try StoreFiles.rename(new, to: path)
            let copy = LedgerCopy(path: path, number: number, made: now, digest: made.digest)
            return (copy, LedgerCopyFacts(made: now, offsets: offsets, bytes: made.bytes))
        } catch {
            StoreFiles.remove(new)
            throw error
        }
    }

    /// Removes the copy that a gateway was making when it was killed; none may be under way.
    func removeUnfinished() { StoreFiles.remove(self.folder + "/" + Self.newName) }

    /// Removes a copy.
    func remove(_ copy: LedgerCopy) { StoreFiles.remove(copy.path) }
}

/// Instants in names of files: `20261122T010203Z`.
enum CopyTime {
    static func text(_ instant: Timestamp) -> String {
        // RFC 3339 without what a file's name is better without; fractions of a second are not told.
        let text = instant.description.prefix { $0 != "." && $0 != "Z" }
        return text.filter { $0 != "-" && $0 != ":" } + "Z"
    }

    static func instant(_ text: String) -> Timestamp? {
        let digits = Array(text)
        guard digits.count == 16, digits[8] == "T", digits[15] == "Z" else { return nil }
        let numbers = [0..<4, 4..<6, 6..<8, 9..<11, 11..<13, 13..<15].compactMap { Int64(String(digits[$0])) }
        guard numbers.count == 6, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        let seconds = numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
        return Timestamp(
            microseconds: (Self.day(numbers[0], numbers[1], numbers[2]) * 86_400 + seconds) * 1_000_000
        )
    }

    /// The number of a day of the Gregorian calendar; 0 is the first of January 1970.
    private static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // The year begins in March, so that the day that may be missing is its last.
        let years = month > 2 ? year : year - 1
        let months = (month + 9) % 12
        return years * 365 + years / 4 - years / 100 + years / 400 + (months * 153 + 2) / 5 + day - 719_469
    }
}
