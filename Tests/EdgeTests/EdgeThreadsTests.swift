// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// Several loops: who serves which connection, what reaches all of them, and what goes for all together.
@Suite(.suiteLimit)
struct EdgeThreadsTests {
    @Test func `connections are handed out in turn, and each stays with its loop`() async throws {
        let stand = try LoopStand(threads: 4)
        var peers: [WirePeer] = []
        for number in 0..<8 {
            peers.append(try stand.peer(.dealer))
            #expect(try peers[number].ask("which") == "loop \(number % 4)")
        }
        for number in (0..<8).reversed() { #expect(try peers[number].ask("which") == "loop \(number % 4)") }
        await stand.shared.stop()
    }

    @Test func `loops ask for little of a processor at a time, so that they are let in first`() async throws {
        // Earlier kernels, and those that do not tell of it, pass over what a thread asks for.
        guard !LoopStand.sliceOfThread.isEmpty, try LinuxRelease.current() >= LinuxRelease(major: 6, minor: 12) else {
            return
        }
        let stand = try LoopStand(threads: 2)
        for _ in 0..<2 { #expect(try stand.peer(.dealer).ask("slice") == "100000") }
        #expect(LoopStand.sliceOfThread != "100000")
        await stand.shared.stop()
    }

    @Test func `a notice reaches the subscribers of every loop in its order, and is counted once`() async throws {
        let stand = try LoopStand(threads: 3)
        let peers = try (0..<6).map { _ in try stand.subscriber(of: "radio1") }
        let other = try stand.subscriber(of: "radio2")
        #expect(stand.metrics.value(.subscribedStreams) == 2)
        for sequence in 1...100 { try await stand.publish(UInt64(sequence), of: "radio1") }
        try await stand.publish(1, of: "radio2")
        for peer in peers { for sequence in 1...100 { #expect(try peer.sequence() == UInt64(sequence)) } }
        #expect(try other.sequence() == 1)
        #expect(stand.metrics.value(.noticesSent) == 101)
        await stand.shared.stop()
        #expect(stand.metrics.value(.subscribedStreams) == 0)
    }

    @Test func `a stream is counted once however many loops hear it, until the last of them does not`() async throws {
        let stand = try LoopStand(threads: 2)
        var peers: [WirePeer?] = [try stand.subscriber(of: "radio1"), try stand.subscriber(of: "radio1")]
        #expect(stand.metrics.value(.subscribedStreams) == 1)
        peers[0] = nil
        try await until { stand.openCount == 1 }
        #expect(stand.metrics.value(.subscribedStreams) == 1)
        peers[1] = nil
        try await until { stand.metrics.value(.subscribedStreams) == 0 }
        await stand.shared.stop()
    }

    @Test func `positions are repeated to the subscribers of every loop`() async throws {
        let stand = try LoopStand(threads: 2) { $0.headInterval = .milliseconds(100) }
        let peers = try (0..<2).map { _ in try stand.subscriber(of: "radio1") }
        try await stand.publish(7, of: "radio1")
        for peer in peers {
            var head: Notice?
            while head?.kind != .head, case .frame(let body, _)? = try peer.next() {
                if case .notice(let notice, _)? = try? NoticeFrame(decoding: body), notice.position.sequence == 7 {
                    head = notice
                }
            }
            #expect(head?.position == Position(epoch: 7, sequence: 7))
        }
        await stand.shared.stop()
    }

    @Test func `as many connections of one address are taken by all loops together as may be`() async throws {
        let stand = try LoopStand(threads: 2) {
            $0.connectionsPerAddressMax = 3
            $0.limitsOwnMachine = true
        }
        var peers = try (0..<3).map { _ in try stand.peer(.dealer) }
        let fourth = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        #expect(try fourth.next() == nil)
        try await until { stand.closings == [.address] }
        for peer in peers { #expect(try peer.ask("one") == "one") }
        // One that another loop had makes room.
        peers.remove(at: 1)
        try await until { stand.openCount == 2 }
        #expect(try stand.peer(.dealer).ask("again") == "again")
        await stand.shared.stop()
    }

    @Test func `as many sessions begin from one address on all loops together as may`() async throws {
        let stand = try LoopStand(threads: 2) {
            $0.limitsOwnMachine = true
            $0.sessionsPerAddressMax = 3
        }
        let (one, two) = (try stand.peer(.dealer), try stand.peer(.dealer))
        #expect(try one.ask("which") != two.ask("which"))
        for peer in [one, two, one] { #expect(try peer.ask("session") == "begun") }
        for peer in [one, two] { #expect(try peer.ask("session") == "too many") }
        await stand.shared.stop()
    }

    @Test func `the general rate limit counts all loops together`() async throws {
        let stand = try LoopStand(threads: 2) { $0.messagesPerSecondMax = 50 }
        let peers = [try stand.peer(.dealer), try stand.peer(.dealer)]
        let began = ContinuousClock.now
        for number in 0..<100 { for peer in peers { try peer.send(WirePeer.request("\(number)")) } }
        for number in 0..<100 { for peer in peers { #expect(try peer.answer() == "\(number)") } }
        // 100 at once, and 50 a second: each loop by itself would have let its 100 through at once.
        #expect(ContinuousClock.now - began >= .milliseconds(1_900))
        #expect(stand.metrics.value(.limitsHit, .limit(.messagesPerSecondMax)) > 0)
        await stand.shared.stop()
    }

    @Test func `as much waits on all loops as may, and one byte more closes the largest where most is held`()
        async throws
    {
        let bytesMax = 10_000
        let stand = try LoopStand(threads: 2) { $0.bytesWaitingMax = bytesMax }
        let small = try stand.peer(.dealer)
        let part = Array(WirePeer.request("half").dropLast())
        try small.send(part)
        // Its delimiter is read; the second frame is kept with its header.
        let kept = part.count - 2
        // On the other loop: what is one too many comes to the first, which holds less.
        let large = try stand.peer(.dealer)
        #expect(try large.ask("which") == "loop 1")
        var bytes = WirePeer.request(String(repeating: "x", count: bytesMax))
        bytes.removeLast(bytes.count - 2 - (bytesMax - kept))
        try large.send(bytes)
        try await until { stand.shared.bytesHeld == bytesMax }
        let third = try stand.peer(.dealer)
        #expect(try third.ask("which") == "loop 0")
        #expect(stand.closings.isEmpty)
        // The header of a frame of one byte, less that byte.
        try third.send(Array(WirePeer.request("x").dropLast()))
        #expect(try large.next() == nil)
        try await until { stand.closings == [.memory] }
        #expect(stand.metrics.value(.limitsHit, .limit(.bytesWaitingMax)) == 1)
        try small.send([UInt8(ascii: "f")])
        #expect(try small.answer() == "half")
        try third.send([UInt8(ascii: "x")])
        #expect(try third.answer() == "x")
        await stand.shared.stop()
    }

    @Test func `connections above the limit wait at the endpoint, for every loop`() async throws {
        let stand = try LoopStand(threads: 2, connectionsMax: 3)
        let peers = try (0..<3).map { _ in try stand.peer(.dealer) }
        let fourth = try WirePeer(connectedTo: stand.endpoint, Session(.dealer))
        try fourth.send(fourth.session.greeting + fourth.session.ready())
        for peer in peers { #expect(try peer.ask("one") == "one") }
        #expect(stand.openCount == 3)
        stand.shared.setAccepting(true)
        #expect(try fourth.next() == .greeted)
        #expect(try fourth.next() == .ready)
        #expect(try fourth.ask("which") == "loop 1")
        await stand.shared.stop()
    }

    @Test func `answers of every loop before the end arrive`() async throws {
        let stand = try LoopStand(threads: 4)
        let peers = try (0..<8).map { _ in try stand.peer(.dealer) }
        let subscribers = try (0..<4).map { _ in try stand.subscriber(of: "radio1") }
        for peer in peers { try peer.send(WirePeer.request("later")) }
        try await until { stand.waitingCount == peers.count }
        stand.wakeDelegate()
        try await stand.publish(1, of: "radio1")
        await stand.shared.stop()
        for peer in peers {
            #expect(try peer.answer() == "later")
            #expect(try peer.answer() == nil)
        }
        for subscriber in subscribers {
            #expect(try subscriber.sequence() == 1)
            #expect(try subscriber.sequence() == nil)
        }
        #expect(stand.openCount == 0)
    }

    @Test func `connections that come while the loops end are closed and counted`() async throws {
        for _ in 0..<20 {
            let stand = try LoopStand(threads: 4)
            let peers = try (0..<32).map { _ in try WirePeer(connectedTo: stand.endpoint, Session(.dealer)) }
            await stand.shared.stop()
            #expect(stand.openCount == 0)
            withExtendedLifetime(peers) {}
        }
    }

    @Test func `every loop counts its iterations, and notices after the end of all return`() async throws {
        let stand = try LoopStand(threads: 3)
        let before = stand.shared.iterationCounts
        #expect(before.count == 3)
        try await until { zip(stand.shared.iterationCounts, before).allSatisfy { $0 > $1 } }
        await stand.shared.stop()
        try await stand.publish(1, of: "radio1")
        #expect(stand.metrics.value(.noticesSent) == 0)
    }
}

/// The release of the kernel.
private struct LinuxRelease: Comparable {
    let major: Int
    let minor: Int

    static func current() throws -> LinuxRelease {
        let text = try String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        let numbers = text.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return LinuxRelease(major: numbers.first ?? 0, minor: numbers.count > 1 ? numbers[1] : 0)
    }

    static func < (left: Self, right: Self) -> Bool { (left.major, left.minor) < (right.major, right.minor) }
}
