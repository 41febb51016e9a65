// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

extension ListenerRequestHandler {
    /// Hands a session the batch of a break, whichever reader read the request.
    ///
    /// - Parameters:
    ///   - served: the break.
    ///   - delay: how far behind live the listener hears the stream.
    ///   - owner: the owner of the session, where that limits its beginning.
    ///   - request: the request.
    ///   - ticket: the ticket of the request, which was checked; asked for where the break has variants.
    /// - Returns: the reply.
    /// - Throws: where there is nothing to play, or too many deliveries wait for the log, or the session may not begin.
    mutating func batch(
        of served: ServedBreak,
        delay: Duration,
        _ owner: LeaseOwner?,
        _ request: inout RequestAtHand,
        ticket: () -> [UInt8]
    ) throws(Refusal) -> ReplyBytes {
        let now = request.now
        guard served.isAnnounced else { throw self.missing(served.key) }
        if let withdrawn = served.withdrawn {
            throw Refusal(.tooLate, "The break \(served.key.id) is \(withdrawn).")
        }
        let variant = served.hasVariants ? self.variant(of: served, for: request.session, ticket()) : 0
        guard let first = served.firstPlayable(of: variant, at: delay == .zero ? now : now - delay) else {
            throw Refusal(.tooLate, "Nothing of the break \(served.key.id) can be played any more.")
        }
        try self.recorder.checkDeliveriesFit()
        try self.sessions.renew(&request, on: served.key.stream, owner: owner)
        // A repeated request got it already: that is recorded, or will be with the next group, even if this one fails.
        let ordinal = AdOrdinal.of(first, in: variant)
        if self.sessions.noteBatch(of: served.number, from: ordinal, to: request.session),
            self.recorder.recordDelivery(of: served.number, from: ordinal, to: request.session, at: now)
        {
            self.counters.deliveredAdvertisements.add(served.advertisementCount(of: variant) - first)
        }
        let batch = served.batch(of: variant, from: first)
        self.counters.batches.add()
        return ReplyBytes(
            head: ListenerReply.batchHead(
                requestID: request.id,
                gatewayTime: now,
                delivery: self.keys.delivery(
                    to: request.session,
                    of: served.number,
                    variant: variant,
                    first: first,
                    at: now
                ),
                fields: batch.fields,
                tailBytes: batch.advertisements.count
            ),
            tail: batch.advertisements
        )
    }

    /// The variant of a break that a session gets.
    ///
    /// It follows from the attributes in the ticket, which stay the same for as long as the session shows its tickets. A session that
    /// lost its ticket and joined with another token gets the variant that this gateway handed it last.
    private func variant(of served: ServedBreak, for session: SessionID, _ ticket: [UInt8]) -> UInt32 {
        if let ordinal = self.sessions.leases.deliveredOrdinal(of: served.number, to: session),
            served.has(variant: AdOrdinal.variant(of: ordinal))
        {
            return AdOrdinal.variant(of: ordinal)
        }
        return served.variant(for: SessionTicket(bytes: ticket)?.attributes ?? [:])
    }
}
