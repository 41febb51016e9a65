// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastBroadcast

/// Takes signals: the gateway.
package protocol SignalReceiver: Sendable {
    /// Takes a signal.
    ///
    /// - Parameter signal: the signal.
    /// - Returns: the break that it is about.
    /// - Throws: why it was not taken.
    func receive(_ signal: ProgrammeSignal) async throws(BroadcastError) -> BreakStatus
}

extension BroadcastClient: SignalReceiver {
    package func receive(_ signal: ProgrammeSignal) async throws(BroadcastError) -> BreakStatus {
        try await self.signal(signal)
    }
}

/// Where a watcher says what it does.
package struct WatchOutput: Sendable {
    /// Takes a line about something that was seen.
    let line: @Sendable (WatchLine) -> Void
    /// Takes a sentence about the watcher itself, for standard error.
    let complain: @Sendable (String) -> Void

    /// An output.
    package init(line: @escaping @Sendable (WatchLine) -> Void, complain: @escaping @Sendable (String) -> Void) {
        self.line = line
        self.complain = complain
    }
}

/// The bounds of a ``SignalSender``.
package struct SignalSenderLimits: Hashable, Sendable {
    /// The most signals that wait for their turn; beyond it the oldest is dropped.
    package var waitingSignalsMax = 1_000
    /// How long after its start, or after it was seen, a signal still matters (120 s).
    ///
    /// For starts in programme time the lateness of the source's cue rule counts instead, since the gateway refuses later ones.
    package var signalAgeMax: Duration = .seconds(120)
    /// The longest wait before the second attempt; doubles with each attempt.
    package var retryDelayFirst: Duration = .milliseconds(250)
    /// The longest wait before any attempt.
    package var retryDelayMax: Duration = .seconds(5)
    /// How long the end of a watch waits for signals that are under way.
    package var endWaitMax: Duration = .seconds(5)
    /// How long it is not told again that signals are dropped (10 min).
    package var complaintPeriod: Duration = .seconds(600)

    /// The default limits.
    package init() {}
}

/// The clock of a watcher, so that tests have one by hand.
package struct WatchClock: Sendable {
    /// The time by the wall clock, in milliseconds since 1970.
    package let now: @Sendable () -> Int
    /// Waits; throws where its task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    /// A clock.
    package init(now: @escaping @Sendable () -> Int, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.now = now
        self.sleep = sleep
    }
}
