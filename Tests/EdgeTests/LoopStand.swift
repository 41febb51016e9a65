// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Dispatch
import Foundation
import GatewayCore
import Synchronization
import SystemSupport
import Testing
import ZMTP

@testable import Edge

/// Loops, each on a thread of its own, that answer a request with its own bytes, one that has `large` in it with a million bytes, and
/// one that begins with `which` with the loop's number.
///
/// One that begins with `note` takes 20 µs, and is written down. Requests that begin with `later` are answered once they were told to; one that begins with `hold` holds its loop until it is let go.
final class LoopStand: Sendable {
    /// Counts connections for the loop.
    private final class Counting: ConnectionCounting {
        let connectionsMax: Int
        private let open = Mutex(0)

        init(connectionsMax: Int) {
            self.connectionsMax = connectionsMax
        }

        var openCount: Int { self.open.withLock { $0 } }

        func accepted(on endpoint: MetricLabel) -> Bool {
            self.open.withLock { open in
                open += 1
                return open < self.connectionsMax
            }
        }

        func ended(on endpoint: MetricLabel) { self.open.withLock { $0 -= 1 } }

        func acceptFailed() {}
    }

    private final class Echo: EdgeDelegate {
        private let number: Int
        private var waiting: [(peer: EdgePeer, reply: ReplyBytes)] = []
        private var wasPoked = false
        private let recording: Recording
        /// The session whose notices are pushed.
        static let session = SessionID(high: 1, low: 2)

        init(_ number: Int, _ recording: Recording) {
            self.number = number
            self.recording = recording
        }

        var now: Timestamp { Timestamp(microseconds: 1_000_000) }

        func isGood(_ proof: PushProof) -> Bool {
            self.recording.goodKeys.withLock { $0.contains(proof.key) }
        }

        var rulesNumber: Int { self.recording.rules.withLock(\.number) }

        func isProtected(_ stream: StreamID) -> Bool { self.recording.rules.withLock { $0.rules.protects(stream) } }

        func mayHear(_ stream: StreamID, _ session: SessionID?, _ proof: PushProof?) -> Bool {
            self.recording.rules.withLock { $0.rules.lets(session, hear: stream, with: proof) }
        }

        func handle(_ request: [UInt8], from peer: EdgePeer, mayBeginSession: Bool, push: PushPlace) -> EdgeAnswer {
            let words = String(decoding: request, as: UTF8.self).split(separator: " ")
            switch words.first {
            case "push":
                // As a join does whose answer states this head.
                guard let stream = try? StreamID(String(words[1])), let head = UInt64(words[2]) else { break }
                let key = words.count > 3 ? UInt32(words[3]) : nil
                return EdgeAnswer(
                    reply: ReplyBytes(head: Array("head \(head)".utf8)),
                    push: .begins(
                        session: Self.session,
                        stream: stream,
                        after: Position(epoch: 7, sequence: head),
                        proof: key.map { PushProof(key: KeyID(rawValue: $0), until: .latest) }
                    )
                )
            case "token": return EdgeAnswer(reply: ReplyBytes(head: request), refusesToken: true)
            case "leave": return EdgeAnswer(reply: ReplyBytes(head: Array("left".utf8)), push: .ends)
            case "place":
                let text =
                    switch push {
                    case .none: "none"
                    case .impossible: "impossible"
                    case .free: "free"
                    case .taken(Self.session, let stream): "taken \(stream)"
                    case .taken: "taken by a stranger"
                    }
                return EdgeAnswer(reply: ReplyBytes(head: Array(text.utf8)))
            default: break
            }
            if request.starts(with: Array("hold".utf8)) {
                self.recording.isHeld.withLock { $0 = true }
                self.recording.go.wait()
                self.recording.isHeld.withLock { $0 = false }
            }
            if request.starts(with: Array("note".utf8)) {
                let end = System.monotonicNanoseconds() + 20_000
                while System.monotonicNanoseconds() < end {}
                self.recording.notes.withLock { $0.append(String(decoding: request, as: UTF8.self)) }
            }
            if request.starts(with: Array("session".utf8)) {
                let text = mayBeginSession ? "begun" : "too many"
                return EdgeAnswer(reply: ReplyBytes(head: Array(text.utf8)), hasBegunSession: mayBeginSession)
            }
            if request.starts(with: Array("slice".utf8)) {
                return EdgeAnswer(reply: ReplyBytes(head: Array(LoopStand.sliceOfThread.utf8)))
            }
            if request.starts(with: Array("which".utf8)) {
                return EdgeAnswer(reply: ReplyBytes(head: Array("loop \(self.number)".utf8)))
            }
            let isLarge = String(decoding: request, as: UTF8.self).contains("large")
            let reply =
                isLarge
                ? ReplyBytes(head: [], tail: ArraySlice([UInt8](repeating: 7, count: LoopStand.largeBytes)))
                : ReplyBytes(head: request)
            guard !self.wasPoked, request.starts(with: Array("later".utf8)) else { return EdgeAnswer(reply: reply) }
            self.waiting.append((peer, reply))
            self.recording.waiting.withLock { $0 += 1 }
            return EdgeAnswer(reply: nil)
        }

        func passEnded(in loop: EdgeLoop) {}

        func woken(in loop: EdgeLoop) {
            self.wasPoked = true
            for (peer, reply) in self.waiting { loop.answer(reply, to: peer) }
            self.recording.waiting.withLock { $0 -= self.waiting.count }
            self.waiting = []
        }

        func runHousekeeping(in loop: EdgeLoop) {}

        func report(_ event: EdgeEvent) {
            if case .closed(let reason, _, _) = event { self.recording.closings.withLock { $0.append(reason) } }
        }
    }

    /// How many nanoseconds of a processor the calling thread asks for at a time, as Linux tells; empty: it does not tell.
    static var sliceOfThread: String {
        // A file of the kernel has no length that could be asked for before.
        guard let file = FileHandle(forReadingAtPath: "/proc/thread-self/sched"), let data = try? file.readToEnd()
        else {
            return ""
        }
        let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("se.slice") }
        return line?.split(separator: " ").last.map(String.init) ?? ""
    }

    /// How long a large answer is.
    static let largeBytes = 1_000_000

    private final class Recording: Sendable {
        let isHeld = Mutex(false)
        let go = DispatchSemaphore(value: 0)
        let waiting = Mutex(0)
        let notes: Mutex<[String]> = Mutex([])
        let closings: Mutex<[EdgeClosing]> = Mutex([])
        let goodKeys: Mutex<Set<KeyID>> = Mutex([KeyID(rawValue: 1), KeyID(rawValue: 2)])
        let rules: Mutex<(number: Int, rules: ListenerRules)> = Mutex((0, ListenerRules()))
        let textsMade = Mutex(0)
    }

    let endpoint: String
    let shared: EdgeShared
    let metrics = MetricRegistry()
    private let counting: Counting
    private let recording = Recording()

    init(
        threads: Int = 1,
        connectionsMax: Int = .max,
        identity: EndpointIdentity? = nil,
        balancers: Balancers? = nil,
        webSocket: WebSocketEndpoint? = nil,
        protecting patterns: String = "",
        _ change: (inout EdgeSettings) -> Void = { _ in }
    ) throws {
        var settings = EdgeSettings(instance: 42, epoch: 7)
        settings.messagesPerConnectionPerSecondMax = 0
        // However long a test takes on a busy machine.
        settings.handshakeTimeout = .seconds(3_600)
        settings.unusedTimeout = .seconds(3_600)
        settings.stalledTimeout = .seconds(3_600)
        settings.farewellMax = .seconds(3_600)
        // Sessions that were begun come back after this time.
        settings.lease = .seconds(1_000_000)
        change(&settings)
        let endpoint = EdgeEndpoint(
            descriptor: try System.listen(host: "127.0.0.1", port: 0, backlog: 128),
            label: .requests,
            identity: identity,
            balancers: balancers,
            webSocket: webSocket
        )
        self.endpoint = "tcp://127.0.0.1:\(System.port(of: endpoint.descriptor))"
        self.counting = Counting(connectionsMax: connectionsMax)
        self.shared = try EdgeShared(
            threads: threads,
            endpoints: [endpoint],
            settings: settings,
            metrics: self.metrics,
            counting: self.counting,
            clock: { Timestamp(microseconds: 1_000_000) },
            eventText: { [recording] notice in
                guard notice.kind != .head else { return Array(Self.headText.utf8) }
                recording.textsMade.withLock { $0 += 1 }
                return Array(Self.eventText(of: notice.position.sequence).utf8)
            }
        )
        self.change { $0.protectedStreams = [StreamPattern(patterns)].compactMap(\.self) }
        for number in 0..<threads {
            let pollers = try EdgeLoop.Pollers.make()
            let (shared, recording) = (self.shared, self.recording)
            Thread.detachNewThread {
                let echo = Echo(number, recording)
                EdgeLoop(number: number, shared: shared, pollers: pollers, sequences: [:], delegate: echo).run()
            }
        }
    }

    /// How often the text of a notice was made.
    var textsMade: Int { self.recording.textsMade.withLock { $0 } }

    /// The text of a notice as an event.
    static func eventText(of sequence: UInt64) -> String {
        "id: \(sequence)\nevent: notice\ndata: \(String(repeating: "x", count: 200))\n\n"
    }

    /// The text of a repeated position as an event.
    static let headText = "event: head\ndata: {}\n\n"

    /// A delegate for a loop that a test drives itself; outlives the loop.
    func makeDelegate() -> any EdgeDelegate { Echo(0, self.recording) }

    /// Changes who may hear what.
    func change(_ body: (inout ListenerRules) -> Void) {
        self.recording.rules.withLock { rules in
            rules.number += 1
            body(&rules.rules)
        }
    }

    /// The session whose notices are pushed.
    static var session: SessionID { Echo.session }

    /// Has every loop answer what waits.
    func wakeDelegate() { for inbox in self.shared.inboxes { inbox.wakeDelegate() } }

    /// Whether a request holds the loop.
    var isHeld: Bool { self.recording.isHeld.withLock { $0 } }

    /// Lets go of the request that holds the loop.
    func letGo() { self.recording.go.signal() }

    /// From now on nothing is heard because of this key.
    func withdraw(_ key: KeyID) { self.recording.goodKeys.withLock { _ = $0.remove(key) } }

    /// How many connections are open.
    var openCount: Int { self.counting.openCount }

    /// How many requests the delegates answer when they are woken; later requests do not wait.
    var waitingCount: Int { self.recording.waiting.withLock { $0 } }

    /// The requests that began with `note`, as they were handled.
    var notes: [String] { self.recording.notes.withLock { $0 } }

    /// Why connections were closed.
    var closings: [EdgeClosing] { self.recording.closings.withLock { $0 } }

    /// A peer that has shaken hands.
    func peer(_ type: SocketType, minor: UInt8 = 0) throws -> WirePeer {
        let peer = try WirePeer(connectedTo: self.endpoint, Session(type, minor: minor))
        try peer.shakeHandsAsClient()
        return peer
    }

    /// A peer that hears a stream, for sure.
    func subscriber(of stream: String) throws -> WirePeer {
        let peer = try WirePeer(connectedTo: self.endpoint, Session(.sub))
        try peer.subscribe(to: stream)
        return peer
    }

    /// Publishes a notice.
    func publish(_ sequence: UInt64, of stream: String) async throws {
        try await self.publish(sequence...sequence, of: stream)
    }

    /// Publishes notices together.
    func publish(_ sequences: ClosedRange<UInt64>, of stream: String) async throws {
        // As long as it can be, so that fewer fill a buffer.
        let (stream, id) = (
            try StreamID(stream), try BreakID(String(repeating: "b", count: WireLimits.breakIDBytesMax))
        )
        await self.shared.publish(
            sequences.map { sequence in
                StreamNotice(
                    stream: stream,
                    notice: Notice(
                        position: Position(epoch: 7, sequence: sequence),
                        kind: .cancelled,
                        breakID: id,
                        expires: Timestamp(microseconds: 1),
                        sent: Timestamp(microseconds: 1)
                    )
                )
            }
        )
    }
}

enum StandError: Error {
    case noTick
}

extension WirePeer {
    /// Greets as a client that does not wait: the edge says what it is after the peer.
    func shakeHandsAsClient() throws {
        try self.send(self.opening)
        if !self.isOverWebSocket { #expect(try self.next() == .greeted) }
        #expect(try self.next() == .ready)
    }

    /// Shakes hands and hears a stream, for sure.
    func subscribe(to stream: String) throws {
        // All in one piece: however busy the machine is, it is never without a subscription.
        var bytes = self.opening
        Outgoing.appendSubscription(Array(stream.utf8) + [0], to: &bytes)
        Outgoing.appendSubscription(NoticeFrame.syncTopic, to: &bytes)
        Outgoing.appendSubscription(NoticeFrame.syncTopic, cancel: true, to: &bytes)
        try self.send(bytes)
        if !self.isOverWebSocket { #expect(try self.next() == .greeted) }
        #expect(try self.next() == .ready)
        try self.tick()
    }

    /// Sends a request and waits for its answer.
    func ask(_ text: String) throws -> String? {
        try self.send(Self.request(text))
        return try self.answer()
    }

    static func request(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        Outgoing.appendRequest(Array(text.utf8), to: &bytes)
        return bytes
    }

    /// The next answer, or notice; `nil`: the connection was closed.
    func answer() throws -> String? {
        while let heard = try self.next() {
            if case .frame(let body, more: false) = heard { return String(decoding: body, as: UTF8.self) }
        }
        return nil
    }

    /// Waits for the tick that proves a subscription; heads that come before it are passed over.
    func tick() throws {
        while let heard = try self.next() {
            if case .frame(let body, _) = heard, body.starts(with: NoticeFrame.syncTopic) { return }
        }
        throw StandError.noTick
    }

    /// The sequence of the next notice that is not a repeat of the position; `nil`: the connection was closed.
    func sequence() throws -> UInt64? {
        while let heard = try self.next() {
            guard case .frame(let body, _) = heard, case .notice(let notice, _)? = try? NoticeFrame(decoding: body),
                notice.kind != .head
            else { continue }
            return notice.position.sequence
        }
        return nil
    }
}
