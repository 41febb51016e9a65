// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayTestKit
import TestSupport
import Testing

@testable import GatewayCore

/// Snapshots of the board, in chunks.
@Suite(.suiteLimit)
struct SnapshotTests {
    private let identity = LogIdentity()
    private let stream = ArchiveInMemory()
    /// Its chunks are small, so that a board takes many.
    private var archive: SnapshotArchive { SnapshotArchive(self.stream, messageBytesMax: Self.messageBytesMax) }
    private static let messageBytesMax = 64

    /// The board of a random history.
    private func board(_ test: String) throws -> Board {
        var generator = SeededGenerator(for: test)
        var world = SharedWorld(seed: UInt64.random(in: 0 ... .max, using: &generator), gateways: 2, requests: 60)
        try world.run()
        let names = SipHash(key: self.identity.logID.low, self.identity.logID.high)
        var board = Board(epoch: self.identity.epoch, names: names)
        for record in world.far.everything(in: .breaks) { _ = try board.apply(record) }
        _ = board.takeChanges()
        return board
    }

    @Test func `a manifest comes back, and a changed one is none`() {
        var manifest = SnapshotManifest(
            identity: self.identity,
            rules: 3,
            board: .max,
            writers: 2,
            made: Timestamp(microseconds: -5),
            lanes: [.breaks: .init(offset: 9, digest: 1), .acknowledgements(0): .init(offset: .max, digest: 0)]
        )
        (manifest.id, manifest.first, manifest.chunks, manifest.parts) = (7, 8, 9, 10)
        (manifest.bytes, manifest.digest) = (11, 12)
        let bytes = manifest.encoded
        #expect(SnapshotManifest(bytes) == manifest)
        for place in bytes.indices {
            for change in [1, 0x20, 0x80] as [UInt8] {
                var other = bytes
                other[place] ^= change
                #expect(SnapshotManifest(other) == nil, "byte \(place)")
            }
            #expect(SnapshotManifest(Array(bytes[..<place])) == nil)
        }
        #expect(SnapshotManifest(bytes + [10]) == nil)
        #expect(SnapshotManifest([UInt8](repeating: 10, count: SnapshotLimits.manifestBytesMax + 1)) == nil)
    }

    @Test func `a manifest is for its log, its epoch and the rules that are known`() {
        func fault(_ identity: LogIdentity, rules: UInt32 = 1, chunks: Int = 1, offset: UInt64 = 1) -> String? {
            var manifest = SnapshotManifest(
                identity: identity,
                rules: rules,
                board: 0,
                writers: 0,
                made: .init(microseconds: 0),
                lanes: [.breaks: .init(offset: offset, digest: 1)]
            )
            manifest.chunks = chunks
            return manifest.fault(for: self.identity, rulesKnown: 2)
        }
        #expect(fault(self.identity) == nil)
        #expect(fault(self.identity, rules: 2) == nil)
        #expect(fault(self.identity, rules: 3)?.contains("version 3 of the rules") == true)
        #expect(fault(LogIdentity())?.contains("of the log") == true)
        #expect(fault(LogIdentity(logID: self.identity.logID))?.contains("another epoch") == true)
        #expect(fault(self.identity, chunks: SnapshotLimits.chunksMax) == nil)
        #expect(fault(self.identity, chunks: SnapshotLimits.chunksMax + 1)?.contains("snapshotChunksMax") == true)
        #expect(fault(self.identity, chunks: 0) != nil)
        #expect(fault(self.identity, offset: 0) != nil)
    }

    @Test func `boards of random histories come back`() async throws {
        for round in 0..<10 {
            let board = try self.board("snapshot \(round)")
            let entry = try await self.archive.leave(board, of: self.identity)
            let read = try await self.archive.board(of: entry, in: self.identity)
            #expect(read == board)
            #expect(BoardDigest(read).value(of: read) == entry.manifest.board)
        }
    }

    @Test func `chunks have the size of a message at most, and any damage or loss shows`() async throws {
        let board = try self.board("a snapshot")
        let entry = try await self.archive.leave(board, of: self.identity)
        try #require(entry.manifest.chunks > 2)
        for message in try await self.stream.messages(from: entry.manifest.first, manifestsOnly: false)
        where message.sequence < entry.sequence {
            #expect(message.bytes.count <= Self.messageBytesMax)
        }
        #expect(try await self.archive.board(of: entry, in: self.identity) == board)
        var generator = SeededGenerator(for: "damaged chunks")
        for sequence in entry.manifest.first..<entry.sequence {
            for _ in 0..<3 {
                let (place, bit) = (generator.number(0...60_000), UInt8(1 << generator.number(0...7)))
                self.stream.change(sequence) { $0[place % $0.count] ^= bit }
                await #expect(throws: SnapshotFault.self) { try await self.archive.read(entry) { _ in } }
                self.stream.change(sequence) { $0[place % $0.count] ^= bit }
            }
        }
        try await self.archive.read(entry) { _ in }
        self.stream.lose(entry.manifest.first + 1)
        await #expect(throws: SnapshotFault.self) { try await self.archive.read(entry) { _ in } }
    }

    @Test func `parts of any size come back from messages of the largest size`() throws {
        var manifest = SnapshotManifest(
            identity: self.identity,
            rules: 1,
            board: 0,
            writers: 0,
            made: .init(microseconds: 0),
            lanes: [:]
        )
        let sizes = [0, 1, SnapshotLimits.messageBytesMax - 1, SnapshotLimits.messageBytesMax, 2_500_000, 7]
        let parts = sizes.enumerated()
            .map { SnapshotPart(key: "t/\($0)é", bytes: [UInt8](repeating: UInt8($0), count: $1)) }
        var cutter = SnapshotCutter(id: 5)
        var chunks = parts.flatMap { cutter.add($0) }
        if let last = cutter.end() { chunks.append(last) }
        #expect(chunks.dropLast().allSatisfy { $0.count == SnapshotLimits.messageBytesMax })
        #expect(chunks.allSatisfy { $0.count <= SnapshotLimits.messageBytesMax })
        (manifest.id, manifest.chunks, manifest.parts) = (5, cutter.chunks, cutter.parts)
        (manifest.bytes, manifest.digest) = (cutter.bytes, cutter.digest.value)
        var joiner = SnapshotJoiner(manifest)
        var found: [SnapshotPart] = []
        for chunk in chunks { found += try joiner.add(chunk) }
        try joiner.end()
        #expect(found == parts)
    }

    @Test func `a snapshot that was cut off anywhere is none, and the one before is there`() async throws {
        let board = try self.board("a snapshot")
        let whole = try await self.archive.leave(board, of: self.identity)
        for count in 0...whole.manifest.chunks {
            self.stream.fail(after: count)
            await #expect(throws: SnapshotFault.self) { _ = try await self.archive.leave(board, of: self.identity) }
            self.stream.fail(after: nil)
            let listing = try await self.archive.list()
            #expect(listing.entries == [whole] && listing.damaged.isEmpty, "after \(count) messages")
            #expect(try await self.archive.board(of: whole, in: self.identity) == board)
        }
    }

    @Test func `a snapshot has at most so many chunks, and one more is refused with the limit`() async throws {
        let board = try self.board("a snapshot")
        let chunks = try await self.archive.leave(board, of: self.identity).manifest.chunks
        #expect(chunks > 1)
        func archive(chunksMax: Int) -> SnapshotArchive {
            SnapshotArchive(self.stream, messageBytesMax: Self.messageBytesMax, chunksMax: chunksMax)
        }
        _ = try await archive(chunksMax: chunks).leave(board, of: self.identity)
        await #expect(throws: SnapshotFault.limitReached(.snapshotChunksMax)) {
            _ = try await archive(chunksMax: chunks - 1).leave(board, of: self.identity)
        }
        #expect(try await self.archive.list().entries.count == 2)
    }

    @Test func `the wait after a failure doubles up to the interval`() {
        let schedule = SnapshotSchedule(interval: .seconds(60))
        let waits = [0, 1, 2, 3, 4, 1_000].map { schedule.wait(afterFailures: $0) }
        #expect(waits == [.zero, .seconds(10), .seconds(20), .seconds(40), .seconds(60), .seconds(60)])
    }

    @Test func `two gateways that write at the same time are both understood`() async throws {
        let (one, two) = (try self.board("a snapshot"), try self.board("interleaved snapshots"))
        async let first = self.archive.leave(one, of: self.identity)
        async let second = self.archive.leave(two, of: self.identity)
        let entries = try await [first, second]
        for (entry, board) in zip(entries, [one, two]) {
            #expect(try await self.archive.board(of: entry, in: self.identity) == board)
        }
    }

    @Test func `the last two whole ones of the log are kept, and what is older goes`() async throws {
        var entries: [SnapshotArchive.Entry] = []
        for round in 0..<4 {
            entries.append(try await self.archive.leave(try self.board("kept \(round)"), of: self.identity))
            _ = try await self.archive.leave(try self.board("other log"), of: LogIdentity())
            try await self.archive.removeOld(of: self.identity.logID)
            let kept = entries.suffix(SnapshotLimits.kept)
            for entry in kept { try await self.archive.read(entry) { _ in } }
            #expect(self.stream.sequences.min() == (entries.count < 2 ? 1 : kept.map(\.manifest.first).min()))
        }
        // One that cannot be read is no whole one.
        self.stream.change(entries[3].sequence) { $0[0] = 0 }
        let before = self.stream.sequences
        try await self.archive.removeOld(of: self.identity.logID)
        #expect(self.stream.sequences == before)
        #expect(try await self.archive.list().damaged == [entries[3].sequence])
    }

    @Test func `a snapshot is due after so many records, or so long, by rank`() {
        let schedule = SnapshotSchedule(records: 1_000, interval: .seconds(3_600))
        func manifest(_ offset: UInt64) -> SnapshotManifest {
            SnapshotManifest(
                identity: self.identity,
                rules: 1,
                board: 0,
                writers: 0,
                made: Timestamp(microseconds: 0),
                lanes: [.breaks: .init(offset: offset, digest: 0)]
            )
        }
        func isDue(_ newest: SnapshotManifest?, _ offset: UInt64, seconds: Int64 = 0, rank: Int = 0) -> Bool {
            schedule.isDue(
                newest: newest,
                offset: offset,
                now: Timestamp(microseconds: seconds * 1_000_000),
                rank: rank
            )
        }
        // Where there is none.
        #expect(!isDue(nil, 0) && !isDue(nil, SnapshotLimits.recordsMin - 1) && isDue(nil, SnapshotLimits.recordsMin))
        #expect(
            !isDue(nil, SnapshotLimits.recordsMin * 3 / 2 - 1, rank: 1)
                && isDue(nil, SnapshotLimits.recordsMin * 3 / 2, rank: 1)
        )
        // By the records.
        #expect(!isDue(manifest(500), 1_499) && isDue(manifest(500), 1_500))
        #expect(!isDue(manifest(500), 1_999, rank: 1) && isDue(manifest(500), 2_000, rank: 1))
        // By the time, where there is something to keep.
        #expect(!isDue(manifest(500), 600, seconds: 3_599) && isDue(manifest(500), 600, seconds: 3_600))
        #expect(!isDue(manifest(500), 599, seconds: 9_000) && !isDue(manifest(500), 500, seconds: 9_000))
        #expect(
            !isDue(manifest(500), 600, seconds: 5_399, rank: 1) && isDue(manifest(500), 600, seconds: 5_400, rank: 1)
        )
        #expect(!isDue(manifest(500), 499, seconds: 9_000) && isDue(manifest(500), .max / 2, rank: .max))
    }
}
