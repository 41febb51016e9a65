// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import TestSupport
import Testing
import ZMTP

@testable import Edge

/// Requests of REQ sockets that tell answers apart by four bytes before the delimiter (`ZMQ_REQ_CORRELATE`).
@Suite(.suiteLimit)
struct EdgeCorrelationTests {
    private static let body: [UInt8] = Array("what time is it".utf8)

    /// A message of these frames.
    private func message(_ frames: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (number, frame) in frames.enumerated() {
            Outgoing.appendFrame(frame, more: number < frames.count - 1, to: &bytes)
        }
        return bytes
    }

    /// The events of a connection for bytes that come in two parts, without its handshake.
    private func events(_ bytes: [UInt8], cutAt cut: Int, from type: SocketType) -> [EdgeConnection.Event] {
        var connection = EdgeConnection()
        var events: [EdgeConnection.Event] = []
        var kept: [UInt8] = []
        for part in [opening(of: type), Array(bytes.prefix(cut)), Array(bytes.dropFirst(cut))] {
            kept += part
            var offset = 0
            while true {
                let event = connection.next(in: kept.span, at: &offset)
                if event == .needsMore { break }
                if case .request(let body, let correlation) = event {
                    #expect(Array(kept[body]) == Self.body)
                    events.append(.request(0..<body.count, correlation))
                } else if event != .ready {
                    events.append(event)
                }
            }
            kept.removeFirst(offset)
        }
        return events
    }

    @Test(arguments: [SocketType.req, .dealer])
    func `four bytes before the delimiter belong to the request, wherever the bytes are cut`(type: SocketType) {
        let request = self.message([[0, 1, 254, 255], [], Self.body])
        // The next one has none: nothing of the first is left.
        let bytes = request + self.message([[], Self.body])
        let correlation = EdgeCorrelation([0, 1, 254, 255].span)
        for cut in 0...bytes.count {
            #expect(
                self.events(bytes, cutAt: cut, from: type)
                    == [.request(0..<Self.body.count, correlation), .request(0..<Self.body.count, nil)]
            )
        }
    }

    @Test(arguments: [0, 1, 3, 5, 255, 256])
    func `before the delimiter only four bytes are taken`(count: Int) {
        let bytes = self.message([[UInt8](repeating: 9, count: count), [], Self.body])
        for cut in 0...bytes.count {
            #expect(self.events(bytes, cutAt: cut, from: .req) == [.invalid(.tooManyFrames)])
        }
    }

    @Test func `two envelopes, none behind one, and frames behind the request are refused`() {
        let four: [UInt8] = [1, 2, 3, 4]
        let refused: [(frames: [[UInt8]], EdgeConnection.InvalidMessage)] = [
            ([four, four, [], Self.body], .tooManyFrames),
            ([four, [], Self.body, []], .tooManyFrames),
            ([four, [], [], Self.body], .tooManyFrames),
            ([[], four, Self.body], .tooManyFrames),
            ([four, Self.body, Self.body], .tooManyFrames),
            ([four, Self.body], .noEnvelope),
            ([four, []], .noEnvelope),
            ([four], .noEnvelope),
        ]
        for (frames, invalid) in refused {
            #expect(self.events(self.message(frames), cutAt: 0, from: .req) == [.invalid(invalid)], "\(frames)")
        }
    }

    @Test func `a subscriber has no requests, whatever it sends`() {
        let bytes = self.message([[1, 2, 3, 4], [], Self.body])
        #expect(self.events(bytes, cutAt: 3, from: .sub) == [.invalid(.tooManyFrames)])
    }

    @Test func `its bytes are as they came, and a waiter with it is small`() {
        for bytes in [[0, 0, 0, 0], [255, 255, 255, 255], [1, 2, 3, 4]] as [[UInt8]] {
            let correlation = EdgeCorrelation(bytes.span)
            #expect(correlation.bytes == bytes)
            var output: [UInt8] = []
            correlation.appendFrame(to: &output)
            #expect(output == [1, 4] + bytes)
        }
        #expect(MemoryLayout<EdgePeer>.size <= 16)
    }

    /// The frames of the next answer.
    private func answer(to peer: WirePeer) throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let heard = try peer.next() {
            guard case .frame(let body, let more) = heard else { continue }
            frames.append(body)
            if !more { return frames }
        }
        return frames
    }

    @Test func `every answer begins as its request did, at once or later, in whatever order`() async throws {
        let stand = try LoopStand()
        let peer = try stand.peer(.dealer)
        func later(_ number: UInt8) -> [UInt8] { Array("later\(number)".utf8) }
        for number in UInt8(0)..<10 {
            let envelope: [[UInt8]] = number % 3 == 0 ? [] : [[0, 0, 0, number]]
            try peer.send(self.message(envelope + [[], later(number)]))
        }
        try await until { stand.waitingCount == 10 }
        // What is answered at once does not wait for those.
        try peer.send(self.message([[9, 9, 9, 9], [], Self.body]))
        #expect(try self.answer(to: peer) == [[9, 9, 9, 9], [], Self.body])
        stand.wakeDelegate()
        for number in UInt8(0)..<10 {
            let envelope: [[UInt8]] = number % 3 == 0 ? [] : [[0, 0, 0, number]]
            #expect(try self.answer(to: peer) == envelope + [[], later(number)])
        }
        try peer.send(self.message([[1, 2, 3], [], Self.body]) + WirePeer.request("last"))
        #expect(try self.answer(to: peer) == [[], Array("last".utf8)])
        #expect(stand.metrics.value(.framesRefused, .tooManyFrames) == 1)
        await stand.shared.stop()
    }
}
