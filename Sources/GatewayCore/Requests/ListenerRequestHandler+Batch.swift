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
    /// - Returns: the reply.
    /// - Throws: where there is nothing to play, or too many deliveries wait for the log, or the session may not begin.
    mutating func batch(
        of served: ServedBreak,
        delay: Duration,
        _ owner: LeaseOwner?,
        _ request: inout RequestAtHand
    ) throws(Refusal) -> ReplyBytes {
        let now = request.now
        guard served.isAnnounced else { throw self.missing(served.key) }
        if let withdrawn = served.withdrawn {
            throw Refusal(.tooLate, "The break \(served.key.id) is \(withdrawn).")
        }
        guard let first = served.firstPlayable(at: delay == .zero ? now : now - delay) else {
            throw Refusal(.tooLate, "Nothing of the break \(served.key.id) can be played any more.")
        }
        try self.recorder.checkDeliveriesFit()
        try self.sessions.renew(&request, on: served.key.stream, owner: owner)
        // A repeated request got it already: that is recorded, or will be with the next group, even if this one fails.
        if self.sessions.noteBatch(of: served.number, from: UInt32(first), to: request.session),
            self.recorder.recordDelivery(of: served.number, from: UInt32(first), to: request.session, at: now)
        {
            self.counters.deliveredAdvertisements.add(served.advertisementCount - first)
        }
        let batch = served.batch(from: first)
        self.counters.batches.add()
        return ReplyBytes(
            head: ListenerReply.batchHead(
                requestID: request.id,
                gatewayTime: now,
                delivery: self.keys.delivery(to: request.session, of: served.number, first: first, at: now),
                fields: batch.fields,
                tailBytes: batch.advertisements.count
            ),
            tail: batch.advertisements
        )
    }
}
