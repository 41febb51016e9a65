// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import HeapModule

/// The result for a session that wants to listen.
package enum LeaseRenewal: Hashable, Sendable {
    /// It had a lease, which goes on.
    case renewed
    /// It has a lease from now on.
    case begun
    /// It has none, and may not begin.
    case notAllowed
    /// It has none, and there are as many sessions as there may be.
    case full
    /// It has none of this owner's, who has as many as it may have.
    case ownerFull

    /// Whether the session has a lease.
    package var isGiven: Bool { self == .renewed || self == .begun }
}

/// The owner of a session, if the sessions of one owner are limited.
package struct LeaseOwner: Hashable, Sendable {
    /// The subject of a token.
    package let subject: String
    /// The most sessions of it.
    package let sessionsMax: Int

    /// `nil`: nothing limits the sessions.
    package init?(_ ticket: SessionTicket) {
        guard ticket.sessionsMax > 0, !ticket.subject.isEmpty else { return nil }
        self.subject = ticket.subject
        self.sessionsMax = Int(ticket.sessionsMax)
    }

    /// Of a ticket that lies in other bytes; only one that limits sessions is read whole.
    @inline(__always)
    init?(_ head: TicketHead?, in bytes: [UInt8], at range: Range<Int>? = nil) {
        guard let head, head.sessionsMax > 0, let ticket = SessionTicket(bytes: Array(bytes[range ?? bytes.indices]))
        else { return nil }
        self.init(ticket)
    }
}

/// The listening sessions, as decisions about requests need them: ``Leases`` for one thread, or a table of them for several.
package protocol LeaseTable: Sendable {
    /// The most sessions.
    var listenersMax: Int { get }

    /// How many sessions listen.
    var count: Int { get }

    /// How many sessions listen to a stream.
    func count(of stream: StreamID) -> Int

    /// Makes or renews a lease; as ``Leases``.
    mutating func renew(
        _ session: SessionID,
        stream: StreamID,
        owner: LeaseOwner?,
        at now: Timestamp,
        mayBegin: Bool
    ) -> LeaseRenewal

    /// Notes that a session gets a batch; as ``Leases``.
    mutating func noteBatch(of number: BreakNumber, from first: UInt32, to session: SessionID) -> Bool

    /// With which ordinal the largest batch of a break began that a session got; `nil`: it got one of another break last, or none.
    func deliveredOrdinal(of number: BreakNumber, to session: SessionID) -> UInt32?

    /// Renews the lease of a session that has one, and takes one request from its allowance; as ``Leases``.
    mutating func allows(_ session: SessionID, at now: Timestamp) -> Bool

    /// Ends the lease of a session that listens to a stream; one on another stream goes on.
    mutating func end(_ session: SessionID, on stream: StreamID)

    /// Ends the leases that were not renewed.
    mutating func expire(at now: Timestamp)
}

/// The listening sessions: those with a request within the lease.
///
/// Bounded in number. Renewing costs one look-up: a heap of expected ends is looked at again only when one is reached.
package struct Leases: LeaseTable {
    private struct Lease {
        var stream: StreamID
        /// The subject, if its sessions are counted.
        var subject: String?
        var expires: Timestamp
        /// Requests that the session may make at once; refills with time.
        var allowance: Double
        var refilled: Timestamp
        /// The break whose batch the session got last, and where the largest such batch began.
        var delivered: BreakNumber?
        var deliveredFirst: UInt32 = 0

        /// Renews the lease and takes one request from the allowance; `false` where nothing is left of it.
        mutating func takeRequest(burst: Double, perSecond: Double, expires: Timestamp, at now: Timestamp) -> Bool {
            self.expires = expires
            guard perSecond > 0 else { return true }
            let (elapsed, overflows) = now.microseconds.subtractingReportingOverflow(self.refilled.microseconds)
            let seconds = overflows ? 0 : max(0, Double(elapsed) / 1e6)
            self.allowance = min(burst, self.allowance + seconds * perSecond)
            self.refilled = now
            guard self.allowance >= 1 else { return false }
            self.allowance -= 1
            return true
        }
    }

    private struct End: Comparable {
        let session: SessionID
        let at: Timestamp

        static func < (left: Self, right: Self) -> Bool { left.at < right.at }
    }

    /// How long a session counts as listening after its last request.
    package let length: Duration
    /// The most sessions.
    package var listenersMax: Int
    /// The most requests of one session in a second, on average; 0: no limit.
    ///
    /// Twice as many may come at once, and always one.
    package var requestsPerSecondMax: Double
    private let lengthMicroseconds: Int64

    private var leases: [SessionID: Lease] = [:]
    private var ends: Heap<End> = []
    private var counts: [StreamID: Int] = [:]
    /// How many sessions each subject has whose sessions are limited.
    private var subjects: [String: Int] = [:]
    /// The subjects of leases that have ended since they were last taken.
    private var endedSubjects: [String] = []
    /// How the counts have changed since the changes were last taken.
    private var countChanges: [StreamID: Int] = [:]

    package init(length: Duration, listenersMax: Int, requestsPerSecondMax: Double) {
        self.length = length
        self.listenersMax = listenersMax
        self.requestsPerSecondMax = requestsPerSecondMax
        self.lengthMicroseconds = length.inMicroseconds
    }

    /// How many ends are remembered; bounded by the number of sessions, whatever comes and goes.
    package var endCount: Int { self.ends.count }

    /// For how many sessions there is room without more memory.
    package var capacity: Int { self.leases.capacity }

    /// How many sessions listen.
    package var count: Int { self.leases.count }

    /// How many sessions listen to a stream.
    package func count(of stream: StreamID) -> Int { self.counts[stream] ?? 0 }

    /// The stream of a session, and its subject if that one's sessions are counted; `nil`: it has no lease.
    package func lease(of session: SessionID) -> (stream: StreamID, subject: String?)? {
        self.leases[session].map { ($0.stream, $0.subject) }
    }

    /// Takes how many sessions each stream has won or lost since the last time, for callers that add up several of these.
    package mutating func takeCountChanges() -> [StreamID: Int] {
        guard !self.countChanges.isEmpty else { return [:] }
        defer { self.countChanges.removeAll(keepingCapacity: true) }
        return self.countChanges
    }

    /// Takes the subjects whose leases have ended since the last time, for callers that count subjects of several of these.
    package mutating func takeEndedSubjects() -> [String] {
        guard !self.endedSubjects.isEmpty else { return [] }
        defer { self.endedSubjects.removeAll() }
        return self.endedSubjects
    }

    /// The streams that have listeners, with their numbers.
    package var countsByStream: [StreamID: Int] { self.counts }

    /// Makes or renews a lease.
    ///
    /// - Parameters:
    ///   - session: the session that listens.
    ///   - stream: the stream that it listens to; a session that changes it counts for the new one.
    ///   - owner: the owner of the session, where that limits its beginning.
    ///   - now: the gateway's clock.
    ///   - mayBegin: whether a session may begin that has no lease.
    /// - Returns: the result.
    package mutating func renew(
        _ session: SessionID,
        stream: StreamID,
        owner: LeaseOwner? = nil,
        at now: Timestamp,
        mayBegin: Bool = true
    ) -> LeaseRenewal {
        let most = self.listenersMax
        let renewal = self.renew(
            session,
            stream: stream,
            owner: owner,
            at: now,
            mayBegin: mayBegin,
            hasRoom: { $0 < most },
            ownerHasRoom: { $1 < $0.sessionsMax }
        )
        _ = self.takeEndedSubjects()
        return renewal
    }

    /// Makes or renews a lease where others count sessions too.
    ///
    /// - Parameters:
    ///   - session: the session that listens.
    ///   - stream: the stream that it listens to; a session that changes it counts for the new one.
    ///   - owner: the owner of the session, where the sessions of one subject are counted.
    ///   - now: the gateway's clock.
    ///   - mayBegin: whether a session may begin that has no lease.
    ///   - hasRoom: whether one more may begin, beside so many that are here; then it does.
    ///   - ownerHasRoom: whether one more of this owner may begin, beside so many of it that are here; then it is counted, and
    ///     where it does not begin after all, its subject is among the ended ones.
    /// - Returns: the result.
    package mutating func renew(
        _ session: SessionID,
        stream: StreamID,
        owner: LeaseOwner?,
        at now: Timestamp,
        mayBegin: Bool,
        hasRoom: (_ count: Int) -> Bool,
        ownerHasRoom: (_ owner: LeaseOwner, _ count: Int) -> Bool
    ) -> LeaseRenewal {
        // A listener of a stream that requires no token counts for no subject, until it comes with a token.
        if let owner, let known = self.leases[session], known.subject != owner.subject {
            self.expire(at: now)
            if self.leases[session] != nil {
                guard ownerHasRoom(owner, self.subjects[owner.subject] ?? 0) else { return .ownerFull }
                self.count(session, for: owner.subject)
            }
        }
        if let place = self.leases.index(forKey: session) {
            let before = self.leases.values[place].stream
            if before != stream {
                self.add(-1, to: before)
                self.add(1, to: stream)
                self.leases.values[place].stream = stream
            }
            self.leases.values[place].expires = now.advanced(microseconds: self.lengthMicroseconds)
            return .renewed
        }
        guard mayBegin else { return .notAllowed }
        self.expire(at: now)
        if let owner, !ownerHasRoom(owner, self.subjects[owner.subject] ?? 0) { return .ownerFull }
        guard hasRoom(self.leases.count) else {
            if let owner { self.endedSubjects.append(owner.subject) }
            return .full
        }
        if let owner { self.subjects[owner.subject, default: 0] += 1 }
        self.leases[session] = Lease(
            stream: stream,
            subject: owner?.subject,
            expires: now + self.length,
            allowance: self.burst,
            refilled: now
        )
        self.ends.insert(End(session: session, at: now + self.length))
        // Sessions that left have an entry behind until its time; under churn they would pile up.
        if self.ends.count > 2 * self.leases.count + 1_024 {
            self.ends = Heap(self.leases.map { End(session: $0.key, at: $0.value.expires) })
        }
        self.add(1, to: stream)
        return .begun
    }

    /// From now on a session is one of another subject.
    private mutating func count(_ session: SessionID, for subject: String) {
        if let before = self.leases[session]?.subject { self.uncount(before) }
        self.subjects[subject, default: 0] += 1
        self.leases[session]?.subject = subject
    }

    /// A session is none of a subject any more.
    private mutating func uncount(_ subject: String) {
        let count = (self.subjects[subject] ?? 0) - 1
        self.subjects[subject] = count > 0 ? count : nil
        self.endedSubjects.append(subject)
    }

    /// Notes that a session gets a batch.
    ///
    /// - Parameters:
    ///   - number: of which break.
    ///   - first: the ordinal of its first advertisement.
    ///   - session: the session that gets it; has a lease.
    /// - Returns: whether that is news: `false` when the session got the same batch, or a larger one, before.
    package mutating func noteBatch(of number: BreakNumber, from first: UInt32, to session: SessionID) -> Bool {
        guard let place = self.leases.index(forKey: session) else { return true }
        if self.leases.values[place].delivered == number, self.leases.values[place].deliveredFirst <= first {
            return false
        }
        self.leases.values[place].delivered = number
        self.leases.values[place].deliveredFirst = first
        return true
    }

    /// With which ordinal the largest batch of a break began that a session got; `nil`: it got one of another break last, or none.
    package func deliveredOrdinal(of number: BreakNumber, to session: SessionID) -> UInt32? {
        guard let place = self.leases.index(forKey: session), self.leases.values[place].delivered == number else {
            return nil
        }
        return self.leases.values[place].deliveredFirst
    }

    /// Renews the lease of a session that has one, and takes one request from its allowance.
    ///
    /// - Parameters:
    ///   - session: the session that asks.
    ///   - now: the gateway's clock.
    /// - Returns: `false` when the session asks more often than it may.
    package mutating func allows(_ session: SessionID, at now: Timestamp) -> Bool {
        guard let place = self.leases.index(forKey: session) else { return true }
        return self.leases.values[place]
            .takeRequest(
                burst: self.burst,
                perSecond: self.requestsPerSecondMax,
                expires: now.advanced(microseconds: self.lengthMicroseconds),
                at: now
            )
    }

    /// Ends the lease of a session that listens to a stream; one on another stream goes on: who changed streams may leave the first one late.
    package mutating func end(_ session: SessionID, on stream: StreamID) {
        if self.leases[session]?.stream == stream { self.end(session) }
    }

    /// Ends a lease.
    package mutating func end(_ session: SessionID) {
        guard let lease = self.leases.removeValue(forKey: session) else { return }
        if let subject = lease.subject { self.uncount(subject) }
        self.add(-1, to: lease.stream)
    }

    /// Ends the leases of sessions that are forgotten.
    package mutating func endAll(_ forgotten: ForgottenSessions) {
        for session in Array(self.leases.keys.filter { forgotten.contains($0) }) { self.end(session) }
    }

    /// Ends the leases that were not renewed.
    package mutating func expire(at now: Timestamp) {
        while let next = self.ends.min, next.at <= now {
            self.ends.removeMin()
            guard let lease = self.leases[next.session] else { continue }
            if lease.expires <= now {
                self.end(next.session)
            } else {
                self.ends.insert(End(session: next.session, at: lease.expires))
            }
        }
        // Room that many had once is given back when few are left.
        guard self.leases.capacity > Self.capacityKept, self.leases.capacity / 8 > self.leases.count else { return }
        self.leases = Dictionary(uniqueKeysWithValues: self.leases.lazy.map { ($0.key, $0.value) })
        self.ends = Heap(self.leases.map { End(session: $0.key, at: $0.value.expires) })
    }

    /// Room for so many sessions is never given back.
    private static let capacityKept = 64

    /// How many requests a session may make at once.
    private var burst: Double { max(1, 2 * self.requestsPerSecondMax) }

    private mutating func add(_ change: Int, to stream: StreamID) {
        let count = (self.counts[stream] ?? 0) + change
        self.counts[stream] = count == 0 ? nil : count
        self.countChanges[stream, default: 0] += change
    }
}
