// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

extension ListenerRequestHandler {
    /// Refuses an acknowledgement that is not right, whichever reader read it.
    ///
    /// - Parameters:
    ///   - found: its outcomes.
    ///   - unknown: the advertisement of the next one, which the break does not have; `nil`: there is none.
    ///   - token: its delivery; `nil`: the bytes are none.
    ///   - served: the break that it is about.
    ///   - request: the request.
    /// - Throws: the fault of it.
    @inline(__always)
    func accept(
        _ found: FoundOutcomes,
        unknown: AdvertisementID? = nil,
        _ token: DeliveryToken?,
        of served: ServedBreak,
        _ request: RequestAtHand
    ) throws(Refusal) {
        guard let token else { throw .noDelivery }
        try self.check(token, of: request.session, for: served)
        try OutcomeRule(served, token, on: self.board, at: request.now).check(found, unknown: unknown)
    }

    /// Whether listeners were told of the break, and a delivery is this session's, of this break, not too old, and not made up.
    @inline(__always)
    private func check(_ token: DeliveryToken, of session: SessionID, for served: ServedBreak) throws(Refusal) {
        // As for a batch: who guesses names learns nothing of what is planned.
        guard served.isAnnounced else { throw self.missing(served.key) }
        guard token.session == session, token.breakNumber == served.number, served.has(variant: token.variant) else {
            throw Refusal(
                .deliveryInvalid,
                "The delivery is not of this session and the break \(served.key.id)."
            )
        }
        guard self.board.retentionTime <= served.acknowledgeUntil else {
            throw Refusal(.breakTooOld, "The break \(served.key.id) ended more than 8 days ago.")
        }
        guard token.signature != nil else { throw .unsignedDelivery }
        if let fault = self.keys.fault(of: token) { throw Refusal(.deliveryInvalid, "The delivery \(fault.reason).") }
    }

    /// Records an acknowledgement that was found right.
    ///
    /// - Parameters:
    ///   - found: its outcomes.
    ///   - bytes: all of it, with nothing in it that is not understood.
    ///   - left: where in the bytes the field of its ticket is.
    ///   - served: the break that it is about.
    ///   - request: the request.
    /// - Returns: the answer: now, where all of it is durable, or with a group.
    /// - Throws: where the log has no room, or too much waits for it.
    @inline(__always)
    mutating func record(
        _ found: FoundOutcomes,
        _ bytes: [UInt8],
        leavingOut left: Range<Int>,
        of served: ServedBreak,
        _ request: RequestAtHand
    ) throws(Refusal) -> Answer<Deferred> {
        let recorded = try self.recorder.record(
            found,
            bytes,
            leavingOut: left,
            by: request.session,
            of: served.number,
            at: request.now
        )
        let deferred = Deferred(requestID: request.id, outcomes: recorded.outcomes, group: recorded.group ?? 0)
        guard recorded.group == nil else { return .afterGroup(deferred) }
        return .now(self.finish(deferred, isDurable: true, at: request.now))
    }

    /// The answer to an acknowledgement whose group has come back from the log.
    ///
    /// Mutating, although it changes nothing: a class that holds the handler would otherwise copy all of it for each answer, which
    /// took two of a hundred instructions under load.
    ///
    /// - Parameters:
    ///   - deferred: the result of `handle`.
    ///   - isDurable: whether the log has it for sure.
    ///   - now: the gateway's clock.
    /// - Returns: the reply to send.
    package mutating func finish(_ deferred: Deferred, isDurable: Bool, at now: Timestamp) -> ReplyBytes {
        guard isDurable else {
            return self.refusal(self.isLogFull ? .logFull : .logUnavailable, requestID: deferred.requestID, at: now)
        }
        self.counters.outcomes.add(deferred.outcomes)
        return ReplyBytes(
            head: ListenerReply.acknowledged(
                requestID: deferred.requestID,
                gatewayTime: now,
                recorded: deferred.outcomes
            )
        )
    }
}
