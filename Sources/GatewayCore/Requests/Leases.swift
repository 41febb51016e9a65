// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import HeapModule

/// Who is listening: sessions that asked for something within the lease.
///
/// Bounded in number. Renewing costs one look-up: a heap of expected ends is looked at again only when one is reached.
package struct Leases: Sendable {
    private struct Lease {
        var stream: StreamID
        var expires: Timestamp
        /// Requests that the session may make at once; refills with time.
        var allowance: Double
        var refilled: Timestamp
    }

    private struct End: Comparable {
        let session: SessionID
        let at: Timestamp

        static func < (left: Self, right: Self) -> Bool { left.at < right.at }
    }

    /// How long a session counts as listening after its last request.
    package let length: Duration
    /// The most sessions.
    package let listenersMax: Int
    /// The most requests of one session in a second, on average; 0: no limit.
    ///
    /// Twice as many may come at once, and always one.
    package let requestsPerSecondMax: Double

    private var leases: [SessionID: Lease] = [:]
    private var ends: Heap<End> = []
    private var counts: [StreamID: Int] = [:]

    package init(length: Duration, listenersMax: Int, requestsPerSecondMax: Double) {
        self.length = length
        self.listenersMax = listenersMax
        self.requestsPerSecondMax = requestsPerSecondMax
    }

    /// How many ends are remembered; bounded by the number of sessions, whatever comes and goes.
    package var endCount: Int { self.ends.count }

    /// How many sessions listen.
    package var count: Int { self.leases.count }

    /// How many sessions listen to a stream.
    package func count(of stream: StreamID) -> Int { self.counts[stream] ?? 0 }

    /// The streams that have listeners, with their numbers.
    package var countsByStream: [StreamID: Int] { self.counts }

    /// Makes or renews a lease.
    ///
    /// - Parameters:
    ///   - session: who listens.
    ///   - stream: what it listens to; a session that changes it counts for the new one.
    ///   - now: the gateway's clock.
    /// - Returns: whether there was room.
    package mutating func renew(_ session: SessionID, stream: StreamID, at now: Timestamp) -> Bool {
        if var lease = self.leases[session] {
            if lease.stream != stream {
                self.add(-1, to: lease.stream)
                self.add(1, to: stream)
                lease.stream = stream
            }
            lease.expires = now + self.length
            self.leases[session] = lease
            return true
        }
        self.expire(at: now)
        guard self.leases.count < self.listenersMax else { return false }
        self.leases[session] = Lease(
            stream: stream,
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
        return true
    }

    /// Renews the lease of a session that has one, and takes one request from its allowance.
    ///
    /// - Parameters:
    ///   - session: who asks.
    ///   - now: the gateway's clock.
    /// - Returns: `false` when the session asks more often than it may.
    package mutating func allows(_ session: SessionID, at now: Timestamp) -> Bool {
        guard var lease = self.leases[session] else { return true }
        lease.expires = now + self.length
        defer { self.leases[session] = lease }
        guard self.requestsPerSecondMax > 0 else { return true }
        let elapsed = max(0, (now - lease.refilled).inSeconds)
        lease.allowance = min(self.burst, lease.allowance + elapsed * self.requestsPerSecondMax)
        lease.refilled = now
        guard lease.allowance >= 1 else { return false }
        lease.allowance -= 1
        return true
    }

    /// Ends a lease.
    package mutating func end(_ session: SessionID) {
        guard let lease = self.leases.removeValue(forKey: session) else { return }
        self.add(-1, to: lease.stream)
    }

    /// Ends the leases that nobody renewed.
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
    }

    /// How many requests a session may make at once.
    private var burst: Double { max(1, 2 * self.requestsPerSecondMax) }

    private mutating func add(_ change: Int, to stream: StreamID) {
        let count = (self.counts[stream] ?? 0) + change
        self.counts[stream] = count == 0 ? nil : count
    }
}
