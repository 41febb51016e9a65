// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Requests that know more than the board: their listeners were told by another gateway of the same log.
extension ListenerRequestHandler {
    /// Decides about a request that had to wait, on a board that has all that the log had when the request came.
    ///
    /// - Parameters:
    ///   - request: its bytes, as `handle` was given them.
    ///   - peer: the data that the transport has now: the connection may have changed since the request.
    ///   - now: the gateway's clock.
    /// - Returns: its answer; what the board does not know now does not exist.
    package mutating func handleCaughtUp(
        _ request: [UInt8],
        from peer: PeerFacts,
        at now: Timestamp
    ) -> HandledRequest<Deferred> {
        self.handleInFull(request, from: peer, at: now, isCaughtUp: true)
    }

    /// Refuses a request for which the board was too far behind for too long.
    package func refuseBehind(_ request: [UInt8], at now: Timestamp) -> ReplyBytes {
        self.refusal(.behindLog, requestID: ListenerRequest.requestID(of: request), at: now)
    }

    /// Whether a request names something that the board does not know, and another gateway may.
    func knowsMore(_ decoded: ListenerRequest) -> Bool {
        switch decoded.kind {
        case .join(let join):
            guard let last = join.last, last.epoch == self.board.epoch else { return false }
            return last.sequence > self.board.position(of: join.stream).sequence
        case .getBatch(let get): return self.mayBeKnownElsewhere(get.key)
        case .acknowledge(let acknowledge): return self.mayBeKnownElsewhere(acknowledge.key)
        case .getTime, .leave: return false
        }
    }

    /// Whether listeners of another gateway may have been told of a break that listeners here were not told of.
    private func mayBeKnownElsewhere(_ key: BreakKey) -> Bool {
        guard let each = self.board[key] else { return !self.board.isRetired(key) }
        return each.record.announced == nil && each.record.closed == nil
    }
}

extension Refusal {
    /// The gateway has not read the event log as far as the request needs.
    package static let behindLog = Refusal(
        .unavailable,
        "This gateway has not read all of the event log yet; ask again in a moment.",
        retryAfter: .seconds(1)
    )
}
