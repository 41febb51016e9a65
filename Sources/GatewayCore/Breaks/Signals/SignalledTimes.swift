// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// When a break starts and ends by what signals say: a function of the claims, in whatever order they came.
struct SignalledTimes: Hashable, Sendable {
    /// The start of the claim that goes first; `nil`: all were taken back.
    private(set) var start: Timestamp?
    /// Whether that is a place in the programme, which may lie in the past.
    private(set) var isProgrammeTime = false
    /// How long it lasts; `nil`: until the safety limit.
    private(set) var duration: Duration?
    /// Where an IN ends it; `nil`: after `duration`.
    private(set) var end: Timestamp?

    /// - Parameter signals: the signals about the break; `nil`: there are none.
    init(_ signals: BreakSignals?) {
        guard let signals else { return }
        let claims = signals.byPrecedence.filter { !$0.isCancelled }
        self.start = claims.first?.start
        self.isProgrammeTime = claims.first?.isProgrammeTime ?? false
        // A break that a broadcaster published without a length lasts until it is ended, unless a signal says otherwise.
        self.duration = signals.opened ? signals.defaultDuration : nil
        guard let ending = claims.first(where: { $0.end != nil || $0.duration != nil }) else { return }
        self.duration = ending.duration ?? self.duration
        self.end = ending.end
    }

    /// The start by a gateway's clock: only a place in the programme may lie in the past.
    func start(at now: Timestamp) -> Timestamp? {
        self.isProgrammeTime ? self.start : self.start.map { max($0, now) }
    }
}
