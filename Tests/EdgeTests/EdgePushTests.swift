// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import SystemSupport
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// Notices on the connection that a join came by, on real connections.
@Suite(.suiteLimit)
struct EdgePushTests {
    /// The next thing that comes: an answer as its text, a notice as its sequence; repeats of the position are left out.
    private func next(_ peer: WirePeer) throws -> String? {
        while let heard = try peer.next() {
            guard case .frame(let body, let more) = heard, !more else { continue }
            guard case .notice(let notice, _)? = try? NoticeFrame(decoding: body) else {
                return String(decoding: body, as: UTF8.self)
            }
            if notice.kind != .head { return "\(notice.position.sequence)" }
        }
        return nil
    }

    /// Asks one that may hear its position repeated before the answer, if that takes a while.
    private func ask(_ peer: WirePeer, _ text: String) throws -> String? {
        try peer.send(WirePeer.request(text))
        return try self.next(peer)
    }

    @Test func `the answer comes first, then each notice above its head, once`() async throws {
        let stand = try LoopStand()
        try await stand.publish(1...3, of: "radio1")
        let peer = try stand.peer(.dealer)
        // The board is ahead of the ring: 4 and 5 are in the answer and come into the ring after it.
        #expect(try peer.ask("push radio1 5") == "head 5")
        for sequence in 4...7 { try await stand.publish(UInt64(sequence), of: "radio1") }
        try await stand.publish(8...60, of: "radio1")
        try await stand.publish(1, of: "radio10")
        for sequence in 6...60 { #expect(try self.next(peer) == "\(sequence)") }
        #expect(try self.ask(peer, "place") == "taken radio1")
        await stand.shared.stop()
        #expect(try self.next(peer) == nil)
    }

    @Test func `a notice is one frame, an answer has its delimiter`() async throws {
        let stand = try LoopStand()
        let peer = try stand.peer(.dealer)
        try peer.send(WirePeer.request("push radio1 0"))
        #expect(try peer.next() == .frame([], more: true))
        #expect(try peer.next() == .frame(Array("head 0".utf8), more: false))
        try await stand.publish(1, of: "radio1")
        guard case .frame(let body, more: false)? = try peer.next() else { throw StandError.noTick }
        #expect(body.starts(with: Array("radio1".utf8) + [0]))
        await stand.shared.stop()
    }

    @Test func `a connection that hears a protected stream ends with what let it hear`() async throws {
        let stand = try LoopStand(protecting: "prem*")
        let (ended, kept, open) = (try stand.peer(.dealer), try stand.peer(.dealer), try stand.peer(.dealer))
        #expect(try ended.ask("push premium 0 1") == "head 0")
        #expect(try kept.ask("push premium 0 2") == "head 0")
        #expect(try open.ask("push radio1 0") == "head 0")
        // Its ticket is renewed by a join with one of another key, and back.
        #expect(try kept.ask("push premium 0 1") == "head 0")
        #expect(try kept.ask("push premium 0 2") == "head 0")
        try await stand.publish(1, of: "premium")
        #expect(try self.next(ended) == "1")
        #expect(try self.next(kept) == "1")
        stand.withdraw(KeyID(rawValue: 1))
        #expect(try self.next(ended) == nil)
        try await until { stand.closings == [.expired] }
        #expect(stand.metrics.value(.connectionsClosed, .expired) == 1)
        try await stand.publish(2, of: "premium")
        try await stand.publish(7, of: "radio1")
        #expect(try self.next(kept) == "2")
        #expect(try self.next(open) == "7")
        #expect(stand.metrics.value(.pushedConnections) == 2)
        await stand.shared.stop()
    }

    @Test func `a subscriber without a token loses a stream that requires one from now on`() async throws {
        let stand = try LoopStand()
        let (ended, proven, open) = (try stand.peer(.dealer), try stand.peer(.dealer), try stand.peer(.dealer))
        #expect(try ended.ask("push premium 0") == "head 0")
        #expect(try proven.ask("push premium 0 1") == "head 0")
        #expect(try open.ask("push radio1 0") == "head 0")
        let subscriber = try stand.subscriber(of: "premium")
        var bytes: [UInt8] = []
        Outgoing.appendSubscription(Array("radio1".utf8) + [0], to: &bytes)
        Outgoing.appendSubscription(NoticeFrame.syncTopic, to: &bytes)
        Outgoing.appendSubscription(NoticeFrame.syncTopic, cancel: true, to: &bytes)
        try subscriber.send(bytes)
        try subscriber.tick()
        try await stand.publish(1, of: "premium")
        #expect(try self.next(subscriber) == "1")
        #expect(try self.next(ended) == "1")
        #expect(try self.next(proven) == "1")
        stand.change { $0.protectedStreams = [StreamPattern("prem*")].compactMap(\.self) }
        #expect(try self.next(ended) == nil)
        try await until { stand.closings == [.expired] }
        try await stand.publish(2, of: "premium")
        try await stand.publish(9, of: "radio1")
        // Its other topic stays.
        #expect(try self.next(subscriber) == "9")
        #expect(try self.next(proven) == "2")
        #expect(try self.next(open) == "9")
        await stand.shared.stop()
    }

    @Test func `a session that is forgotten loses its connection`() async throws {
        let stand = try LoopStand()
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push radio1 0 1") == "head 0")
        stand.change { try? $0.forgotten.forget(LoopStand.session, at: Timestamp(microseconds: 1)) }
        #expect(try self.next(peer) == nil)
        try await until { stand.closings == [.expired] }
        await stand.shared.stop()
    }

    @Test func `no topic of a protected stream is heard by a subscription`() async throws {
        let stand = try LoopStand(protecting: "prem*")
        let peer = try stand.subscriber(of: "premium")
        #expect(stand.metrics.value(.framesRefused, .protectedTopic) == 1)
        var bytes: [UInt8] = []
        // Cancelling what is not there is as usual.
        Outgoing.appendSubscription(Array("premium".utf8) + [0], cancel: true, to: &bytes)
        Outgoing.appendSubscription(Array("prem".utf8) + [0], to: &bytes)
        Outgoing.appendSubscription(Array("pre".utf8) + [0], to: &bytes)
        Outgoing.appendSubscription(NoticeFrame.syncTopic, to: &bytes)
        Outgoing.appendSubscription(NoticeFrame.syncTopic, cancel: true, to: &bytes)
        try peer.send(bytes)
        try peer.tick()
        #expect(stand.metrics.value(.framesRefused, .protectedTopic) == 2)
        try await stand.publish(1...3, of: "premium")
        try await stand.publish(1...3, of: "prem")
        try await stand.publish(9, of: "pre")
        #expect(try self.next(peer) == "9")
        await stand.shared.stop()
    }

    @Test func `the kinds of peers and their notices`() async throws {
        let stand = try LoopStand()
        #expect(try stand.peer(.req).ask("place") == "impossible")
        #expect(try stand.peer(.dealer).ask("place") == "free")
        #expect(try stand.peer(.router).ask("place") == "free")
        await stand.shared.stop()
    }

    @Test func `joining again goes on from the new head, whatever waits`() async throws {
        let stand = try LoopStand()
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push radio1 0") == "head 0")
        try await stand.publish(1...2, of: "radio1")
        try peer.send(WirePeer.request("push radio1 4"))
        #expect(try self.next(peer) == "1")
        #expect(try self.next(peer) == "2")
        #expect(try self.next(peer) == "head 4")
        // Once more while the ring is behind the first answer.
        try await stand.publish(3, of: "radio1")
        #expect(try self.ask(peer, "push radio1 6") == "head 6")
        for sequence in 4...8 { try await stand.publish(UInt64(sequence), of: "radio1") }
        #expect(try self.next(peer) == "7")
        #expect(try self.next(peer) == "8")
        #expect(stand.metrics.value(.pushedConnections) == 1)
        await stand.shared.stop()
    }

    @Test func `a connection that closes while the ring is behind leaves nothing to the next one in its place`()
        async throws
    {
        let stand = try LoopStand()
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push radio1 9") == "head 9")
        #expect(try self.ask(peer, "leave") == "left")
        #expect(try peer.ask("push radio1 2") == "head 2")
        // Another one waits for the ring meanwhile: what is skipped for it is skipped for it alone.
        let other = try stand.peer(.dealer)
        #expect(try other.ask("push radio1 5") == "head 5")
        for sequence in 1...7 { try await stand.publish(UInt64(sequence), of: "radio1") }
        for sequence in 3...7 { #expect(try self.next(peer) == "\(sequence)") }
        for sequence in 6...7 { #expect(try self.next(other) == "\(sequence)") }
        await stand.shared.stop()
    }

    @Test func `a session that leaves gets no more notices, and may join another stream`() async throws {
        let stand = try LoopStand()
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push radio1 0") == "head 0")
        #expect(stand.metrics.value(.pushedConnections) == 1)
        #expect(try self.ask(peer, "leave") == "left")
        #expect(stand.metrics.value(.pushedConnections) == 0)
        #expect(try self.ask(peer, "leave") == "left")
        #expect(try self.ask(peer, "place") == "free")
        try await stand.publish(1, of: "radio1")
        #expect(try self.ask(peer, "push radio2 0") == "head 0")
        try await stand.publish(2, of: "radio1")
        try await stand.publish(1, of: "radio2")
        #expect(try self.next(peer) == "1")
        #expect(try self.ask(peer, "place") == "taken radio2")
        await stand.shared.stop()
    }

    @Test func `connections with streams of their own hear those only, beside subscribers`() async throws {
        let stand = try LoopStand()
        var peers: [String: WirePeer] = [:]
        for stream in ["radio1", "radio2"] {
            peers[stream] = try stand.peer(.dealer)
            #expect(try peers[stream]?.ask("push \(stream) 0") == "head 0")
        }
        let subscriber = try stand.subscriber(of: "radio1")
        for sequence in 1...30 {
            try await stand.publish(UInt64(sequence), of: "radio1")
            try await stand.publish(UInt64(100 + sequence), of: "radio2")
        }
        for sequence in 1...30 {
            #expect(try subscriber.sequence() == UInt64(sequence))
            #expect(try peers["radio1"]?.sequence() == UInt64(sequence))
            #expect(try peers["radio2"]?.sequence() == UInt64(100 + sequence))
        }
        #expect(stand.metrics.value(.pushedConnections) == 2)
        peers["radio1"] = nil
        try await until { stand.metrics.value(.pushedConnections) == 1 }
        #expect(stand.metrics.value(.subscribedStreams) == 2)
        await stand.shared.stop()
    }

    @Test func `positions are repeated to it as to subscribers`() async throws {
        let stand = try LoopStand { $0.headInterval = .milliseconds(50) }
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push radio1 0") == "head 0")
        try await stand.publish(1, of: "radio1")
        while let heard = try peer.next() {
            guard case .frame(let body, more: false) = heard,
                case .notice(let notice, _)? = try? NoticeFrame(decoding: body), notice.kind == .head,
                notice.position.sequence == 1
            else { continue }
            break
        }
        await stand.shared.stop()
    }

    @Test func `when nothing else happens, every third repeat goes to it, and all go to subscribers`() async throws {
        let stand = try LoopStand { $0.headInterval = .milliseconds(20) }
        let subscriber = try stand.subscriber(of: "radio1")
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push radio1 0") == "head 0")
        try await stand.publish(1, of: "radio1")
        _ = try self.heads(subscriber, before: 1)
        _ = try self.heads(peer, before: 1)
        // The first two after a notice go to both.
        for _ in 0..<4 { try self.nextHead(peer) }
        try await stand.publish(2, of: "radio1")
        let (all, some) = (try self.heads(subscriber, before: 2), 4 + (try self.heads(peer, before: 2)))
        #expect(some == 2 + (all - 2) / HeadSchedule.pushedEvery, "\(all) and \(some)")
        await stand.shared.stop()
    }

    /// How many repeats of the position come before a notice.
    private func heads(_ peer: WirePeer, before sequence: UInt64) throws -> Int {
        var count = 0
        while let heard = try peer.next() {
            guard case .frame(let body, more: false) = heard,
                case .notice(let notice, _)? = try? NoticeFrame(decoding: body)
            else { continue }
            if notice.kind == .head { count += 1 } else if notice.position.sequence == sequence { return count }
        }
        throw CancellationError()
    }

    /// Waits for a repeat of the position.
    ///
    /// - Returns: `false`: the connection has ended.
    @discardableResult
    private func nextHead(_ peer: WirePeer) throws -> Bool {
        while let heard = try peer.next() {
            if case .frame(let body, more: false) = heard,
                case .notice(let notice, _)? = try? NoticeFrame(decoding: body), notice.kind == .head
            {
                return true
            }
        }
        return false
    }

    @Test func `where all are pushed to, nothing is sent in between`() async throws {
        let stand = try LoopStand { $0.headInterval = .milliseconds(50) }
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push radio1 0") == "head 0")
        for _ in 0..<3 { try self.nextHead(peer) }
        await stand.shared.stop()
        var count = 3
        while try self.nextHead(peer) { count += 1 }
        #expect(stand.metrics.value(.headsSent) == count)
    }

    @Test func `a flooding connection is read from later, and still gets notices`() async throws {
        let stand = try LoopStand { $0.messagesPerConnectionPerSecondMax = 1 }
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push radio1 0") == "head 0")
        try peer.send((0..<2_000).flatMap { WirePeer.request("r\($0)") })
        try await until { stand.metrics.value(.limitsHit, .limit(.messagesPerConnectionPerSecondMax)) > 0 }
        try await stand.publish(1...10, of: "radio1")
        var (answers, notices) = (0, 0)
        while notices < 10 {
            let next = try #require(try self.next(peer))
            if next == "r\(answers)" {
                answers += 1
            } else {
                notices += 1
                #expect(next == "\(notices)")
            }
        }
        // At one a second all the answers would take half an hour more.
        #expect(answers < 2_000)
        await stand.shared.stop()
    }

    @Test func `a laggard gets whole messages, a gap that its positions tell, and what follows its next join`()
        async throws
    {
        let stand = try LoopStand { $0.ringBytesMax = 100_000 }
        let stream = String(repeating: "s", count: WireLimits.streamIDBytesMax)
        let peer = try stand.peer(.dealer)
        #expect(try peer.ask("push \(stream) 0") == "head 0")
        var sequence: UInt64 = 0
        // It takes nothing, until the kernel and the ring cannot hold the rest.
        while stand.metrics.value(.limitsHit, .limit(.ringBytesMax)) == 0 {
            try await stand.publish(sequence + 1...sequence + 1_000, of: stream)
            sequence += 1_000
            // It reads one now and then, or its progress would not be checked.
            for _ in 0..<100 { _ = try self.next(peer) }
        }
        // While notices wait for it, it joins again: those are in the answer.
        try peer.send(WirePeer.request("push \(stream) \(sequence + 5)"))
        var last: UInt64 = 0
        while let next = try self.next(peer), let number = UInt64(next) {
            #expect(number > last)
            last = number
        }
        #expect(last <= sequence)
        try await stand.publish(sequence + 1...sequence + 7, of: stream)
        #expect(try self.next(peer) == "\(sequence + 6)")
        #expect(try self.next(peer) == "\(sequence + 7)")
        await stand.shared.stop()
    }
}

/// The effects that other peers, and slow ones, cannot have.
@Suite(.suiteLimit)
struct EdgeFaultTests {
    @Test func `input does not grow from pause to pause`() async throws {
        // One read, and a part of a message.
        let bytesMax = EdgeSettings.requestBytesMax + ZMTPLimits.frameHeaderBytesMax + 32_768
        let stand = try LoopStand {
            $0.messagesPerConnectionPerSecondMax = 100
            $0.bytesWaitingMax = bytesMax
        }
        let peer = try stand.peer(.dealer)
        let text = String(repeating: "x", count: 200)
        try peer.send((0..<2_000).flatMap { _ in WirePeer.request(text) })
        // Enough for many pauses.
        for _ in 0..<300 { #expect(try peer.answer() == text) }
        #expect(stand.closings.isEmpty)
        await stand.shared.stop()
    }

    @Test func `a peer that takes what waits too slowly is closed`() async throws {
        let stand = try LoopStand { $0.stalledTimeoutsMax = 0 }
        let peer = try stand.peer(.dealer)
        try peer.send((0..<50).flatMap { _ in WirePeer.request("large") })
        try await until { stand.closings == [.slow] }
        #expect(stand.metrics.value(.connectionsClosed, .slow) == 1)
        #expect(try stand.peer(.dealer).ask("now") == "now")
        await stand.shared.stop()
        withExtendedLifetime(peer) {}
    }

    @Test func `a connection with progress may be slow for a limited time`() {
        var watch = WriteProgress()
        #expect(watch.reasonToClose(at: 1_000, stalled: 10, slow: 100) == nil)
        watch.begin(50, at: 1_000)
        #expect(watch.reasonToClose(at: 1_009, stalled: 10, slow: 100) == nil)
        #expect(watch.reasonToClose(at: 1_010, stalled: 10, slow: 100) == .stalled)
        // A byte now and then.
        for time in stride(from: 1_005, to: 1_100, by: 5) as StrideTo<UInt64> {
            watch.wrote(1, left: 1_000, at: time)
            #expect(watch.reasonToClose(at: time + 4, stalled: 10, slow: 100) == nil)
        }
        #expect(watch.reasonToClose(at: 1_099, stalled: 10, slow: 100) == nil)
        #expect(watch.reasonToClose(at: 1_100, stalled: 10, slow: 100) == .slow)
        // All that waited at the beginning: what came since has its time from now on.
        watch.wrote(31, left: 70, at: 1_100)
        #expect(watch.reasonToClose(at: 1_105, stalled: 10, slow: 100) == nil)
        for time in stride(from: 1_105, to: 1_200, by: 5) as StrideTo<UInt64> { watch.wrote(1, left: 1_000, at: time) }
        #expect(watch.reasonToClose(at: 1_199, stalled: 10, slow: 100) == nil)
        #expect(watch.reasonToClose(at: 1_200, stalled: 10, slow: 100) == .slow)
        // To take nothing is no progress, and nothing that waits is no delay.
        watch.wrote(0, left: 1_000, at: 1_200)
        #expect(watch.reasonToClose(at: 1_205, stalled: 10, slow: 1_000) == .stalled)
        watch.end()
        #expect(watch.reasonToClose(at: 9_999, stalled: 10, slow: 100) == nil)
    }

    @Test func `all rings hold as much as they may, with one byte more the largest lets go first`() throws {
        let total = EdgeStream.Total()
        let streams = try ["a", "b", "c"]
            .map {
                EdgeStream(id: try StreamID($0), ringBytesMax: 1 << 20, total: total)
            }
        var frame: [UInt8] = []
        Outgoing.appendFrame([UInt8](repeating: 7, count: 98), to: &frame)
        #expect(frame.count == 100)
        for (stream, count) in zip(streams, [2, 7, 3]) { for _ in 0..<count { stream.append(frame) } }
        #expect(total.bytes == 1_200)
        #expect(!EdgeStream.bound(streams, total, bytesMax: 1_200))
        #expect(streams.map(\.ring.count) == [200, 700, 300])
        #expect(EdgeStream.bound(streams, total, bytesMax: 1_199))
        #expect(streams.map(\.ring.count) == [200, 300, 300])
        #expect(total.bytes == 800)
        streams[1].clearIfTaken()
        #expect(total.bytes == 500)
        // One notice each, and hardly any room: all go.
        #expect(EdgeStream.bound(streams, total, bytesMax: 1))
        #expect(total.bytes == 0)
    }

    @Test func `where all rings hold too much, slow consumers are skipped ahead and no other loses anything`()
        async throws
    {
        let stand = try LoopStand { $0.ringsBytesMax = 200_000 }
        let stream = String(repeating: "s", count: WireLimits.streamIDBytesMax)
        let (laggard, listener) = (try stand.subscriber(of: stream), try stand.subscriber(of: stream))
        var sequence: UInt64 = 0
        while stand.metrics.value(.limitsHit, .limit(.ringsBytesMax)) == 0 {
            try await stand.publish(sequence + 1...sequence + 1_000, of: stream)
            for _ in 0..<1_000 {
                sequence += 1
                try #require(try listener.sequence() == sequence)
            }
        }
        #expect(stand.metrics.value(.limitsHit, .limit(.ringBytesMax)) == 0)
        try await until { stand.metrics.value(.ringBytes) > 0 }
        #expect(stand.metrics.value(.ringBytes) <= 200_000)
        await stand.shared.stop()
        withExtendedLifetime(laggard) {}
    }
}
