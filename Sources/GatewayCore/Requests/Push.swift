// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Whether a transport can push a stream's notices on the connection of a request.
package enum PushPlace: Hashable, Sendable {
    /// The transport cannot: a join that asks for it is answered without, and the listener subscribes.
    case none
    /// The peer takes nothing but answers: a join that asks for it is refused.
    case impossible
    /// No listener has notices pushed on it.
    case free
    /// A session has a stream's notices pushed on it.
    case taken(session: SessionID, stream: StreamID)
}

/// The change of pushing that a request makes on its connection.
package enum PushChange: Hashable, Sendable {
    /// From now on every notice of the stream above `after` goes to the connection, behind the answer to this request. Where
    /// notices were pushed before, they are of the same session and stream. `proof` lets the connection hear a protected stream: when
    /// it holds no more, the connection ends.
    case begins(session: SessionID, stream: StreamID, after: Position, proof: PushProof? = nil)
    /// No more notices go to the connection, and it is free again.
    case ends
}

extension PushPlace {
    /// Decides about pushing for a join.
    ///
    /// A connection holds one session and one stream: a listener knows from the positions of one stream that nothing is missing.
    /// A session whose lease ends while the connection stays still gets notices, as subscribers do; it no longer counts as listening.
    ///
    /// - Parameters:
    ///   - session: the session that joins.
    ///   - join: the request.
    /// - Returns: whether notices follow the answer.
    /// - Throws: where the connection is another's, or its peer cannot take notices.
    func decide(_ session: SessionID, _ join: ListenerRequest.Join) throws(Refusal) -> Bool {
        switch self {
        case .none: return false
        case .impossible:
            guard !join.push else { throw .cannotPush }
            return false
        case .free: return join.push
        case .taken(let owner, let stream):
            guard owner == session else { throw .pushesToAnotherSession }
            guard stream == join.stream else { throw .pushesAnotherStream(stream) }
            return join.push
        }
    }

    /// Whether a session has notices pushed here.
    func isTaken(by session: SessionID) -> Bool {
        if case .taken(session, _) = self { true } else { false }
    }
}

extension Refusal {
    /// The peer's socket takes nothing but answers.
    static let cannotPush = Refusal(.invalid, "A REQ socket cannot take notices; use a DEALER, or subscribe.")
    /// A join on a connection that has another session's notices.
    static let pushesToAnotherSession = Refusal(
        .invalid,
        "This connection has the notices of another session; use another connection."
    )

    /// A join on a connection that has the notices of another stream of its session.
    static func pushesAnotherStream(_ stream: StreamID) -> Refusal {
        Refusal(
            .invalid,
            "This connection has the notices of the stream \(stream); leave it first, or use another connection."
        )
    }
}
