// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
package import Logging
import ServiceLifecycle

/// Somebody who wants to know what became of the records of the lane `breaks`.
package protocol BoardObserver: Sendable {
    /// A group was applied. Called before its notices are sent; returns at once.
    func applied(_ results: [EntryResult], offset: UInt64, board: Board)
}

/// Follows the lane `breaks`, folds it into the board, and has the notices sent that follow from it.
///
/// The board advances first, so that a listener who asks because of a notice finds what it is about. The notices of
/// what was read at once are on their way before more is read: when sending is slow, groups gather in the log, not in memory.
package struct BreakBoardService: Service {
    /// The most groups read at once.
    private static let groupsPerReadMax = 64
    /// The most bytes read at once.
    private static let bytesPerReadMax = 16 * 1_048_576
    /// A snapshot is kept after so many groups.
    private static let groupsPerSnapshot: UInt64 = 1_000

    /// So many entries at once are a burst: one broadcaster sends all its updates, or many publish together.
    private static let entriesInBurst = 8
    /// How long entries gather in a burst before the next are looked at, and how much longer for each connection.
    ///
    /// Notices that go out together cost each listener's connection one write, which is most of what they cost at all:
    /// what gathers while the ones before are being written costs next to nothing.
    private static let gatherInBurst: Duration = .milliseconds(8)
    private static let gatherPerConnection: Duration = .microseconds(12)
    private static let gatherMax: Duration = .milliseconds(125)

    private let log: any EventLog
    private let holder: BoardHolder
    private let observers: [any BoardObserver]
    private let sinks: [any NoticeSink]
    private let metrics: MetricRegistry
    private let logger: Logger

    package init(
        log: any EventLog,
        holder: BoardHolder,
        observers: [any BoardObserver],
        sinks: [any NoticeSink],
        metrics: MetricRegistry,
        logger: Logger
    ) {
        self.log = log
        self.holder = holder
        self.observers = observers
        self.sinks = sinks
        self.metrics = metrics
        self.logger = logger
    }

    /// The board as the log has it: from its snapshot and all records after.
    package static func load(from log: any EventLog) async throws -> Board {
        var board = Board(epoch: log.epoch)
        if let snapshot = try await log.snapshot(of: .breaks) {
            board = Board(epoch: log.epoch, try BoardRecord(decoding: snapshot.bytes))
        }
        let head = try await log.head(of: .breaks)
        while board.offset < head {
            let records = try await log.read(
                .breaks,
                after: board.offset,
                recordsMax: Self.groupsPerReadMax,
                bytesMax: Self.bytesPerReadMax
            )
            guard !records.isEmpty else { throw EventLogError.closed }
            for record in records {
                _ = board.apply(try BreakGroup(decoding: record.bytes), offset: record.offset, after: record.previous)
            }
        }
        return board
    }

    package func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await self.follow()
        }
        await self.keepSnapshot()
    }

    private func follow() async throws {
        var board = self.holder.board
        var snapshotOffset = board.offset
        while !Task.isCancelled {
            let records = try await self.log.read(
                .breaks,
                after: board.offset,
                recordsMax: Self.groupsPerReadMax,
                bytesMax: Self.bytesPerReadMax
            )
            guard !records.isEmpty else { return }
            var notices: [StreamNotice] = []
            var entryCount = 0
            for record in records {
                let group = try BreakGroup(decoding: record.bytes)
                let results = board.apply(group, offset: record.offset, after: record.previous)
                notices += self.tell(results, of: group, board: board)
                entryCount += group.entries.count
            }
            if !notices.isEmpty {
                for sink in self.sinks { await sink.publish(notices) }
            }
            if entryCount >= Self.entriesInBurst {
                let connections = self.metrics.value(.connections, .notices)
                let gather = Self.gatherInBurst + Self.gatherPerConnection * connections
                try? await Task.sleep(for: min(gather, Self.gatherMax))
            }
            if board.offset >= snapshotOffset + Self.groupsPerSnapshot {
                snapshotOffset = board.offset
                await self.keepSnapshot()
            }
        }
    }

    /// Tells everybody here what a group did; listeners are told afterwards.
    ///
    /// - Returns: the notices for them.
    private func tell(_ results: [EntryResult], of group: BreakGroup, board: Board) -> [StreamNotice] {
        var notices: [StreamNotice] = []
        var changed: [BreakKey] = []
        for (result, entry) in zip(results, group.entries) {
            switch result {
            case .changed(let each, let notice):
                changed.append(each.key)
                if let notice { notices.append(StreamNotice(stream: each.key.stream, notice: notice)) }
                self.metrics.count(.breakEntries, .changed)
            case .unchanged: self.metrics.count(.breakEntries, .unchanged)
            case .housekept: self.metrics.count(.breakEntries, .changed)
            case .refused(let refusal):
                self.metrics.count(.breakEntries, .refused)
                self.logger.debug(
                    "entry without effect",
                    metadata: ["break": "\(entry.key?.description ?? "")", "status": "\(refusal.status.name)"]
                )
            }
        }
        self.holder.swap(board, changed: changed)
        self.metrics.set(.streams, to: board.streams.count)
        for observer in self.observers { observer.applied(results, offset: board.offset, board: board) }
        return notices
    }

    private func keepSnapshot() async {
        let board = self.holder.board
        guard board.offset > 0 else { return }
        do {
            try await self.log.save(
                LaneSnapshot(offset: board.offset, bytes: board.record.encoded()),
                of: .breaks
            )
        } catch {
            // The log still has every record: only the next start takes longer.
            self.logger.warning("could not keep a snapshot of the board", metadata: ["error": "\(error)"])
        }
    }
}
