// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// When a gateway appends a record of housekeeping: one at a time, seldom, and only while its clock may be trusted.
///
/// It runs on monotonic time. The steps of the log's own time are bounded by the board; how often there is one is
/// bounded here, so that after a long stop the log's time catches up within hours, not within a moment.
package struct HousekeepingSchedule: Sendable {
    /// The least time between two records that take the log's own time on.
    package static let pause: Duration = .seconds(60)
    /// After so long the log's own time goes on even where nothing is due.
    package static let idlePause: Duration = .seconds(600)
    /// How much later a gateway appends one for each other gateway of the log that does so before it: as a rule one is enough.
    package static let rankPause: Duration = .seconds(3)

    /// The instant of the last record that took time on, or of the start.
    private var last: Timestamp
    private var isInFlight = false
    private var hasMore = false

    /// - Parameter elapsed: monotonic time; the first record comes a pause later.
    package init(elapsed: Timestamp) {
        self.last = elapsed
    }

    /// The record to append now.
    ///
    /// The caller that takes it calls `answered` afterwards.
    ///
    /// - Parameters:
    ///   - board: the board as it is.
    ///   - now: the gateway's clock.
    ///   - elapsed: monotonic time.
    ///   - mayAdvance: whether the gateway's clock may be trusted; while not, nothing gets older.
    ///   - rank: how many gateways of the log append one before this gateway.
    /// - Returns: the record; `nil` while the last one is not answered, or where nothing is to be done.
    package mutating func entry(
        on board: Board,
        at now: Timestamp,
        elapsed: Timestamp,
        mayAdvance: Bool,
        rank: Int = 0
    ) -> BreakEntry? {
        guard !self.isInFlight, board.hasTime else { return nil }
        if self.hasMore {
            // What a record left over; no time passes with it.
            self.hasMore = false
            self.isInFlight = true
            return BreakEntry(at: now, kind: .housekeeping(board.retentionTime))
        }
        guard mayAdvance, elapsed - self.last >= Self.pause + Self.rankPause * rank, now > board.retentionTime,
            board.hasDue(at: now) || now - board.retentionTime >= Self.idlePause
        else { return nil }
        self.last = elapsed
        self.isInFlight = true
        return BreakEntry(at: now, kind: .housekeeping(now))
    }

    /// A record of housekeeping was applied, of this gateway or of another one of its log.
    ///
    /// - Parameter elapsed: monotonic time.
    package mutating func saw(elapsed: Timestamp) { self.last = max(self.last, elapsed) }

    /// The record was applied, or (`nil`) not taken by the log.
    package mutating func answered(_ done: Housekeeping?) {
        self.isInFlight = false
        self.hasMore = done?.hasMore ?? false
    }
}
