// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The gathered content for the log, and the requests that wait for it.
extension ListenerRequestHandler {
    /// Whether the log has no room for new work: acknowledgements are refused, batches go on as long as deliveries may wait.
    package var isLogFull: Bool {
        get { self.recorder.isLogFull }
        set { self.recorder.isLogFull = newValue }
    }

    /// The content for the next group.
    package var group: GatheredGroup { self.recorder.groups.gathering.content }

    /// How much has gathered: as many as there are of what the next group has most; a whole record is more than anything.
    package var gatheredCount: Int {
        if self.recorder.groups.hasFull { return .max }
        return max(
            self.recorder.groups.gathering.content.requestCount,
            self.recorder.groups.gathering.content.deliveries.count
        )
    }

    /// Whether nothing waits to be taken.
    package var hasGatheredNothing: Bool { self.recorder.groups.hasGatheredNothing }

    /// Whether a client waits for a group that was not taken yet.
    package var hasGatheredWaiters: Bool { self.recorder.groups.hasGatheredWaiters }

    /// Whether no client waits, and the log has answered about every group that was taken.
    package var isIdle: Bool { self.recorder.groups.isIdle }

    /// How many wait for an answer.
    package var waiterCount: Int { self.recorder.groups.waiterCount }

    /// Registers a client that is answered when a group is durable, or is not going to be; called as soon as `handle` has said so.
    ///
    /// - Parameters:
    ///   - peer: the receiver of the answer, by its number in the transport.
    ///   - deferred: as `handle` gave it.
    package mutating func wait(_ peer: UInt64, for deferred: Deferred) {
        self.recorder.wait(PendingGroup.Waiter(peer: peer, deferred: deferred))
    }

    /// Takes what has gathered, for the log; `answered` tells what became of it.
    ///
    /// - Returns: the number of the group, and what it records.
    package mutating func takeGroup() -> (number: UInt64, group: GatheredGroup) { self.recorder.take() }

    /// The log has answered about a group.
    ///
    /// Deliveries that it did not take gather again: those batches were handed out, so they must be recorded.
    ///
    /// - Parameters:
    ///   - number: as `takeGroup` gave it.
    ///   - isDurable: whether the log has it for sure.
    /// - Returns: those who get their answer now.
    package mutating func answered(_ number: UInt64, isDurable: Bool) -> [PendingGroup.Waiter] {
        self.recorder.answered(number, isDurable: isDurable, leavingOut: self.sessions.forgotten)
    }

    /// The number of the last group that may hold something of a session that was refused before this.
    package var newestGroup: UInt64 { self.recorder.groups.gathering.number }

    /// Whether the log has answered about every group up to one.
    ///
    /// - Parameter number: as `newestGroup` gave it.
    /// - Returns: `true` also where nothing has gathered for it.
    package func hasAnswered(through number: UInt64) -> Bool { self.recorder.groups.hasAnswered(through: number) }

    /// Gives up the gathered group, because the log has no room for it, where a client waits for it; deliveries gather again.
    ///
    /// - Returns: those who get their answer now.
    package mutating func refuseGathered() -> [PendingGroup.Waiter] {
        guard self.hasGatheredWaiters else { return [] }
        var numbers: [UInt64] = []
        repeat { numbers.append(self.takeGroup().number) } while !self.hasGatheredNothing
        return numbers.flatMap { self.answered($0, isDurable: false) }
    }
}
