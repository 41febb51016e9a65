// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import ServiceLifecycle
import Synchronization
import SystemSupport

/// Hands every notice to those who hear their stream by another way than a connection of the edge: over HTTP.
///
/// A notice is made into bytes once for all readers, and a reader holds references. The hub ends slow consumers: readers that are
/// too far behind, or take nothing for long. Such a reader knows by its position what it missed. The position is repeated as for
/// connections that notices are pushed to. Leases are renewed for as long as a reader is there. Once a second the hub checks that
/// the readers of a protected stream may still hear it, as the edge does.
///
/// A reader whose connection a loop of the edge serves (``LoopListener``) gets its notices there. Everything else about it is done
/// here: its lease, its right, its end, and that it is counted.
final class NoticeHub: NoticeSink, Service {
    /// The bounds and times of readers.
    struct Settings: Hashable, Sendable {
        /// The most readers.
        var readersMax: Int
        /// The most readers from one address (IPv6: one network of 64 bits).
        var readersPerAddressMax: Int
        /// Whether loopback addresses are limited as others are; for tests.
        var limitsOwnMachine = false
        /// The most notices that wait for one reader; each is shared by all readers, and has 1 KiB at most (`noticeFrameBytesMax`).
        var noticesWaitingMax: Int
        /// How long a reader may take nothing of what waits for it.
        var stalledTimeout: Duration = SettingDefaults.stalledTimeout
        /// How often a stream's position is repeated when nothing else happens, before it is stretched for those that are pushed
        /// to.
        var headInterval: Duration = SettingDefaults.headInterval
        /// How long a session counts as listening after its last request.
        var lease: Duration = SettingDefaults.lease
        /// The epoch of the gateway's history.
        var epoch: UInt64

        /// - Parameters:
        ///   - epoch: the epoch of the gateway's history.
        ///   - limits: the values of its limits.
        init(epoch: UInt64, limits: LimitValues = LimitValues()) {
            self.epoch = epoch
            self.readersMax = limits[.httpListenersMax]
            self.readersPerAddressMax = limits[.httpListenersPerAddressMax]
            self.noticesWaitingMax = limits[.httpNoticesWaitingMax]
        }
    }

    /// The parts that it uses; all of them may be used on any thread.
    struct Tools: Sendable {
        let keys: KeyHolder
        let rules: ListenerRulesHolder
        let leases: SharedLeases
        let clock: any GatewayClock
        let metrics: MetricRegistry
    }

    private struct State {
        /// Those that get their notices from here, by stream.
        var streams: [StreamID: [ObjectIdentifier: NoticeReader]] = [:]
        /// Those that get their notices from the loops of the edge.
        var inLoops: [ObjectIdentifier: NoticeReader] = [:]
        /// Those that have joined.
        var sessions: [SessionID: NoticeReader] = [:]
        var addresses: [PeerAddress: Int] = [:]
        var count = 0
        var heads: HeadSchedule
        var hasStopped = false
        /// How often the rules had changed by which readers were looked at last.
        var rulesNumber = 0
        /// The request to move, by stream, and the readers that do not have it yet: something else waits for them.
        var move: (@Sendable (StreamID) -> Move)?
        var untold: [NoticeReader] = []
        /// When readers are looked at next, in monotonic nanoseconds.
        var nextSecond: UInt64 = 0

        /// All readers, wherever their notices come from.
        var all: [NoticeReader] { self.streams.values.flatMap(\.values) + self.inLoops.values }

        func has(_ reader: NoticeReader) -> Bool {
            let id = ObjectIdentifier(reader)
            return self.inLoops[id] != nil || self.streams[reader.stream]?[id] != nil
        }

        /// - Returns: whether it was one of those that get their notices from here.
        mutating func removeFromStream(_ reader: NoticeReader) -> Bool {
            let id = ObjectIdentifier(reader)
            guard self.streams[reader.stream]?.removeValue(forKey: id) != nil else { return false }
            if self.streams[reader.stream]?.isEmpty == true {
                self.streams[reader.stream] = nil
                self.heads.unsubscribed(reader.stream)
            }
            return true
        }
    }

    /// How often it looks at what is due.
    private static let interval: Duration = .milliseconds(250)
    private static let second: UInt64 = 1_000_000_000

    private let settings: Settings
    private let tools: Tools
    private let state: Mutex<State>

    init(settings: Settings, tools: Tools) {
        self.settings = settings
        self.tools = tools
        self.state = Mutex(State(heads: HeadSchedule(interval: settings.headInterval)))
    }

    // MARK: - Readers

    /// A reader comes; it hears nothing before `begin`.
    ///
    /// - Parameters:
    ///   - session: the session that reads.
    ///   - stream: the stream to listen to.
    ///   - address: where it comes from.
    ///   - place: its place among all connections; `nil`: its server counts it.
    ///   - left: called once when it is not here any more.
    /// - Returns: the reader, which keeps what comes from now on.
    /// - Throws: where there are too many.
    func register(
        _ session: SessionID,
        on stream: StreamID,
        from address: PeerAddress,
        place: ConnectionPlace? = nil,
        left: @escaping @Sendable () -> Void = {}
    ) throws(Refusal) -> NoticeReader {
        let reader = NoticeReader(
            session,
            on: stream,
            from: address,
            waitingMax: self.settings.noticesWaitingMax,
            place: place,
            left: left
        )
        let refusal: Refusal? = self.state.withLock { state in
            guard !state.hasStopped else { return .draining }
            guard state.count < self.settings.readersMax else {
                self.tools.metrics.count(.limitsHit, .limit(.httpListenersMax))
                return .tooManyReaders("http.listenersMax", self.settings.readersMax)
            }
            if self.limits(address), state.addresses[address, default: 0] >= self.settings.readersPerAddressMax {
                self.tools.metrics.count(.limitsHit, .limit(.httpListenersPerAddressMax))
                return .tooManyReaders("http.listenersPerAddressMax", self.settings.readersPerAddressMax)
            }
            if state.streams[stream] == nil { state.heads.subscribed(stream, at: Self.elapsed) }
            state.streams[stream, default: [:]][ObjectIdentifier(reader)] = reader
            state.addresses[address, default: 0] += 1
            state.count += 1
            self.tools.metrics.set(.httpListeners, to: state.count)
            return nil
        }
        if let refusal { throw refusal }
        return reader
    }

    /// The join of a reader was answered: every notice above `head` is for it.
    func begin(_ reader: NoticeReader, after head: UInt64, proof: PushProof?, ticket: [UInt8]) {
        let interval = self.renewalInterval
        reader.joined(
            at: head,
            proof: proof,
            owner: SessionTicket(bytes: ticket).flatMap { LeaseOwner($0) },
            renewal: System.monotonicNanoseconds() + interval
        )
        let before = self.state.withLock { state -> NoticeReader? in
            guard state.has(reader) else { return nil }
            return state.sessions.updateValue(reader, forKey: reader.session)
        }
        if let before { self.end(before, .replaced) }
        // The rules, or the keys, may have changed since the join was decided.
        if !self.mayHear(reader) { self.end(reader, .expired) }
    }

    /// A loop of the edge brings a reader its notices from now on; its end is still said here.
    func moveToLoop(_ reader: NoticeReader) {
        self.state.withLock { state in
            if state.removeFromStream(reader) { state.inLoops[ObjectIdentifier(reader)] = reader }
        }
    }

    /// Ends a reader; the first reason stands.
    func end(_ reader: NoticeReader, _ reason: NoticeReaderEnd) {
        // It may have ended by itself, because it was too slow or its task was cancelled.
        reader.finish(reason)
        let wasHere = self.state.withLock { state in
            guard state.removeFromStream(reader) || state.inLoops.removeValue(forKey: ObjectIdentifier(reader)) != nil
            else { return false }
            if state.sessions[reader.session] === reader { state.sessions[reader.session] = nil }
            let left = state.addresses[reader.address, default: 1] - 1
            state.addresses[reader.address] = left > 0 ? left : nil
            state.count -= 1
            self.tools.metrics.set(.httpListeners, to: state.count)
            return true
        }
        guard wasHere else { return }
        let end = reader.end ?? reason
        self.tools.metrics.count(.httpListenersEnded, end.metricLabel)
        if end == .slow, !reader.hasLeftTask { self.tools.metrics.count(.limitsHit, .limit(.httpNoticesWaitingMax)) }
        reader.left()
    }

    /// Ends the reader of a session on a stream.
    func end(_ session: SessionID, on stream: StreamID, _ reason: NoticeReaderEnd) {
        guard let reader = self.state.withLock({ $0.sessions[session] }), reader.stream == stream else { return }
        self.end(reader, reason)
    }

    /// Ends all readers, and accepts no further ones.
    func stop() {
        let readers = self.state.withLock { state in
            state.hasStopped = true
            return state.all
        }
        for reader in readers { self.end(reader, .stopping) }
    }

    /// How many readers there are.
    var count: Int { self.state.withLock(\.count) }

    private func limits(_ address: PeerAddress) -> Bool { self.settings.limitsOwnMachine || !address.isLoopback }

    // MARK: - Notices

    func publish(_ notices: [StreamNotice]) async {
        for each in notices {
            let readers = self.state.withLock { state in
                state.heads.noticed(each.stream, at: Self.elapsed)
                return state.streams[each.stream].map { Array($0.values) } ?? []
            }
            guard !readers.isEmpty else { continue }
            var notice = each.notice
            notice.sent = self.tools.clock.now()
            let published = PublishedNotice(notice)
            for reader in readers {
                reader.noticed(published)
                if reader.end == .slow { self.end(reader, .slow) }
            }
        }
    }

    // MARK: - What falls due

    /// Looks at what is due until the gateway stops.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                self.look(at: System.monotonicNanoseconds())
            }
        }
    }

    /// Repeats positions, and once a second looks at every reader.
    func look(at now: UInt64) {
        let (due, isSecond) = self.state.withLock { state in
            let due = state.heads.due(at: Timestamp(microseconds: Int64(now / 1_000))).filter(\.isForPushed)
            let heads = due.map { ($0.stream, state.streams[$0.stream].map { Array($0.values) } ?? []) }
            let isSecond = now >= state.nextSecond
            if isSecond { state.nextSecond = now + Self.second }
            return (heads, isSecond)
        }
        if isSecond { self.lookAtReaders(at: now) }
        for (_, readers) in due { self.sendHead(to: readers) }
        let (move, untold) = self.state.withLock { ($0.move, $0.untold.filter { $0.end == nil }) }
        if let move, !untold.isEmpty { self.ask(untold, toMove: move) }
    }

    /// Asks all readers that get their notices from here to go on at other gateways.
    ///
    /// - Parameter move: the request to the readers of a stream.
    func askToMove(_ move: @escaping @Sendable (StreamID) -> Move) {
        let readers = self.state.withLock { state in
            state.move = move
            return state.streams.values.flatMap(\.values)
        }
        self.ask(readers, toMove: move)
    }

    private func ask(_ readers: [NoticeReader], toMove move: (StreamID) -> Move) {
        var untold: [NoticeReader] = []
        for (stream, readers) in Dictionary(grouping: readers, by: \.stream) {
            untold += self.sendHead(to: readers, move: move(stream))
        }
        self.state.withLock { $0.untold = untold }
    }

    /// Sends each the position up to which it has everything, which is the same for nearly all.
    ///
    /// - Returns: the readers for which something else waits.
    @discardableResult
    private func sendHead(to readers: [NoticeReader], move: Move? = nil) -> [NoticeReader] {
        let sent = self.tools.clock.now()
        var made: PublishedNotice?
        var left: [NoticeReader] = []
        for reader in readers {
            let isGiven = reader.repeated { last in
                if let made, made.notice.position.sequence == last { return made }
                let position = Position(epoch: self.settings.epoch, sequence: last)
                let head = PublishedNotice(.head(position, sent: sent, move: move))
                made = head
                return head
            }
            if !isGiven { left.append(reader) }
        }
        if left.count < readers.count { self.tools.metrics.count(.headsSent) }
        return left
    }

    private func lookAtReaders(at now: UInt64) {
        let rulesNumber = self.tools.rules.swaps
        let (readers, hasChanged) = self.state.withLock { state in
            let hasChanged = rulesNumber != state.rulesNumber
            state.rulesNumber = rulesNumber
            return (state.all, hasChanged)
        }
        let stalled = UInt64(max(0, self.settings.stalledTimeout.inMicroseconds)) * 1_000
        let interval = self.renewalInterval
        for reader in readers where reader.isFollowing {
            if reader.isStalled(for: stalled, at: now) {
                self.end(reader, .stalled)
            } else if (hasChanged || reader.proof != nil) && !self.mayHear(reader) {
                self.end(reader, .expired)
            } else if let renewal = reader.takeRenewal(at: now, interval: interval), !self.renew(reader, renewal.owner)
            {
                self.end(reader, .left)
            }
        }
    }

    private func mayHear(_ reader: NoticeReader) -> Bool {
        let proof = reader.proof
        guard self.tools.rules.rules.lets(reader.session, hear: reader.stream, with: proof) else { return false }
        return proof?.holds(self.tools.keys.keys, at: self.tools.clock.now()) ?? true
    }

    /// - Returns: whether it still listens.
    private func renew(_ reader: NoticeReader, _ owner: LeaseOwner?) -> Bool {
        self.tools.leases
            .renew(
                reader.session,
                stream: reader.stream,
                owner: owner,
                at: self.tools.clock.reading().steady,
                mayBegin: false
            )
            .isGiven
    }

    /// A lease is renewed so often that one that is late ends nothing, in nanoseconds.
    private var renewalInterval: UInt64 { UInt64(max(1, self.settings.lease.inMicroseconds)) * 1_000 / 4 }

    /// The time that heads go by: it never jumps.
    private static var elapsed: Timestamp { Timestamp(microseconds: Int64(System.monotonicNanoseconds() / 1_000)) }
}

extension Refusal {
    /// As many listen over HTTP as may.
    static func tooManyReaders(_ key: String, _ limit: Int) -> Refusal {
        Refusal(.limitReached, "The limit \(key) is \(limit) and is reached.", retryAfter: .seconds(10))
    }
}
