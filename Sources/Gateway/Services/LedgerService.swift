// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import ServiceLifecycle

/// Projects the event log into the ledger, and lets both forget what is old.
///
/// Nothing waits for it: when the ledger fails, it tries again, and reports say up to which offset they count.
package struct LedgerService: Service {
    /// The most groups applied in one transaction.
    private static let groupsPerTransactionMax = 256
    /// A transaction of so many outcomes is a sign of load.
    private static let outcomesUnderLoad = 256
    /// When so many groups wait there is nothing to gather.
    private static let groupsGathered: UInt64 = 24
    /// How long groups gather under load.
    ///
    /// Rows that lie together are then written together, once.
    private static let gatherUnderLoad: Duration = .milliseconds(250)
    /// The most bytes of groups applied in one transaction.
    private static let bytesPerTransactionMax = 4 * 1_048_576
    /// How long after a failure the ledger is tried again.
    static let retryAfter: Duration = .seconds(1)
    /// How often old things are forgotten.
    private static let pruneInterval: Duration = .seconds(3_600)
    /// The most breaks that are recorded at once.
    private static let breaksPerPortionMax = 1_000

    let log: any EventLog
    private let watermarks: any RetentionWatermarks
    /// `nil`: the log is not on this machine, and has no bound of its own.
    private let maintenance: (any LogMaintenance)?
    let ledger: any Ledger
    /// The ledger, where it keeps copies of itself.
    let keeper: (any LedgerKeeping)?
    /// Tells of breaks that have changed.
    private let feed: LedgerFeed
    /// When copies are made, by the gateway's clock.
    let clock: any GatewayClock
    let settings: LedgerSettings
    private let failures = LedgerFailures()
    let metrics: MetricRegistry
    let readiness: ReadinessBoard
    let logger: Logger

    /// - Parameters:
    ///   - log: the log to project.
    ///   - ledger: open.
    ///   - feed: tells of breaks that have changed.
    ///   - settings: how much is kept, and how soon it is projected.
    ///   - common: the parts that every part uses.
    init(log: LogParts, ledger: any Ledger, feed: LedgerFeed, settings: LedgerSettings, common: CommonParts) {
        self.log = log.log
        self.watermarks = log.watermarks
        self.maintenance = log.maintenance
        self.ledger = ledger
        self.keeper = ledger as? any LedgerKeeping
        self.feed = feed
        self.clock = common.clock
        self.settings = settings
        self.metrics = common.metrics
        self.readiness = common.readiness
        self.logger = common.logger
    }

    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.untilShutdown { await self.projectBreaks() } }
            for lane in Lane.acknowledgementLanes {
                group.addTask { await self.untilShutdown { await self.projectAcknowledgements(lane) } }
            }
            group.addTask { await self.untilShutdown { await self.forgetOldThings() } }
            if let keeper {
                group.addTask { await self.untilShutdown { await self.keepCopies(of: keeper) } }
                group.addTask { await self.untilShutdown { await self.tellOlderBreaks(to: keeper) } }
            }
        }
    }

    private func untilShutdown(_ body: @escaping @Sendable () async -> Void) async {
        await cancelWhenGracefulShutdown { await body() }
    }

    private func projectBreaks() async {
        // The ledger, and the offset up to which it has everything.
        var told: (generation: Int, offset: UInt64)?
        for await _ in self.feed.changed {
            let portion = self.feed.take(most: Self.breaksPerPortionMax)
            // The next portion is taken after this one, and after whatever else the ledger has to do.
            if portion.hasMore { self.feed.wake() }
            let generation = self.keeper?.generation ?? 0
            // A record that changes no break is counted as well: of one whose entries are all refused nothing else comes.
            guard !portion.breaks.isEmpty || told.map({ $0 < (generation, portion.offset) }) ?? true else { continue }
            do throws(LedgerError) {
                try await self.ledger.record(portion.breaks, through: portion.offset)
                told = (generation, portion.offset)
                if self.failures.worked(.breaks), self.keeper?.needsCheck != true { self.readiness.clear(.ledger) }
                if !portion.hasMore {
                    self.metrics.set(.ledgerOffset, .lane(.breaks), to: Int(clamping: portion.offset))
                    try? await Task.sleep(for: self.settings.gatherFor)
                }
            } catch {
                self.feed.putBack(portion)
                if await self.replace(generation, after: error) {
                    self.feed.wake()
                    continue
                }
                guard await self.waitAfter(error, .breaks) else { return }
                self.feed.wake()
            }
        }
    }

    private func projectAcknowledgements(_ lane: Lane) async {
        while !Task.isCancelled {
            let generation = self.keeper?.generation ?? 0
            do {
                if self.settings.isPaused {
                    try await self.watch(lane)
                } else {
                    try await self.follow(lane, into: generation)
                }
                guard !Task.isCancelled, (self.keeper?.generation ?? 0) != generation else { return }
            } catch EventLogError.closed, LedgerError.closed {
                return
            } catch {
                if await self.replace(generation, after: error) { continue }
                guard await self.waitAfter(error, lane) else { return }
            }
        }
    }

    /// Follows the lane until another ledger takes the place of this one, which may have counted less: it waits for no record then.
    private func follow(_ lane: Lane, into generation: Int) async throws {
        guard let keeper = self.keeper else { return try await self.follow(lane) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.follow(lane) }
            group.addTask {
                while keeper.generation == generation { try await Task.sleep(for: Self.retryAfter) }
            }
            defer { group.cancelAll() }
            _ = try await group.next()
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
            self.count(try await self.ledger.apply(postings, of: lane))
            applied = last.offset
            let behind = try await self.report(applied, of: lane)
            guard behind < Self.groupsGathered else { continue }
            let isUnderLoad = postings.reduce(0) { $0 + $1.outcomes.count } >= Self.outcomesUnderLoad
            let gatherFor = self.settings.gatherFor
            try? await Task.sleep(for: isUnderLoad ? max(Self.gatherUnderLoad, gatherFor) : gatherFor)
        }
    }

    private func count(_ outcomes: NewOutcomes) {
        self.metrics.count(.countedOutcomes, .played, by: outcomes.played)
        self.metrics.count(.countedOutcomes, .ignored, by: outcomes.ignored)
        self.metrics.count(.countedOutcomes, .failed, by: outcomes.failed)
    }

    /// Counts nothing, and says how much waits.
    private func watch(_ lane: Lane) async throws {
        self.logger.warning("the ledger is paused: acknowledgements are recorded, but not counted")
        let applied = try await self.ledger.appliedOffset(of: lane)
        repeat { try await self.report(applied, of: lane) } while (try? await Task.sleep(for: .seconds(1))) != nil
    }

    /// Sets what the metrics say.
    ///
    /// - Returns: how many groups the ledger is behind.
    @discardableResult
    private func report(_ applied: UInt64, of lane: Lane) async throws -> UInt64 {
        self.metrics.set(.ledgerOffset, .lane(lane), to: Int(clamping: applied))
        let behind = try await self.reportLag(after: applied, of: lane)
        _ = self.failures.worked(lane)
        if behind == 0, self.failures.isEmpty, self.keeper?.needsCheck != true { self.readiness.clear(.ledger) }
        return behind
    }

    private func reportLag(after applied: UInt64, of lane: Lane) async throws -> UInt64 {
        let head = try await self.log.head(of: lane)
        let behind = self.log.identity.count(after: applied, through: head, in: lane)
        self.metrics.set(.ledgerLag, .lane(lane), to: Int(clamping: behind))
        return behind
    }

    /// The ledger has to be told of every break again.
    func reportAll() {
        self.feed.beginAgain()
    }

    /// Counts a failure, says what waits, and waits; `false` when the service is to end.
    private func waitAfter(_ error: any Error, _ lane: Lane) async -> Bool {
        guard !Task.isCancelled else { return false }
        self.metrics.count(.ledgerFailures)
        if lane != .breaks {
            let known = UInt64(clamping: self.metrics.value(.ledgerOffset, .lane(lane)))
            _ = try? await self.reportLag(after: (try? await self.ledger.appliedOffset(of: lane)) ?? known, of: lane)
        }
        let (isLogged, isAlarm) = self.failures.failed(lane)
        if isLogged { self.logger.error("the ledger is behind", metadata: ["error": "\(error)", "lane": "\(lane)"]) }
        if isAlarm {
            self.readiness.raise(
                .ledger,
                "The ledger counts nothing at present (\(error)). Nothing is lost by that: what is confirmed is in the event log,"
                    + " and is counted when the ledger can be written again."
            )
        }
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
        } while await self.waitForPrune()
    }

    /// Waits until old things are to be forgotten: after the interval, or sooner while the log uses most of its room.
    ///
    /// - Returns: `false` when the service is to end.
    private func waitForPrune() async -> Bool {
        let next = ContinuousClock.now + Self.pruneInterval
        repeat {
            let wait = min(self.settings.checkCapacityInterval, next - .now)
            guard (try? await Task.sleep(for: max(wait, .zero))) != nil else { return false }
        } while ContinuousClock.now < next && !self.isLogNearlyFull
        return true
    }

    /// How many records stay in the log that are not needed: none while it uses most of its room.
    private var recordsToKeep: UInt64 { self.isLogNearlyFull ? 0 : self.settings.keepRecords }

    private var isLogNearlyFull: Bool { self.maintenance?.usage?.isNear ?? false }

    func forgetOnce() async throws {
        // By the log's own time, which no clock can make jump; before the first record nothing is old.
        let board = self.feed.board
        if board.hasTime {
            let pruned = try await self.ledger.prune(
                rowsOfBreaksEndedBefore: board.retentionTime - BoardLimits.keepRowsFor,
                totalsBefore: board.retentionTime - self.settings.keepTotalsFor
            )
            if !pruned.isEmpty {
                self.logger.info("forgot who did what in old breaks", metadata: ["breaks": "\(pruned.count)"])
            }
        }
        // The ledger is done with what it has for good.
        let offsets = try await self.ledger.checkpoint()
        // What a ledger that keeps copies has, it has for good where two of them hold it.
        let copied = self.keeper.map(\.prunable)
        func done(_ lane: Lane, _ offset: UInt64) {
            let bound = copied.map { min(offset, $0[lane] ?? 0) } ?? offset
            self.watermarks.advance(.ledger, in: lane, through: bound)
        }
        for (lane, offset) in offsets where lane != .breaks { done(lane, offset) }
        // A ledger without copies learns of breaks from the board, which has them from its snapshot.
        done(.breaks, .max)
        try await self.watermarks.release(keeping: self.recordsToKeep)
    }
}
