// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import DequeModule
import Edge
import GatewayCore
import Synchronization

/// The messages of other threads for a ``ListenerDesk``.
final class ListenerMailbox: Sendable {
    enum Letter: Sendable {
        /// The log has answered about a group of acknowledgements.
        case appended(UInt64, isDurable: Bool)
        /// The log has dropped the record of a group for certain.
        case dropped(UInt64, [UInt8])
        /// It is known whether the token of a join is true.
        case checked(EdgePeer, request: [UInt8], Result<ListenerGrant, Refusal>)
        /// The same of a join that came by the entrance; the number is the desk's own.
        case callChecked(UInt64, Result<ListenerGrant, Refusal>)
        /// The board has caught up with the log for a request that waits; the number is the desk's own. `false`: not in time.
        case caughtUp(UInt64, Bool)
        /// Another lane of the log failed.
        case logFailed
        /// The listeners are asked to go on at these other gateways, within so long.
        case move(Alternatives, within: Duration)
        /// It happens when the log has answered about everything that gathered before this was read.
        case settle(Occurrence)
    }

    private struct State {
        var letters: [Letter] = []
        /// Requests that came by the entrance, oldest first.
        var calls: Deque<ListenerCall> = []
        /// Whether the mailbox is read no longer.
        var isClosed = false
    }

    /// So many calls are taken in one go, which is about a turn of a loop (``EdgeLoop``): what comes by connections has its turn
    /// between them.
    private static let callsPerTurnMax = 16

    private let state = Mutex(State())
    private let inbox: EdgeInbox
    /// Whether joins are refused, because listeners are asked to move.
    private let moving = Atomic<Bool>(false)
    /// Whether nothing new is accepted any more.
    private let draining = Atomic<Bool>(false)
    /// Occurs when no caller waits any more after `beginDraining`.
    let drained = Occurrence()
    /// How many wait for the log.
    private let waiting = Atomic<Int>(0)
    /// The same of all desks.
    private let allWaiting: MetricRegistry.Cell

    /// - Parameters:
    ///   - inbox: of the loop that the desk serves.
    ///   - metrics: shows how many wait.
    init(inbox: EdgeInbox, metrics: MetricRegistry) {
        self.inbox = inbox
        self.allWaiting = metrics.cell(.acknowledgementsWaiting)
    }

    func post(_ letter: Letter) {
        self.state.withLock { $0.letters.append(letter) }
        self.inbox.wakeDelegate()
    }

    func takeAll() -> [Letter] {
        self.state.withLock { state in
            defer { state.letters = [] }
            return state.letters
        }
    }

    // MARK: - Calls

    /// Hands a request over.
    ///
    /// - Returns: `false` where the mailbox is read no longer; then the request gets no answer.
    func post(_ call: ListenerCall) -> Bool {
        let isOpen = self.state.withLock { state in
            if !state.isClosed { state.calls.append(call) }
            return !state.isClosed
        }
        if isOpen { self.inbox.wakeDelegate() }
        return isOpen
    }

    /// Takes some of the requests that were handed over; where more are left, the loop is asked to come again.
    func takeCalls() -> [ListenerCall] {
        let (calls, isMore) = self.state.withLock { state in
            let calls = Array(state.calls.prefix(Self.callsPerTurnMax))
            state.calls.removeFirst(calls.count)
            return (calls, !state.calls.isEmpty)
        }
        if isMore { self.inbox.wakeDelegate() }
        return calls
    }

    /// Whether requests wait to be taken.
    var hasCalls: Bool { self.state.withLock { !$0.calls.isEmpty } }

    /// Closes the mailbox: it is read no longer.
    ///
    /// - Returns: the requests that were not taken out.
    func close() -> [ListenerCall] {
        self.state.withLock { state in
            state.isClosed = true
            defer { state.calls = [] }
            return Array(state.calls)
        }
    }

    /// Whether listeners are asked to move; looked at for every request.
    var movesListeners: Bool { self.moving.load(ordering: .acquiring) }

    /// Refuses joins from now on, and asks the listeners to move.
    func beginMoving(to others: Alternatives, within: Duration) {
        self.moving.store(true, ordering: .releasing)
        self.post(.move(others, within: within))
    }

    /// Whether nothing new is accepted any more; looked at for every request.
    var isDraining: Bool { self.draining.load(ordering: .acquiring) }

    /// Accepts nothing new from now on.
    func beginDraining() {
        self.draining.store(true, ordering: .releasing)
        self.inbox.wakeDelegate()
    }

    var waitingCount: Int { self.waiting.load(ordering: .relaxed) }

    /// The desk says how many wait for the log.
    func note(waitingCount: Int) {
        let before = self.waiting.exchange(waitingCount, ordering: .relaxed)
        if before != waitingCount { self.allWaiting.add(waitingCount - before) }
    }
}
