// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The data that a transport has about the sender of a request.
///
/// Decisions look only at `mayBeginSession` and `push` yet: rights and tokens will look at the others.
package struct PeerFacts: Hashable, Sendable {
    /// How the request came, for instance `zeromq`.
    package var transport: String
    /// The address of the peer; empty where it is not known.
    package var address: String
    /// The user that the transport states; empty if it states none.
    package var userID: String
    /// Whether a session that is not known may begin: the transport limits how many one connection and one address begin.
    package var mayBeginSession: Bool
    /// Whether notices can be pushed on the connection of the request, and whose are.
    package var push: PushPlace

    package init(
        transport: String,
        address: String = "",
        userID: String = "",
        mayBeginSession: Bool = true,
        push: PushPlace = .none
    ) {
        self.transport = transport
        self.address = address
        self.userID = userID
        self.mayBeginSession = mayBeginSession
        self.push = push
    }
}

/// A reply as the bytes to send: an own part, then a part that was encoded beforehand and is shared by many replies.
package struct ReplyBytes: Hashable, Sendable {
    package var head: [UInt8]
    package var tail: ArraySlice<UInt8>

    package init(head: [UInt8], tail: ArraySlice<UInt8> = []) {
        self.head = head
        self.tail = tail
    }

    /// Both parts as one frame.
    package var frame: [UInt8] { self.head + self.tail }
}

/// How a request is answered.
package enum Answer<Deferred: Sendable>: Sendable {
    /// In the same pass.
    case now(ReplyBytes)
    /// When the group that it joined is durable; `Deferred` is what the answer will need.
    case afterGroup(Deferred)
    /// Called when the token of a join was checked: then the join is granted or refused.
    case afterToken(String)
    /// When the board has all that the log had when the request came, because the request names what the board does not know.
    case afterCatchUp
}

/// A message that could not be read as a request, and how it was refused.
package struct UnreadableRequest: Hashable, Sendable {
    /// 0 where it cannot be read either.
    package let requestID: UInt64
    package let refusal: Refusal
}

/// The changes that a request makes for its transport, beside its answer.
package struct RequestEffects: Hashable, Sendable {
    /// Whether a session has begun by it.
    package internal(set) var hasBegunSession = false
    /// The change of pushing on its connection, which only joins and leaves make; `nil`: none.
    package internal(set) var push: PushChange?
    /// How it was refused because it could not be read; `nil`: it could.
    package internal(set) var unreadable: UnreadableRequest?
}

/// A request that was decided about.
package struct HandledRequest<Deferred: Sendable>: Sendable {
    package let answer: Answer<Deferred>
    package let effects: RequestEffects
}

/// Decides about requests, whatever transport they come by.
///
/// Synchronous: it is called once per request on the thread
/// that received it, and waits for nothing.
package protocol RequestHandler<Deferred> {
    associatedtype Deferred: Sendable

    /// Decides about one request.
    mutating func handle(_ request: [UInt8], from peer: PeerFacts, at now: Timestamp) -> HandledRequest<Deferred>
}

/// Receives every notice of every stream in one order.
package protocol NoticeSink: Sendable {
    /// Sends notices, or takes them over for sending; the caller waits before it hands over more.
    func publish(_ notices: [StreamNotice]) async
}

/// A notice and whose it is.
package struct StreamNotice: Hashable, Sendable {
    package let stream: StreamID
    package let notice: Notice

    package init(stream: StreamID, notice: Notice) {
        self.stream = stream
        self.notice = notice
    }
}
