// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Synchronization

/// The leases of all listeners, for all threads that serve them: a session that asks on two connections has one lease and one
/// allowance, and is counted once.
///
/// The rules are those of ``Leases``. Sessions are spread over parts with a lock each, so that threads seldom wait for
/// each other; how many there are is counted where the numbers of the streams are.
final class SharedLeases: LeaseTable {
    private final class Part: Sendable {
        let leases: Mutex<Leases>

        init(_ leases: Leases) {
            self.leases = Mutex(leases)
        }
    }

    /// How many parts there are; a power of two.
    private static let partCount = 64

    private let parts: [Part]
    private let live: LiveListeners
    private let most: Atomic<Int>
    /// How many sessions each subject has whose sessions are limited, in all parts.
    private let subjects: Mutex<[String: Int]> = Mutex([:])

    /// - Parameters:
    ///   - length: how long a session counts as listening after its last request.
    ///   - listenersMax: the most sessions.
    ///   - requestsPerSecondMax: the most requests of one session in a second, on average; 0: no limit.
    ///   - live: gets the numbers of listeners.
    init(length: Duration, listenersMax: Int, requestsPerSecondMax: Double, live: LiveListeners) {
        // The limit goes for all parts together.
        let empty = Leases(length: length, listenersMax: .max, requestsPerSecondMax: requestsPerSecondMax)
        self.parts = (0..<Self.partCount).map { _ in Part(empty) }
        self.most = Atomic(listenersMax)
        self.live = live
    }

    var listenersMax: Int { self.most.load(ordering: .relaxed) }

    var count: Int { self.live.total }

    func count(of stream: StreamID) -> Int { self.live.count(of: stream) }

    /// Changes the limits; sessions that are there stay.
    func setLimits(listenersMax: Int, requestsPerSecondMax: Double) {
        self.most.store(listenersMax, ordering: .relaxed)
        for part in self.parts { part.leases.withLock { $0.requestsPerSecondMax = requestsPerSecondMax } }
    }

    func renew(
        _ session: SessionID,
        stream: StreamID,
        owner: LeaseOwner? = nil,
        at now: Timestamp,
        mayBegin: Bool
    ) -> LeaseRenewal {
        let first = self.tryToRenew(session, stream: stream, owner: owner, at: now, mayBegin: mayBegin)
        guard first == .full || first == .ownerFull else { return first }
        // Those whose time is over make room, wherever they are.
        self.expire(at: now)
        return self.tryToRenew(session, stream: stream, owner: owner, at: now, mayBegin: mayBegin)
    }

    private func tryToRenew(
        _ session: SessionID,
        stream: StreamID,
        owner: LeaseOwner?,
        at now: Timestamp,
        mayBegin: Bool
    ) -> LeaseRenewal {
        let most = self.listenersMax
        return self.withPart(of: session) { leases in
            let renewal = leases.renew(
                session,
                stream: stream,
                owner: owner,
                at: now,
                mayBegin: mayBegin,
                hasRoom: { _ in self.live.reserve(atMost: most) },
                ownerHasRoom: { owner, _ in self.reserve(owner) }
            )
            self.publishChanges(&leases, reserved: renewal == .begun)
            return renewal
        }
    }

    func deliveredOrdinal(of number: BreakNumber, to session: SessionID) -> UInt32? {
        self.withPart(of: session) { $0.deliveredOrdinal(of: number, to: session) }
    }

    func noteBatch(of number: BreakNumber, from first: UInt32, to session: SessionID) -> Bool {
        self.withPart(of: session) { $0.noteBatch(of: number, from: first, to: session) }
    }

    func allows(_ session: SessionID, at now: Timestamp) -> Bool {
        self.withPart(of: session) { $0.allows(session, at: now) }
    }

    /// Ends the lease of a session, whatever it listens to.
    func end(_ session: SessionID) {
        self.withPart(of: session) { leases in
            leases.end(session)
            self.publishChanges(&leases)
        }
    }

    /// Ends the leases of sessions that are forgotten.
    func endAll(_ forgotten: ForgottenSessions) {
        for part in self.parts {
            part.leases.withLock { leases in
                leases.endAll(forgotten)
                self.publishChanges(&leases)
            }
        }
    }

    func end(_ session: SessionID, on stream: StreamID) {
        self.withPart(of: session) { leases in
            leases.end(session, on: stream)
            self.publishChanges(&leases)
        }
    }

    /// The stream of a session, and its subject if that one's sessions are counted; `nil`: it has no lease.
    func lease(of session: SessionID) -> (stream: StreamID, subject: String?)? {
        self.withPart(of: session) { $0.lease(of: session) }
    }

    func expire(at now: Timestamp) {
        for part in self.parts {
            part.leases.withLock { leases in
                leases.expire(at: now)
                self.publishChanges(&leases)
            }
        }
    }

    /// Publishes the changes before the part is free again: a listener that gets an answer is counted already.
    private func publishChanges(_ leases: inout Leases, reserved: Bool = false) {
        let ended = leases.takeEndedSubjects()
        if !ended.isEmpty { self.release(ended) }
        let changes = leases.takeCountChanges()
        if !changes.isEmpty { self.live.add(changes, reserved: reserved ? 1 : 0) }
    }

    /// Counts one more session of a subject, where it may have one more.
    private func reserve(_ owner: LeaseOwner) -> Bool {
        self.subjects.withLock { subjects in
            let count = subjects[owner.subject] ?? 0
            guard count < owner.sessionsMax else { return false }
            subjects[owner.subject] = count + 1
            return true
        }
    }

    private func release(_ ended: [String]) {
        self.subjects.withLock { subjects in
            for subject in ended {
                let count = (subjects[subject] ?? 0) - 1
                subjects[subject] = count > 0 ? count : nil
            }
        }
    }

    /// Sessions are random: a client that makes many sessions for one part only delays itself.
    private func withPart<Result: Sendable>(of session: SessionID, _ body: (inout Leases) -> Result) -> Result {
        let place = Int(truncatingIfNeeded: session.high ^ session.low) & (Self.partCount - 1)
        return self.parts[place].leases.withLock { body(&$0) }
    }
}

/// The work that waits for the log, of all threads that serve listeners.
final class SharedWaitingCount: WaitingCount {
    private let requests = Atomic<Int>(0)
    private let requestBytes = Atomic<Int>(0)
    private let deliveries = Atomic<Int>(0)
    private let repeats = Atomic<Int>(0)

    var waiting: WaitingForLog {
        WaitingForLog(
            requests: self.requests.load(ordering: .relaxed),
            requestBytes: self.requestBytes.load(ordering: .relaxed),
            deliveries: self.deliveries.load(ordering: .relaxed),
            repeats: self.repeats.load(ordering: .relaxed)
        )
    }

    func add(_ change: WaitingForLog) {
        if change.requests != 0 { self.requests.wrappingAdd(change.requests, ordering: .relaxed) }
        if change.requestBytes != 0 { self.requestBytes.wrappingAdd(change.requestBytes, ordering: .relaxed) }
        if change.deliveries != 0 { self.deliveries.wrappingAdd(change.deliveries, ordering: .relaxed) }
        if change.repeats != 0 { self.repeats.wrappingAdd(change.repeats, ordering: .relaxed) }
    }
}
