// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import HashTreeCollections

// Which break a signal of an event is about. Some sources have one event id for all their breaks, and tell the next break while one
// runs: the event is of both then.
extension StreamBoard {
    /// The break that a signal is about by its event; `nil`: no break knows the event, or those that do have been over for long.
    ///
    /// - Parameters:
    ///   - signal: the signal.
    ///   - instant: when it says that it is so.
    ///   - tolerance: starts that are this close are of one break.
    ///   - now: the time.
    /// - Returns: of OUT the break with that start, or else the one that runs then; of IN the one that has begun by then; or else,
    ///   and of CANCEL, the newest break of the event.
    func signalled(
        _ signal: BroadcastRequest.Signal,
        saying instant: Timestamp,
        within tolerance: Duration,
        at now: Timestamp
    ) -> Break? {
        let known = self.signalled(signal.name, at: now)
        guard known.count > 1 else { return known.first }
        let found =
            switch signal.kind {
            case .out:
                known.first { each in
                    each.record.signals?[signal.name].map { $0.start.gap(to: instant) <= tolerance } ?? false
                } ?? known.first { !$0.isOver(at: now) && $0.interval?.contains(instant) == true }
            case .in: known.first { each in each.record.start.map { $0 < instant } ?? false }
            case .cancel: Break?.none
            }
        return found ?? known.first
    }

    /// The breaks that an event is about, the newest first, but for those that have been over for long.
    func signalled(_ name: SignalName, at now: Timestamp) -> [Break] {
        self.signals.newest(SignalLimits.breaksPerEventMax, of: name).compactMap { self.breaks[$0] }
            .filter { !$0.isOver(at: now) || now - $0.over <= SignalLimits.eventKnownFor }
    }
}
