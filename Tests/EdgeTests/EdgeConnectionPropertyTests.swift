// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing
import ZMTP

@testable import Edge

/// The events of a listener's connection for bytes that are cut anywhere, damaged, or random.
@Suite(.suiteLimit)
struct EdgeConnectionPropertyTests {
    /// The events of a connection, with the bytes that they refer to.
    private enum Said: Hashable {
        case ready
        case request([UInt8], EdgeCorrelation? = nil)
        case subscribe([UInt8])
        case cancel([UInt8])
        case ping([UInt8])
        case invalid(EdgeConnection.InvalidMessage)
        case endless
        case failed
    }

    private func hear(_ part: some Collection<UInt8>, _ connection: inout EdgeConnection, _ kept: inout [UInt8])
        -> [Said]
    {
        kept += part
        var said: [Said] = []
        var offset = 0
        reading: while true {
            switch connection.next(in: kept.span, at: &offset) {
            case .needsMore: break reading
            case .ready: said.append(.ready)
            case .request(let body, let correlation): said.append(.request(Array(kept[body]), correlation))
            case .subscribe(let topic): said.append(.subscribe(Array(kept[topic])))
            case .cancel(let topic): said.append(.cancel(Array(kept[topic])))
            case .ping(let context): said.append(.ping(Array(kept[context])))
            case .invalid(let invalid): said.append(.invalid(invalid))
            case .endless:
                said.append(.endless)
                break reading
            case .failed:
                said.append(.failed)
                break reading
            }
        }
        kept.removeFirst(offset)
        return said
    }

    /// The bytes of a requester, and the expected events.
    private func requests(_ generator: inout SeededGenerator) -> (bytes: [UInt8], said: [Said]) {
        var bytes = opening(of: generator.pick([.req, .dealer]), minor: generator.pick([0, 1]))
        var said: [Said] = [.ready]
        for _ in 0..<generator.number(0...20) {
            let body = generator.bytes(0...400)
            switch generator.number(0...6) {
            case 0:
                let context = Array(body.prefix(ZMTPLimits.pingContextBytesMax))
                Outgoing.appendPing(ttlTenths: 1, context: context, to: &bytes)
                said.append(.ping(context))
            case 1:
                let count = generator.number(3...EdgeSettings.framesPerMessageMax)
                for number in 1...count { Outgoing.appendFrame(body, more: number < count, to: &bytes) }
                said.append(.invalid(.tooManyFrames))
            case 2:
                Outgoing.appendFrame(body, to: &bytes)
                said.append(.invalid(.noEnvelope))
            case 3:
                // As REQ does that tells answers apart; an envelope of another length is none.
                let envelope = generator.bytes(0...8)
                Outgoing.appendFrame(envelope, more: true, to: &bytes)
                Outgoing.appendRequest(body, to: &bytes)
                let isOne = envelope.count == EdgeCorrelation.byteCount
                said.append(isOne ? .request(body, EdgeCorrelation(envelope.span)) : .invalid(.tooManyFrames))
            default:
                Outgoing.appendRequest(body, to: &bytes)
                said.append(.request(body))
            }
        }
        return (bytes, said)
    }

    /// The bytes of a subscriber, and the expected events.
    private func subscriptions(_ generator: inout SeededGenerator) -> (bytes: [UInt8], said: [Said]) {
        var bytes = opening(of: generator.pick([.sub, .xsub]), minor: generator.pick([0, 1]))
        var said: [Said] = [.ready]
        for _ in 0..<generator.number(0...20) {
            let topic = generator.bytes(0...100)
            switch generator.number(0...4) {
            case 0:
                Outgoing.appendFrame([generator.number(2...255)] + topic, to: &bytes)
                said.append(.invalid(.notSubscription))
            case 1:
                Outgoing.appendFrame(topic, more: true, to: &bytes)
                Outgoing.appendFrame(topic, to: &bytes)
                said.append(.invalid(.tooManyFrames))
            default:
                let cancels = generator.bool()
                Outgoing.appendSubscription(topic, cancel: cancels, asCommand: generator.bool(), to: &bytes)
                said.append(cancels ? .cancel(topic) : .subscribe(topic))
            }
        }
        return (bytes, said)
    }

    @Test func `however a stream is cut, the same is heard`() {
        var generator = SeededGenerator(seed: 61)
        for round in 0..<600 {
            let (bytes, expected) =
                round % 2 == 0 ? self.requests(&generator) : self.subscriptions(&generator)
            let partMax = generator.pick([1, 2, 7, 64, 5_000])
            var connection = EdgeConnection()
            var kept: [UInt8] = []
            var said: [Said] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = generator.number(1...partMax)
                said += self.hear(rest.prefix(count), &connection, &kept)
                rest = rest.dropFirst(count)
            }
            #expect(said == expected)
            #expect(kept.isEmpty)
        }
    }

    @Test func `no bytes make a connection trap, and it keeps no more than one frame`() {
        var generator = SeededGenerator(seed: 67)
        for round in 0..<3_000 {
            var (bytes, _) = round % 2 == 0 ? self.requests(&generator) : self.subscriptions(&generator)
            switch generator.number(0...2) {
            case 0: bytes = Array(bytes.prefix(generator.number(0...bytes.count))) + generator.bytes(0...200)
            case 1:
                for _ in 0..<generator.number(1...8) {
                    bytes[generator.number(0...bytes.count - 1)] ^= 1 << generator.number(0...7)
                }
            default: bytes = generator.bytes(0...300)
            }
            var connection = EdgeConnection()
            var kept: [UInt8] = []
            var hasEnded = false
            var rest = bytes[...]
            while !rest.isEmpty, !hasEnded {
                let said = self.hear(rest.prefix(generator.number(1...97)), &connection, &kept)
                hasEnded = said.contains(.failed) || said.contains(.endless)
                #expect(kept.count <= EdgeSettings.requestBytesMax + ZMTPLimits.frameHeaderBytesMax)
                rest = rest.dropFirst(97)
            }
        }
    }

    @Test(arguments: [(SocketType.dealer, EdgeSettings.requestBytesMax), (.sub, EdgeSettings.subscriptionBytesMax)])
    func `a frame of the limit is heard, one byte more ends the connection before it comes`(
        peer: SocketType,
        bytesMax: Int
    ) {
        for (length, isFine) in [(bytesMax, true), (bytesMax + 1, false)] {
            var connection = EdgeConnection()
            var kept: [UInt8] = []
            var header: [UInt8] = []
            if peer == .dealer { FrameHeader.append(bodyBytes: 0, more: true, to: &header) }
            FrameHeader.append(bodyBytes: length, to: &header)
            let body = [UInt8](repeating: 1, count: length)
            let first = self.hear(opening(of: peer) + header, &connection, &kept)
            #expect(first == (isFine ? [.ready] : [.ready, .failed]))
            guard isFine else { continue }
            #expect(
                self.hear(body, &connection, &kept)
                    == [peer == .dealer ? .request(body) : .subscribe(Array(body.dropFirst()))]
            )
        }
    }

    @Test func `a message of as many frames as may be is passed over, one more is endless`() {
        for (count, expected) in [(64, Said.invalid(.tooManyFrames)), (65, .endless)] {
            var connection = EdgeConnection()
            var kept: [UInt8] = []
            var bytes = opening(of: .dealer)
            for number in 1...count { Outgoing.appendFrame([1], more: number < count, to: &bytes) }
            #expect(self.hear(bytes, &connection, &kept) == [.ready, expected])
        }
    }

    @Test(arguments: [SocketType.pub, .xpub, .rep, .router, .pair, .push, .pull])
    func `peers that neither hear nor ask are refused`(type: SocketType) {
        var connection = EdgeConnection()
        var kept: [UInt8] = []
        // A ROUTER may talk to a ROUTER, and asks as a DEALER does.
        let expected: [Said] = type == .router || type == .rep ? [.ready] : [.failed]
        let said = self.hear(opening(of: type), &connection, &kept)
        #expect(type == .rep ? said == [.failed] : said == expected)
    }
}
