// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging

/// Keeps copies of the ledger, so that the loss of its file loses nothing.
extension LedgerService {
    /// When copies are made.
    struct CopySettings: Hashable, Sendable {
        /// After a copy failed, the next one is tried no later than this.
        static let retryAfterMax: Duration = .seconds(60)
        /// A copy takes at most this part of the time: the next one comes no sooner than so many times as long as it took.
        static let restFactor = 10
        /// How long gaps in the history are an alarm: as long as there can be rows of the breaks they concern.
        static let gapAlarmFor: Duration = BoardLimits.keepRowsFor

        var interval: Duration
        var firstAfter: Duration
    }

    /// Copies the ledger again and again, and lets the log forget what two copies hold.
    func keepCopies(of keeper: any LedgerKeeping) async {
        if let recovery = keeper.recoveryAtStart { self.report(recovery) }
        await self.reportGaps(of: keeper)
        await keeper.verifyCopies()
        if let newest = keeper.copies.first { self.report(newest) }
        guard await self.checkIfNeeded(keeper) else { return }
        var wait = self.firstWait(keeper.copies)
        while (try? await Task.sleep(for: wait)) != nil {
            guard let next = await self.copyOnce(keeper) else { return }
            wait = next
        }
    }

    /// How long after the start a copy is due.
    private func firstWait(_ copies: [LedgerCopyFacts]) -> Duration {
        guard copies.count >= 2 else { return self.settings.copies.firstAfter }
        let age = self.clock.now() - copies[0].made
        // A clock that was set back makes copies of the future: they count as new.
        return max(self.settings.copies.interval - max(age, .zero), self.settings.copies.firstAfter)
    }

    /// Makes a copy.
    ///
    /// - Returns: when the next one is due; `nil` when the service is to end.
    private func copyOnce(_ keeper: any LedgerKeeping) async -> Duration? {
        let generation = keeper.generation
        let began = ContinuousClock.now
        do {
            let copy = try await keeper.copy(at: self.clock.now())
            let took = ContinuousClock.now - began
            self.metrics.count(.ledgerCopies, .made)
            self.metrics.observe(.ledgerCopySeconds, took)
            self.report(copy)
            self.readiness.clear(.ledgerCopies)
            await self.reportGaps(of: keeper)
            await self.forgetAfterCopy()
            // Until there are two, the log forgets nothing.
            let interval = keeper.copies.count < 2 ? self.settings.copies.firstAfter : self.settings.copies.interval
            return max(interval, took * CopySettings.restFactor)
        } catch LedgerError.closed {
            return nil
        } catch {
            guard !Task.isCancelled else { return nil }
            self.metrics.count(.ledgerCopies, .failed)
            let sentence = "The ledger could not be copied, and the event log keeps everything until it can: \(error)."
            if self.readiness.raise(.ledgerCopies, sentence) {
                self.logger.error("could not copy the ledger", metadata: ["error": "\(error)"])
            }
            if case .damaged = error { await self.checkAndReplace(keeper, generation) }
            return min(self.settings.copies.interval, CopySettings.retryAfterMax)
        }
    }

    private func forgetAfterCopy() async {
        do {
            try await self.forgetOnce()
        } catch {
            // The next copy, or the next hour, tries again.
            self.logger.debug("could not forget records after a copy", metadata: ["error": "\(error)"])
        }
    }

    /// Makes the check that the start left, if it did.
    ///
    /// - Returns: `false` when the service is to end.
    private func checkIfNeeded(_ keeper: any LedgerKeeping) async -> Bool {
        var isTold = false
        while keeper.needsCheck {
            if !isTold {
                self.readiness.raise(
                    .ledger,
                    "The gateway was not stopped properly: the ledger is being checked while it counts."
                )
                isTold = true
            }
            let generation = keeper.generation
            await self.checkAndReplace(keeper, generation)
            guard keeper.needsCheck else { break }
            guard (try? await Task.sleep(for: CopySettings.retryAfterMax)) != nil else { return false }
        }
        return !Task.isCancelled
    }

    /// Looks for damage, and replaces the ledger where there is any.
    private func checkAndReplace(_ keeper: any LedgerKeeping, _ generation: Int) async {
        do {
            guard let first = try await keeper.check().first else {
                self.readiness.clear(.ledger)
                return
            }
            _ = await self.replace(generation, after: LedgerError.damaged(first))
        } catch {
            guard !Task.isCancelled else { return }
            self.readiness.raise(
                .ledger,
                "The ledger has to be checked, and cannot be at present; it counts, and is not copied: \(error)"
            )
            self.logger.warning("could not check the ledger", metadata: ["error": "\(error)"])
        }
    }

    /// Replaces the ledger where an error says that trying again is of no use.
    ///
    /// - Parameters:
    ///   - generation: which one failed.
    ///   - error: how.
    /// - Returns: whether there is another one now.
    func replace(_ generation: Int, after error: any Error) async -> Bool {
        let reason: String
        switch error {
        case LedgerError.damaged(let fault): reason = "is damaged (\(fault))"
        case LedgerError.outOfOrder(let lane, let applied, let found):
            reason = "does not fit the event log (\(lane) is counted up to \(applied), and \(found) follows)"
        case EventLogError.pruned(let lane, let firstKept):
            reason = "ends before the event log begins (\(lane) is kept from \(firstKept) on)"
        default: return false
        }
        if self.readiness.raise(.ledger, "The ledger \(reason), and is being counted anew.") {
            self.logger.error("the ledger has to be counted anew", metadata: ["reason": "\(reason)"])
        }
        guard let keeper else { return false }
        self.metrics.count(.ledgerFailures)
        do {
            if let recovery = try await keeper.recover(generation, because: reason, at: self.clock.now()) {
                self.report(recovery)
                self.reportAll()
                await self.reportGaps(of: keeper)
            }
            return true
        } catch {
            self.logger.error("the ledger could not be replaced", metadata: ["error": "\(error)"])
            return false
        }
    }

    private func report(_ recovery: LedgerRecovery) {
        self.metrics.count(.ledgerRecoveries)
        self.readiness.raise(.ledger, recovery.sentence)
        self.logger.warning("the ledger is counted anew", metadata: ["what": "\(recovery.sentence)"])
    }

    private func report(_ copy: LedgerCopyFacts) {
        self.metrics.set(.ledgerCopyTime, to: Int(clamping: copy.made.microseconds / 1_000_000))
        self.metrics.set(.ledgerCopyBytes, to: copy.bytes)
    }

    /// Names what is missing from the books.
    private func reportGaps(of keeper: any LedgerKeeping) async {
        guard let gaps = try? await keeper.gaps() else { return }
        self.metrics.set(.ledgerGaps, to: gaps.count)
        let now = self.clock.now()
        let recent = gaps.filter { $0.to + CopySettings.gapAlarmFor > now }
        if recent.isEmpty {
            self.readiness.clear(.history)
        } else {
            self.readiness.raise(.history, recent.map(\.sentence).joined(separator: " "))
        }
    }
}
