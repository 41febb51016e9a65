// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

extension ListenerRequestHandler {
    /// Answers a join whose token was found true.
    ///
    /// - Parameters:
    ///   - request: its bytes, as `handle` was given them.
    ///   - granted: the token's grant, or why the token is refused.
    ///   - peer: the data that the transport has now: the connection may have changed since the request.
    ///   - now: the gateway's clock.
    /// - Returns: the answer, and what it changes for the transport.
    package mutating func join(
        _ request: [UInt8],
        granted: Result<ListenerGrant, Refusal>,
        from peer: PeerFacts,
        at now: Timestamp
    ) -> (reply: ReplyBytes, effects: RequestEffects) {
        let decoded: ListenerRequest
        do throws(WireError) {
            decoded = try ListenerRequest(decoding: request)
        } catch {
            let id = ListenerRequest.requestID(of: request)
            return (self.refusal(Refusal(error), requestID: id, at: now), RequestEffects())
        }
        var atHand = RequestAtHand(id: decoded.id, session: decoded.session, from: peer, at: now)
        do throws(Refusal) {
            let reply = try self.join(decoded, granted: granted, from: peer, &atHand)
            return (reply, atHand.effects)
        } catch {
            return (self.refusal(error, of: atHand), atHand.effects)
        }
    }

    private mutating func join(
        _ decoded: ListenerRequest,
        granted: Result<ListenerGrant, Refusal>,
        from peer: PeerFacts,
        _ request: inout RequestAtHand
    ) throws(Refusal) -> ReplyBytes {
        try self.checkServes(request.session)
        guard case .join(let join) = decoded.kind else {
            throw Refusal(.invalid, "Only a join is granted by a token.")
        }
        let grant = try granted.get()
        guard grant.streams.contains(where: { $0.matches(join.stream) }) else {
            throw Refusal(.notAllowed, "The token has no right to the stream \(join.stream).")
        }
        guard request.now <= grant.until else {
            throw Refusal(.notAllowed, "The token ended at \(grant.until); join with a new one.")
        }
        var ticket = grant.ticket(of: request.session, to: join.stream)
        // What an earlier ticket of the session has goes on: a session belongs to one audience for as long as it lasts.
        ticket.attributes =
            self.earlierTicket(decoded.ticket, on: join.stream, request)?.attributes
            ?? self.audiences.attributes(of: join, granted: grant.attributes)
        return try self.join(join, with: ticket, from: peer, &request)
    }

    /// Decides about a join: with a token that must be checked first, with the ticket of an earlier join, or with neither.
    mutating func join(
        _ join: ListenerRequest.Join,
        ticket bytes: [UInt8],
        from peer: PeerFacts,
        _ request: inout RequestAtHand
    ) throws(Refusal) -> Answer<Deferred> {
        let isProtected = self.tickets.protects(join.stream)
        var known: SessionTicket?
        do throws(Refusal) {
            if try self.checkTicket(bytes, on: join.stream, for: .fetch, request) != nil {
                known = SessionTicket(bytes: bytes)
            }
        } catch {
            // Where tickets are not required, an expired ticket or one of another gateway counts as none: the answer has a new one.
            if isProtected, join.token.isEmpty { throw error }
        }
        if isProtected {
            guard join.push, peer.push != .none else { throw .needsPush(join.stream) }
            if known == nil {
                guard self.tickets.checksTokens else { throw .cannotCheckTokens(join.stream) }
                // Before anybody spends time on the token.
                _ = try peer.push.decide(request.session, join)
                return .afterToken(join.token)
            }
        }
        let ticket =
            known
            ?? SessionTicket(
                session: request.session,
                stream: join.stream,
                attributes: self.earlierTicket(bytes, on: join.stream, request)?.attributes
                    ?? self.audiences.attributes(of: join)
            )
        return .now(try self.join(join, with: ticket, from: peer, &request))
    }

    /// The ticket of an earlier join of the session to the stream, whether it still grants something or not; `nil`: there is none.
    private func earlierTicket(_ bytes: [UInt8], on stream: StreamID, _ request: RequestAtHand) -> SessionTicket? {
        guard (try? self.checkTicket(bytes, on: stream, for: .leave, request)) != nil else { return nil }
        return SessionTicket(bytes: bytes)
    }

    private mutating func join(
        _ join: ListenerRequest.Join,
        with ticket: SessionTicket,
        from peer: PeerFacts,
        _ request: inout RequestAtHand
    ) throws(Refusal) -> ReplyBytes {
        // A refused join changes nothing.
        guard !self.movesListeners else { throw .draining }
        let isPushed = try peer.push.decide(request.session, join)
        let isProtected = self.tickets.protects(join.stream)
        guard isPushed || !isProtected else { throw .needsPush(join.stream) }
        guard let ticketBytes = self.keys.ticket(ticket) else {
            throw Refusal(
                .tooLarge,
                "What the token and the join say is too long for a ticket; the limit ticketBytesMax is \(WireLimits.ticketBytesMax)."
            )
        }
        try self.sessions.renew(&request, on: join.stream, owner: LeaseOwner(ticket))
        let head = self.board.position(of: join.stream)
        let (kind, notices) = self.missed(by: join, at: request.now)
        let joined = ListenerReply.Joined(
            kind: kind,
            head: head,
            notices: notices,
            instance: self.settings.instance,
            headInterval: self.settings.headInterval * (isPushed ? HeadSchedule.pushedEvery : 1),
            lease: self.settings.lease,
            ticket: ticketBytes,
            pushed: isPushed,
            alternatives: self.alternatives.addresses(for: request.session)
        )
        if isPushed {
            request.effects.push = .begins(
                session: request.session,
                stream: join.stream,
                after: head,
                proof: isProtected ? PushProof(key: self.keys.ring.signing.id, until: ticket.fetchUntil) : nil
            )
        } else if peer.push.isTaken(by: request.session) {
            request.effects.push = .ends
        }
        return self.reply(.joined(joined), to: request)
    }

    /// The notices that a joining listener has missed; counts them.
    private func missed(
        by join: ListenerRequest.Join,
        at now: Timestamp
    ) -> (kind: ListenerReply.Joined.Kind, notices: [Notice]) {
        let stream = self.board.streamOrNew(join.stream)
        switch stream.recovery(
            from: join.last,
            epoch: self.board.epoch,
            at: now,
            delayMax: max(join.delay.now, join.delay.max)
        ) {
        case .current:
            self.metrics.count(.joins, .current)
            return (.current, [])
        case .missed(let missed):
            self.metrics.count(.joins, .recovered)
            return (.recovered, missed)
        case .snapshot(let open):
            let isAhead = join.last?.isAhead(of: self.board.position(of: join.stream)) == true
            self.metrics.count(.joins, isAhead ? .ahead : .snapshot)
            return (.snapshot, open)
        }
    }

    /// A session leaves a stream; where that is pushed on the connection, the connection is free again.
    mutating func leave(_ stream: StreamID, from peer: PeerFacts, _ request: inout RequestAtHand) -> ReplyBytes {
        self.sessions.end(request.session, on: stream)
        if peer.push == .taken(session: request.session, stream: stream) { request.effects.push = .ends }
        return self.reply(.done, to: request)
    }
}

extension Position {
    /// Whether a player has heard of more than there is: the machine was put back to an earlier state as a whole.
    fileprivate func isAhead(of head: Position) -> Bool { self.epoch == head.epoch && self.sequence > head.sequence }
}
