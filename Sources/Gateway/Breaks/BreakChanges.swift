// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
import Synchronization

/// A break as it was after something happened to it; what it becomes for readers is made once, for all of them.
package final class BreakChange: Sendable {
    /// Counted from 1 without gaps, in one run of the gateway.
    package let sequence: UInt64
    package let info: BreakInfo
    private let bytes: Mutex<[UInt8]?> = Mutex(nil)

    init(sequence: UInt64, info: BreakInfo) {
        self.sequence = sequence
        self.info = info
    }

    /// It as bytes.
    ///
    /// - Parameter make: makes them; called for the first reader only.
    /// - Returns: the bytes, the same for every reader.
    package func encoded(_ make: (BreakChange) -> [UInt8]) -> [UInt8] {
        self.bytes.withLock { bytes in
            if let bytes { return bytes }
            let made = make(self)
            bytes = made
            return made
        }
    }
}

/// The changes of breaks in order, for their viewers: changes by records, and changes by time alone.
///
/// It keeps the newest changes, so that a viewer that was away for a moment misses nothing. The board's thread only stores a
/// change; the thread that asks turns it into what readers see.
package final class BreakChanges: BoardObserver {
    private struct State {
        var board: Board
        var schedule: BreakSchedule
        var changes = NewestKept<BreakChange>(keptMax: BreakChanges.changesKeptMax)
        /// How many listened when a break was announced.
        var notified: [BreakNumber: Int] = [:]
        /// The breaks of `notified`, in the order in which they came; the oldest is at `notifiedNext` once all places are taken.
        var notifiedOrder: [BreakNumber] = []
        var notifiedNext = 0
    }

    /// The most changes that are kept.
    package static let changesKeptMax = 4_096
    /// The most breaks whose number of notified listeners is kept.
    package static let notifiedBreaksMax = 16_384

    private let live: any Presence
    private let clock: any GatewayClock
    private let metrics: MetricRegistry
    private let state: Mutex<State>

    /// - Parameters:
    ///   - board: as it is at the start.
    ///   - live: how many listen.
    ///   - clock: the gateway's.
    ///   - metrics: counts breaks that lasted until their safety limit.
    init(_ board: Board, live: any Presence, clock: any GatewayClock, metrics: MetricRegistry) {
        self.live = live
        self.clock = clock
        self.metrics = metrics
        self.state = Mutex(State(board: board, schedule: BreakSchedule(board, at: clock.now())))
    }

    package func applied(_ results: [EntryResult], of id: AppendID?, board: Board) {
        let now = self.clock.now()
        self.state.withLock { state in
            // Earlier effects of time come first.
            self.turn(&state, at: now)
            state.board = board
            for case .changed(let each, let notice) in results {
                state.schedule.note(each, at: now)
                self.keep(each, in: &state, at: now)
                if notice?.kind == .available {
                    Self.keep(self.live.count(of: each.key.stream), of: each.number, in: &state)
                }
            }
        }
    }

    /// The changes so far.
    ///
    /// - Parameters:
    ///   - sequence: the newest change that the reader knows.
    ///   - most: at most so many.
    ///   - streams: only breaks of these; `nil`: of all.
    /// - Returns: the changes after that one.
    package func changes(
        after sequence: UInt64,
        most: Int,
        of streams: Set<StreamID>? = nil
    ) -> NewestKept<BreakChange>.Portion {
        let now = self.clock.now()
        return self.state.withLock { state in
            self.turn(&state, at: now)
            return state.changes.portion(after: sequence, most: most) { change in
                streams?.contains(change.info.key.stream) ?? true
            }
        }
    }

    /// The newest change by now.
    package var newest: UInt64 {
        let now = self.clock.now()
        return self.state.withLock { state in
            self.turn(&state, at: now)
            return state.changes.newest
        }
    }

    /// How many breaks run now.
    package var runningCount: Int {
        let now = self.clock.now()
        return self.state.withLock { state in
            self.turn(&state, at: now)
            return state.schedule.runningCount
        }
    }

    /// How many sessions listened when a break was announced; `nil`: it was not, or not by this run of the gateway.
    package func notifiedCount(of number: BreakNumber) -> Int? { self.state.withLock { $0.notified[number] } }

    /// Lets time do what it does.
    private func turn(_ state: inout State, at now: Timestamp) {
        for each in state.schedule.turned(on: state.board, at: now) {
            self.keep(each, in: &state, at: now)
            if each.state(at: now) == .complete, SignalOutcome.Oddity.isOutWithoutIn(each) {
                self.metrics.count(.oddSignals, .outWithoutIn)
            }
        }
    }

    private func keep(_ each: Break, in state: inout State, at now: Timestamp) {
        let info = each.info(at: now)
        state.changes.append { BreakChange(sequence: $0, info: info) }
    }

    private static func keep(_ count: Int, of number: BreakNumber, in state: inout State) {
        guard state.notified.updateValue(count, forKey: number) == nil else { return }
        guard state.notifiedOrder.count >= Self.notifiedBreaksMax else { return state.notifiedOrder.append(number) }
        state.notified[state.notifiedOrder[state.notifiedNext]] = nil
        state.notifiedOrder[state.notifiedNext] = number
        state.notifiedNext = (state.notifiedNext + 1) % Self.notifiedBreaksMax
    }
}
