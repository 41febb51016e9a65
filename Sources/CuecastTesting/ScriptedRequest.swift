// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Cuecast
internal import CuecastWire

/// A request that a player made to a ``ScriptedGateway``.
public struct ScriptedRequest: Hashable, Sendable {
    /// A request of a player.
    @nonexhaustive
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// A request for missed notices; begins or continues a session.
        case join
        /// The advertisements of a break.
        case batch
        /// That outcomes are recorded.
        case acknowledge
        /// The gateway's time.
        case time
        /// That the session ends.
        case leave
    }

    /// The kind of the request.
    public let kind: Kind
    /// The session in which it is asked: 32 hexadecimal digits.
    public let session: String
    /// The stream that it is about; empty where it is about none.
    public let stream: LiveStream
    /// The break that it is about; `nil`: none.
    public let breakID: String?
    /// The keys of the advertisements whose outcomes it tells.
    public let adIDs: [String]
    /// How far behind live the listener hears the stream, where the request says so.
    public let delay: Duration
    /// The token of a join; empty: none.
    public let token: String
    /// The attributes of a join.
    public let attributes: [String: String]
    /// The app that joins, as it names itself.
    public let client: String
    /// Whether a join asks for the notices on its own connection.
    public let asksForNotices: Bool
    /// When it arrived.
    public let received: ContinuousClock.Instant
    /// Whether it was refused, or not answered at all.
    public internal(set) var isRefused = false
}

extension ScriptedRequest {
    init(_ request: ListenerRequest, received: ContinuousClock.Instant) {
        var stream = ""
        var breakID: String?
        var adIDs: [String] = []
        var delay = Duration.zero
        var join: ListenerRequest.Join?
        switch request.kind {
        case .join(let each):
            (self.kind, stream, delay, join) = (.join, each.stream.description, each.delay.now, each)
        case .getBatch(let each):
            (self.kind, stream, breakID) = (.batch, each.key.stream.description, each.key.id.description)
            delay = each.delay.now
        case .acknowledge(let each):
            (self.kind, stream, breakID) = (.acknowledge, each.key.stream.description, each.key.id.description)
            adIDs = each.outcomes.map(\.advertisementID.description)
        case .getTime: self.kind = .time
        case .leave(let each): (self.kind, stream) = (.leave, each.description)
        }
        self.session = request.session.description
        self.stream = LiveStream(id: stream)
        self.breakID = breakID
        self.adIDs = adIDs
        self.delay = delay
        self.token = join?.token ?? ""
        self.attributes = join?.attributes ?? [:]
        self.client = join?.client ?? ""
        self.asksForNotices = join?.push ?? false
        self.received = received
    }
}

/// How a ``ScriptedGateway`` refuses a request.
public struct ScriptedRefusal: Hashable, Sendable {
    /// The reasons that players can meet.
    @nonexhaustive
    public enum Code: Hashable, Sendable, CaseIterable {
        /// The gateway cannot do it at present: the player asks again.
        case unavailable
        /// The gateway is stopping: the player asks again.
        case draining
        /// The player asks too often: it asks again.
        case rateLimited
        /// The gateway has no room: the player asks again.
        case limitReached
        /// The player may not: it gives up.
        case notAllowed
        /// There is no such thing: the player gives up.
        case notFound
        /// It is over: the player gives up.
        case tooLate
        /// The break is not kept any more: the player gives up.
        case breakTooOld
    }

    /// Why.
    public var code: Code
    /// One sentence for people.
    public var sentence: String
    /// Not before this much time has passed, where asking again can help.
    public var retryAfter: Duration

    /// A refusal.
    public init(_ code: Code, _ sentence: String = "The script says so.", retryAfter: Duration = .zero) {
        self.code = code
        self.sentence = sentence
        self.retryAfter = retryAfter
    }

    var wire: Refusal {
        let status: StatusCode =
            switch self.code {
            case .unavailable: .unavailable
            case .draining: .draining
            case .rateLimited: .rateLimited
            case .limitReached: .limitReached
            case .notAllowed: .notAllowed
            case .notFound: .notFound
            case .tooLate: .tooLate
            case .breakTooOld: .breakTooOld
            }
        return Refusal(status, self.sentence, retryAfter: self.retryAfter)
    }
}
