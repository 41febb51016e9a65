// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The last message of a snapshot: what it is a snapshot of, and what its chunks come to.
///
/// A snapshot without a manifest was not written to its end. The text ends with its own digest, so that a damaged one shows.
package struct SnapshotManifest: Hashable, Sendable {
    /// A record that the log has to have: the newest one when the snapshot was made.
    package struct Mark: Hashable, Sendable {
        package var offset: UInt64
        /// As `LoggedRecord.digest`.
        package var digest: UInt64

        package init(offset: UInt64, digest: UInt64) {
            self.offset = offset
            self.digest = digest
        }
    }

    private static let head = "cuecast-snapshot 1"

    package var logID: LogID
    package var epoch: UInt64
    /// The version of the fold's rules.
    package var rules: UInt32
    /// The number of the board (`BoardDigest.value`).
    package var board: UInt64
    /// By the clock of the gateway that wrote it.
    package var made: Timestamp
    /// By lane; that of `breaks` is the record that the board is as of.
    package var lanes: [Lane: Mark]
    /// How many writers the table has.
    package var writers: Int
    /// Tells its chunks from those of another snapshot.
    package var id: UInt64
    package var parts: Int
    /// The sequence of the first chunk.
    package var first: UInt64
    package var chunks: Int
    /// Of all chunks together, without their heads.
    package var bytes: Int
    /// Of all chunks together.
    package var digest: UInt64

    /// The record that the board is as of.
    package var offset: UInt64 { self.lanes[.breaks]?.offset ?? 0 }

    package init(
        identity: LogIdentity,
        rules: UInt32,
        board: UInt64,
        writers: Int,
        made: Timestamp,
        lanes: [Lane: Mark]
    ) {
        (self.logID, self.epoch) = (identity.logID, identity.epoch)
        (self.rules, self.board, self.writers, self.made, self.lanes) = (rules, board, writers, made, lanes)
        (self.id, self.parts, self.first, self.chunks, self.bytes, self.digest) = (0, 0, 0, 0, 0, 0)
    }

    package var encoded: [UInt8] {
        let text = self.text
        return Array((text + Self.check(text)).utf8)
    }

    private var text: String {
        func hex(_ value: UInt64) -> String { String(value, radix: 16) }
        let lanes = self.lanes.sorted { $0.key.description < $1.key.description }
            .map { "lane \($0.key) \($0.value.offset) \(hex($0.value.digest))\n" }
        return """
            \(Self.head)
            log \(self.logID)
            epoch \(hex(self.epoch))
            rules \(self.rules)
            board \(hex(self.board))
            made \(self.made.microseconds)
            writers \(self.writers)
            chunks \(hex(self.id)) \(self.first) \(self.chunks) \(self.parts) \(self.bytes) \(hex(self.digest))

            """ + lanes.joined()
    }

    private static func check(_ text: String) -> String {
        "check \(String(StableHash.hash([Array(text.utf8)]), radix: 16))\n"
    }

    /// - Returns: `nil` where it is not exactly what `encoded` is.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= SnapshotLimits.manifestBytesMax, let all = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        let lines = all.split(separator: "\n").map { $0.split(separator: " ") }
        guard lines.count >= 9, lines.dropFirst().allSatisfy({ $0.count >= 2 }) else { return nil }
        func hex(_ text: Substring) -> UInt64? { UInt64(text, radix: 16) }
        let (log, chunks) = (lines[1][1], lines[7])
        guard log.utf8.count == 32, let high = hex(log.prefix(16)), let low = hex(log.suffix(16)),
            let epoch = hex(lines[2][1]), let rules = UInt32(lines[3][1]), let board = hex(lines[4][1]),
            let made = Int64(lines[5][1]), let writers = Int(lines[6][1]), chunks.count == 7, let id = hex(chunks[1]),
            let first = UInt64(chunks[2]), let count = Int(chunks[3]), let parts = Int(chunks[4]),
            let size = Int(chunks[5]), let digest = hex(chunks[6])
        else { return nil }
        self.init(
            identity: LogIdentity(logID: LogID(high: high, low: low), epoch: epoch),
            rules: rules,
            board: board,
            writers: writers,
            made: Timestamp(microseconds: made),
            lanes: [:]
        )
        (self.id, self.first, self.chunks, self.parts, self.bytes, self.digest) = (
            id, first, count, parts, size, digest
        )
        for words in lines[8..<lines.count - 1] {
            guard words.count == 4, let offset = UInt64(words[2]), let digest = hex(words[3]) else { return nil }
            self.lanes[Lane(name: String(words[1]))] = Mark(offset: offset, digest: digest)
        }
        // What is written otherwise is damaged.
        guard self.encoded == bytes else { return nil }
    }

    /// Why a gateway cannot begin from it; `nil`: it can, as far as the manifest tells.
    package func fault(for identity: LogIdentity, rulesKnown: UInt32 = FoldRules.newest) -> String? {
        guard self.logID == identity.logID else { return "it is of the log \(self.logID)" }
        guard self.epoch == identity.epoch else { return "it is of another epoch of the log" }
        guard self.rules <= rulesKnown else {
            return "it goes by version \(self.rules) of the rules, and this program knows \(rulesKnown)"
        }
        guard self.offset > 0 else { return "it is of no record" }
        guard (1...SnapshotLimits.chunksMax).contains(self.chunks) else {
            return "it has \(self.chunks) chunks (\(LimitName.snapshotChunksMax.rawValue): \(SnapshotLimits.chunksMax))"
        }
        return nil
    }
}
