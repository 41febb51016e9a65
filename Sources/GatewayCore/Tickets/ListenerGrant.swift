// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The rights that a token grants to the listener that joins with it, once the token was verified.
///
/// How tokens are checked is not decided here: a join with a token is answered by ``ListenerRequestHandler/join(_:granted:from:at:)``
/// when that is known.
package struct ListenerGrant: Hashable, Sendable {
    /// The subject of the token, empty where it has none; the sessions of a subject are limited together.
    package var subject: String
    /// The streams that it listens to.
    package var streams: [StreamPattern]
    /// The attributes that replace those that the listener states itself.
    package var attributes: [String: String]
    /// The last instant at which it fetches batches and hears notices, by the gateway's clock.
    package var until: Timestamp
    /// The most sessions of the subject at a time; 0: no limit.
    package var sessionsMax: Int

    package init(
        subject: String = "",
        streams: [StreamPattern],
        attributes: [String: String] = [:],
        until: Timestamp,
        sessionsMax: Int = 0
    ) {
        self.subject = subject
        self.streams = streams
        self.attributes = attributes
        self.until = until
        self.sessionsMax = sessionsMax
    }

    /// The ticket of a session that joins with it.
    func ticket(of session: SessionID, to stream: StreamID) -> SessionTicket {
        SessionTicket(
            session: session,
            stream: stream,
            // Without an end is what needs no token.
            fetchUntil: min(self.until, Timestamp.latest - .microseconds(1)),
            // What was fetched last can be acknowledged for as long as acknowledgements are accepted, and keys are kept.
            acknowledgeUntil: self.until + KeyRingLimits.verifyOnlyFor,
            subject: self.subject,
            sessionsMax: UInt32(clamping: self.sessionsMax),
            attributes: self.attributes
        )
    }
}

/// The tickets and tokens that a listener needs, and its rights with them.
package struct TicketRule: Hashable, Sendable {
    /// The use of a ticket in a request.
    package enum Use: Hashable, Sendable {
        /// A batch, notices, or to join again.
        case fetch
        case acknowledge
        /// To leave: also when everything else is over.
        case leave
    }

    /// Streams that ask for a token.
    package var protectedStreams: [StreamPattern]
    /// Whether the gateway checks tokens.
    package var checksTokens: Bool

    package init(protectedStreams: [StreamPattern] = [], checksTokens: Bool = false) {
        self.protectedStreams = protectedStreams
        self.checksTokens = checksTokens
    }

    /// Whether a stream asks for a token.
    package func protects(_ stream: StreamID) -> Bool { self.protectedStreams.contains { $0.matches(stream) } }

    /// Decides about the ticket of a request; the cheapest comes first.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that contain it.
    ///   - range: where it lies; empty: there is none.
    ///   - session: the session that asks.
    ///   - stream: the stream of the request.
    ///   - isProtected: whether the stream asks for a token.
    ///   - use: the use of the ticket.
    ///   - keys: the keys that sign tickets.
    ///   - now: the gateway's clock.
    /// - Returns: the ticket's content; `nil` where there is none, and none is needed.
    /// - Throws: why the request is refused.
    @inline(__always)
    package static func check(
        _ bytes: [UInt8],
        at range: Range<Int>,
        of session: SessionID,
        on stream: StreamID,
        isProtected: Bool,
        for use: Use,
        _ keys: MessageKeys,
        at now: Timestamp
    ) throws(Refusal) -> TicketHead? {
        guard !range.isEmpty else {
            guard !isProtected else { throw .needsTicket(stream) }
            return nil
        }
        guard let head = TicketHead(bytes.span, at: range) else {
            throw Refusal(.notAllowed, "The ticket is not one that a gateway gave.")
        }
        guard head.session == session, bytes[head.stream].elementsEqual(stream.description.utf8) else {
            throw Refusal(.notAllowed, "The ticket is not of this session and the stream \(stream).")
        }
        switch use {
        case .fetch:
            guard now <= head.fetchUntil else {
                throw Refusal(.notAllowed, "The ticket ended at \(head.fetchUntil); join with a new token.")
            }
        case .acknowledge:
            guard now <= head.acknowledgeUntil else {
                throw Refusal(.notAllowed, "The ticket was good for acknowledgements until \(head.acknowledgeUntil).")
            }
        case .leave: break
        }
        if let fault = keys.fault(ofTicket: bytes[head.coded], head.signature) {
            throw Refusal(.notAllowed, "The ticket \(fault.reason); join again.")
        }
        // The grant of a token has an end: this one was given when tokens were not required.
        guard !isProtected || head.fetchUntil < .latest else { throw .needsTicket(stream) }
        return head
    }
}

extension Refusal {
    /// A request about a protected stream without a ticket.
    static func needsTicket(_ stream: StreamID) -> Refusal {
        Refusal(
            .notAllowed,
            "The stream \(stream) asks for a token: join with one, and send the ticket that the answer has."
        )
    }

    /// A join to a protected stream where the gateway does not check tokens.
    static func cannotCheckTokens(_ stream: StreamID) -> Refusal {
        Refusal(
            .notAllowed,
            "The stream \(stream) asks for a token, and this gateway has no keys to check tokens with."
        )
    }

    /// A join to a protected stream that would hear nothing.
    static func needsPush(_ stream: StreamID) -> Refusal {
        Refusal(.notAllowed, "Notices of the stream \(stream) are only pushed: join with push, on a DEALER socket.")
    }
}

/// The right of a connection to receive a protected stream, and the end of this right.
package struct PushProof: Hashable, Sendable {
    /// The key that signed the ticket.
    package let key: KeyID
    /// The last instant at which it hears.
    package let until: Timestamp

    package init(key: KeyID, until: Timestamp) {
        self.key = key
        self.until = until
    }

    /// Whether it still lets the connection hear.
    package func holds(_ keys: MessageKeys, at now: Timestamp) -> Bool { now <= self.until && keys.takes(self.key) }
}
