// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Decides which sessions listen, may begin to, and are refused.
struct ListeningSessions: Sendable {
    private(set) var leases: any LeaseTable
    /// Sessions that are refused.
    var forgotten = ForgottenSessions.empty()
    /// How far commands have made the gateway's clock jump: leases and allowances do not see that.
    var steppedMicroseconds: Int64 = 0
    private let metrics: MetricRegistry

    init(_ leases: any LeaseTable, metrics: MetricRegistry) {
        self.leases = leases
        self.metrics = metrics
    }

    /// The gateway's clock without the jumps that commands made.
    @inline(__always)
    private func steady(_ now: Timestamp) -> Timestamp { now.advanced(microseconds: -self.steppedMicroseconds) }

    /// Refuses a session that was forgotten.
    @inline(__always)
    func checkKnown(_ session: SessionID) throws(Refusal) {
        guard !self.forgotten.contains(session) else { throw .forgotten }
    }

    /// Takes a request from its session's allowance.
    @inline(__always)
    mutating func takeRequest(_ request: borrowing RequestAtHand) throws(Refusal) {
        guard self.leases.allows(request.session, at: self.steady(request.now)) else {
            self.metrics.count(.limitsHit, .limit(.requestsPerSessionPerSecondMax))
            throw .asksTooOften
        }
    }

    /// The session of a request listens to a stream, from now on or still.
    ///
    /// - Parameters:
    ///   - request: the request of the session; it is marked where a session begins by it.
    ///   - stream: which stream.
    ///   - owner: the owner of the session, where that limits its beginning.
    /// - Throws: where it has no lease and gets none.
    mutating func renew(_ request: inout RequestAtHand, on stream: StreamID, owner: LeaseOwner?) throws(Refusal) {
        switch self.leases.renew(
            request.session,
            stream: stream,
            owner: owner,
            at: self.steady(request.now),
            mayBegin: request.mayBeginSession
        ) {
        case .renewed: break
        case .begun: request.effects.hasBegunSession = true
        case .ownerFull:
            self.metrics.count(.limitsHit, .limit(.sessionsPerSubjectMax))
            throw Refusal(
                .limitReached,
                "This token's subject listens with as many sessions as it may (sessionsPerSubjectMax).",
                retryAfter: .seconds(10)
            )
        case .notAllowed:
            self.metrics.count(.limitsHit, .limit(.sessionsPerConnectionMax))
            throw .tooManySessions
        case .full:
            self.metrics.count(.limitsHit, .limit(.listenersMax))
            throw Refusal(
                .limitReached,
                "The limit listenersMax is \(self.leases.listenersMax) and is reached.",
                retryAfter: .seconds(10)
            )
        }
    }

    /// Notes that a session gets a batch; as ``Leases``.
    @inline(__always)
    mutating func noteBatch(of number: BreakNumber, from first: UInt32, to session: SessionID) -> Bool {
        self.leases.noteBatch(of: number, from: first, to: session)
    }

    /// A session leaves a stream.
    mutating func end(_ session: SessionID, on stream: StreamID) { self.leases.end(session, on: stream) }

    /// Ends the leases that were not renewed.
    mutating func expire(at now: Timestamp) { self.leases.expire(at: self.steady(now)) }
}
