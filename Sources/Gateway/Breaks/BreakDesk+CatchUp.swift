// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Requests of broadcasters that know more than the board: another gateway of the same log has answered the one before.
extension BreakDesk {
    /// Whether a refusal may be one of the past, because the board does not have all that the log has; then the board catches up first.
    ///
    /// - Parameters:
    ///   - plan: the answer of the board.
    ///   - stream: which the request would change; what comes later about it waits behind.
    /// - Returns: whether the request has to wait.
    func waitsForLog(_ plan: BroadcastPlan, of stream: StreamID) -> Bool {
        guard let catchUp = self.tools.catchUp, case .answer(.refused(let refusal)) = plan, refusal.mayBeOfThePast
        else { return false }
        guard self.behind.insert(stream).inserted else { return true }
        let newest = self.taken
        catchUp.wait { self.post(.caughtUp(stream, through: newest, $0)) }
        return true
    }

    /// Decides about the requests of a stream that waited for the board, or refuses them.
    ///
    /// - Parameters:
    ///   - stream: which.
    ///   - newest: the newest request that had come when the log was asked.
    ///   - isCaughtUp: whether the board has what the log had then.
    func caughtUp(_ stream: StreamID, through newest: UInt64, _ isCaughtUp: Bool) {
        self.behind.remove(stream)
        // Entries of the stream that are on their way release what waits.
        guard self.lane.isSettled(stream) else { return }
        self.board = self.tools.holder.board
        self.parked.release(stream) { admitted in
            let isAsked = admitted.number <= newest
            if isAsked, !isCaughtUp {
                self.reply(.refused(.behindLog), to: admitted.waiting)
                return true
            }
            return self.decide(admitted, isCaughtUp: isAsked)
        }
    }
}

extension Refusal {
    /// Whether a board that is behind the log may give it although the newest one would not.
    fileprivate var mayBeOfThePast: Bool { [.notFound, .conflict].contains(self.status) }
}
