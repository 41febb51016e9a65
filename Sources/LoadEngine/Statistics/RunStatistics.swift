// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Everything that a run counts and measures; processes' statistics are merged.
package struct RunStatistics: Codable, Sendable {
    /// Numbers of things that happened.
    package struct Counts: Codable, Hashable, Sendable {
        /// All connections of a listener were there.
        package var connected = 0
        /// Connections whose handshakes, of TLS and of ZMTP, are done.
        package var handshakes = 0
        package var connectionsLost = 0
        package var joined = 0
        /// Of those that joined the ones whose notices come on the connection of their requests.
        package var pushed = 0
        /// Attempts to connect on which the gateway did not push, so that a second connection was made.
        package var fellBack = 0
        package var rejoined = 0
        /// Listeners that left a gateway because it asked for that.
        package var moved = 0
        /// Sessions that left, as churn has it.
        package var left = 0
        package var notices = 0
        package var heads = 0
        /// Notices that came with the answer to a join.
        package var noticesRecovered = 0
        /// Notices that a listener missed while it had stopped reading, and knows of.
        package var noticesMissedWhileStalled = 0
        package var batches = 0
        package var batchBytes = 0
        package var acknowledgements = 0
        package var outcomes = 0
        /// Breaks that this run published.
        package var published = 0
        package var timeouts = 0
        package var retries = 0
        package var stalls = 0

        enum CodingKeys: String, CodingKey {
            case connected
            case handshakes
            case connectionsLost = "connections_lost"
            case joined
            case pushed
            case fellBack = "fell_back"
            case rejoined
            case moved
            case left
            case notices
            case heads
            case noticesRecovered = "notices_recovered"
            case noticesMissedWhileStalled = "notices_missed_while_stalled"
            case batches
            case batchBytes = "batch_bytes"
            case acknowledgements
            case outcomes
            case published
            case timeouts
            case retries
            case stalls
        }

        package init() {}

        mutating func add(_ other: Counts) {
            self.connected += other.connected
            self.handshakes += other.handshakes
            self.connectionsLost += other.connectionsLost
            self.joined += other.joined
            self.pushed += other.pushed
            self.fellBack += other.fellBack
            self.rejoined += other.rejoined
            self.moved += other.moved
            self.left += other.left
            self.notices += other.notices
            self.heads += other.heads
            self.noticesRecovered += other.noticesRecovered
            self.noticesMissedWhileStalled += other.noticesMissedWhileStalled
            self.batches += other.batches
            self.batchBytes += other.batchBytes
            self.acknowledgements += other.acknowledgements
            self.outcomes += other.outcomes
            self.published += other.published
            self.timeouts += other.timeouts
            self.retries += other.retries
            self.stalls += other.stalls
        }
    }

    /// The events in one second of the run.
    package struct Second: Codable, Hashable, Sendable {
        package var handshakes = 0
        package var joins = 0
        package var notices = 0
        package var batches = 0
        package var acknowledgements = 0

        package init() {}
    }

    /// The longest run of which every second is kept; later ones count in the last.
    package static let secondsMax = 86_400

    package var connect = LatencyRecord()
    /// Of each connection, from when it was begun.
    package var handshake = LatencyRecord()
    package var join = LatencyRecord()
    /// Of each listener that lost its connection after it had joined: until it had joined again.
    package var away = LatencyRecord()
    package var notice = LatencyRecord()
    package var batch = LatencyRecord()
    package var acknowledge = LatencyRecord()
    package var publish = LatencyRecord()
    /// How late the tool itself was with what it had planned: it must stay far below what is measured.
    package var lag = LatencyRecord()
    package var counts = Counts()
    package var findings = Findings()
    /// Refusals by the status's name.
    package var refusals: [String: Int] = [:]
    /// From `began` on.
    package var seconds: [Second] = []
    package var began: Microseconds = 0
    /// When the last listener of the first wave had its connections, and how many handshakes were done by then.
    package var allConnected: Microseconds?
    package var handshakesUntilAllConnected = 0
    /// When the last listener of the first wave had joined.
    package var allJoined: Microseconds?

    package init(began: Microseconds = 0) {
        self.began = began
    }

    /// The second of the run that an instant is in.
    package mutating func second(_ now: Microseconds, _ change: (inout Second) -> Void) {
        let index = Int(min(max(0, now - self.began) / 1_000_000, Microseconds(Self.secondsMax - 1)))
        while self.seconds.count <= index { self.seconds.append(Second()) }
        change(&self.seconds[index])
    }

    /// A connection is ready, so many nanoseconds after it was begun.
    package mutating func shookHands(at now: Microseconds, after nanoseconds: UInt64) {
        self.counts.handshakes += 1
        self.second(now) { $0.handshakes += 1 }
        let began = now - Microseconds(clamping: nanoseconds / 1_000)
        self.handshake.record(intended: began, began: began, ended: now)
    }

    package mutating func merge(_ other: RunStatistics) {
        self.connect.merge(other.connect)
        self.handshake.merge(other.handshake)
        self.join.merge(other.join)
        self.away.merge(other.away)
        self.notice.merge(other.notice)
        self.batch.merge(other.batch)
        self.acknowledge.merge(other.acknowledge)
        self.publish.merge(other.publish)
        self.lag.merge(other.lag)
        self.counts.add(other.counts)
        self.findings.merge(other.findings)
        self.refusals.merge(other.refusals, uniquingKeysWith: +)
        // Processes begin at slightly different instants: their seconds are moved to the earliest one's.
        let began = self.began == 0 ? other.began : min(self.began, other.began)
        self.seconds = Self.sum(Self.moved(self, to: began), Self.moved(other, to: began))
        self.began = began
        if let connected = other.allConnected {
            self.allConnected = max(self.allConnected ?? connected, connected)
            self.handshakesUntilAllConnected += other.handshakesUntilAllConnected
        }
        if let joined = other.allJoined { self.allJoined = max(self.allJoined ?? joined, joined) }
    }

    private static func moved(_ statistics: RunStatistics, to began: Microseconds) -> [Second] {
        let late = Int(max(0, statistics.began - began) / 1_000_000)
        return statistics.seconds.isEmpty ? [] : Array(repeating: Second(), count: late) + statistics.seconds
    }

    private static func sum(_ left: [Second], _ right: [Second]) -> [Second] {
        var sum = left
        while sum.count < right.count { sum.append(Second()) }
        for (index, each) in right.enumerated() {
            sum[index].handshakes += each.handshakes
            sum[index].joins += each.joins
            sum[index].notices += each.notices
            sum[index].batches += each.batches
            sum[index].acknowledgements += each.acknowledgements
        }
        return sum
    }
}
