// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A break that the signals of an event are about, as the board has it.
package struct SignalledBreak: Hashable, Sendable {
    package let key: BreakKey
    /// The start that the event says.
    package let start: Timestamp
    /// When it ends or ended; `nil`: when it is ended, or at the safety limit.
    package let end: Timestamp?
    /// Whether it is over, or the event was taken back.
    package let isOver: Bool
}

extension Board {
    /// The newest break that an event is about; `nil`: there is none, or it has been over for so long that the event means the next one.
    package func signalled(_ name: SignalName, on stream: StreamID, at now: Timestamp) -> SignalledBreak? {
        guard let each = self.stream(stream)?.signalled(name, at: now).first,
            let claim = each.record.signals?[name]
        else { return nil }
        let isOpenEnded = each.record.duration == nil && each.record.ended == nil
        return SignalledBreak(
            key: each.key,
            start: claim.start,
            end: isOpenEnded ? nil : each.end,
            isOver: each.isOver(at: now) || claim.isCancelled
        )
    }
}
