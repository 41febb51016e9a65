// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Foundation
package import GatewayCore
import Synchronization

/// The ledger of a data directory, whose loss loses nothing.
///
/// It keeps checked copies of itself in the folder `copies`, and when its file is gone, damaged, or too old for the
/// log, goes on from the newest copy that is right and the records after it. What was there is kept in the folder
/// `set-aside`.
///
/// ```swift
/// let stores = try await KeptStores.open(in: directory, now: clock.now())
/// if let recovery = stores.ledger.recoveryAtStart { print(recovery.sentence) }
/// ```
package final class KeptLedger: LedgerKeeping, CachingStore {
    package struct Settings: Hashable, Sendable {
        /// How many copies are kept.
        package var copiesKept = SettingDefaults.ledgerCopiesKept
        /// A ledger up to this size, with a log up to twice of it, is checked before it serves where it was not closed
        /// properly; larger ones while they serve.
        package var checkAtStartBytesMax = 32 * 1_048_576
        /// Whether the log is far away, and never forgets anything: then no start reads all of it.
        ///
        /// What needs that is done while the ledger serves, and a check begins with the newest copy.
        var isLogFar = false

        package init() {}
    }

    private struct Copy {
        let file: LedgerCopy
        let facts: LedgerCopyFacts
    }

    private struct State {
        var ledger: SQLiteLedger
        var generation = 0
        var needsCheck: Bool
        var copies: [Copy] = []
        /// Why the ledger has to be replaced, while that did not work.
        var fault: String?
        /// Sessions that are being forgotten in a shared log.
        var forgetting: [ForgettingNames] = []
        var isClosed = false
    }

    private let state: Mutex<State>
    private let directory: Mutex<StoreDirectory?>
    private let folder: LedgerCopies
    private let log: any EventLog
    private let settings: Settings
    private let turns = Turns()
    /// A backup is no part of a session's forgetting, and the other way round: its files would say different things.
    private let backupTurns = Turns()
    package let recoveryAtStart: LedgerRecovery?

    private init(
        _ ledger: SQLiteLedger,
        in directory: StoreDirectory,
        log: any EventLog,
        settings: Settings,
        recovery: LedgerRecovery?,
        needsCheck: Bool
    ) {
        self.state = Mutex(State(ledger: ledger, needsCheck: needsCheck))
        self.directory = Mutex(directory)
        self.folder = LedgerCopies(dataDirectory: directory.path)
        self.log = log
        self.settings = settings
        self.recoveryAtStart = recovery
    }

    /// Takes over a ledger that fits its log, or makes it again.
    ///
    /// - Parameters:
    ///   - found: the result of `LedgerFile.look` before the file was opened, and the result of opening it.
    ///   - directory: where.
    ///   - log: open; what the ledger counts.
    ///   - settings: how many copies there are to be, and what is checked when.
    ///   - now: by the gateway's clock.
    /// - Returns: the ledger, open; `recoveryAtStart` says what was done where it was made again.
    /// - Throws: `laterSchema`, or why not even another ledger can be made.
    static func open(
        _ found: LedgerFile.Found,
        in directory: StoreDirectory,
        log: any EventLog,
        settings: Settings,
        now: Timestamp
    ) async throws(StoreError) -> KeptLedger {
        do {
            LedgerCheck.removeLeftFolders(in: directory.path)
            let opening = Opening(directory: directory, log: log, settings: settings, now: now)
            let (ledger, recovery, needsCheck) = try await opening.run(found)
            return KeptLedger(
                ledger,
                in: directory,
                log: log,
                settings: settings,
                recovery: recovery,
                needsCheck: needsCheck
            )
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(directory.file(StoreDirectory.ledgerFile), error)
        }
    }

    /// The ledger that serves at present: a replaced one is closed.
    package var serving: SQLiteLedger { self.current }

    package var generation: Int { self.state.withLock(\.generation) }
    package var needsCheck: Bool { self.state.withLock(\.needsCheck) }
    package var copies: [LedgerCopyFacts] { self.state.withLock { $0.copies.map(\.facts) } }

    package func releaseCaches() async { await self.current.releaseCaches() }
    package func cacheBytes() async -> Int { await self.current.cacheBytes() }

    package func verifyCopies() async {
        var known: [Copy] = []
        for copy in self.folder.list() {
            guard await copy.fault() == nil, let offsets = try? copy.offsets() else { continue }
            let bytes = (try? FileManager.default.attributesOfItem(atPath: copy.path)[.size] as? Int) ?? 0
            known.append(Copy(file: copy, facts: LedgerCopyFacts(made: copy.made, offsets: offsets, bytes: bytes)))
        }
        self.state.withLock { state in
            let made = Set(state.copies.map(\.file.path))
            state.copies += known.filter { !made.contains($0.file.path) }
        }
    }

    package func copy(at now: Timestamp) async throws(LedgerError) -> LedgerCopyFacts {
        try await self.turns
            .take { () async -> Result<LedgerCopyFacts, LedgerError> in
                await self.copyInTurn(at: now)
            }
            .get()
    }

    private func copyInTurn(at now: Timestamp) async -> Result<LedgerCopyFacts, LedgerError> {
        let (ledger, generation, newest, needsCheck) = self.state.withLock {
            ($0.ledger, $0.generation, $0.copies.first?.facts, $0.needsCheck)
        }
        guard !needsCheck else { return .failure(.failed("the ledger has not been checked yet")) }
        do {
            if let newest, newest.offsets == (try await ledger.appliedOffsets()) { return .success(newest) }
            let (file, facts) = try await self.folder.make(of: ledger, at: now)
            let isCurrent = self.state.withLock { state in
                guard state.generation == generation else { return false }
                state.copies.insert(Copy(file: file, facts: facts), at: 0)
                state.copies = Array(state.copies.prefix(self.settings.copiesKept))
                return true
            }
            guard isCurrent else {
                self.folder.remove(file)
                return .failure(.failed("the ledger was replaced while it was copied"))
            }
            // By their paths: the name of a file tells only whole seconds of when it was made.
            let kept = Set(self.state.withLock { $0.copies.map(\.file.path) })
            for old in self.folder.list() where !kept.contains(old.path) { self.folder.remove(old) }
            return .success(facts)
        } catch {
            return .failure(self.failure(error))
        }
    }

    package func check() async throws(LedgerError) -> [String] {
        try await self.turns.take { () async -> Result<[String], LedgerError> in await self.checkInTurn() }.get()
    }

    private func checkInTurn() async -> Result<[String], LedgerError> {
        guard let directory = self.directory.withLock(\.self) else { return .failure(.closed) }
        let (ledger, generation) = self.state.withLock { ($0.ledger, $0.generation) }
        do {
            let differences = try await LedgerCheck.differences(
                of: ledger,
                copies: self.folder,
                source: OpenLogSource(log: self.log),
                directory: directory,
                prefersCopies: self.settings.isLogFar
            )
            if differences.isEmpty {
                self.state.withLock { if $0.generation == generation { $0.needsCheck = false } }
            }
            return .success(differences)
        } catch {
            return .failure(self.failure(error))
        }
    }

    package func recover(
        _ generation: Int,
        because reason: String,
        at now: Timestamp
    ) async throws(LedgerError) -> LedgerRecovery? {
        let wrong = self.state.withLock { $0.generation == generation && !$0.isClosed ? $0.ledger : nil }
        // So that a copy or a check that is under way ends.
        await wrong?.close()
        return try await self.turns
            .take { () async -> Result<LedgerRecovery?, LedgerError> in
                await self.recoverInTurn(generation, because: reason, at: now)
            }
            .get()
    }

    private func recoverInTurn(
        _ generation: Int,
        because reason: String,
        at now: Timestamp
    ) async -> Result<LedgerRecovery?, LedgerError> {
        guard let directory = self.directory.withLock(\.self), self.state.withLock({ !$0.isClosed }) else {
            return .failure(.closed)
        }
        guard self.generation == generation else { return .success(nil) }
        do {
            // The copy that takes its place, and the log that is counted after it, must say the same.
            if self.log is SQLiteEventLog { try await self.finishForgetting(nil) }
        } catch {
            self.state.withLock { $0.fault = reason }
            return .failure(.failed("a session could not be forgotten: \(StoreFile.sentence(error))"))
        }
        let replacement = LedgerReplacement(
            directory: directory,
            copies: self.folder,
            log: self.log,
            lanes: Self.lanes,
            now: now
        )
        do {
            let (ledger, recovery) = try await replacement.run(because: reason, isUsable: false)
            do {
                try await ledger.forget(self.state.withLock(\.forgetting))
            } catch {
                await ledger.close()
                throw error
            }
            self.state.withLock { state in
                state.ledger = ledger
                state.generation += 1
                state.needsCheck = false
                state.fault = nil
            }
            return .success(recovery)
        } catch {
            self.state.withLock { $0.fault = reason }
            return .failure(.failed("it could not be replaced: \(StoreFile.sentence(error))"))
        }
    }

    package func close() async {
        self.state.withLock { $0.isClosed = true }
        // So that a copy or a check that is under way ends.
        await self.current.close()
        _ = await self.turns.take { () async -> Bool in
            await self.current.close()
            guard let directory = self.directory.withLock({ $0.take() }) else { return false }
            // Where this fails, the next start checks the ledger.
            try? LedgerSeal.put(
                on: directory.file("ledger.sqlite"),
                in: directory,
                digestBytesMax: self.settings.checkAtStartBytesMax
            )
            return true
        }
    }
}

// MARK: - Sessions that are forgotten

extension KeptLedger {
    /// Does something with the ledger while no session is being forgotten: a backup of both files, for instance.
    package func whileNothingIsForgotten<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteLedger) async -> Value
    ) async -> Value {
        await self.backupTurns.take { await body(self.current) }
    }

    /// The data of a session in the books.
    ///
    /// - Throws: where they cannot be read.
    package func traces(of session: SessionID) async throws -> SessionTraces {
        guard let log = self.log as? SQLiteEventLog, let path = self.directory.withLock({ $0?.path }) else {
            throw LedgerError.closed
        }
        return try await SessionForgetting(directory: path).traces(of: session, log: log, ledger: self.current)
    }

    /// Puts other names in the place of a session: in the ledger, its copies and the log.
    ///
    /// Nothing of the session comes into the log any more, and the ledger has counted all of it. What was begun and not ended is ended by
    /// the next call, and by the next start.
    ///
    /// - Parameters:
    ///   - session: the session to forget.
    ///   - isServing: whether appends may not wait for long; then a large log keeps the pages that it uses no more.
    /// - Returns: the traces of the session.
    /// - Throws: where it has to be done again.
    package func forget(_ session: SessionID, isServing: Bool = true) async throws -> SessionTraces {
        try await self.backupTurns
            .take { () async -> Result<SessionTraces, any Error> in
                await self.turns.take { () async -> Result<SessionTraces, any Error> in
                    do {
                        return .success(try await self.forgetInTurn(session, isServing: isServing))
                    } catch {
                        return .failure(self.failure(error))
                    }
                }
            }
            .get()
    }

    /// Puts other names in the place of sessions that are being forgotten in a shared log: in the ledger's rows, and in all that it counts
    /// until the next call.
    ///
    /// - Parameter names: of all of them.
    /// - Throws: where it has to be done again.
    package func forget(inSharedLog names: [ForgettingNames]) async throws(LedgerError) {
        try await self.turns
            .take { () async -> Result<Void, LedgerError> in
                do {
                    try await self.current.forget(names)
                    self.state.withLock { $0.forgetting = names }
                    return .success(())
                } catch {
                    return .failure(self.failure(error))
                }
            }
            .get()
    }

    /// Writes the ledger and its copies anew: no session that was forgotten is in them, also not in pages that are used no more.
    ///
    /// - Parameter removesCopies: whether the names of a session are erased, so that copies cannot get them.
    /// - Throws: where it has to be done again.
    package func compact(removesCopies: Bool) async throws(LedgerError) {
        try await self.turns
            .take { () async -> Result<Void, LedgerError> in
                do {
                    try await self.compactInTurn(removesCopies: removesCopies)
                    return .success(())
                } catch {
                    return .failure(self.failure(error))
                }
            }
            .get()
    }

    private func compactInTurn(removesCopies: Bool) async throws {
        guard let path = self.directory.withLock({ $0?.path }) else { throw LedgerError.closed }
        try await self.current.compact()
        // Copies are made in turn too, so that this one is what a kill has left.
        self.folder.removeUnfinished()
        let names = self.state.withLock(\.forgetting)
        let forgetting = SessionForgetting(directory: path)
        var changed: [UInt64: LedgerCopy?] = [:]
        for copy in self.folder.list() {
            if removesCopies {
                self.folder.remove(copy)
                changed[copy.number] = .some(nil)
            } else {
                changed[copy.number] = .some(
                    try await forgetting.replace(copy) { try LedgerForgetting.replace(names, $0) }
                )
            }
        }
        let result = changed
        self.state.withLock { state in
            state.copies = state.copies.compactMap { copy in
                guard let changed = result[copy.file.number] else { return copy }
                return changed.map { Copy(file: $0, facts: copy.facts) }
            }
        }
    }

    private func forgetInTurn(_ session: SessionID, isServing: Bool) async throws -> SessionTraces {
        guard let path = self.directory.withLock({ $0?.path }) else { throw LedgerError.closed }
        // An unfinished call comes first, with its names.
        try await self.finishForgetting(self.current)
        try ForgettingFiles(directory: path).writePending(SessionPseudonyms(of: session))
        return try await self.finishForgetting(self.current, isServing: isServing)
    }

    @discardableResult
    private func finishForgetting(_ ledger: SQLiteLedger?, isServing: Bool = true) async throws -> SessionTraces {
        guard let log = self.log as? SQLiteEventLog, let path = self.directory.withLock({ $0?.path }) else {
            throw LedgerError.closed
        }
        let forgetting = SessionForgetting(directory: path)
        guard let done = try await forgetting.finish(log: log, ledger: ledger, isServing: isServing) else {
            return SessionTraces()
        }
        self.state.withLock { state in
            state.copies = state.copies.compactMap { copy in
                guard let changed = done.copies[copy.file.number] else { return copy }
                return changed.map { Copy(file: $0, facts: copy.facts) }
            }
        }
        return done.traces
    }
}

// MARK: - What the ledger does

extension KeptLedger {
    /// The lanes that are counted.
    static var lanes: [Lane] { (0..<Lane.acknowledgementLaneCount).map { .acknowledgements($0) } }

    private var current: SQLiteLedger { self.state.withLock(\.ledger) }

    package var fileBytes: Int? { self.current.fileBytes }

    package func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 {
        try await self.forward { ledger throws(LedgerError) in try await ledger.appliedOffset(of: lane) }
    }

    @discardableResult
    package func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) -> NewOutcomes {
        try await self.forward { ledger throws(LedgerError) in try await ledger.apply(postings, of: lane) }
    }

    package func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) {
        try await self.forward { ledger throws(LedgerError) in try await ledger.record(breaks, through: offset) }
    }

    package func checkpoint() async throws(LedgerError) -> [Lane: UInt64] {
        try await self.forward { ledger throws(LedgerError) in try await ledger.checkpoint() }
    }

    package func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        var report = try await self.forward { ledger throws(LedgerError) in try await ledger.report(query) }
        if self.needsCheck { report.pending.insert(.ledgerCheck) }
        return report
    }

    package func owedBreaks() async throws(LedgerError) -> UInt64? {
        try await self.forward { ledger throws(LedgerError) in try await ledger.owedBreaks() }
    }

    package func settleBreaks(through offset: UInt64) async throws(LedgerError) {
        try await self.forward { ledger throws(LedgerError) in try await ledger.settleBreaks(through: offset) }
    }

    /// Notes that the board does not have every break that the ledger has not been told of.
    ///
    /// - Parameter offset: of the lane `breaks`: the board began there, and the ledger may lack breaks up to there.
    /// - Throws: where that cannot be written.
    package func oweBreaks(through offset: UInt64) async throws(LedgerError) {
        guard offset > (try await self.appliedOffset(of: .breaks)) else { return }
        try await self.forward { ledger throws(LedgerError) in try await ledger.oweBreaks(through: offset) }
    }

    package func audit() async throws(LedgerError) -> [String] {
        try await self.forward { ledger throws(LedgerError) in try await ledger.audit() }
    }

    package func gaps() async throws(LedgerError) -> [LedgerGap] {
        try await self.forward { ledger throws(LedgerError) in try await ledger.gaps() }
    }

    package func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] {
        try await self.forward { ledger throws(LedgerError) in
            try await ledger.prune(rowsOfBreaksEndedBefore: rowsLimit, totalsBefore: totalsLimit)
        }
    }

    private func forward<Value: Sendable>(
        _ body: (SQLiteLedger) async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        do {
            return try await body(self.current)
        } catch {
            throw self.failure(error)
        }
    }

    /// The error for callers: a ledger that is being replaced is not closed.
    private func failure(_ error: any Error) -> LedgerError {
        let (isClosed, fault) = self.state.withLock { ($0.isClosed, $0.fault) }
        if let fault, !isClosed { return .damaged(fault) }
        switch error {
        case LedgerError.closed, StoreCopyError.closed, EventLogError.closed:
            return isClosed ? .closed : .failed("the ledger is being made anew")
        case let error as LedgerError: return error
        case StoreCopyError.damaged(_, let problems): return .damaged(problems.joined(separator: "; "))
        case is CancellationError, StoreCopyError.cancelled:
            return isClosed ? .closed : .failed("it was cancelled")
        default: return .failed(StoreFile.sentence(error))
        }
    }
}

// MARK: - Opening

/// The checks when a ledger is opened.
private struct Opening {
    let directory: StoreDirectory
    let log: any EventLog
    let settings: KeptLedger.Settings
    let now: Timestamp

    private var copies: LedgerCopies { LedgerCopies(dataDirectory: self.directory.path) }

    /// - Returns: the ledger, what was done to get it, and whether it has still to be checked.
    func run(_ found: LedgerFile.Found) async throws -> (SQLiteLedger, LedgerRecovery?, needsCheck: Bool) {
        switch found {
        case .wrong(let reason, let keptAside):
            return try await self.replace(because: reason, keptAside: keptAside)
        case .new(let ledger):
            // The first start makes a ledger; nothing is said of it.
            guard try await self.isSomethingCounted() else { return (ledger, nil, needsCheck: false) }
            await ledger.close()
            StoreFiles.remove(self.directory.file(StoreDirectory.ledgerFile))
            return try await self.replace(because: "is missing")
        case .first(let ledger):
            guard try await self.isSomethingCounted() else { return (ledger, nil, needsCheck: false) }
            await ledger.close()
            StoreFiles.remove(self.directory.file(StoreDirectory.ledgerFile))
            // It counts from the first record, with the breaks that the board does not have any more.
            return (try await self.replace(because: "is missing").0, nil, needsCheck: false)
        case .there(let ledger, let isSealed):
            return try await self.check(ledger, isSealed: isSealed)
        }
    }

    private func check(
        _ ledger: SQLiteLedger,
        isSealed: Bool
    ) async throws -> (SQLiteLedger, LedgerRecovery?, needsCheck: Bool) {
        do {
            var needsCheck = !isSealed
            if needsCheck, !self.settings.isLogFar, try self.isSmall(),
                let differences = try await self.differences(of: ledger)
            {
                if let first = differences.first {
                    await ledger.close()
                    return try await self.replace(because: "is damaged (\(first))")
                }
                needsCheck = false
            }
            if try await !self.goesOn(ledger) {
                await ledger.close()
                return try await self.replace(because: "ends before the event log begins", isUsable: true)
            }
            return (ledger, nil, needsCheck: needsCheck)
        } catch let error as LedgerError {
            await ledger.close()
            guard case .damaged(let reason) = error else { throw error }
            return try await self.replace(because: "is damaged (\(reason))")
        } catch {
            await ledger.close()
            throw error
        }
    }

    /// - Returns: the differences that a check found; `nil`: the check is not possible now, for instance because the disk is full. It is
    ///   made later, while the ledger serves.
    private func differences(of ledger: SQLiteLedger) async throws -> [String]? {
        do {
            return try await LedgerCheck.differences(
                of: ledger,
                copies: self.copies,
                source: OpenLogSource(log: self.log),
                directory: self.directory
            )
        } catch let error as LedgerError {
            if case .damaged = error { throw error }
            return nil
        } catch {
            return nil
        }
    }

    private func replace(
        because reason: String,
        isUsable: Bool = false,
        keptAside: String? = nil
    ) async throws -> (SQLiteLedger, LedgerRecovery?, needsCheck: Bool) {
        let replacement = LedgerReplacement(
            directory: self.directory,
            copies: self.copies,
            log: self.log,
            lanes: KeptLedger.lanes,
            now: self.now,
            keptAside: keptAside,
            tellsBreaks: !self.settings.isLogFar
        )
        let (ledger, recovery) = try await replacement.run(because: reason, isUsable: isUsable)
        return (ledger, recovery, needsCheck: false)
    }

    private func isSomethingCounted() async throws -> Bool {
        if !self.copies.list().isEmpty { return true }
        for lane in KeptLedger.lanes + [.breaks] where try await self.log.head(of: lane) > 0 { return true }
        return false
    }

    private func goesOn(_ ledger: SQLiteLedger) async throws -> Bool {
        let source = OpenLogSource(log: self.log)
        for lane in KeptLedger.lanes {
            let applied = try await ledger.appliedOffset(of: lane)
            if try await !source.goesOn(lane, after: applied) { return false }
        }
        return true
    }

    /// Whether a check takes no longer than people wait for a start.
    private func isSmall() throws -> Bool {
        func bytes(_ name: String) -> Int {
            ["", "-wal"]
                .reduce(0) { sum, suffix in
                    let path = self.directory.file(name + suffix)
                    return sum + ((try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0)
                }
        }
        let limit = self.settings.checkAtStartBytesMax
        return bytes("ledger.sqlite") <= limit && bytes("events.sqlite") <= 2 * limit
    }
}

/// Lets those who ask go one after the other.
private final class Turns: Sendable {
    private let last: Mutex<Task<Void, Never>?> = Mutex(nil)

    func take<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let turn = self.last.withLock { last in
            let before = last
            let turn = Task {
                await before?.value
                return await body()
            }
            last = Task { _ = await turn.value }
            return turn
        }
        return await withTaskCancellationHandler {
            await turn.value
        } onCancel: {
            turn.cancel()
        }
    }
}
