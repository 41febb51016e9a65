// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// A listener that another server accepted, and both ends of its connection.
private final class EventPeer: EventListener {
    private struct State {
        var received: [UInt8] = []
        var hasEnded = false
        var connection: EventConnection?
        var lost: [EdgeClosing?] = []
        var wasDropped = false
    }

    let stream: StreamID
    let address = PeerAddress(ipv4: 0x7F00_0001)
    /// The end that the loop gets.
    let near: Int32
    private let far: Int32
    private let beginning: EventBeginning
    private let state = Mutex(State())

    init(_ stream: String = "radio1", _ texts: [String] = [], last: UInt64 = 0, ended: String? = nil) throws {
        self.stream = try StreamID(stream)
        self.beginning = ended.map { .ended(Array($0.utf8)) } ?? .events(texts.map { Array($0.utf8) }, last: last)
        var ends: [Int32] = [-1, -1]
        // Safety: the kernel writes two descriptors during the call, for which there is room.
        let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
        try #require(result == 0)
        (self.near, self.far) = (ends[0], ends[1])
    }

    deinit { close(self.far) }

    func begin(_ connection: EventConnection) -> EventBeginning {
        self.state.withLock { $0.connection = connection }
        return self.beginning
    }

    func lost(_ reason: EdgeClosing?) { self.state.withLock { $0.lost.append(reason) } }

    func dropped() -> [UInt8] {
        self.state.withLock { $0.wasDropped = true }
        return Array("event: end\n\n".utf8)
    }

    /// Reads what has come.
    var text: String {
        self.state.withLock { state in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !state.hasEnded {
                // Safety: the kernel writes at most as many bytes as the buffer has during the call.
                let count = unsafe recv(self.far, &buffer, buffer.count, 0)
                // A peer that was closed with unread bytes is reset.
                if count == 0 || (count < 0 && errno == ECONNRESET) { state.hasEnded = true }
                guard count > 0 else { break }
                state.received += buffer[..<count]
            }
            return String(decoding: state.received, as: UTF8.self)
        }
    }

    /// Whether the loop has closed the connection; reads what has come.
    var hasEnded: Bool {
        _ = self.text
        return self.state.withLock(\.hasEnded)
    }

    var hasBegun: Bool { self.state.withLock { $0.connection != nil } }
    var lost: [EdgeClosing?] { self.state.withLock(\.lost) }
    var wasDropped: Bool { self.state.withLock(\.wasDropped) }

    func end(_ text: String) { self.state.withLock(\.connection)?.end(Array(text.utf8)) }

    func send(_ text: String) { _ = System.write(self.far, Array(text.utf8).span) }

    /// Sends no more, and reads on.
    func sendNoMore() { _ = shutdown(self.far, Int32(SHUT_WR)) }
}

/// Server-sent events that the loops write to connections of another server, on real sockets.
@Suite(.suiteLimit)
struct EdgeEventsTests {
    /// A chunk with the event of a notice.
    private static func chunk(_ text: String) -> String { String(text.utf8.count, radix: 16) + "\r\n\(text)\r\n" }

    private static func events(_ sequences: some Sequence<UInt64>) -> [String] {
        sequences.map { LoopStand.eventText(of: $0) }
    }

    /// What came but for repeats of the position, which come by the clock.
    private static func notices(_ text: String) -> String {
        text.replacing(Self.chunk(LoopStand.headText), with: "").replacing(LoopStand.headText, with: "")
    }

    private func serve(_ peer: EventPeer, _ stand: LoopStand, isChunked: Bool = true) async throws {
        stand.shared.serve(peer, on: peer.near, isChunked: isChunked)
        try await until("a loop has it") { peer.hasBegun }
    }

    /// Publishes more than the kernel takes for a connection.
    private func flood(_ stand: LoopStand) async throws {
        for batch: UInt64 in 0..<40 { try await stand.publish(batch * 250 + 1...batch * 250 + 250, of: "radio1") }
    }

    @Test(arguments: [true, false])
    func `each notice above its own comes once, in order, behind what waited`(_ isChunked: Bool) async throws {
        let stand = try LoopStand()
        // The loop has sent three; the listener has everything up to five, of which one waits for it.
        try await stand.publish(1...3, of: "radio1")
        let peer = try EventPeer("radio1", ["id: 5\n\n"], last: 5)
        try await self.serve(peer, stand, isChunked: isChunked)
        for sequence in 4...7 { try await stand.publish(UInt64(sequence), of: "radio1") }
        try await stand.publish(8...60, of: "radio1")
        try await stand.publish(1, of: "radio10")
        let events = ["id: 5\n\n"] + Self.events(6...60)
        let wanted = events.map { isChunked ? Self.chunk($0) : $0 }.joined()
        try await until("all have come") { Self.notices(peer.text).utf8.count >= wanted.utf8.count }
        #expect(Self.notices(peer.text) == wanted)
        #expect(peer.lost.isEmpty)
        #expect(stand.metrics.value(.subscribedStreams) == 1)
        await stand.shared.stop()
        try await until("its connection ends") { peer.hasEnded }
        #expect(peer.lost == [nil])
    }

    @Test func `the text of a notice is made once for all loops and framings, and only if one hears it`() async throws {
        let stand = try LoopStand(threads: 2)
        let subscriber = try stand.subscriber(of: "radio1")
        try await stand.publish(1, of: "radio1")
        #expect(try subscriber.sequence() == 1)
        #expect(stand.textsMade == 0)
        var peers: [EventPeer] = []
        for number in 0..<6 {
            peers.append(try EventPeer("radio1", last: 1))
            try await self.serve(peers[number], stand, isChunked: number < 4)
        }
        try await stand.publish(2...9, of: "radio1")
        let wanted = Self.events(2...9)
        for (number, peer) in peers.enumerated() {
            let bytes = wanted.map { number < 4 ? Self.chunk($0) : $0 }.joined()
            try await until("all have come") { Self.notices(peer.text) == bytes }
        }
        #expect(try subscriber.sequence() == 2)
        #expect(stand.textsMade == 8)
        await stand.shared.stop()
    }

    @Test func `the position is repeated, and says what was sent`() async throws {
        let stand = try LoopStand { $0.headInterval = .milliseconds(50) }
        let peer = try EventPeer("radio1")
        try await self.serve(peer, stand)
        let head = Self.chunk(LoopStand.headText)
        try await until("it was repeated twice") { peer.text.hasPrefix(head + head) }
        await stand.shared.stop()
    }

    @Test func `a peer that sends something, or no more, is closed and told of once`() async throws {
        let stand = try LoopStand()
        let (speaking, closing, other) = (try EventPeer(), try EventPeer(), try EventPeer())
        for peer in [speaking, closing, other] { try await self.serve(peer, stand) }
        speaking.send("GET / HTTP/1.1\r\n\r\n")
        closing.sendNoMore()
        for peer in [speaking, closing] {
            try await until("it is closed") { peer.hasEnded }
            try await until("its listener knows") { peer.lost == [nil] }
        }
        try await stand.publish(1, of: "radio1")
        try await until("the other one has the notice") { other.text.contains(LoopStand.eventText(of: 1)) }
        #expect(stand.metrics.value(.connectionsClosed, .stalled) == 0)
        // The stand counts connections of endpoints only.
        #expect(stand.openCount == 0)
        await stand.shared.stop()
        #expect(speaking.lost == [nil] && closing.lost == [nil])
    }

    @Test(arguments: [true, false])
    func `a listener that has ended gets its last event, and then nothing`(_ isChunked: Bool) async throws {
        let stand = try LoopStand { $0.farewellMax = .seconds(3_600) }
        let (peer, early) = (try EventPeer("radio1"), try EventPeer("radio1", ended: "event: end\n\n"))
        try await self.serve(peer, stand, isChunked: isChunked)
        try await stand.publish(1, of: "radio1")
        let first = LoopStand.eventText(of: 1)
        try await until("it has the notice") { peer.text.contains(first) }
        peer.end("event: end\n\n")
        // It had ended before the loop had its connection.
        try await self.serve(early, stand, isChunked: isChunked)
        try await stand.publish(2, of: "radio1")
        for each in [peer, early] { try await until("it is closed") { each.hasEnded } }
        func framed(_ text: String) -> String { isChunked ? Self.chunk(text) : text }
        let end = framed("event: end\n\n") + (isChunked ? "0\r\n\r\n" : "")
        #expect(Self.notices(peer.text) == framed(first) + end)
        #expect(early.text == end)
        try await until("both listeners know") { peer.lost == [nil] && early.lost == [nil] }
        // The stream has no listener any more.
        #expect(stand.metrics.value(.subscribedStreams) == 0)
        await stand.shared.stop()
    }

    @Test func `an event that is begun is finished before the last one, if the peer reads`() async throws {
        // Its notices are not let go, whether the loop hears first that it ends or that it reads.
        let stand = try LoopStand {
            $0.farewellMax = .seconds(3_600)
            $0.ringBytesMax = 1 << 26
        }
        let peer = try EventPeer()
        try await self.serve(peer, stand)
        // More than the kernel takes.
        try await self.flood(stand)
        peer.end("event: end\n\n")
        try await until("it is closed") { peer.hasEnded }
        let text = Self.notices(peer.text)
        try #require(text.hasSuffix(Self.chunk("event: end\n\n") + "0\r\n\r\n"), "closed as \(stand.closings)")
        let count = UInt64(text.split(separator: "\r\n").count / 2 - 1)
        try #require((1..<10_000).contains(count))
        // Whole events from the first one on, and the last.
        let whole = Self.events(1...count).map(Self.chunk).joined()
        #expect(text == whole + Self.chunk("event: end\n\n") + "0\r\n\r\n")
        await stand.shared.stop()
    }

    @Test func `one that reads nothing of its last event is closed after a while`() async throws {
        let stand = try LoopStand { $0.farewellMax = .milliseconds(100) }
        let peer = try EventPeer()
        try await self.serve(peer, stand)
        try await self.flood(stand)
        peer.end("event: end\n\n")
        try await until("its listener knows") { peer.lost == [nil] }
        #expect(!peer.text.contains("event: end"))
        await stand.shared.stop()
    }

    @Test func `one that reads nothing for long is closed as others are, and its listener is told`() async throws {
        let stand = try LoopStand { $0.stalledTimeout = .milliseconds(200) }
        let peer = try EventPeer()
        try await self.serve(peer, stand)
        try await self.flood(stand)
        try await until("it is closed") { peer.lost == [.stalled, nil] }
        #expect(stand.closings == [.stalled])
        #expect(stand.metrics.value(.connectionsClosed, .stalled) == 1)
        await stand.shared.stop()
    }

    @Test func `one whose notices were let go is closed, since it need not notice it`() async throws {
        let stand = try LoopStand { $0.ringBytesMax = 20_000 }
        let (stuck, quick) = (try EventPeer(), try EventPeer())
        for peer in [stuck, quick] { try await self.serve(peer, stand) }
        var sequence: UInt64 = 0
        // The ring is looked at when the peer reads again.
        while sequence < 3_000 {
            try await stand.publish(sequence + 1...sequence + 100, of: "radio1")
            sequence += 100
            let last = LoopStand.eventText(of: sequence)
            try await until("the quick one has them") { quick.text.hasSuffix(Self.chunk(last)) || quick.hasEnded }
        }
        try await until("the stuck one is closed") {
            _ = stuck.text
            return stuck.lost == [.slow, nil]
        }
        #expect(stand.metrics.value(.limitsHit, .limit(.ringBytesMax)) >= 1)
        #expect(Self.notices(quick.text) == Self.events(1...sequence).map(Self.chunk).joined())
        await stand.shared.stop()
    }

    @Test func `more come than an iteration opens, and all are served`() async throws {
        let stand = try LoopStand()
        let holder = try stand.peer(.dealer)
        try holder.send(WirePeer.request("hold"))
        try await until { stand.isHeld }
        let peers = try (0..<100).map { _ in try EventPeer() }
        for peer in peers { stand.shared.serve(peer, on: peer.near, isChunked: true) }
        stand.letGo()
        for peer in peers { try await until("a loop has it") { peer.hasBegun } }
        try await stand.publish(1, of: "radio1")
        let wanted = Self.chunk(LoopStand.eventText(of: 1))
        for peer in peers { try await until("it has the notice") { Self.notices(peer.text) == wanted } }
        await stand.shared.stop()
        for peer in peers { try await until("it is closed") { peer.hasEnded && peer.lost == [nil] } }
    }

    @Test func `a connection that no loop serves gets its last event`() async throws {
        let stand = try LoopStand()
        await stand.shared.stop()
        let peer = try EventPeer()
        stand.shared.serve(peer, on: peer.near, isChunked: true)
        #expect(peer.wasDropped)
        #expect(peer.hasEnded)
        #expect(peer.text == Self.chunk("event: end\n\n") + "0\r\n\r\n")
    }

    @Test(arguments: NoticeFraming.events)
    func `a ring of events gives whole events wherever sending stopped`(_ framing: NoticeFraming) {
        var generator = SeededGenerator(for: "rings of events")
        for _ in 0..<500 {
            var ring = NoticeRing(bytesMax: 100_000, framing: framing)
            var bytes: [UInt8] = []
            var ends: [Int] = [0]
            for number in 0..<generator.number(1...20) {
                let text = "id: \(number)\ndata: \(String(repeating: "x", count: generator.pick([0, 7, 300])))\n\n"
                ring.append(framing.framed(event: Array(text.utf8)))
                framing.append(event: Array(text.utf8), to: &bytes)
                ends.append(bytes.count)
            }
            #expect(ring.end == NoticeRing.Cursor(bytes.count))
            let sent = generator.number(0...bytes.count - 1)
            let (rest, next) = ring.restOfFrame(after: sent, behind: 0)
            let end = ends.first { $0 >= sent } ?? 0
            #expect(rest == Array(bytes[sent..<end]) && Int(next) == end)
            let most = generator.number(1...bytes.count)
            let (count, behind) = ring.wholeFrames(behind: 0, bytesMax: most)
            #expect(count == max(ends[1], ends.last { $0 <= most } ?? 0) && Int(behind) == count)
            ring.keep(atMost: most)
            #expect(ends.contains(Int(ring.start)) && ring.count <= most)
        }
    }
}
