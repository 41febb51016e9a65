// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Logging
import ServiceLifecycle
import Synchronization

/// Records the requested changes: who asked, when, from where, and the result.
///
/// `note` returns at once: lines wait in memory for the store, up to a bound, and go to it in groups. A line that comes alone goes at
/// once; after a group the next one gathers for `gatherFor`, so that a burst of requests does not share its processor with a
/// transaction for each of its lines. Where the store fails they are tried again; what finds no room is lost, is counted, raises an
/// alarm, and stands in the audit as missing once it works again. No answer waits for the audit: what was changed is in the event log
/// before it is answered.
package final class AuditTrail: Service, Sendable {
    /// How much of it is kept.
    package struct Settings: Hashable, Sendable {
        /// The most lines that wait for the store.
        package var recordsWaitingMax = LimitName.auditRecordsWaitingMax.value
        /// The most lines that are kept.
        package var recordsMax = SettingDefaults.auditRecordsMax
        /// How long a line is kept, by the log's own time.
        package var keepFor: Duration = SettingDefaults.auditKeepFor
        /// How long lines gather after a group before the next group goes to the store.
        package var gatherFor: Duration = .milliseconds(50)
        /// How long to wait before a store that failed is tried again.
        package var retryDelay: Duration = .seconds(1)
        /// How often what is too old is let go of.
        package var pruneInterval: Duration = .seconds(60)

        package init() {}
    }

    private struct State {
        var waiting: [AuditRecord] = []
        /// How many found no room since the store took something.
        var missing = 0
        /// Whether the store took nothing the last time.
        var isFailing = false
        var isClosed = false
    }

    /// The most lines that one transaction of the store takes.
    private static let groupRecordsMax = 1_000

    private let store: (any AuditStore)?
    /// The fault since the start.
    private let fault: String?
    private let settings: Settings
    private let now: @Sendable () -> Timestamp
    private let retentionTime: @Sendable () -> Timestamp?
    private let metrics: MetricRegistry
    private let readiness: ReadinessBoard
    private let logger: Logger
    private let state = Mutex(State())
    private let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - store: open, closed when the service ends; `nil`: nothing is kept, which is an alarm where there is a fault.
    ///   - fault: a sentence about the store for operators.
    ///   - settings: how much is kept.
    ///   - now: the gateway's clock.
    ///   - retentionTime: the log's own time; `nil`: it has none yet.
    ///   - metrics: counts lines.
    ///   - readiness: shows the alarm.
    ///   - logger: for people.
    init(
        store: (any AuditStore)?,
        fault: String?,
        settings: Settings,
        now: @escaping @Sendable () -> Timestamp,
        retentionTime: @escaping @Sendable () -> Timestamp?,
        metrics: MetricRegistry,
        readiness: ReadinessBoard,
        logger: Logger
    ) {
        self.store = store
        self.fault = fault
        self.settings = settings
        self.now = now
        self.retentionTime = retentionTime
        self.metrics = metrics
        self.readiness = readiness
        self.logger = logger
        (self.wakeUps, self.wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        if let fault {
            readiness.raise(.audit, fault)
            logger.error("the audit is not as it was", metadata: ["fault": "\(fault)"])
        }
    }

    /// Whether anything is kept.
    package var isKept: Bool { self.store != nil }

    /// Keeps a line; returns at once.
    package func note(_ record: @autoclosure () -> AuditRecord) {
        guard self.store != nil else { return }
        let record = record()
        let (isFirst, hasRoom) = self.state.withLock { state in
            guard !state.isClosed, state.waiting.count < self.settings.recordsWaitingMax else {
                state.missing += 1
                return (false, false)
            }
            state.waiting.append(record)
            return (state.waiting.count == 1, true)
        }
        guard hasRoom else {
            self.metrics.count(.auditRecords, .lost)
            return self.metrics.count(.limitsHit, .limit(.auditRecordsWaitingMax))
        }
        if isFirst { self.wakeUp.yield() }
    }

    /// Keeps that something was asked for that is about no break.
    ///
    /// - Parameters:
    ///   - action: the requested action, in a word.
    ///   - principal: the principal that asked.
    ///   - origin: where from.
    ///   - stream: the stream that it names; `nil`: none.
    ///   - key: the break that it names all the same; `nil`: none.
    ///   - refusal: why it was refused; `nil`: it was done.
    package func note(
        _ action: String,
        by principal: String,
        from origin: RequestOrigin,
        on stream: StreamID? = nil,
        about key: BreakKey? = nil,
        _ refusal: Refusal?
    ) {
        self.note(
            AuditRecord(
                at: self.now(),
                principal: principal,
                origin: origin,
                action: action,
                stream: stream,
                key: key,
                outcome: refusal == nil ? .changed : .refused,
                status: refusal?.status,
                sentence: refusal?.sentence ?? ""
            )
        )
    }

    /// The lines that are asked for, the newest first.
    package func records(_ query: AuditQuery) async throws(AuditError) -> [NumberedAuditRecord] {
        guard let store else { throw AuditError("the audit is not kept") }
        return try await store.records(query)
    }

    /// How many lines wait for the store.
    package var waitingCount: Int { self.state.withLock(\.waiting.count) }

    package func run() async throws {
        guard let store else {
            try? await gracefulShutdown()
            return
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await cancelWhenGracefulShutdown { await self.prune(store) }
            }
            group.addTask {
                // Waiting records wake it; so does the end.
                for await _ in self.wakeUps.cancelOnGracefulShutdown() { await self.keepAll(store) }
            }
            await group.waitForAll()
        }
        self.state.withLock { $0.isClosed = true }
        if await !self.keep(store) {
            let count = self.state.withLock(\.waiting.count)
            self.metrics.count(.auditRecords, .lost, by: count)
            self.logger.error("lines of the audit were lost", metadata: ["count": "\(count)"])
        }
        await store.close()
    }

    /// Hands lines to the store until none waits, or the gateway stops.
    private func keepAll(_ store: any AuditStore) async {
        repeat {
            let isKept = await self.keep(store)
            // A store that fails is tried again.
            let pause = isKept ? self.settings.gatherFor : self.settings.retryDelay
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
        } while self.hasWork && !Task.isShuttingDownGracefully && !Task.isCancelled
    }

    private var hasWork: Bool { self.state.withLock { $0.missing > 0 || !$0.waiting.isEmpty } }

    /// Hands to the store what waits now, in groups.
    ///
    /// Records that come meanwhile, or are dropped meanwhile, are for the next time.
    ///
    /// - Returns: whether it took it.
    private func keep(_ store: any AuditStore) async -> Bool {
        var left = self.waitingCount
        repeat {
            let (missing, group) = self.state.withLock { state in
                (state.missing, Array(state.waiting.prefix(min(left, Self.groupRecordsMax))))
            }
            guard missing > 0 || !group.isEmpty else { return true }
            left -= group.count
            let gap = missing > 0 ? [self.gap(missing)] : []
            do throws(AuditError) {
                try await store.append(group + gap)
            } catch {
                self.failed(error)
                return false
            }
            let wasFailing = self.state.withLock { state in
                state.waiting.removeFirst(group.count)
                state.missing -= missing
                defer { state.isFailing = false }
                return state.isFailing
            }
            self.metrics.count(.auditRecords, .kept, by: group.count)
            if wasFailing { self.works() }
        } while left > 0
        return true
    }

    private func failed(_ error: AuditError) {
        let wasFailing = self.state.withLock { state in
            defer { state.isFailing = true }
            return state.isFailing
        }
        guard !wasFailing else { return }
        self.readiness.raise(
            .audit,
            "The audit cannot be kept (\(error)): up to \(self.settings.recordsWaitingMax) lines wait in memory; what comes beyond is lost."
        )
        self.logger.error("the audit cannot be kept", metadata: ["error": "\(error)"])
    }

    private func works() {
        self.logger.notice("the audit is kept again")
        if let fault { self.readiness.raise(.audit, fault) } else { self.readiness.clear(.audit) }
    }

    /// The line that stands for those that were lost.
    private func gap(_ count: Int) -> AuditRecord {
        AuditRecord(
            at: self.now(),
            principal: "",
            origin: RequestOrigin(.command),
            action: "audit",
            outcome: .missing,
            sentence: "\(count) lines before this one could not be kept (auditRecordsWaitingMax)."
        )
    }

    private func prune(_ store: any AuditStore) async {
        repeat {
            do throws(AuditError) {
                let limit = self.retentionTime().map { $0 - self.settings.keepFor }
                while try await store.prune(before: limit, recordsMax: self.settings.recordsMax) > 0, !Task.isCancelled
                {}
            } catch {
                self.logger.warning("the audit could not let go of what is too old", metadata: ["error": "\(error)"])
            }
        } while (try? await Task.sleep(for: self.settings.pruneInterval)) != nil
    }
}
