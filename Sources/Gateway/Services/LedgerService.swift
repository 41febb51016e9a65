// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
package import Logging
import ServiceLifecycle

/// Projects the event log into the ledger, and lets both forget what is old.
///
/// Nothing waits for it: when the ledger fails, it tries again, and reports say up to which offset they count.
package struct LedgerService: Service, BoardObserver {
    /// The most groups applied in one transaction.
    private static let groupsPerTransactionMax = 256
    /// A transaction of so many outcomes is a sign of load.
    private static let outcomesUnderLoad = 256
    /// When so many groups wait there is nothing to gather.
    private static let groupsGathered: UInt64 = 24
    /// How long groups gather under load before the next transaction.
    ///
    /// Rows that lie together are then written together, once.
    private static let gatherUnderLoad: Duration = .milliseconds(250)
    /// The most bytes of groups applied in one transaction.
    private static let bytesPerTransactionMax = 4 * 1_048_576
    /// How long after a failure the ledger is tried again.
    private static let retryAfter: Duration = .seconds(1)
    /// How often old things are forgotten.
    private static let pruneInterval: Duration = .seconds(3_600)
    /// How long after a break's end, by the log's own time, the ledger keeps who did what: a day longer than acknowledgements are accepted.
    private static let keepRowsFor: Duration = BoardLimits.acknowledgeWithin + .seconds(86_400)

    private let log: any EventLog
    private let ledger: any Ledger
    private let holder: BoardHolder
    private let keepTotalsFor: Duration
    /// How many records the log keeps that the ledger has applied.
    private let keepRecords: UInt64
    /// Whether acknowledgements are left in the log for a later run.
    private let isPaused: Bool
    private let metrics: MetricRegistry
    private let logger: Logger
    private let boardChanged: AsyncStream<Void>
    private let boardChangedSink: AsyncStream<Void>.Continuation

    package init(
        log: any EventLog,
        ledger: any Ledger,
        holder: BoardHolder,
        configuration: GatewayConfiguration,
        metrics: MetricRegistry,
        logger: Logger
    ) {
        self.log = log
        self.ledger = ledger
        self.holder = holder
        self.keepTotalsFor = configuration.keepTotalsFor
        self.keepRecords = UInt64(clamping: configuration.keepLogRecords)
        self.isPaused = configuration.ledgerPaused
        self.metrics = metrics
        self.logger = logger
        (self.boardChanged, self.boardChangedSink) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        self.boardChangedSink.yield()
    }

    package func applied(_ results: [EntryResult], offset: UInt64, board: Board) {
        self.boardChangedSink.yield()
    }

    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.untilShutdown { await self.projectBreaks() } }
            for partition in 0..<Lane.acknowledgementLaneCount {
                group.addTask {
                    await self.untilShutdown { await self.projectAcknowledgements(.acknowledgements(partition)) }
                }
            }
            group.addTask { await self.untilShutdown { await self.forgetOldThings() } }
        }
    }

    private func untilShutdown(_ body: @escaping @Sendable () async -> Void) async {
        await cancelWhenGracefulShutdown { await body() }
    }

    private func projectBreaks() async {
        for await _ in self.boardChanged {
            let (breaks, offset) = self.holder.takeUnrecorded()
            guard !breaks.isEmpty else { continue }
            do throws(LedgerError) {
                try await self.ledger.record(breaks, through: offset)
                self.metrics.set(.ledgerOffset, .lane(.breaks), to: Int(clamping: offset))
            } catch {
                self.holder.putBack(breaks)
                guard await self.waitAfter(error) else { return }
                self.boardChangedSink.yield()
            }
        }
    }

    private func projectAcknowledgements(_ lane: Lane) async {
        while !Task.isCancelled {
            do {
                if self.isPaused { try await self.watch(lane) } else { try await self.follow(lane) }
                return
            } catch EventLogError.closed, LedgerError.closed {
                return
            } catch {
                guard await self.waitAfter(error) else { return }
            }
        }
    }

    private func follow(_ lane: Lane) async throws {
        var applied = try await self.ledger.appliedOffset(of: lane)
        while !Task.isCancelled {
            let records = try await self.log.read(
                lane,
                after: applied,
                recordsMax: Self.groupsPerTransactionMax,
                bytesMax: Self.bytesPerTransactionMax
            )
            guard let last = records.last else { return }
            let postings = try LedgerPosting.postings(of: records)
            try await self.ledger.apply(postings, of: lane)
            applied = last.offset
            let behind = try await self.tell(applied, of: lane)
            if behind < Self.groupsGathered, postings.reduce(0, { $0 + $1.outcomes.count }) >= Self.outcomesUnderLoad {
                try? await Task.sleep(for: Self.gatherUnderLoad)
            }
        }
    }

    /// Counts nothing, and says how much waits.
    private func watch(_ lane: Lane) async throws {
        self.logger.warning("the ledger is paused: acknowledgements are recorded, but not counted")
        let applied = try await self.ledger.appliedOffset(of: lane)
        repeat { try await self.tell(applied, of: lane) } while (try? await Task.sleep(for: .seconds(1))) != nil
    }

    /// Sets what the metrics say.
    ///
    /// - Returns: how many groups the ledger is behind.
    @discardableResult
    private func tell(_ applied: UInt64, of lane: Lane) async throws -> UInt64 {
        self.metrics.set(.ledgerOffset, .lane(lane), to: Int(clamping: applied))
        let head = try await self.log.head(of: lane)
        let behind = self.log.identity.count(after: applied, through: head, in: lane)
        self.metrics.set(.ledgerLag, .lane(lane), to: Int(clamping: behind))
        return behind
    }

    /// Counts a failure and waits; `false` when the service is to end.
    private func waitAfter(_ error: any Error) async -> Bool {
        guard !Task.isCancelled else { return false }
        self.metrics.count(.ledgerFailures)
        self.logger.error("the ledger is behind", metadata: ["error": "\(error)"])
        return (try? await Task.sleep(for: Self.retryAfter)) != nil
    }

    private func forgetOldThings() async {
        repeat {
            do {
                try await self.forgetOnce()
            } catch EventLogError.closed, LedgerError.closed {
                return
            } catch {
                self.logger.warning("could not forget old records", metadata: ["error": "\(error)"])
            }
        } while (try? await Task.sleep(for: Self.pruneInterval)) != nil
    }

    private func forgetOnce() async throws {
        // By the log's own time, which no clock can make jump; before the first record nothing is old.
        let board = self.holder.board
        if board.hasTime {
            let pruned = try await self.ledger.prune(
                rowsOfBreaksEndedBefore: board.retentionTime - Self.keepRowsFor,
                totalsBefore: board.retentionTime - self.keepTotalsFor
            )
            if !pruned.isEmpty {
                self.logger.info("forgot who did what in old breaks", metadata: ["breaks": "\(pruned.count)"])
            }
        }
        // Only what the ledger has for good may leave the log; of the breaks only what a snapshot holds.
        let offsets = try await self.ledger.checkpoint()
        for (lane, offset) in offsets where lane != .breaks { try await self.prune(lane, before: offset) }
        if let snapshot = try await self.log.snapshot(of: .breaks) {
            try await self.prune(.breaks, before: snapshot.offset)
        }
    }

    /// Lets the log forget what is old, but for the records that it keeps before an offset.
    private func prune(_ lane: Lane, before offset: UInt64) async throws {
        let last = self.log.identity.offset(self.keepRecords, before: offset, in: lane)
        if last > 0 { try await self.log.prune(lane, through: last) }
    }
}
