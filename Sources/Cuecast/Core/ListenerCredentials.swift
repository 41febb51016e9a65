// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// In whose name requests are sent: the session's id, the ticket that the gateway gave it, and the app's token.
struct ListenerCredentials: Sendable {
    let session: SessionID
    /// The ticket of the gateway's last answer to a join.
    var ticket: [UInt8]
    private var token = ""

    init(session: SessionID, ticket: [UInt8]) {
        self.session = session
        self.ticket = ticket
    }

    /// The app gave a token; `nil`: it could not.
    ///
    /// - Returns: Whether it is one that can be sent.
    mutating func take(token: String?, _ output: inout ListenerCore.Output) -> Bool {
        guard let token, token.utf8.count <= WireLimits.tokenBytesMax else {
            if token != nil { output.log(.error, "The token has more than \(WireLimits.tokenBytesMax) bytes") }
            self.token = ""
            return false
        }
        self.token = token
        return true
    }

    /// A request of this session, or of an earlier one.
    func request(
        _ id: UInt64,
        _ kind: ListenerRequest.Kind,
        as earlier: (session: SessionID, ticket: [UInt8])?
    ) -> ListenerRequest {
        ListenerRequest(
            id: id,
            session: earlier?.session ?? self.session,
            ticket: earlier?.ticket ?? self.ticket,
            kind: kind
        )
    }

    /// A join from the position `last`, which names the tick's instance or asks for the notices.
    func join(
        _ settings: ListenerSettings,
        by proof: ConnectionMachine.Proof,
        last: Position?,
        delay: ListenerDelay
    ) -> ListenerRequest.Join {
        let (instance, push): (UInt64, Bool) =
            switch proof {
            case .tick(let instance): (instance, false)
            case .answer: (0, true)
            }
        return ListenerRequest.Join(
            stream: settings.stream,
            last: last,
            instance: instance,
            token: self.token,
            delay: delay,
            attributes: settings.attributes,
            client: settings.client,
            push: push
        )
    }
}
