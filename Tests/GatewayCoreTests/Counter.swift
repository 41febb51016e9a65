// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// A desk with a counter for listeners: requests go in as bytes, and replies are read as a client reads them.
struct Counter {
    var desk = Desk()
    var handler: ListenerRequestHandler
    let metrics: MetricRegistry
    /// The transport's state of pushing on the connection of the requests.
    var push = PushPlace.none
    /// The change of pushing by the last request, until a test takes it.
    private var pushChange: PushChange?
    private var lastID: UInt64 = 0

    static let instance: UInt64 = 0x1234

    init(_ change: (inout ListenerRequestHandler.Settings) -> Void = { _ in }) {
        var settings = ListenerRequestHandler.Settings(instance: Self.instance)
        change(&settings)
        self.metrics = MetricRegistry()
        self.handler = ListenerRequestHandler(
            settings: settings,
            board: Board(epoch: Sample.epoch),
            keys: .fixed,
            metrics: self.metrics
        )
    }

    /// Takes what the last request changed about pushing on its connection.
    mutating func takePushChange() -> PushChange? { self.pushChange.take() }

    /// The gathered content of the next record, as a reader of that record sees it.
    var gathered: AcknowledgementGroup {
        get throws { try AcknowledgementGroup(decoding: self.handler.group.encoded()) }
    }

    /// A listener's answer: a reply now, or later.
    enum Got {
        case reply(ListenerReply)
        case later(ListenerRequestHandler.Deferred)
        /// When the token of a join has been checked.
        case afterToken(String)
        case afterCatchUp

        var body: ListenerReply.Body? {
            if case .reply(let reply) = self { reply.body } else { nil }
        }

        var refusal: Refusal? {
            if case .refused(let refusal)? = self.body { refusal } else { nil }
        }

        var batch: ListenerReply.Batch? {
            if case .batch(let batch)? = self.body { batch } else { nil }
        }

        var joined: ListenerReply.Joined? {
            if case .joined(let joined)? = self.body { joined } else { nil }
        }

        var deferred: ListenerRequestHandler.Deferred? {
            if case .later(let deferred) = self { deferred } else { nil }
        }
    }

    mutating func ask(
        _ kind: ListenerRequest.Kind,
        by session: SessionID = Sample.session(),
        at seconds: Double
    ) throws -> Got {
        self.lastID += 1
        let request = ListenerRequest(id: self.lastID, session: session, kind: kind)
        return try self.ask(request.encoded(), id: self.lastID, at: Sample.at(seconds))
    }

    mutating func ask(_ frame: [UInt8], id: UInt64, at now: Timestamp) throws -> Got {
        self.handler.board = self.desk.board
        let handled = self.handler.handle(frame, from: PeerFacts(transport: "test", push: self.push), at: now)
        self.pushChange = handled.effects.push
        switch handled.answer {
        case .now(let bytes):
            let reply = try ListenerReply(decoding: bytes.frame)
            #expect(reply.requestID == id)
            #expect(reply.gatewayTime == now)
            return .reply(reply)
        case .afterGroup(let deferred):
            #expect(deferred.requestID == id)
            return .later(deferred)
        case .afterToken(let token): return .afterToken(token)
        case .afterCatchUp: return .afterCatchUp
        }
    }

    /// Answers a join whose token was checked.
    mutating func join(_ frame: [UInt8], _ granted: Result<ListenerGrant, Refusal>, at now: Timestamp) throws
        -> ListenerReply.Body
    {
        self.handler.board = self.desk.board
        let peer = PeerFacts(transport: "test", push: self.push)
        let (reply, effects) = self.handler.join(frame, granted: granted, from: peer, at: now)
        self.pushChange = effects.push
        return try ListenerReply(decoding: reply.frame).body
    }

    /// Asks for a batch of `b1`.
    mutating func batch(
        _ id: String = "b1",
        by session: SessionID = Sample.session(),
        delay: Duration = .zero,
        at seconds: Double
    ) throws -> Got {
        try self.ask(
            .getBatch(.init(key: Sample.key(id), delay: ListenerDelay(now: delay))),
            by: session,
            at: seconds
        )
    }

    /// Says what became of advertisements of `b1`.
    mutating func acknowledge(
        _ outcomes: [Outcome],
        of id: String = "b1",
        delivery: [UInt8]? = nil,
        by session: SessionID = Sample.session(),
        at seconds: Double
    ) throws -> Got {
        let number = self.desk.board[Sample.key(id)]?.number ?? BreakNumber(rawValue: 0)
        let token = delivery ?? Self.delivery(to: session, of: number).bytes
        return try self.ask(
            .acknowledge(.init(key: Sample.key(id), delivery: token, outcomes: outcomes)),
            by: session,
            at: seconds
        )
    }

    /// As the gateway's batches carry it.
    static func delivery(
        to session: SessionID = Sample.session(),
        of number: BreakNumber,
        variant: UInt32 = 0,
        first: Int = 0,
        keys: MessageKeys = .fixed,
        at seconds: Double = 0
    ) -> DeliveryToken {
        keys.delivery(to: session, of: number, variant: variant, first: first, at: Sample.at(seconds))
    }

    static func played(_ advertisement: String = "ad0", at seconds: Double) -> Outcome {
        Outcome(
            advertisementID: Sample.advertisementID(advertisement),
            kind: .played,
            heard: .seconds(10),
            quartiles: 4,
            occurred: Sample.at(seconds)
        )
    }
}
