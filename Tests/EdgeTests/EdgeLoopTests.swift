// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import SystemSupport
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// A loop on real connections: what each kind of peer gets, and what each limit does, at the limit and one past it.
@Suite(.suiteLimit)
struct EdgeLoopTests {
    @Test(arguments: [SocketType.req, .dealer], [UInt8(0), 1])
    func `requests are answered in their order, also when they come together`(type: SocketType, minor: UInt8)
        async throws
    {
        let stand = try LoopStand()
        let peer = try stand.peer(type, minor: minor)
        #expect(try peer.ask("one") == "one")
        try peer.send(WirePeer.request("two") + WirePeer.request("three"))
        #expect(try peer.answer() == "two")
        #expect(try peer.answer() == "three")
        await stand.shared.stop()
    }

    @Test func `a subscriber hears its streams and no others, from the proof of its subscription on`() async throws {
        let stand = try LoopStand()
        try await stand.publish(1, of: "radio1")
        let peers = [try stand.subscriber(of: "radio1"), try stand.subscriber(of: "radio1")]
        let other = try stand.subscriber(of: "radio10")
        for sequence in 2...50 { try await stand.publish(UInt64(sequence), of: "radio1") }
        try await stand.publish(1, of: "radio10")
        for peer in peers { for sequence in 2...50 { #expect(try peer.sequence() == UInt64(sequence)) } }
        #expect(try other.sequence() == 1)
        // What it hears no more it does not get.
        var bytes: [UInt8] = []
        Outgoing.appendSubscription(Array("radio1".utf8) + [0], cancel: true, to: &bytes)
        Outgoing.appendSubscription(Array("radio2".utf8) + [0], to: &bytes)
        Outgoing.appendSubscription(NoticeFrame.syncTopic, to: &bytes)
        try peers[0].send(bytes)
        try peers[0].tick()
        try await stand.publish(51, of: "radio1")
        try await stand.publish(9, of: "radio2")
        #expect(try peers[0].sequence() == 9)
        #expect(try peers[1].sequence() == 51)
        await stand.shared.stop()
    }

    @Test func `a slow consumer is skipped ahead, and no other subscriber loses anything`() async throws {
        let stand = try LoopStand { $0.ringBytesMax = 100_000 }
        let stream = String(repeating: "s", count: WireLimits.streamIDBytesMax)
        let laggard = try stand.subscriber(of: stream)
        let listener = try stand.subscriber(of: stream)
        var sequence: UInt64 = 0
        var last: UInt64 = 0
        var gaps = 0
        func readLaggard() throws {
            let next = try #require(try laggard.sequence())
            try #require(next > last)
            if next != last + 1 { gaps += 1 }
            last = next
        }
        // The laggard takes half of what comes, until the kernel and the ring cannot hold the rest.
        while stand.metrics.value(.limitsHit, .limit(.ringBytesMax)) == 0 {
            for _ in 0..<10 {
                try await stand.publish(sequence + 1...sequence + 10, of: stream)
                for _ in 0..<10 {
                    sequence += 1
                    try #require(try listener.sequence() == sequence)
                }
            }
            for _ in 0..<50 { try readLaggard() }
        }
        sequence += 1
        try await stand.publish(sequence, of: stream)
        #expect(try listener.sequence() == sequence)
        while last < sequence { try readLaggard() }
        #expect(gaps == 1)
        await stand.shared.stop()
    }

    @Test func `as many requests of one connection wait as may, more are read when some are answered`() async throws {
        let stand = try LoopStand { $0.requestsWaitingPerConnectionMax = 4 }
        let peer = try stand.peer(.dealer)
        for number in 0..<3 { try peer.send(WirePeer.request("later\(number)")) }
        try await until { stand.waitingCount == 3 }
        #expect(stand.metrics.value(.limitsHit, .limit(.requestsWaitingPerConnectionMax)) == 0)
        for number in 3..<10 { try peer.send(WirePeer.request("later\(number)")) }
        try await until { stand.metrics.value(.limitsHit, .limit(.requestsWaitingPerConnectionMax)) == 1 }
        let other = try stand.peer(.dealer)
        #expect(try other.ask("now") == "now")
        #expect(stand.waitingCount == 4)
        stand.wakeDelegate()
        for number in 0..<10 { #expect(try peer.answer() == "later\(number)") }
        await stand.shared.stop()
    }

    @Test func `a connection above its rate limit is read from later, and loses nothing`() async throws {
        let stand = try LoopStand { $0.messagesPerConnectionPerSecondMax = 50 }
        let peer = try stand.peer(.dealer)
        var bytes: [UInt8] = []
        for number in 0..<200 { bytes += WirePeer.request("\(number)") }
        try peer.send(bytes)
        for number in 0..<99 { #expect(try peer.answer() == "\(number)") }
        try await until { stand.metrics.value(.limitsHit, .limit(.messagesPerConnectionPerSecondMax)) > 0 }
        let other = try stand.peer(.dealer)
        #expect(try other.ask("other") == "other")
        for number in 99..<200 { #expect(try peer.answer() == "\(number)") }
        await stand.shared.stop()
    }

    @Test(arguments: [5, 6, 7])
    func `a connection with too many refused tokens is read from later`(count: Int) async throws {
        // Six at once, then it waits for the next one.
        let stand = try LoopStand { $0.refusedTokensPerConnectionPerSecondMax = 3 }
        let peer = try stand.peer(.dealer)
        try peer.send((0..<count).flatMap { WirePeer.request("token \($0)") } + WirePeer.request("behind"))
        for number in 0..<count { #expect(try peer.answer() == "token \(number)") }
        #expect(try peer.answer() == "behind")
        let hits = stand.metrics.value(.limitsHit, .limit(.refusedTokensPerConnectionPerSecondMax))
        // A machine that stands still between two of them gives one back.
        #expect(count > 5 ? hits <= 2 : hits == 0)
        await stand.shared.stop()
    }

    @Test func `a connection with one refused token after another delays no other`() async throws {
        let stand = try LoopStand { $0.refusedTokensPerConnectionPerSecondMax = 1 }
        let peer = try stand.peer(.dealer)
        try peer.send((0..<20).flatMap { WirePeer.request("token \($0)") })
        for number in 0..<2 { #expect(try peer.answer() == "token \(number)") }
        try await until {
            stand.metrics.value(.limitsHit, .limit(.refusedTokensPerConnectionPerSecondMax)) > 0
        }
        let other = try stand.peer(.dealer)
        #expect(try other.ask("other") == "other")
        for number in 2..<5 { #expect(try peer.answer() == "token \(number)") }
        await stand.shared.stop()
    }

    @Test(arguments: [EdgeSettings.messagesPerTurnMax, EdgeSettings.messagesPerTurnMax + 1])
    func `a turn has as many messages as may be, and all of them are answered`(count: Int) async throws {
        let stand = try LoopStand()
        let peer = try stand.peer(.dealer)
        // Together, so that they are read together.
        try peer.send((0..<count).flatMap { WirePeer.request("\($0)") })
        for number in 0..<count { #expect(try peer.answer() == "\(number)") }
        let hits = stand.metrics.value(.limitsHit, .limit(.messagesPerTurnMax))
        #expect(hits == (count > EdgeSettings.messagesPerTurnMax ? 1 : 0))
        await stand.shared.stop()
    }

    @Test func `connections that send without end delay no quiet one`() async throws {
        let stand = try LoopStand()
        let floods = try (0..<4).map { _ in try stand.peer(.dealer) }
        let honest = try stand.peer(.dealer)
        // All of it is there before any of it is handled.
        try floods[0].send(WirePeer.request("hold"))
        try await until { stand.isHeld }
        for flood in floods { try flood.send((0..<2_000).flatMap { _ in WirePeer.request("note flood") }) }
        try honest.send(WirePeer.request("note honest"))
        stand.letGo()
        #expect(try honest.answer() == "note honest")
        #expect(try #require(stand.notes.firstIndex(of: "note honest")) < 500)
        #expect(try floods[0].answer() == "hold")
        for flood in floods { for _ in 0..<2_000 { #expect(try flood.answer() == "note flood") } }
        await stand.shared.stop()
    }

    /// Connections that have sent so much that no machine is so slow that it was long ago.
    private func heavyPeers(of stand: LoopStand) throws -> [WirePeer] {
        let count = 100 * EdgeSettings.lightMessagesPerSecondMax
        return try (0..<20)
            .map { _ in
                let peer = try stand.peer(.dealer)
                try peer.send((0..<count).flatMap { _ in WirePeer.request("x") })
                for _ in 0..<count { #expect(try peer.answer() == "x") }
                return peer
            }
    }

    @Test func `quiet connections are served before busy ones, and those get their answers too`() async throws {
        let stand = try LoopStand { $0.messagesPerConnectionPerSecondMax = 100_000 }
        let many = try self.heavyPeers(of: stand)
        let (holder, honest) = (try stand.peer(.dealer), try stand.peer(.dealer))
        try holder.send(WirePeer.request("hold"))
        try await until { stand.isHeld }
        for peer in many { try peer.send((0..<50).flatMap { _ in WirePeer.request("note much") }) }
        try honest.send(WirePeer.request("note little"))
        stand.letGo()
        #expect(try honest.answer() == "note little")
        for peer in many { for _ in 0..<50 { #expect(try peer.answer() == "note much") } }
        #expect(stand.notes.first == "note little")
        await stand.shared.stop()
    }

    @Test func `new connections delay no used one, and get their answers too`()
        async throws
    {
        let stand = try LoopStand()
        let (holder, known) = (try stand.peer(.dealer), try stand.peer(.dealer))
        try known.send(WirePeer.request("x"))
        #expect(try known.answer() == "x")
        // More of them than one look at the poller tells of.
        let newConnections = try (0..<300).map { _ in try WirePeer(connectedTo: stand.endpoint, Session(.dealer)) }
        try await until { stand.openCount == newConnections.count + 2 }
        try holder.send(WirePeer.request("hold"))
        try await until { stand.isHeld }
        for peer in newConnections { try peer.send(opening(of: .dealer) + WirePeer.request("note new")) }
        try known.send(WirePeer.request("note known"))
        stand.letGo()
        #expect(try known.answer() == "note known")
        for peer in newConnections {
            #expect(try peer.next() == .greeted)
            #expect(try peer.next() == .ready)
            #expect(try peer.answer() == "note new")
        }
        #expect(stand.notes.first == "note known")
        // From now on they are not new any more.
        for peer in newConnections { try peer.send(WirePeer.request("y")) }
        for peer in newConnections { #expect(try peer.answer() == "y") }
        await stand.shared.stop()
    }

    @Test func `closing connections delay no listener, and get their last answers`() async throws {
        let stand = try LoopStand()
        let (holder, known) = (try stand.peer(.dealer), try stand.peer(.dealer))
        // More of them than one look at the poller tells of.
        let closing = try (0..<300).map { _ in try stand.peer(.dealer) }
        for peer in [known] + closing { try peer.send(WirePeer.request("x")) }
        for peer in [known] + closing { #expect(try peer.answer() == "x") }
        try holder.send(WirePeer.request("hold"))
        try await until { stand.isHeld }
        for peer in closing {
            try peer.send(WirePeer.request("note last"))
            peer.sendNoMore()
        }
        try known.send(WirePeer.request("note known"))
        stand.letGo()
        #expect(try known.answer() == "note known")
        for peer in closing { #expect(try peer.answer() == "note last") }
        #expect(stand.notes.first == "note known")
        try await until { stand.openCount == 2 }
        #expect(try holder.answer() == "hold")
        await stand.shared.stop()
    }

    /// Connections to a loop that runs in the test's hands, each of which hears one stream.
    private func subscribe(_ streams: [StreamID], to loop: EdgeLoop) throws -> [SocketPair] {
        try streams.enumerated()
            .map { index, stream in
                let pair = try SocketPair()
                #expect(loop.connections.add() == index)
                loop.connections.slots[index].phase = .ready
                loop.connections.slots[index].descriptor = pair.near
                loop.subscribe(index, to: stream)
                return pair
            }
    }

    /// A notice of 100 bytes.
    private func notice(_ sequence: UInt64, _ stream: StreamID) -> EdgeNotice {
        let frame = EdgeLoop.framed([UInt8](repeating: 7, count: 98))
        let text = EventText(.head(Position(epoch: 1, sequence: sequence), sent: .init(microseconds: 1)))
        return EdgeNotice(stream: stream, sequence: sequence, frame: frame, text: text, made: .init(microseconds: 1))
    }

    @Test func `streams take turns, so that none waits for all subscribers of another`() throws {
        let stand = try LoopStand(threads: 0)
        let delegate = stand.makeDelegate()
        let loop = EdgeLoop(number: 0, shared: stand.shared, pollers: try .make(), sequences: [:], delegate: delegate)
        let (large, small) = (try StreamID("large"), try StreamID("small"))
        let crowd = 2 * EdgeLoop.subscribersPerTurn + 1
        let pairs = try self.subscribe([StreamID](repeating: large, count: crowd) + [small], to: loop)
        func reached() -> Int { pairs.dropLast().count { $0.received() > 0 } }
        loop.append([self.notice(1, large), self.notice(1, small)])
        // The first turn is over after those who have theirs, however little time there is.
        loop.writeNotices(turnsMax: 1)
        #expect(reached() == EdgeLoop.subscribersPerTurn)
        #expect(pairs[crowd].received() == 0)
        // A flood of the large one makes no difference.
        loop.append((2...50).map { self.notice($0, large) })
        loop.writeNotices(turnsMax: 1)
        #expect(pairs[crowd].received() == 100)
        #expect(reached() == EdgeLoop.subscribersPerTurn)
        loop.writeNotices()
        #expect(pairs.dropLast().allSatisfy { $0.received() == 5_000 })
        #expect(pairs[crowd].received() == 100)
    }

    @Test func `a connection with much output gets it in pieces, so that others have their turn`() throws {
        let stand = try LoopStand(threads: 0)
        let delegate = stand.makeDelegate()
        let loop = EdgeLoop(number: 0, shared: stand.shared, pollers: try .make(), sequences: [:], delegate: delegate)
        let stream = try StreamID("much")
        let crowd = EdgeLoop.subscribersPerTurn
        let pairs = try self.subscribe([StreamID](repeating: stream, count: crowd + 1), to: loop)
        loop.append((1...1_500).map { self.notice($0, stream) })
        loop.writeNotices(turnsMax: 1)
        // Whole notices.
        let piece = EdgeLoop.noticesBytesMax / 100 * 100
        #expect(pairs.prefix(crowd).allSatisfy { $0.received() == piece })
        #expect(pairs[crowd].received() == 0)
        loop.writeNotices()
        #expect(pairs.allSatisfy { $0.received() == 150_000 })
        #expect(loop.fanOut.stream(stream)?.ring.count == 0)
    }

    @Test(arguments: [true, false])
    func `those who send much wait for others only where there are others`(hasOthers: Bool) async throws {
        let stand = try LoopStand { $0.messagesPerConnectionPerSecondMax = 100_000 }
        let limit = MetricLabel.limit(.lightMessagesPerSecondMax)
        let many = try self.heavyPeers(of: stand)
        let honest = try stand.peer(.dealer)
        // Without others no quiet connection sent anything for a second.
        if !hasOthers { try await Task.sleep(for: .milliseconds(1_100)) }
        let hits = stand.metrics.value(.limitsHit, limit)
        try many[0].send(WirePeer.request("hold"))
        try await until { stand.isHeld }
        // More than a turn's work, all of it there before any of it is handled.
        for peer in many { try peer.send((0..<10).flatMap { _ in WirePeer.request("note much") }) }
        if hasOthers { try honest.send(WirePeer.request("note little")) }
        stand.letGo()
        #expect(try many[0].answer() == "hold")
        for peer in many { for _ in 0..<10 { #expect(try peer.answer() == "note much") } }
        if hasOthers { #expect(try honest.answer() == "note little") }
        #expect((stand.metrics.value(.limitsHit, limit) > hits) == hasOthers)
        await stand.shared.stop()
    }

    @Test func `for who reads nothing the kernel keeps little, and the rest counts as what waits`() async throws {
        let stand = try LoopStand()
        let (silent, other) = (try stand.peer(.dealer), try stand.peer(.dealer))
        try silent.send(WirePeer.request("large"))
        // Of a million bytes; the kernel of the peer takes some, too.
        try await until { stand.shared.bytesHeld > 1_000_000 - 4 * System.unsentBytesMax }
        try other.send(WirePeer.request("x"))
        #expect(try other.answer() == "x")
        #expect(try silent.answer()?.utf8.count == 1_000_000)
        try await until { stand.shared.bytesHeld == 0 }
        await stand.shared.stop()
    }

    @Test func `the rate limit of an address is shared by its connections, and the general one by all`() async throws {
        for limit in [LimitName.messagesPerAddressPerSecondMax, .messagesPerSecondMax] {
            let stand = try LoopStand {
                $0.limitsOwnMachine = true
                if limit == .messagesPerSecondMax {
                    $0.messagesPerSecondMax = 50
                } else {
                    $0.messagesPerAddressPerSecondMax = 50
                }
            }
            let peers = [try stand.peer(.dealer), try stand.peer(.dealer)]
            // Each of them sends fewer at once than may be, both more. What they may send comes again with time, and a busy
            // machine may take so much of it that nothing is too much.
            let numbers = 0..<60
            repeat {
                for peer in peers { try peer.send(numbers.flatMap { WirePeer.request("\($0)") }) }
                for peer in peers { for number in numbers { #expect(try peer.answer() == "\(number)") } }
            } while stand.metrics.value(.limitsHit, .limit(limit)) == 0
            await stand.shared.stop()
        }
    }

    @Test(arguments: [true, false])
    func `as many sessions begin on a connection, or from an address, as may, and not one more`(
        isOfConnection: Bool
    ) async throws {
        let stand = try LoopStand {
            $0.limitsOwnMachine = true
            if isOfConnection { $0.sessionsPerConnectionMax = 2 } else { $0.sessionsPerAddressMax = 2 }
        }
        let (peer, other) = (try stand.peer(.dealer), try stand.peer(.dealer))
        #expect(try peer.ask("session") == "begun")
        #expect(try peer.ask("session") == "begun")
        #expect(try peer.ask("session") == "too many")
        #expect(try other.ask("session") == (isOfConnection ? "begun" : "too many"))
        await stand.shared.stop()
    }

    @Test func `a connection that does not read its answers is not read from, and closed in the end`() async throws {
        let stand = try LoopStand { $0.stalledTimeout = .seconds(1) }
        let peer = try stand.peer(.dealer)
        try peer.send((0..<100).flatMap { _ in WirePeer.request("large") })
        try await until { stand.closings == [.stalled] }
        #expect(stand.metrics.value(.connectionsClosed, .stalled) == 1)
        #expect(try stand.peer(.dealer).ask("now") == "now")
        await stand.shared.stop()
        withExtendedLifetime(peer) {}
    }

    @Test func `input before a pause is read after it`() async throws {
        let stand = try LoopStand()
        let (first, second) = (try stand.peer(.dealer), try stand.peer(.dealer))
        let count = 20
        #expect(try first.ask("x") == "x")
        try second.send((0..<count).flatMap { _ in WirePeer.request("later large") })
        try await until { stand.waitingCount == count }
        // While the loop is held both have something to read, and are reported in one iteration: first the one, then the other.
        let holder = try stand.peer(.dealer)
        try holder.send(WirePeer.request("hold"))
        try await until { stand.isHeld }
        try first.send(WirePeer.request("hold"))
        try second.send(WirePeer.request("last"))
        stand.letGo()
        #expect(try holder.answer() == "hold")
        try await until { stand.isHeld }
        // Between the two the second is answered, with more than the kernel takes: it is paused. The loop looks at answers
        // where the reading so far took longer than this.
        stand.wakeDelegate()
        try await Task.sleep(for: .milliseconds(5))
        stand.letGo()
        #expect(try first.answer() == "hold")
        for _ in 0..<count { #expect(try second.answer()?.utf8.count == LoopStand.largeBytes) }
        #expect(try second.answer() == "last")
        await stand.shared.stop()
    }

    @Test func `at the limit of waiting bytes none is closed, one byte above it the largest is`() async throws {
        let bytesMax = 10_000
        let stand = try LoopStand { $0.bytesWaitingMax = bytesMax }
        let small = try stand.peer(.dealer)
        let part = Array(WirePeer.request("half").dropLast())
        try small.send(part)
        // Its delimiter is read; the second frame is kept with its header.
        let kept = part.count - 2
        let large = try stand.peer(.dealer)
        var bytes = WirePeer.request(String(repeating: "x", count: bytesMax))
        bytes.removeLast(bytes.count - 2 - (bytesMax - kept))
        try large.send(bytes)
        #expect(try stand.peer(.dealer).ask("others are served") == "others are served")
        #expect(stand.closings.isEmpty)
        try large.send([UInt8(ascii: "x")])
        #expect(try large.next() == nil)
        try await until { stand.closings == [.memory] }
        #expect(stand.metrics.value(.limitsHit, .limit(.bytesWaitingMax)) == 1)
        try small.send([UInt8(ascii: "f")])
        #expect(try small.answer() == "half")
        await stand.shared.stop()
    }

    @Test func `unread answers count as waiting bytes`() async throws {
        let stand = try LoopStand { $0.bytesWaitingMax = 10_000 }
        let peer = try stand.peer(.dealer)
        // Far more than the kernel takes.
        try peer.send((0..<50).flatMap { _ in WirePeer.request("large") })
        try await until { stand.closings == [.memory] }
        #expect(try stand.peer(.dealer).ask("now") == "now")
        await stand.shared.stop()
        withExtendedLifetime(peer) {}
    }

    @Test func `a connection that shakes no hands is closed after its time`() async throws {
        let stand = try LoopStand { $0.handshakeTimeout = .milliseconds(200) }
        let silent = try WirePeer(connectedTo: stand.endpoint, Session(.sub))
        try await until { stand.closings == [.handshake] }
        #expect(try silent.next() == .greeted)
        #expect(try silent.next() == nil)
        await stand.shared.stop()
    }

    @Test func `a connection that asks for nothing is closed after its time, one that has asked is not`() async throws {
        // Time enough to shake hands and to ask, also on a busy machine.
        let stand = try LoopStand { $0.unusedTimeout = .seconds(5) }
        let subscriber = try stand.subscriber(of: "radio1")
        let unused = try stand.peer(.dealer)
        try await until { stand.closings == [.unused] }
        #expect(try unused.answer() == nil)
        try await stand.publish(1, of: "radio1")
        #expect(try subscriber.sequence() == 1)
        await stand.shared.stop()
    }

    @Test func `as many connections of one address are taken as may be, one more is closed at once`() async throws {
        let stand = try LoopStand {
            $0.connectionsPerAddressMax = 2
            $0.limitsOwnMachine = true
        }
        let peers = [try stand.peer(.dealer), try stand.peer(.dealer)]
        let third = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        #expect(try third.next() == nil)
        try await until { stand.closings == [.address] }
        #expect(stand.metrics.value(.limitsHit, .limit(.connectionsPerAddressMax)) == 1)
        for peer in peers { #expect(try peer.ask("one") == "one") }
        await stand.shared.stop()
    }

    @Test func `connections above the limit wait at the endpoint`() async throws {
        let stand = try LoopStand(connectionsMax: 2)
        let peers = [try stand.peer(.dealer), try stand.peer(.dealer)]
        let third = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try third.send(third.session.greeting + third.session.ready())
        for peer in peers { #expect(try peer.ask("one") == "one") }
        #expect(stand.openCount == 2)
        stand.shared.setAccepting(true)
        #expect(try third.next() == .greeted)
        #expect(try third.next() == .ready)
        #expect(try third.ask("three") == "three")
        await stand.shared.stop()
    }

    @Test func `answers to a closed connection are counted, and do not reach the next one in its place`() async throws {
        let stand = try LoopStand()
        var leaver: WirePeer? = try stand.peer(.dealer)
        try leaver?.send(WirePeer.request("later"))
        try await until { stand.waitingCount == 1 }
        leaver = nil
        try await until { stand.openCount == 0 }
        let next = try stand.peer(.dealer)
        #expect(try next.ask("mine") == "mine")
        stand.wakeDelegate()
        try await until { stand.metrics.value(.repliesDropped, .peerGone) == 1 }
        #expect(try next.ask("mine too") == "mine too")
        await stand.shared.stop()
    }

    @Test func `answers before the end arrive`() async throws {
        let stand = try LoopStand()
        let peer = try stand.peer(.dealer)
        let subscriber = try stand.subscriber(of: "radio1")
        for number in 0..<20 { try peer.send(WirePeer.request("later\(number)")) }
        try await until { stand.waitingCount == 20 }
        stand.wakeDelegate()
        try await stand.publish(1, of: "radio1")
        await stand.shared.stop()
        for number in 0..<20 { #expect(try peer.answer() == "later\(number)") }
        #expect(try peer.answer() == nil)
        #expect(try subscriber.sequence() == 1)
        #expect(try subscriber.sequence() == nil)
    }

    @Test func `notices and stops after the end return`() async throws {
        let stand = try LoopStand()
        await stand.shared.stop()
        try await stand.publish(1, of: "radio1")
        await stand.shared.stop()
    }
}
