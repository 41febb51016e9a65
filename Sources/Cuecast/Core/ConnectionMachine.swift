// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Connects, joins so that no notice is missed unseen, and starts over after every loss.
///
/// Where one connection carries all, the join asks for the notices too, and its answer is the proof: what comes after the
/// position that it states follows it. A gateway that cannot do that says so, and is subscribed to on the same connection.
///
/// ZeroMQ loses what is sent before a subscription has taken effect, and gives no sign when it has. The proof: subscribe
/// the stream, then `~sync`, on one connection; a tick of `~sync` shows that both are in effect. Only then is it safe to
/// ask what was missed.
///
/// ```
/// idle → connecting → (proving) → (token) → joining → joined ⇄ rejoining
///            ↑           ↑_____ not pushed ____|___________________|
///            |______________ waiting __________|___________|_______|
/// ```
struct ConnectionMachine: Sendable {
    /// How often in a row a join may name another instance than the tick before everything is connected anew.
    static let instanceMismatchesMax = 2
    /// How often in a row requests may stay without a reply before everything is connected anew.
    static let unansweredRequestsMax = 3
    /// How old an attempt to connect is before a change of the network begins another one.
    static let attemptKeptFor = Duration.seconds(1)
    /// How long a connection must have been good for the next loss to count as the first.
    static let steadyAfter = Duration.seconds(10)

    /// Why a connection is left for another gateway.
    private static let moveSentence = "The gateway is stopping; another one takes over."

    /// The state of the current connection, which begins anew when that connection is lost.
    private struct Connection {
        /// Whether the app has given a token for it.
        var hasToken = false
        /// How many requests in a row got no reply.
        var unanswered = 0
        /// Whether the network has changed since the gateway last answered: then one request without a reply is enough.
        var isSuspect = false
        var joinedSince: LocalInstant?
        /// When it is left for another gateway, because this one asks for that; once it is lost, when the next may begin at the earliest.
        var moveAt: LocalInstant?

        var isOfNoUse: Bool { self.isSuspect || self.unanswered >= ConnectionMachine.unansweredRequestsMax }

        func isSteady(now: LocalInstant) -> Bool {
            self.joinedSince.map { now - $0 >= ConnectionMachine.steadyAfter } ?? false
        }
    }

    private let topic: [UInt8]
    private let usesToken: Bool
    private let usesPush: Bool
    private let timings: ListenerTimings
    private var addresses: AddressRotation
    private var connection = Connection()
    private var joins: Backoff
    private var mismatches = 0
    private var lastJoined: LocalInstant?
    /// Whether the device says that it has a network.
    private var hasNetwork = true
    /// The number of the connection that counts; what comes from others is late and ignored.
    private(set) var attempt = 0
    private(set) var state = State.idle

    /// - Parameters:
    ///   - stream: the stream of the listener.
    ///   - usesToken: whether the app is asked for a token, once on each connection.
    ///   - usesPush: whether one connection is to carry notices too.
    ///   - gatewayCount: how many addresses there are.
    ///   - timings: how long to wait for what.
    init(stream: StreamID, usesToken: Bool, usesPush: Bool, gatewayCount: Int = 1, timings: ListenerTimings) {
        self.usesPush = usesPush
        self.topic = NoticeFrame.topic(of: stream)
        self.usesToken = usesToken
        self.timings = timings
        self.addresses = AddressRotation(count: gatewayCount, timings)
        self.joins = Backoff(timings)
    }

    /// Whether requests other than joins may be sent: this connection has joined once.
    var canRequest: Bool {
        switch self.state {
        case .joined, .rejoining: true
        default: false
        }
    }

    var isConnected: Bool {
        switch self.state {
        case .proving, .authorizing, .joining, .joined, .rejoining: true
        default: false
        }
    }

    /// When `due(now:jitter:)` has something to do.
    var nextDeadline: LocalInstant? { earlier(self.stateDeadline, self.moveDeadline) }

    private var moveDeadline: LocalInstant? { self.isConnected ? self.connection.moveAt : nil }

    private var stateDeadline: LocalInstant? {
        switch self.state {
        case .connecting(let deadline), .proving(let deadline), .authorizing(_, let deadline): deadline
        case .joining(_, let sendAt), .rejoining(_, let sendAt): sendAt
        case .waiting(let until, _): until
        case .idle, .joined, .suspended, .refused, .stopped: nil
        }
    }

    mutating func start(now: LocalInstant) -> [Action] {
        guard self.state == .idle else { return [] }
        return self.connect(now: now)
    }

    /// The connection ends for good.
    mutating func stop() -> [Action] {
        defer { self.state = .stopped }
        return self.hasConnection ? [.disconnect] : []
    }

    /// The connection ends until the app is back.
    mutating func suspend() -> [Action] {
        switch self.state {
        case .refused, .stopped, .suspended: return []
        default: break
        }
        defer { self.state = .suspended }
        self.connection = Connection()
        return self.hasConnection ? [.disconnect] : []
    }

    /// The app is back.
    mutating func resume(now: LocalInstant) -> [Action] {
        guard self.state == .suspended else { return [] }
        self.addresses.startOver()
        self.joins.reset()
        return self.connect(now: now)
    }

    /// The device's network came, went, or is another one.
    ///
    /// A wait for the next try ends soon, unless the gateway asked for it. An attempt that has been going on for a while
    /// begins anew; a connection has to show that it still goes. Without a network tries are as rare as they can be, and a
    /// connection is left alone.
    ///
    /// - Returns: the actions, and whether to ask the gateway for a sign of life.
    mutating func networkChanged(
        isAvailable: Bool,
        now: LocalInstant,
        jitter: inout JitterSource
    ) -> (actions: [Action], asks: Bool) {
        self.hasNetwork = isAvailable
        switch self.state {
        case .waiting(_, .sentAway) where self.connection.moveAt == nil: return ([], false)
        case .idle, .suspended, .refused, .stopped: return ([], false)
        case .waiting(let until, let reason):
            // With jitter: a whole town may have its network back in this moment.
            let wait = isAvailable ? jitter.duration(upTo: self.timings.retryDelayFirst) : self.offlineWait(&jitter)
            // A client that was asked to move keeps to its moment.
            let next = max(now + wait, self.connection.moveAt ?? now)
            self.state = .waiting(until: isAvailable ? min(until, next) : max(until, next), reason: reason)
            return ([], false)
        case .connecting(let deadline):
            let begun = deadline - self.timings.connectTimeout
            guard isAvailable, now - begun >= Self.attemptKeptFor else { return ([], false) }
            return ([.disconnect] + self.connect(now: now), false)
        case .proving, .authorizing, .joining, .joined, .rejoining:
            guard isAvailable else { return ([], false) }
            self.connection.isSuspect = true
            return ([], self.canRequest)
        }
    }

    /// How long to wait where the device says that there is no network: it may be wrong.
    private func offlineWait(_ jitter: inout JitterSource) -> Duration {
        self.timings.retryDelayMax / 2 + jitter.duration(upTo: self.timings.retryDelayMax / 2)
    }

    private var hasConnection: Bool {
        switch self.state {
        case .idle, .waiting, .suspended, .refused, .stopped: false
        case .connecting, .proving, .authorizing, .joining, .joined, .rejoining: true
        }
    }

    mutating func connected(now: LocalInstant) -> [Action] {
        guard case .connecting = self.state else { return [] }
        return self.usesPush && self.addresses.pushes
            ? self.join(by: .answer, now: now)
            : self.subscribe(now: now)
    }

    private mutating func subscribe(now: LocalInstant) -> [Action] {
        self.state = .proving(deadline: now + self.timings.subscriptionTimeout)
        // The order is the proof: see above.
        return [.subscribe(self.topic), .subscribe(NoticeFrame.syncTopic)]
    }

    /// Sends the first join of a proof, once there is a token.
    private mutating func join(by proof: Proof, now: LocalInstant) -> [Action] {
        guard self.usesToken, !self.connection.hasToken else {
            self.state = .joining(proof, sendAt: nil)
            return [.join(proof)]
        }
        self.state = .authorizing(proof, deadline: now + self.timings.requestTimeout * 2)
        return [.askForToken]
    }

    /// The gateway does not send notices on the connection of a join: they are subscribed to, on this connection and on all
    /// further ones to this address.
    private mutating func doWithoutPush(now: LocalInstant) -> [Action] {
        self.addresses.foundPushless()
        return self.subscribe(now: now)
    }

    mutating func disconnected(reason: String, now: LocalInstant, jitter: inout JitterSource) -> [Action] {
        self.hasConnection ? self.lose(reason: .closed(reason), now: now, jitter: &jitter) : []
    }

    mutating func tick(instance: UInt64, now: LocalInstant) -> [Action] {
        guard case .proving = self.state else { return [] }
        return [.unsubscribe(NoticeFrame.syncTopic)] + self.join(by: .tick(instance: instance), now: now)
    }

    /// The app gave a token, or could not.
    mutating func token(isGiven: Bool, now: LocalInstant, jitter: inout JitterSource) -> [Action] {
        guard case .authorizing(let proof, _) = self.state else { return [] }
        guard isGiven else {
            return self.lose(reason: .noToken, now: now, jitter: &jitter)
        }
        self.connection.hasToken = true
        return self.join(by: proof, now: now)
    }

    /// The gateway answered the join.
    ///
    /// - Parameters:
    ///   - instance: which run of the gateway answered.
    ///   - pushed: whether notices follow the answer on its connection.
    ///   - now: the time.
    ///   - jitter: where the randomness of waits comes from.
    /// - Returns: Whether the answer counts. It does not where it comes from another run of the gateway than the tick:
    ///   then the subscription is proven anew. Nor does it where notices were asked for and do not follow: then they are
    ///   subscribed to.
    mutating func joined(
        instance: UInt64,
        pushed: Bool,
        now: LocalInstant,
        jitter: inout JitterSource
    ) -> (counts: Bool, actions: [Action]) {
        self.connection.unanswered = 0
        guard let proof = self.sentProof else { return (false, []) }
        switch proof {
        case .answer: guard pushed else { return (false, self.doWithoutPush(now: now)) }
        case .tick(let proven):
            guard instance == proven else {
                self.mismatches += 1
                guard self.mismatches < Self.instanceMismatchesMax else {
                    self.mismatches = 0
                    return (false, self.lose(reason: .differentRuns, now: now, jitter: &jitter))
                }
                self.state = .proving(deadline: now + self.timings.subscriptionTimeout)
                return (false, [.subscribe(NoticeFrame.syncTopic)])
            }
            self.mismatches = 0
        }
        self.lastJoined = now
        self.connection.joinedSince = self.connection.joinedSince ?? now
        self.state = .joined(proof)
        return (true, [])
    }

    /// The gateway does not take the join as it is: perhaps because it asks for notices on a connection that cannot carry
    /// them.
    ///
    /// - Returns: the actions; `nil` if the join asked for no notices.
    mutating func joinInvalid(now: LocalInstant) -> [Action]? {
        self.sentProof == .answer ? self.doWithoutPush(now: now) : nil
    }

    /// The proof of the join that is under way.
    private var sentProof: Proof? {
        switch self.state {
        case .joining(let proof, nil), .rejoining(let proof, nil): proof
        default: nil
        }
    }

    /// The position was lost: join again, soon at first, ever later when it does not help.
    mutating func rejoin(now: LocalInstant, jitter: inout JitterSource) {
        guard case .joined(let proof) = self.state else { return }
        // Not at every join: a gateway whose answers never help would be asked four times a second for ever.
        if let last = self.lastJoined, now - last >= Self.steadyAfter { self.joins.reset() }
        self.state = .rejoining(proof, sendAt: now + self.joins.next(using: &jitter))
    }

    /// The missing notices arrived before a join for them was sent.
    mutating func rejoinNotNeeded() {
        guard case .rejoining(let proof, .some) = self.state else { return }
        self.state = .joined(proof)
    }

    /// The join got no reply in time, or one that asks to come again.
    mutating func joinFailed(atLeast: Duration = .zero, now: LocalInstant, jitter: inout JitterSource) {
        let sendAt = now + self.joins.next(using: &jitter, atLeast: atLeast)
        switch self.state {
        case .joining(let proof, _): self.state = .joining(proof, sendAt: sendAt)
        case .rejoining(let proof, _): self.state = .rejoining(proof, sendAt: sendAt)
        default: break
        }
    }

    /// The gateway will not have this listener.
    mutating func refuse(reason: String) -> [Action] {
        guard self.isConnected else { return [] }
        self.state = .refused(reason: reason)
        return [.disconnect]
    }

    /// A request got no reply in time.
    ///
    /// Several in a row mean that the connection is of no use.
    mutating func requestUnanswered(now: LocalInstant, jitter: inout JitterSource) -> [Action] {
        self.connection.unanswered += 1
        guard self.isConnected, self.connection.isOfNoUse else { return [] }
        return self.lose(reason: .unanswered, now: now, jitter: &jitter)
    }

    mutating func replyArrived() {
        self.connection.unanswered = 0
        self.connection.isSuspect = false
    }

    /// The gateway named others of its event log.
    mutating func learn(_ targets: [GatewayTarget]) { self.addresses.learn(targets) }

    /// The gateway is about to stop, and asks its listeners to go on at others.
    ///
    /// The connection is left after a random part of `within`, so that not all listeners arrive together. One that is lost before keeps
    /// to that time too. Where it has not been good for long, a wait follows as after any failure: so gateways that take joins and ask to
    /// move at once are tried ever more rarely.
    ///
    /// - Parameters:
    ///   - within: as the gateway says.
    ///   - targets: where others are, in no order; empty: those that are known.
    ///   - now: the time.
    ///   - jitter: where the order and the time come from.
    /// - Returns: how long it stays; `nil`: it knows of no other gateway, or leaves already.
    mutating func askedToMove(
        within: Duration,
        to targets: [GatewayTarget],
        now: LocalInstant,
        jitter: inout JitterSource
    ) -> Duration? {
        guard self.isConnected, self.connection.moveAt == nil else { return nil }
        self.addresses.learn(targets.shuffled(using: &jitter))
        guard self.addresses.hasOthers else { return nil }
        let stay = jitter.duration(upTo: within)
        self.connection.moveAt = now + stay
        return stay
    }

    /// Gives up the connection, for a reason that this side found.
    ///
    /// - Parameters:
    ///   - reason: why.
    ///   - atLeast: how long the gateway asks to stay away; it says nothing of other addresses.
    ///   - leaves: whether this address is of no use for now, however good it was.
    ///   - now: the time.
    ///   - jitter: where the randomness of the wait comes from.
    /// - Returns: the actions.
    mutating func lose(
        reason: ConnectionLoss,
        atLeast: Duration = .zero,
        leaves: Bool = false,
        now: LocalInstant,
        jitter: inout JitterSource
    ) -> [Action] {
        let wasSteady = self.connection.isSteady(now: now)
        if wasSteady { self.addresses.startOver() }
        let moveAt = self.connection.moveAt
        self.connection = Connection()
        self.connection.moveAt = moveAt
        self.joins.reset()
        let wait =
            moveAt == nil
            ? self.addresses.lost(leaves: leaves || !wasSteady, atLeast: atLeast, jitter: &jitter)
            : self.addresses.move(wasSteady: wasSteady, jitter: &jitter)
        let next = now + max(wait, self.hasNetwork ? .zero : self.offlineWait(&jitter))
        self.state = .waiting(
            until: max(next, moveAt ?? next),
            reason: moveAt == nil ? reason : .sentAway(Self.moveSentence)
        )
        return [.disconnect]
    }

    /// Does what its time has come for.
    mutating func due(now: LocalInstant, jitter: inout JitterSource) -> [Action] {
        guard let deadline = self.nextDeadline, deadline <= now else { return [] }
        if let moveAt = self.moveDeadline, moveAt <= now {
            return self.lose(reason: .sentAway(Self.moveSentence), now: now, jitter: &jitter)
        }
        switch self.state {
        case .connecting: return self.lose(reason: .connectTimedOut, now: now, jitter: &jitter)
        case .proving:
            return self.lose(reason: .subscriptionTimedOut, now: now, jitter: &jitter)
        case .authorizing: return self.lose(reason: .tokenTimedOut, now: now, jitter: &jitter)
        case .joining(let proof, _):
            self.state = .joining(proof, sendAt: nil)
            return [.join(proof)]
        case .rejoining(let proof, _):
            self.state = .rejoining(proof, sendAt: nil)
            return [.join(proof)]
        case .waiting: return self.connect(now: now)
        case .idle, .joined, .suspended, .refused, .stopped: return []
        }
    }

    private mutating func connect(now: LocalInstant) -> [Action] {
        self.attempt += 1
        self.connection.hasToken = false
        self.connection.isSuspect = false
        self.connection.moveAt = nil
        self.state = .connecting(deadline: now + self.timings.connectTimeout)
        return [.connect(attempt: self.attempt, gateway: self.addresses.current)]
    }
}
