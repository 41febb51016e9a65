// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Makes the records that time alone makes due: announcements, expiries, and the steps of the log's own time.
///
/// It follows from the board, so nothing of it is kept. A record that the log did not take falls due again.
struct BreakTimekeeper: Sendable {
    /// Makes timers' records; decided anew by a reload.
    var timers: BreakTimers
    /// How often timers are looked at even when nothing is due by the clock as it was: the clock may have been set.
    private let recheckInterval: Duration
    private var ranks: TimerRanks
    private var queue: TimerQueue
    private var housekeeping: HousekeepingSchedule

    /// - Parameters:
    ///   - board: the board as it was loaded.
    ///   - policy: times of announcements and windows.
    ///   - recheckInterval: how often timers are looked at in any case.
    ///   - elapsed: monotonic time.
    ///   - ranks: which gateway of the log appends when; by default this one is alone.
    init(
        _ board: Board,
        policy: BreakPolicy,
        recheckInterval: Duration,
        elapsed: Timestamp,
        ranks: TimerRanks = .alone
    ) {
        self.timers = BreakTimers(policy: policy)
        self.recheckInterval = recheckInterval
        self.ranks = ranks
        self.queue = TimerQueue(board, ranks: ranks)
        self.housekeeping = HousekeepingSchedule(elapsed: elapsed)
    }

    /// Other gateways of the log are alive from now on.
    ///
    /// - Parameters:
    ///   - ranks: with them.
    ///   - board: the newest board. A record of this gateway that is under way falls due once more; a repeat is harmless.
    mutating func take(_ ranks: TimerRanks, board: Board) {
        self.ranks = ranks
        self.queue = TimerQueue(board, ranks: ranks)
    }

    /// How many gateways append what concerns the whole board before this one.
    var boardRank: Int { self.ranks.boardRank }

    /// The timers' records that are due; each of their breaks waits until `note` or `wasNotTaken` knows of it.
    ///
    /// - Parameters:
    ///   - board: the newest board.
    ///   - now: the gateway's clock.
    ///   - listeners: how many listeners of a stream are expected to ask for a batch.
    /// - Returns: at most a group of records.
    mutating func due(on board: Board, at now: Timestamp, listeners: (StreamID) -> Int) -> [BreakEntry] {
        self.queue.due(on: board, at: now, timers: self.timers, listeners: listeners)
    }

    /// How long to wait before timers are looked at again.
    func wait(from now: Timestamp) -> Duration {
        guard let next = self.queue.next, next > now else { return self.recheckInterval }
        return min(self.recheckInterval, next - now)
    }

    /// The record that takes the log's own time on, where it is time for one.
    ///
    /// - Parameters:
    ///   - board: the newest board.
    ///   - now: the gateway's clock.
    ///   - elapsed: monotonic time.
    ///   - mayAdvance: whether the gateway's clock may be trusted.
    /// - Returns: the record; `nil`: it is not time for one.
    mutating func housekeepingEntry(
        on board: Board,
        at now: Timestamp,
        elapsed: Timestamp,
        mayAdvance: Bool
    ) -> BreakEntry? {
        self.housekeeping.entry(on: board, at: now, elapsed: elapsed, mayAdvance: mayAdvance, rank: self.boardRank)
    }

    /// The board has applied a record, of this gateway or of another one.
    mutating func note(_ result: EntryResult) {
        switch result {
        case .changed(let each, _), .unchanged(let each): self.queue.note(each)
        case .refused, .housekept, .activated, .list: break
        }
    }

    /// The board has applied this gateway's record of housekeeping.
    mutating func housekept(_ done: Housekeeping) { self.housekeeping.answered(done) }

    /// The board has applied a record of housekeeping, of this gateway or of another one of its log.
    mutating func sawHousekeeping(elapsed: Timestamp) { self.housekeeping.saw(elapsed: elapsed) }

    /// The log has not taken a record of this gateway.
    ///
    /// - Parameters:
    ///   - entry: the record, of a timer or of a broadcaster.
    ///   - board: the newest board.
    mutating func wasNotTaken(_ entry: BreakEntry, board: Board) {
        if case .housekeeping = entry.kind { self.housekeeping.answered(nil) }
        if let each = entry.key.flatMap({ board.known($0) }) { self.queue.note(each) }
    }
}

/// How many listeners of a stream will ask for a batch, and how many there are to remember for the next start.
struct ListenerForecast: Sendable {
    /// At all gateways of the log.
    let live: any Presence
    /// At this one.
    let own: any Presence
    /// How many there were before the start.
    let expected: ExpectedListeners
    /// Kept for the next start.
    let counts: ListenerCounts

    /// How many listeners of a stream are expected to ask for a batch.
    func count(of stream: StreamID, at steady: Timestamp) -> Int {
        self.expected.count(of: stream, live: self.live.count(of: stream), at: steady)
    }

    /// Leaves for the next start how many there are.
    func remember(at steady: Timestamp) { self.counts.set(self.expected.merged(with: self.live.counts, at: steady)) }
}
