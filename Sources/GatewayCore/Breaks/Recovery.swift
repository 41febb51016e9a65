// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The notices that a joining listener has missed.
package enum Recovery: Hashable, Sendable {
    /// Nothing.
    case current
    /// These notices, in order: all of them.
    case missed([Notice])
    /// It cannot be told: these are the breaks that are open, each as it stands.
    case snapshot([Notice])
}

extension StreamBoard {
    /// The notices that a listener has missed whose last position is `last`.
    ///
    /// - Parameters:
    ///   - last: the last position that the listener applied; `nil` at first.
    ///   - epoch: the epoch of the event log.
    ///   - now: the gateway's clock.
    ///   - delayMax: how far behind live the listener may hear the stream: breaks stay open that much longer.
    /// - Returns: the whole truth, or a snapshot. A recovery that is not complete is never called recovered.
    package func recovery(from last: Position?, epoch: UInt64, at now: Timestamp, delayMax: Duration) -> Recovery {
        if let last, last.epoch == epoch, last.sequence <= self.sequence {
            let missing = self.sequence - last.sequence
            if missing == 0 { return .current }
            if missing <= UInt64(self.recent.count) { return .missed(self.recent.suffix(Int(missing))) }
        }
        // Only a listener that hears the stream late can have too many: what is over longest is left out.
        let open = self.announced(overAfter: now - delayMax, most: WireLimits.noticesPerJoinMax)
        let notices = open.compactMap { each in
            each.record.lastNotice.map { each.notice(.available, position: $0.position, at: $0.sent, trace: $0.trace) }
        }
        return .snapshot(notices.sorted { $0.position.sequence < $1.position.sequence })
    }
}
