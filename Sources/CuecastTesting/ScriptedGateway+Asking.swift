// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

// Reports of players.
extension ScriptedGateway {
    /// The outcome that stands for each advertisement and session, in the order in which they were told.
    ///
    /// The first one that is told stands.
    public var outcomes: [ScriptedOutcome] {
        self.state.withLock { $0.gateway.standing }.map { ScriptedOutcome($0, clock: self.clock) }
    }

    /// How often an outcome was told for an advertisement and a session that had one already.
    public var repeatedOutcomes: Int { self.state.withLock { $0.outcomesTold - $0.gateway.standing.count } }

    /// Every request that could be read, in the order of arrival.
    public var requests: [ScriptedRequest] { self.state.withLock { $0.requests } }

    /// The sessions that joined, in the order of their first join: 32 hexadecimal digits each.
    public var sessions: [String] { self.state.withLock { $0.sessions } }

    /// How many players are connected.
    public var openConnections: Int { self.state.withLock { $0.connections.count } }

    /// The present outcome of an advertisement.
    ///
    /// - Parameters:
    ///   - adID: the advertisement's key.
    ///   - breakID: its break.
    ///   - session: the session of the outcome; `nil`: the first outcome.
    /// - Returns: the outcome; `nil`: nothing was told.
    public func outcomeSoFar(of adID: String, in breakID: String, session: String? = nil) -> ScriptedOutcome? {
        self.outcomes.first { outcome in
            outcome.adID == adID && outcome.breakID == breakID && (session ?? outcome.session) == outcome.session
        }
    }

    // MARK: Waiting

    /// Waits until an outcome of an advertisement is told.
    ///
    /// - Parameters:
    ///   - adID: the advertisement's key.
    ///   - breakID: its break.
    ///   - session: the session of the outcome; `nil`: the first outcome.
    ///   - limit: how long to wait.
    /// - Returns: the outcome that stands.
    /// - Throws: ``ScriptedGatewayError/timedOut(_:)``, or ``ScriptedGatewayError/cancelled``.
    public func outcome(
        of adID: String,
        in breakID: String,
        session: String? = nil,
        within limit: Duration = .seconds(600)
    ) async throws(ScriptedGatewayError) -> ScriptedOutcome {
        try await self.wait(within: limit, for: "an outcome of \(breakID)/\(adID)") { gateway in
            gateway.outcomeSoFar(of: adID, in: breakID, session: session)
        }
    }

    /// Waits until so many outcomes stand.
    ///
    /// - Returns: all that stand, in the order in which they were told.
    /// - Throws: ``ScriptedGatewayError/timedOut(_:)``, or ``ScriptedGatewayError/cancelled``.
    public func outcomes(
        _ count: Int,
        within limit: Duration = .seconds(600)
    ) async throws(ScriptedGatewayError) -> [ScriptedOutcome] {
        try await self.wait(within: limit, for: "\(count) outcomes") { gateway in
            let outcomes = gateway.outcomes
            return outcomes.count >= count ? outcomes : nil
        }
    }

    /// Waits for a request of this kind, also one that is here already.
    ///
    /// - Parameters:
    ///   - kind: the kind of the request.
    ///   - number: its number among the requests of its kind: 1 is the first.
    ///   - limit: how long to wait.
    /// - Returns: the request.
    /// - Throws: ``ScriptedGatewayError/timedOut(_:)``, or ``ScriptedGatewayError/cancelled``.
    public func request(
        _ kind: ScriptedRequest.Kind,
        number: Int = 1,
        within limit: Duration = .seconds(600)
    ) async throws(ScriptedGatewayError) -> ScriptedRequest {
        try await self.wait(within: limit, for: "request \(number) of the kind \(kind)") { gateway in
            gateway.requests.lazy.filter { $0.kind == kind }.dropFirst(number - 1).first
        }
    }

    /// Waits until something is so.
    ///
    /// - Parameters:
    ///   - limit: how long to wait.
    ///   - what: the awaited event, for the error's sentence.
    ///   - find: gives what is waited for, or `nil` while it is not so; it is asked after each change.
    /// - Returns: the result of `find`.
    /// - Throws: ``ScriptedGatewayError/timedOut(_:)``, or ``ScriptedGatewayError/cancelled``.
    public func wait<Value: Sendable>(
        within limit: Duration = .seconds(600),
        for what: String,
        until find: @Sendable (ScriptedGateway) -> Value?
    ) async throws(ScriptedGatewayError) -> Value {
        let deadline = ContinuousClock.now + limit
        while true {
            let version = self.change.version
            if let found = find(self) { return found }
            guard !Task.isCancelled else { throw .cancelled }
            guard ContinuousClock.now < deadline else {
                throw .timedOut("Waited \(limit) for \(what); it did not come.")
            }
            await self.change.changed(since: version, orUntil: deadline)
        }
    }
}
