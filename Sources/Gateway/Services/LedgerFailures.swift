// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Synchronization

/// Which parts of the ledger's work fail at present, and when that is said: at once in the log, and as an alarm where it goes on.
final class LedgerFailures: Sendable {
    /// So many failures in a row are an alarm.
    static let alarmAfter = 3
    /// A failure that goes on stands in the log again after so many.
    static let logAgainAfter = 60

    private struct State {
        var inARow: [Lane: Int] = [:]
        var isAlarm = false
    }

    private let state = Mutex(State())

    /// Something of a lane failed.
    ///
    /// - Returns: whether it is to be logged, and whether it is an alarm by now.
    func failed(_ lane: Lane) -> (isLogged: Bool, isAlarm: Bool) {
        self.state.withLock { state in
            let count = (state.inARow[lane] ?? 0) + 1
            state.inARow[lane] = count
            if count >= Self.alarmAfter { state.isAlarm = true }
            return (count == 1 || count.isMultiple(of: Self.logAgainAfter), state.isAlarm)
        }
    }

    /// Something of a lane worked.
    ///
    /// - Returns: whether that ends the alarm: nothing fails any more.
    func worked(_ lane: Lane) -> Bool {
        self.state.withLock { state in
            state.inARow[lane] = nil
            guard state.isAlarm, state.inARow.isEmpty else { return false }
            state.isAlarm = false
            return true
        }
    }

    /// Whether nothing fails.
    var isEmpty: Bool { self.state.withLock(\.inARow.isEmpty) }
}
