// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

/// A gateway on an empty directory begins from a snapshot that another one left.
@Suite(.suiteLimit)
struct BoardBeginningTests {
    private final class Said: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { self.lines.withLock { $0.append(line) } }
        var all: String { self.lines.withLock { $0.joined(separator: "\n") } }
    }

    private let log = InMemoryEventLog()
    private let stream = ArchiveInMemory()
    private var archive: SnapshotArchive { SnapshotArchive(self.stream) }

    /// Records that publish breaks; gives the board after each.
    private func fill(_ count: Int) async throws -> [Board] {
        let id = self.log.identity.logID
        var board = Board(epoch: self.log.epoch, names: SipHash(key: id.low, id.high))
        var boards: [Board] = []
        for number in 1...count {
            let entry = BreakEntry(
                at: Timestamp(microseconds: 1_790_000_000_000_000 + Int64(number)),
                kind: .rules(FoldRules.newest)
            )
            _ = try await self.log.append(BreakGroup(entries: [entry]).encoded(), to: .breaks)
            let records = try await self.log.read(.breaks, after: board.offset, recordsMax: 1, bytesMax: .max)
            for record in records { _ = try board.apply(record) }
            boards.append(board)
        }
        return boards
    }

    private func leave(_ board: Board, of identity: LogIdentity? = nil, rules: UInt32? = nil) async throws
        -> SnapshotArchive.Entry
    {
        let record = try await self.log.read(.breaks, after: board.offset - 1, recordsMax: 1, bytesMax: .max).first
        return try await self.archive.write(
            SnapshotManifest(
                identity: identity ?? self.log.identity,
                rules: rules ?? board.rules,
                board: BoardDigest(board).value(of: board),
                writers: 0,
                made: Timestamp(microseconds: 0),
                lanes: [.breaks: .init(offset: board.offset, digest: record?.digest ?? 0)]
            ),
            of: board
        )
    }

    private func begin(_ log: (any EventLog)? = nil, in path: String, _ said: Said = Said()) async throws -> BoardMark?
    {
        let directory = try StoreDirectory(path: path)
        let cache = try await BoardCache.open(in: directory, of: log ?? self.log)
        do {
            let mark = try await cache.begin(from: self.archive, in: path) { said.add($0) }
            let offset = try await cache.snapshotOffset(of: .breaks)
            #expect(mark == nil || mark?.offset == offset)
            await cache.close()
            return mark
        } catch {
            await cache.close()
            throw error
        }
    }

    @Test func `it takes the newest, and where that cannot be used the one before, and says so`() async throws {
        let folder = try TemporaryDirectory()
        let boards = try await self.fill(6)
        let (old, middle) = (try await self.leave(boards[1]), try await self.leave(boards[3]))
        #expect(try await self.begin(in: folder.path + "/a") == BoardMark(offset: 4, digest: middle.manifest.board))
        // Its own one is good enough afterwards.
        _ = try await self.leave(boards[5])
        #expect(try await self.begin(in: folder.path + "/a") == nil)

        let said = Said()
        _ = try await self.leave(boards[5], rules: FoldRules.newest + 1)
        _ = try await self.leave(boards[5], of: LogIdentity())
        let damaged = try await self.leave(boards[5])
        self.stream.change(damaged.manifest.first) { $0[$0.count - 1] ^= 1 }
        let unreadable = try await self.leave(boards[5])
        self.stream.change(unreadable.sequence) { $0[3] ^= 1 }
        // Cut off.
        self.stream.fail(after: 1)
        await #expect(throws: SnapshotFault.self) { _ = try await self.leave(boards[5]) }
        self.stream.fail(after: nil)
        #expect(try await self.begin(in: folder.path + "/b", said)?.offset == 6)
        for words in [
            "version \(FoldRules.newest + 1) of the rules", "is of the log", "not what was written", "is damaged",
        ] {
            #expect(said.all.contains(words), "\(said.all)")
        }
        // None can be used: then from the first record.
        for entry in try await self.archive.list().entries { self.stream.lose(entry.manifest.first) }
        let rest = Said()
        #expect(try await self.begin(in: folder.path + "/c", rest) == nil)
        #expect(rest.all.contains("the whole lane is read"), "\(rest.all)")
        #expect(old.manifest.offset == 2)
    }

    @Test func `where the parts cannot be read it takes an older one, and at last begins with the first record`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let boards = try await self.fill(4)
        let (old, newest) = (try await self.leave(boards[1]), try await self.leave(boards[3]))
        let directory = try StoreDirectory(path: folder.path + "/a")
        let cache = try await BoardCache.open(in: directory, of: self.log)
        let said = Said()
        func again() async throws -> BoardMark? {
            try await cache.beginAgain(because: "no text", from: self.archive, in: directory.path) { said.add($0) }
        }
        #expect(try await cache.begin(from: self.archive, in: directory.path) { said.add($0) }?.offset == 4)
        #expect(try await again() == BoardMark(offset: 2, digest: old.manifest.board))
        #expect(try await cache.snapshotOffset(of: .breaks) == 2)
        #expect(said.all.contains("the snapshot \(newest.sequence) of the log is passed over: no text"), "\(said.all)")
        #expect(try await again() == nil)
        #expect(try await cache.snapshotOffset(of: .breaks) == nil)
        #expect(try await cache.snapshotParts(of: .breaks, after: nil, bytesMax: .max).isEmpty)
        // That of this gateway cannot be read: then those of the log are tried from the newest on.
        #expect(try await again()?.offset == 4)
        #expect(said.all.contains("the snapshot of this gateway is passed over"), "\(said.all)")
        await cache.close()
    }

    @Test func `a log that lacks what a snapshot was made of went back`() async throws {
        let folder = try TemporaryDirectory()
        let boards = try await self.fill(3)
        let entry = try await self.leave(boards[2])
        let shorter = ShortLog(self.log, head: 2)
        let reason = await #expect(throws: StoreError.self) {
            _ = try await self.begin(shorter, in: folder.path + "/a")
        }
        #expect(reason.map { "\($0)".contains("went back") } == true, "\(String(describing: reason))")
        // Nothing was taken.
        #expect(try await self.begin(in: folder.path + "/a")?.offset == entry.manifest.offset)
    }
}

/// A log that ends sooner than it did.
private struct ShortLog: EventLog {
    let base: InMemoryEventLog
    let head: UInt64

    init(_ base: InMemoryEventLog, head: UInt64) {
        self.base = base
        self.head = head
    }

    var identity: LogIdentity { self.base.identity }

    func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) { self.base.append(record, id: id, to: lane, done: done) }

    func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        try await self.base.read(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func head(of lane: Lane) async throws(EventLogError) -> UInt64 { lane == .breaks ? self.head : 0 }
    func close() async {}
}
