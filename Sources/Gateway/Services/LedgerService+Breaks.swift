// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging

/// Tells the ledger of breaks that the board does not have any more, where it was not told while they were on the board.
extension LedgerService {
    /// How many records are read, and told, at once.
    private static let groupsPerPortionMax = 64
    private static let bytesPerPortionMax = 4 * 1_048_576
    /// How often it looks whether there is something to tell: a ledger that took the place of another one may need it.
    private static let lookInterval: Duration = .seconds(60)

    /// Reads the lane of breaks from its first record, as far as the ledger has not been told of everything.
    ///
    /// It works at most half of the time: nothing waits for it, and reports say that it is under way.
    func tellOlderBreaks(to keeper: any LedgerKeeping) async {
        while !Task.isCancelled {
            let generation = keeper.generation
            do {
                guard let last = try await keeper.owedBreaks() else {
                    guard (try? await Task.sleep(for: Self.lookInterval)) != nil else { return }
                    continue
                }
                let began = ContinuousClock.now
                guard try await self.tellBreaks(through: last) else { return }
                // A ledger that took the place of the other one meanwhile may lack those that were told before.
                guard keeper.generation == generation else { continue }
                try await keeper.settleBreaks(through: last)
                self.logger.info(
                    "the ledger knows the older breaks",
                    metadata: [
                        "through": "\(last)", "seconds": "\((ContinuousClock.now - began).components.seconds)",
                    ]
                )
            } catch EventLogError.closed, LedgerError.closed {
                return
            } catch let error as WireError {
                // The record will not become another one. `cuecast verify` names it.
                self.logger.error("older breaks cannot be read from the log", metadata: ["error": "\(error)"])
                return
            } catch {
                self.logger.debug("older breaks could not be told to the ledger", metadata: ["error": "\(error)"])
                guard (try? await Task.sleep(for: Self.retryAfter)) != nil else { return }
            }
        }
    }

    /// - Returns: `false` when the service is to end.
    private func tellBreaks(through last: UInt64) async throws -> Bool {
        var board = Board(epoch: self.log.epoch)
        while board.offset < last {
            let began = ContinuousClock.now
            let records = try await self.log.read(
                .breaks,
                after: board.offset,
                recordsMax: Self.groupsPerPortionMax,
                bytesMax: Self.bytesPerPortionMax
            )
            guard !records.isEmpty else { return false }
            var changed: [BreakNumber: BreakSummary] = [:]
            for record in records where record.offset <= last {
                for result in try board.apply(record)?.results ?? [] {
                    if case .changed(let each, _) = result { changed[each.number] = each.summary }
                }
            }
            _ = board.takeChanges()
            try await self.ledger.record(changed.values.sorted { $0.number < $1.number }, through: board.offset)
            guard (try? await Task.sleep(for: ContinuousClock.now - began)) != nil else { return false }
        }
        return true
    }
}
