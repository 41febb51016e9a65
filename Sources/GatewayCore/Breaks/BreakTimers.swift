// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import HashTreeCollections

/// What time alone makes due: announcements, and the end of what waited too long.
///
/// Timers are not state. They are derived from the board each time, so that after a restart everything that fell due
/// meanwhile is done at once, and a repeat of a timer's record has no effect.
package struct BreakTimers: Sendable {
    package var policy: BreakPolicy

    package init(policy: BreakPolicy) {
        self.policy = policy
    }

    /// The records that are due, and when to look again.
    ///
    /// - Parameters:
    ///   - board: the board as it is.
    ///   - now: the gateway's clock.
    ///   - listeners: how many listeners of a stream are expected to ask for a batch.
    /// - Returns: entries for the log, at most a group of them, and the next instant at which something falls due.
    package func due(
        on board: Board,
        at now: Timestamp,
        listeners: (StreamID) -> Int
    ) -> (entries: [BreakEntry], next: Timestamp?) {
        var due: [(instant: Timestamp, break: Break)] = []
        var next: Timestamp?
        for stream in board.waiting.lazy.compactMap({ board.streams[$0] }) {
            for each in stream.waiting.lazy.compactMap({ stream.breaks[$0] }) {
                guard let instant = each.timer else { continue }
                if instant <= now {
                    due.append((instant, each))
                } else {
                    next = min(next ?? instant, instant)
                }
            }
        }
        // In an order that does not depend on hashing; what waits longest goes first.
        due.sort { ($0.instant, $0.break.number) < ($1.instant, $1.break.number) }
        let entries = due.prefix(BreakGroup.groupEntriesMax)
            .map { self.entry(for: $0.break, at: now, listeners: listeners($0.break.key.stream)) }
        return (entries, due.count > entries.count ? now : next)
    }

    private func entry(for each: Break, at now: Timestamp, listeners: Int) -> BreakEntry {
        let playable = each.record.phase == .scheduled && (each.end.map { now < $0 } ?? true)
        guard playable else { return BreakEntry(at: now, kind: .expire(each.key, each.number)) }
        let window = self.policy.window(opens: now, start: each.record.start, listeners: listeners)
        return BreakEntry(at: now, kind: .announce(each.key, each.number, window: window))
    }
}
