// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Logging
import ServiceLifecycle
import Synchronization

/// An observer of the results of the records of the lane `breaks`.
package protocol BoardObserver: Sendable {
    /// A group was applied. Called before its notices are sent; returns at once.
    ///
    /// - Parameters:
    ///   - results: of the group's entries, in their order.
    ///   - id: of the group; `nil`: it has none.
    ///   - board: with the group.
    func applied(_ results: [EntryResult], of id: AppendID?, board: Board)
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
    /// The snapshot is brought up to date after so many groups.
    private static let groupsPerSnapshot: UInt64 = 1_000
    /// And after so long, where anything has changed.
    private static let snapshotInterval: Duration = .seconds(60)
    /// A portion of a snapshot is written in one transaction: an append waits for no more than that.
    private static let snapshotPortionBytesMax = 256 * 1_024
    private static let snapshotPortionPartsMax = 128
    /// The most bytes of a snapshot that are read at once.
    private static let snapshotPageBytesMax = 4 * 1_048_576

    private let log: LogParts
    private let holder: BoardHolder
    private let observers: [any BoardObserver]
    private let sinks: [any NoticeSink]
    private let metrics: MetricRegistry
    private let logger: Logger
    private let traces: RequestTraces
    private let clock: any GatewayClock
    private let snapshots: SnapshotDesk
    /// `nil`: there is no other gateway to compare the board with.
    private let digests: BoardDigests?
    private let readiness: ReadinessBoard

    /// - Parameters:
    ///   - loaded: the event log, its board, and what changed since the snapshot that is kept.
    ///   - observers: told of results first.
    ///   - sinks: given the notices.
    ///   - digests: are made of the board; `nil`: there is no other gateway to compare it with.
    ///   - traces: keeps the spans of notices.
    ///   - common: the parts that every part uses.
    init(
        _ loaded: LoadedLog,
        observers: [any BoardObserver],
        sinks: [any NoticeSink],
        digests: BoardDigests?,
        traces: RequestTraces,
        common: CommonParts
    ) {
        self.log = loaded.parts
        self.holder = loaded.holder
        self.observers = observers
        self.sinks = sinks
        self.metrics = common.metrics
        self.logger = common.logger
        self.traces = traces
        self.clock = common.clock
        self.snapshots = SnapshotDesk(loaded.changes, of: loaded.holder.board)
        self.digests = digests
        self.readiness = common.readiness
    }

    /// The board as the log has it: from its snapshot and all records after.
    ///
    /// What changed since the snapshot is to be taken from it (`takeChanges`) before anybody works with it.
    ///
    /// - Parameters:
    ///   - parts: of the log, which is open.
    ///   - rulesKnown: the newest version of the fold's rules that the gateway goes by.
    /// - Returns: the board.
    /// - Throws: where the log cannot be read, or goes by rules that are not known.
    package static func load(from parts: LogParts, rulesKnown: UInt32 = FoldRules.newest) async throws -> Board {
        try await self.loadFromSnapshot(parts, rulesKnown: rulesKnown).board
    }

    /// The board as `load` has it, and as the snapshot had it; and what that has to come to, where another gateway left it.
    ///
    /// A snapshot whose parts cannot be read is passed over, where the log has its records.
    static func loadFromSnapshot(
        _ parts: LogParts,
        rulesKnown: UInt32
    ) async throws -> (base: Board, board: Board, began: BoardMark?) {
        var began = parts.began
        var base: Board?
        while base == nil {
            do {
                base = try await self.snapshot(parts, rulesKnown: rulesKnown)
            } catch let error as WireError {
                guard let another = parts.another else { throw error }
                began = try await another("\(error)")
            }
        }
        let log = parts.log
        guard let base else { throw EventLogError.closed }
        var board = base
        let head = try await log.head(of: .breaks)
        while board.offset < head {
            let records = try await log.read(
                .breaks,
                after: board.offset,
                recordsMax: Self.groupsPerReadMax,
                bytesMax: Self.bytesPerReadMax
            )
            guard !records.isEmpty else { throw EventLogError.closed }
            for record in records { _ = try board.apply(record) }
        }
        return (base, board, began)
    }

    /// The board of the snapshot; an empty one where there is none.
    private static func snapshot(_ parts: LogParts, rulesKnown: UInt32) async throws -> Board {
        let (log, snapshots) = (parts.log, parts.snapshots)
        let id = log.identity.logID
        var loader = BoardLoader(epoch: log.epoch, names: SipHash(key: id.low, id.high), rulesKnown: rulesKnown)
        let snapshotOffset = try await snapshots.snapshotOffset(of: .breaks)
        if snapshotOffset != nil {
            var key: String?
            while true {
                let parts = try await snapshots.snapshotParts(
                    of: .breaks,
                    after: key,
                    bytesMax: Self.snapshotPageBytesMax
                )
                guard let last = parts.last else { break }
                // Decoding is most of a start: all cores share it.
                for record in try await Self.decode(parts) { try loader.read(record) }
                key = last.key
            }
        }
        if let snapshotOffset { parts.watermarks.advance(.board, in: .breaks, through: snapshotOffset) }
        return loader.finish(at: snapshotOffset ?? 0)
    }

    private static func decode(_ parts: [SnapshotPart]) async throws -> [BoardRecord] {
        let portions = stride(from: 0, to: parts.count, by: Self.snapshotPortionPartsMax)
            .map { parts[$0..<min($0 + Self.snapshotPortionPartsMax, parts.count)] }
        return try await withThrowingTaskGroup(of: (Int, [BoardRecord]).self) { group in
            for (index, portion) in portions.enumerated() {
                group.addTask { (index, try portion.map { try BoardRecord(decoding: $0.bytes) }) }
            }
            var decoded = [[BoardRecord]](repeating: [], count: portions.count)
            for try await (index, parts) in group { decoded[index] = parts }
            return decoded.flatMap { $0 }
        }
    }

    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(priority: .low) { await self.keepSnapshots() }
            group.addTask { await self.wakeForSnapshots() }
            defer { group.cancelAll() }
            try await cancelWhenGracefulShutdown {
                try await self.follow()
            }
        }
        await self.keepSnapshot()
    }

    /// Brings the snapshot up to date whenever that is due, one at a time.
    private func keepSnapshots() async {
        for await _ in self.snapshots.due { await self.keepSnapshot() }
    }

    private func wakeForSnapshots() async {
        while (try? await Task.sleep(for: Self.snapshotInterval)) != nil { self.snapshots.wake() }
    }

    private func follow() async throws {
        var board = self.holder.board
        var snapshotGroups: UInt64 = 0
        while !Task.isCancelled {
            let records = try await self.log.log.read(
                .breaks,
                after: board.offset,
                recordsMax: Self.groupsPerReadMax,
                bytesMax: Self.bytesPerReadMax
            )
            guard !records.isEmpty else { return }
            var notices: [StreamNotice] = []
            for record in records {
                let applied = try self.apply(record, to: &board)
                let changes = board.takeChanges()
                self.snapshots.note(changes, board)
                self.digests?.note(changes, applied?.results ?? [], board)
                if applied == nil {
                    self.logger.notice(
                        "a record of the event log has no effect: a later one of its writer came before it",
                        metadata: ["lane": "\(Lane.breaks)", "offset": "\(record.offset)"]
                    )
                }
                // Also of a record without effect: the board's offset goes on.
                let (group, results) = applied ?? (BreakGroup(entries: []), [])
                notices += self.settle(results, of: group, board: board)
            }
            if !notices.isEmpty { await self.publish(notices) }
            snapshotGroups += UInt64(records.count)
            if snapshotGroups >= Self.groupsPerSnapshot {
                snapshotGroups = 0
                self.snapshots.wake()
            }
        }
    }

    /// Applies a record; where it cannot be, nothing that comes after it is confirmed, and the gateway ends.
    private func apply(_ record: LoggedRecord, to board: inout Board) throws(WireError) -> Board.AppliedRecord? {
        do throws(WireError) {
            return try board.apply(record)
        } catch {
            self.readiness.set(.board, isReady: false)
            self.readiness.fail("The record \(record.offset) of the lane \(Lane.breaks) cannot be applied: \(error)")
            self.logger.critical(
                "a record of the event log cannot be applied; the gateway ends",
                metadata: ["lane": "\(Lane.breaks)", "offset": "\(record.offset)", "error": "\(error)"]
            )
            throw error
        }
    }

    /// Has notices sent, and keeps the spans of those that are traced.
    private func publish(_ notices: [StreamNotice]) async {
        guard self.traces.keepsSpans, notices.contains(where: { $0.notice.trace != nil }) else {
            for sink in self.sinks { await sink.publish(notices) }
            return
        }
        let start = self.clock.now()
        for sink in self.sinks { await sink.publish(notices) }
        let end = self.clock.now()
        self.traces.keep(notices.compactMap { TraceSpan(of: $0, from: start, to: end) })
    }

    /// Counts and logs a group's results, and answers the waiting requests.
    ///
    /// - Returns: the notices for listeners, which are published afterwards.
    private func settle(_ results: [EntryResult], of group: BreakGroup, board: Board) -> [StreamNotice] {
        var notices: [StreamNotice] = []
        for (result, entry) in zip(results, group.entries) {
            switch result {
            case .changed(let each, let notice):
                if let notice { notices.append(StreamNotice(stream: each.key.stream, notice: notice)) }
                self.metrics.count(.breakEntries, .changed)
            case .unchanged: self.metrics.count(.breakEntries, .unchanged)
            case .list(_, .nothing): self.metrics.count(.breakEntries, .unchanged)
            case .housekept, .activated, .list: self.metrics.count(.breakEntries, .changed)
            case .refused(let refusal):
                self.metrics.count(.breakEntries, .refused)
                self.logger.debug("entry without effect", metadata: Self.metadata(of: entry, refusal))
            }
        }
        self.holder.swap(board)
        self.metrics.set(.streams, to: board.streams.count)
        self.metrics.set(.boardBytes, to: board.bytes)
        for observer in self.observers { observer.applied(results, of: group.id, board: board) }
        return notices
    }

    private static func metadata(of entry: BreakEntry, _ refusal: Refusal) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "break": "\(entry.key?.description ?? "")", "status": "\(refusal.status.name)",
        ]
        if let trace = entry.trace {
            metadata["trace_id"] = "\(trace.traceID)"
            metadata["span_id"] = "\(trace.spanID)"
        }
        return metadata
    }

    private func keepSnapshot() async {
        let (changes, board) = self.snapshots.take()
        guard board.offset > 0, !changes.isEmpty else { return }
        do {
            try await BoardParts.write(
                changes,
                of: board,
                bytesMax: Self.snapshotPortionBytesMax,
                partsMax: Self.snapshotPortionPartsMax
            ) { portion in try await self.log.snapshots.save(portion, of: .breaks) }
            self.log.watermarks.advance(.board, in: .breaks, through: board.offset)
        } catch {
            // The log still has every record: only the next start takes longer.
            self.snapshots.giveBack(changes)
            self.logger.warning("could not keep a snapshot of the board", metadata: ["error": "\(error)"])
        }
    }
}

extension TraceSpan {
    /// The span of a notice that was sent; `nil`: it is not traced.
    fileprivate init?(of sent: StreamNotice, from start: Timestamp, to end: Timestamp) {
        guard let trace = sent.notice.trace else { return nil }
        var attributes: [(name: String, value: Value)] = [
            ("cuecast.stream", .text(sent.stream.description)),
            ("cuecast.notice.kind", .text("\(sent.notice.kind)")),
            ("cuecast.notice.position", .text(sent.notice.position.description)),
        ]
        if let id = sent.notice.breakID { attributes.append(("cuecast.break", .text(id.description))) }
        self.init(
            "notice published",
            kind: .producer,
            trace.newSpan(),
            parent: trace.span,
            from: start,
            to: end,
            attributes: attributes
        )
    }
}

/// The changes for the next snapshot, and its time.
private final class SnapshotDesk: Sendable {
    private struct State {
        var changes: BoardChanges
        /// With exactly these changes.
        var board: Board
    }

    private let state: Mutex<State>
    /// Yields when a snapshot is due; further ones meanwhile are one.
    let due: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - changes: the changes since the last stored snapshot.
    ///   - board: with them.
    init(_ changes: BoardChanges, of board: Board) {
        self.state = Mutex(State(changes: changes, board: board))
        (self.due, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func wake() { self.sink.yield() }

    /// The board has changed.
    func note(_ changes: BoardChanges, _ board: Board) {
        self.state.withLock { state in
            state.changes.formUnion(changes)
            state.board = board
        }
    }

    /// Takes the changes, and the board that has them and no others.
    func take() -> (BoardChanges, Board) {
        self.state.withLock { state in
            defer { state.changes = BoardChanges() }
            return (state.changes, state.board)
        }
    }

    /// Gives back changes that could not be kept.
    func giveBack(_ changes: BoardChanges) {
        self.state.withLock { state in
            // Later changes are as new or newer.
            var all = changes
            all.formUnion(state.changes)
            state.changes = all
        }
    }
}
