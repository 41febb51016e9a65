// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
internal import Synchronization
package import SystemSupport

/// The state that the loops of a gateway share; other threads reach all loops through it.
///
/// Limits that go beyond one connection are kept here, so that they mean the same however many loops there are.
package final class EdgeShared: NoticeSink {
    /// The bytes that one loop holds for its connections.
    private final class HeldBytes: Sendable {
        let count = Atomic<Int>(0)
    }

    /// Metrics that loops change often.
    struct Cells: Sendable {
        let repliesGone: MetricRegistry.Cell
        /// Connections that notices are pushed to.
        let pushed: MetricRegistry.Cell
        /// Connections that are encrypted.
        let encrypted: MetricRegistry.Cell
        /// The bytes in rings.
        let ringBytes: MetricRegistry.Cell

        init(_ metrics: MetricRegistry) {
            self.repliesGone = metrics.cell(.repliesDropped, .peerGone)
            self.pushed = metrics.cell(.pushedConnections)
            self.encrypted = metrics.cell(.encryptedConnections)
            self.ringBytes = metrics.cell(.ringBytes)
        }
    }

    package let settings: EdgeSettings
    /// The listening endpoints; the first loop closes them when it ends.
    package let endpoints: [EdgeEndpoint]
    /// One for each loop; the first one's loop accepts connections.
    package let inboxes: [EdgeInbox]
    let metrics: MetricRegistry
    let cells: Cells
    let counting: any ConnectionCounting
    /// The rate limit of all connections together.
    let messages: SharedRateBucket
    private let held: [HeldBytes]
    private let addresses: Mutex<EdgeAddresses>
    /// How many loops have subscribers of a stream.
    private let streams: Mutex<[StreamID: Int]> = Mutex([:])
    private let clock: @Sendable () -> Timestamp
    /// Makes the text of a server-sent event of a notice.
    let eventText: @Sendable (Notice) -> [UInt8]
    /// Counts the listeners that other servers handed over: the loops get them in turn.
    private let eventListeners = Atomic<Int>(0)

    /// - Parameters:
    ///   - threads: how many loops there will be; at least one.
    ///   - endpoints: the listening endpoints.
    ///   - settings: limits and times.
    ///   - metrics: counts what happens.
    ///   - counting: counts connections of all entrances.
    ///   - clock: the gateway's, which notices say when they were sent.
    ///   - eventText: makes the text of a server-sent event of a notice.
    /// - Throws: where there are too many descriptors.
    package init(
        threads: Int,
        endpoints: [EdgeEndpoint],
        settings: EdgeSettings,
        metrics: MetricRegistry,
        counting: any ConnectionCounting,
        clock: @escaping @Sendable () -> Timestamp,
        eventText: @escaping @Sendable (Notice) -> [UInt8] = { _ in [] }
    ) throws(SystemCallError) {
        self.endpoints = endpoints
        self.settings = settings
        self.metrics = metrics
        self.cells = Cells(metrics)
        self.counting = counting
        self.clock = clock
        self.eventText = eventText
        var inboxes: [EdgeInbox] = []
        for _ in 0..<max(1, threads) { inboxes.append(try EdgeInbox()) }
        self.inboxes = inboxes
        self.held = inboxes.map { _ in HeldBytes() }
        self.messages = SharedRateBucket(.rate(settings.messagesPerSecondMax))
        self.addresses = Mutex(
            EdgeAddresses(
                messages: .rate(settings.messagesPerAddressPerSecondMax),
                sessions: .count(settings.sessionsPerAddressMax, within: settings.lease),
                memory: settings.lease
            )
        )
    }

    // MARK: - From other threads

    /// Hands notices over, encoded and framed once for all loops; returns when they are on their way to the connections that
    /// hear them.
    package func publish(_ notices: [StreamNotice]) async {
        guard !notices.isEmpty else { return }
        let encoded = notices.map { each in
            var notice = each.notice
            let made = notice.sent
            notice.sent = self.clock()
            return EdgeNotice(
                stream: each.stream,
                sequence: notice.position.sequence,
                frame: EdgeLoop.framed(NoticeFrame.notice(notice, stream: each.stream).encoded()),
                text: EventText(notice),
                made: made
            )
        }
        await withCheckedContinuation { continuation in
            let batch = NoticeBatch(encoded, loops: self.inboxes.count) { wasTaken in
                if wasTaken { self.count(encoded) }
                continuation.resume()
            }
            for inbox in self.inboxes { inbox.put(batch) }
        }
    }

    /// Counts notices that every loop has taken.
    private func count(_ notices: [EdgeNotice]) {
        let now = self.clock()
        self.metrics.count(.noticesSent, by: notices.count)
        for notice in notices { self.metrics.observe(.noticeSeconds, now - notice.made) }
    }

    /// Stops accepting connections, or begins again.
    package func setAccepting(_ accepts: Bool) { self.inboxes[0].setAccepting(accepts) }

    /// Ends the loops after what was answered is sent, and returns when they have ended.
    package func stop() async {
        await withTaskGroup(of: Void.self) { tasks in
            for inbox in self.inboxes { tasks.addTask { await inbox.stop() } }
        }
    }

    /// A loop has ended, or its thread could not be started: no loop serves the connections that were handed to it.
    package func end(_ loop: Int) {
        self.inboxes[loop].end({ self.drop($0) }, { self.drop($0) })
    }

    /// Closes a connection that no loop serves.
    func drop(_ arrival: EdgeInbox.Arrival) {
        System.close(arrival.descriptor)
        if arrival.shared != nil { self.leave(arrival.address, at: System.monotonicNanoseconds()) }
        self.counting.ended(on: self.endpoints[arrival.endpoint].label)
    }

    /// Hands over the connection of a listener that another server has accepted and answered; the loops write its events from now on.
    ///
    /// - Parameters:
    ///   - listener: its listener; where no loop serves it any more, it is told at once.
    ///   - descriptor: closed by the loop.
    ///   - isChunked: whether the answer's body is in chunks; if not, it ends with the connection.
    package func serve(_ listener: any EventListener, on descriptor: Int32, isChunked: Bool) {
        let arrival = EdgeInbox.EventArrival(
            descriptor: descriptor,
            listener: listener,
            framing: isChunked ? .chunks : .lines
        )
        let number = self.eventListeners.wrappingAdd(1, ordering: .relaxed).oldValue
        let loop = Int(UInt(bitPattern: number) % UInt(self.inboxes.count))
        if !self.inboxes[loop].put(arrival) { self.drop(arrival) }
    }

    private func drop(_ arrival: EdgeInbox.EventArrival) {
        let bytes = arrival.framing.framed(event: arrival.listener.dropped()) + arrival.framing.end
        _ = System.write(arrival.descriptor, bytes.span)
        System.close(arrival.descriptor)
    }

    /// The number of iterations of each loop; it stops growing if the loop hangs.
    package var iterationCounts: [Int] { self.inboxes.map(\.iterationCount) }

    // MARK: - Addresses

    /// A connection comes from an address.
    ///
    /// - Returns: the rate limits' counters of the address; `nil`: it has as many connections as it may.
    func admit(_ address: PeerAddress) -> EdgeAddress? {
        self.addresses.withLock { $0.admit(address, connectionsMax: self.settings.connectionsPerAddressMax) }
    }

    /// A connection from an address that was admitted has ended.
    func leave(_ address: PeerAddress, at now: UInt64) { self.addresses.withLock { $0.leave(address, at: now) } }

    /// Forgets addresses that have gone for long.
    func forgetOldAddresses(at now: UInt64) { self.addresses.withLock { $0.forgetOld(at: now) } }

    // MARK: - Bytes that wait

    /// A loop holds so many bytes more for its connections, or less.
    func hold(_ change: Int, in loop: Int) { self.held[loop].count.wrappingAdd(change, ordering: .relaxed) }

    /// The bytes that all loops hold for their connections.
    var bytesHeld: Int { self.held.reduce(0) { $0 + $1.count.load(ordering: .relaxed) } }

    /// Which loop is to close connections, where all hold more than they may: the one that holds most.
    func whoHoldsTooMuch() -> Int? {
        guard self.bytesHeld > self.settings.bytesWaitingMax else { return nil }
        let held = self.held.map { $0.count.load(ordering: .relaxed) }
        return held.indices.max { held[$0] < held[$1] }
    }

    // MARK: - Streams

    /// A loop has its first subscriber of a stream.
    func subscribed(to stream: StreamID) {
        self.streams.withLock { streams in
            streams[stream, default: 0] += 1
            self.metrics.set(.subscribedStreams, to: streams.count)
        }
    }

    /// A loop has no subscriber of a stream any more.
    func unsubscribed(from stream: StreamID) {
        self.streams.withLock { streams in
            let count = (streams[stream] ?? 0) - 1
            streams[stream] = count > 0 ? count : nil
            self.metrics.set(.subscribedStreams, to: streams.count)
        }
    }
}
