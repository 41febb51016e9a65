// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import Synchronization

/// What other threads have for a ``ListenerDesk``.
final class ListenerMailbox: Sendable {
    enum Letter: Sendable {
        /// The log has answered about a group of acknowledgements.
        case appended(UInt64, isDurable: Bool)
        /// It is known whether the token of a join is true.
        case checked(EdgePeer, request: [UInt8], Result<ListenerGrant, Refusal>)
        /// Another lane of the log failed.
        case logFailed
        /// It happens when the log has answered about everything that gathered before this was read.
        case settle(Occurrence)
    }

    private let letters: Mutex<[Letter]> = Mutex([])
    private let inbox: EdgeInbox
    /// Whether nothing new is accepted any more.
    private let draining = Atomic<Bool>(false)
    /// Nobody waits any more, after `beginDraining`.
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
        self.letters.withLock { $0.append(letter) }
        self.inbox.poke()
    }

    func takeAll() -> [Letter] {
        self.letters.withLock { letters in
            defer { letters = [] }
            return letters
        }
    }

    /// Whether nothing new is accepted any more; looked at for every request.
    var isDraining: Bool { self.draining.load(ordering: .acquiring) }

    /// Accepts nothing new from now on.
    func beginDraining() {
        self.draining.store(true, ordering: .releasing)
        self.inbox.poke()
    }

    var waitingCount: Int { self.waiting.load(ordering: .relaxed) }

    /// The desk says how many wait for the log.
    func note(waitingCount: Int) {
        let before = self.waiting.exchange(waitingCount, ordering: .relaxed)
        if before != waitingCount { self.allWaiting.add(waitingCount - before) }
    }
}
