// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// Decides when a group of acknowledgements closes and goes to the log.
struct AcknowledgementLane {
    private var pacer = GroupPacer()
    /// Whether the log failed the last group that it answered about.
    private var isFailing = false
    /// Whether a failing log is tried again although no request waits.
    private var mayRetry = false

    /// Lets the next group try a failing log again.
    mutating func retry() {
        self.mayRetry = self.isFailing
    }

    /// Notes that another lane of the log failed: this one tries the log again although no request waits here.
    mutating func noteFailure() {
        self.isFailing = true
    }

    /// Whether it is time to hand what has gathered to the log.
    ///
    /// A request that waits tries a failing log again at once; without one, the log is tried as often as `retry` allows:
    /// deliveries that it failed come back at once and would keep it busy. Then a group may be empty; it shows whether the log
    /// works again.
    ///
    /// - Parameters:
    ///   - gathered: how much has gathered.
    ///   - hasWaiters: whether a request waits for it.
    /// - Returns: whether it goes now.
    func closes(gathered: Int, hasWaiters: Bool) -> Bool {
        if self.isFailing, !hasWaiters { return self.mayRetry && self.pacer.inFlight == 0 }
        return self.pacer.closes(gathered: gathered)
    }

    /// A group was handed to the log.
    mutating func opened() {
        self.mayRetry = false
        self.pacer.opened()
    }

    /// The log has answered about one.
    mutating func answered(isDurable: Bool) {
        self.pacer.completed()
        self.isFailing = !isDurable
    }
}
