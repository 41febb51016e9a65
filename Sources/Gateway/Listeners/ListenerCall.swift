// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import SystemSupport

/// A request of a listener that came by no connection of the edge, on its way to a ``ListenerDesk``, with the task that waits for
/// it.
///
/// The desk that takes it out of a mailbox answers it, once.
final class ListenerCall: Sendable {
    /// Calls are known by numbers from here on; a connection's number is below (its generation has 31 bits).
    static let numbersFrom: UInt64 = 1 << 63
    /// The most calls of one desk whose tokens wait to be checked: most of the line is for connections.
    static let tokenChecksMax = TokenChecks.tokenChecksWaitingMax / 4

    /// The result of a call.
    struct Outcome: Sendable {
        let reply: ReplyBytes
        /// The change of notices that a join made.
        let push: PushChange?
    }

    let request: [UInt8]
    private let address: PeerAddress
    private let push: PushPlace
    private let admission: EdgeAdmission
    private let edge: EdgeShared
    private let done: @Sendable (Outcome) -> Void

    /// - Parameters:
    ///   - request: its bytes.
    ///   - address: where it came from.
    ///   - push: whether notices can follow its answer.
    ///   - admission: the admission of its client.
    ///   - edge: which counts it.
    ///   - done: called once, on the thread of a loop.
    init(
        _ request: [UInt8],
        from address: PeerAddress,
        push: PushPlace,
        admission: EdgeAdmission,
        of edge: EdgeShared,
        done: @escaping @Sendable (Outcome) -> Void
    ) {
        self.request = request
        self.address = address
        self.push = push
        self.admission = admission
        self.edge = edge
        self.done = done
    }

    /// Whether it may begin a session now.
    var mayBeginSession: Bool { self.edge.mayBeginSession(self.admission) }

    /// The facts for decisions.
    func facts(mayBeginSession: Bool) -> PeerFacts {
        PeerFacts(
            transport: "http",
            address: self.address.description,
            mayBeginSession: mayBeginSession,
            push: self.push
        )
    }

    /// Answers it.
    func answer(_ reply: ReplyBytes, hasBegunSession: Bool = false, push: PushChange? = nil) {
        if hasBegunSession { self.edge.beganSession(self.admission) }
        self.done(Outcome(reply: reply, push: push))
    }

    /// Answers it where no handler does.
    func refuse(_ refusal: Refusal, at now: Timestamp) {
        let id = ListenerRequest.requestID(of: self.request)
        let reply = ListenerReply(requestID: id, gatewayTime: now, body: .refused(refusal))
        self.answer(ReplyBytes(head: reply.encoded()))
    }
}
