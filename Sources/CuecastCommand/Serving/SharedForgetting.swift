// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import JetStreamLog
import Logging
import SQLiteStore
import ServiceLifecycle
import Synchronization

#if JetStream
/// The part of a shared log that knows the sessions that are forgotten.
struct SharedLogForgetting: Sendable {
    let log: JetStreamLog
    let orders: ForgettingOrders

    init(_ log: JetStreamLog) {
        self.log = log
        self.orders = ForgettingOrders(log.connection, names: log.names, of: log.identity.logID)
    }
}

/// Follows the orders to forget sessions in the log that several gateways share: for one gateway, with its ledger.
///
/// An order comes first: the session is refused, and has other names in the ledger and in all that is read. Then records that stand for
/// others are read. When the operator has erased the records that named the session, the files are written anew.
final class SharedForgetting: Sendable {
    private static let tryAfter: Duration = .seconds(1)
    /// How long a start waits for servers that do not say what was forgotten (1 min).
    private static let openWithin: Duration = .seconds(60)

    private struct State {
        var known: ForgettingOrders.Known
        var progress: SharedForgettingFile.Progress
        /// As the log has it.
        var told: ForgettingBooks?
    }

    private let shared: SharedLogForgetting
    private let file: SharedForgettingFile
    private let files: ForgettingFiles
    private let state: Mutex<State>
    /// For the ledger that is opened next.
    let start: SharedForgettingStart

    private init(
        _ shared: SharedLogForgetting,
        _ known: ForgettingOrders.Known,
        in directory: String
    ) throws {
        self.shared = shared
        self.file = SharedForgettingFile(directory: directory)
        self.files = ForgettingFiles(directory: directory)
        let progress = try self.file.read()
        self.state = Mutex(State(known: known, progress: progress))
        var start = SharedForgettingStart()
        start.names = known.pending.compactMap(\.names)
        start.hasMissed = known.orders.contains { $0.names == nil && $0.number > progress.refused }
        self.start = start
    }

    /// Reads the orders, before anything of the log is counted or compared.
    ///
    /// - Throws: where they cannot be read for a minute.
    static func open(_ shared: SharedLog, in directory: String, logger: Logger) async throws -> SharedForgetting? {
        guard let forgetting = shared.forgetting else { return nil }
        let begun = ContinuousClock.now
        while true {
            do throws(NATSError) {
                let known = try await forgetting.orders.read()
                forgetting.log.rename(known.pending.compactMap(\.names))
                // Nothing is counted before the ledger follows them.
                forgetting.log.follow(through: known.newest)
                let result: SharedForgetting
                do {
                    result = try SharedForgetting(forgetting, known, in: directory)
                } catch {
                    throw NATSError.unusable("\(error)")
                }
                if result.start.hasMissed {
                    logger.notice("a session was forgotten while this gateway was away: its ledger is counted anew")
                }
                return result
            } catch {
                guard case .noAnswer = error, ContinuousClock.now - begun < Self.openWithin else {
                    throw SharedLogFault(
                        description:
                            "the servers do not say which sessions are forgotten: \(error). The gateway's key needs the permissions of deploy/nats/permissions.conf"
                    )
                }
            }
            try await Task.sleep(for: Self.tryAfter)
        }
    }

    /// The ledger follows all orders that are known.
    func opened(_ ledger: KeptLedger) async throws {
        let progress = self.state.withLock { state in
            state.progress.refused = max(state.progress.refused, state.known.newest)
            return state.progress
        }
        try self.file.write(progress)
        // Operators wait for the books of all that have told.
        if self.state.withLock({ $0.known.key != nil }) { try await self.tell(progress) }
    }

    /// Adds the sessions that all gateways refuse.
    func note(_ forgotten: inout ForgottenSessions) throws {
        let known = self.state.withLock(\.known)
        guard let key = known.key, let newest = known.orders.map(\.at).max() else { return }
        for order in known.orders where order.at + ForgottenSessions.keptFor > newest {
            try forgotten.take(order.hash, of: key, at: order.at)
        }
    }

    // MARK: - While the gateway runs

    /// Looks for orders once, and does what they say.
    ///
    /// - Returns: why the gateway has to be started again; `nil`: it goes on.
    /// - Throws: where it has to be tried again.
    func look(_ ledger: KeptLedger, _ log: any EventLog, _ gateway: Gateway, _ logger: Logger) async throws -> String? {
        let known = try await self.shared.orders.read()
        guard known.key != nil else { return nil }
        let before = self.state.withLock { state in
            defer { state.known = known }
            return (known: state.known, progress: state.progress)
        }
        var progress = before.progress
        if known.orders.contains(where: { $0.number > progress.refused && $0.names == nil }) {
            return "a session was forgotten while this gateway could not read the log"
        }
        let pending = known.pending
        if known.newest > progress.refused {
            try await self.refuse(known, ledger, gateway)
            progress.refused = known.newest
            try self.keep(progress)
            logger.notice("a session is refused and forgotten", metadata: ["order": "\(known.newest)"])
        } else if pending.map(\.number) != before.known.pending.map(\.number) {
            // All gateways have used the names of one.
            self.shared.log.dropRecords()
            self.shared.log.rename(pending.compactMap(\.names))
            try await ledger.forget(inSharedLog: pending.compactMap(\.names))
        }
        let erased = known.orders.compactMap(\.erased).max() ?? 0
        if erased > progress.done {
            try await self.finish(known, ledger, isMissed: { $0.erased ?? 0 > progress.done && $0.names == nil })
            progress.done = erased
            try self.keep(progress)
            logger.notice("forgotten sessions are in no file of the books", metadata: ["order": "\(erased)"])
        }
        try await self.tell(progress)
        return nil
    }

    private func keep(_ progress: SharedForgettingFile.Progress) throws {
        try self.file.write(progress)
        self.state.withLock { $0.progress = progress }
    }

    private func refuse(_ known: ForgettingOrders.Known, _ ledger: KeptLedger, _ gateway: Gateway) async throws {
        let names = known.pending.compactMap(\.names)
        let isSettled = try await gateway.refuse(atMost: .seconds(0)) { forgotten in
            try self.note(&forgotten)
            try self.files.write(forgotten)
        }
        _ = isSettled
        self.shared.log.rename(names)
        try await ledger.forget(inSharedLog: names)
        // Only now: until then the ledger might count a record under both names.
        self.shared.log.follow(through: known.newest)
        guard try await gateway.refuse(atMost: .seconds(60), { _ in }) else {
            throw SharedLogFault(description: "the event log does not answer")
        }
    }

    /// The ledger has counted all records that are erased: nothing of the session comes into a file any more.
    private func finish(
        _ known: ForgettingOrders.Known,
        _ ledger: KeptLedger,
        isMissed: (ForgettingOrder) -> Bool
    ) async throws {
        for (lane, head) in known.orders.reduce(
            into: [Lane: UInt64](),
            { heads, order in
                heads.merge(order.heads) { max($0, $1) }
            }
        ) {
            guard try await ledger.appliedOffset(of: lane) >= head else {
                throw SharedLogFault(description: "the ledger is behind the log")
            }
        }
        self.shared.log.dropRecords()
        try await ledger.compact(removesCopies: known.orders.contains(where: isMissed))
    }

    private func tell(_ progress: SharedForgettingFile.Progress) async throws {
        var books = ForgettingBooks(id: progress.id)
        (books.refused, books.done, books.version) = (progress.refused, progress.done, CuecastVersion.text)
        guard self.state.withLock({ $0.told != books }) else { return }
        try await self.shared.orders.tell(books)
        let told = books
        self.state.withLock { $0.told = told }
    }

    /// The gateway cannot go on with this ledger.
    func stop(_ reason: String) { self.shared.log.stop(reason) }
}

/// Looks for orders once a second.
struct SharedForgettingService: Service {
    private static let lookInterval: Duration = .seconds(1)

    private let forgetting: SharedForgetting
    private let ledger: KeptLedger
    private let log: any EventLog
    private let gateway: Gateway
    private let logger: Logger

    init(
        _ forgetting: SharedForgetting,
        ledger: KeptLedger,
        log: any EventLog,
        gateway: Gateway,
        logger: Logger
    ) {
        self.forgetting = forgetting
        self.ledger = ledger
        self.log = log
        self.gateway = gateway
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var failed: String?
            while !Task.isCancelled {
                do {
                    if let reason = try await self.forgetting.look(self.ledger, self.log, self.gateway, self.logger) {
                        return self.forgetting.stop(reason)
                    }
                    failed = nil
                } catch {
                    let sentence = "\(error)"
                    if sentence != failed, !Task.isCancelled {
                        self.logger.warning(
                            "forgotten sessions are looked at later",
                            metadata: ["error": "\(sentence)"]
                        )
                    }
                    failed = sentence
                }
                do { try await Task.sleep(for: Self.lookInterval) } catch { return }
            }
        }
    }
}
#else
/// Built without NATS: no log is shared.
struct SharedLogForgetting: Sendable {}

final class SharedForgetting: Sendable {
    let start = SharedForgettingStart()

    static func open(_ shared: SharedLog, in directory: String, logger: Logger) async throws -> SharedForgetting? {
        nil
    }
    func opened(_ ledger: KeptLedger) async throws {}
    func note(_ forgotten: inout ForgottenSessions) throws {}
}

struct SharedForgettingService: Service {
    init(
        _ forgetting: SharedForgetting,
        ledger: KeptLedger,
        log: any EventLog,
        gateway: Gateway,
        logger: Logger
    ) {}

    func run() async throws {}
}
#endif
