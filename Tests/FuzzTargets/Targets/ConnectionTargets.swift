// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Edge
import TestSupport
import ZMTP

/// A reader of a stream of bytes that may be cut anywhere, with its state.
private protocol StreamReader {
    associatedtype Heard: Equatable

    /// The most bytes that it may keep between two parts.
    var keptMax: Int { get }

    /// The next thing; `nil` where nothing whole is left. `ends` is set where the connection is to be closed.
    mutating func next(in bytes: [UInt8], at offset: inout Int, ends: inout Bool) throws(Broken) -> Heard?
}

extension StreamReader {
    /// Everything that is heard of bytes that come in such parts.
    ///
    /// - Parameters:
    ///   - bytes: what the peer sends.
    ///   - partMax: parts have one byte to so many; `nil`: all comes as one.
    ///   - seed: chooses how long each is.
    /// - Returns: what is heard, until the connection ends.
    /// - Throws: the rule that the reader breaks.
    fileprivate mutating func hear(
        _ bytes: ArraySlice<UInt8>,
        partMax: Int?,
        seed: UInt64
    ) throws(Broken) -> [Heard] {
        var generator = SeededGenerator(seed: seed)
        var (rest, kept) = (bytes, [UInt8]())
        var heard: [Heard] = []
        while !rest.isEmpty {
            let count = partMax.map { Int.random(in: 1...$0, using: &generator) } ?? rest.count
            kept += rest.prefix(count)
            rest = rest.dropFirst(count)
            var (offset, ends) = (0, false)
            while true {
                let before = offset
                let found = try self.next(in: kept, at: &offset, ends: &ends)
                try insist((before...kept.count).contains(offset), "the offset went from \(before) to \(offset)")
                guard let found else { break }
                heard.append(found)
                if ends { return heard }
                try insist(offset > before, "\(found) took no bytes")
            }
            kept.removeFirst(offset)
            try insist(kept.count <= self.keptMax, "\(kept.count) bytes are kept, of at most \(self.keptMax)")
        }
        return heard
    }

    /// Insists that the same is heard however the bytes are cut: `cut` says how.
    fileprivate func insistOnSame(_ bytes: ArraySlice<UInt8>, cut: ArraySlice<UInt8>) throws(Broken) {
        let seed = cut.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        var (one, other) = (self, self)
        let whole = try one.hear(bytes, partMax: nil, seed: 0)
        let inParts = try other.hear(bytes, partMax: [1, 2, 7, 64][Int(seed % 4)], seed: seed)
        try insist(whole == inParts, "whole: \(whole), in parts: \(inParts)")
    }
}

/// A `Session` with the bytes that it points at.
private struct SessionReader: StreamReader {
    enum Heard: Equatable {
        case greeted, ready, pong, failed
        case frame([UInt8], more: Bool)
        case ping([UInt8])
        case subscribe([UInt8])
        case cancel([UInt8])
    }

    private static let commandBytesMax = 4_096

    var session: Session

    var keptMax: Int { max(self.session.frameBytesMax, ZMTPLimits.commandBytesMax) + ZMTPLimits.frameHeaderBytesMax }

    /// Sides of a connection that there are.
    static func side(_ number: UInt8) -> SessionReader {
        let minor: UInt8 = number & 8 == 0 ? 0 : 1
        let session =
            switch number % 8 {
            case 0: Session(.sub, minor: minor, frameBytesMax: 1_024)
            case 1: Session(.dealer, minor: minor, frameBytesMax: 2_048)
            case 2: Session(.req, minor: minor, frameBytesMax: 1_024)
            case 3: Session(.pub, minor: minor, frameBytesMax: 512)
            case 4: Session(.router, minor: minor, frameBytesMax: 4_096)
            case 5: Session(.xpub, minor: minor, frameBytesMax: 1_024)
            default:
                Session(serving: .xpub, or: .router, frameBytesMax: 2_048, commandBytesMax: Self.commandBytesMax)
            }
        return SessionReader(session: session)
    }

    mutating func next(in bytes: [UInt8], at offset: inout Int, ends: inout Bool) throws(Broken) -> Heard? {
        let wasReady = self.session.isReady
        switch self.session.next(in: bytes.span, at: &offset) {
        case .needsMore: return nil
        case .greeted: return .greeted
        case .ready:
            try insist(self.session.isReady && self.session.peerType != nil, "ready, and yet not")
            return .ready
        case .frame(let body, let more):
            try insist(wasReady, "a frame before the handshake")
            try insist(body.count <= self.session.frameBytesMax, "a frame of \(body.count) bytes")
            return .frame(try part(body, bytes, offset), more: more)
        case .ping(let context):
            try insist(context.count <= ZMTPLimits.pingContextBytesMax, "a context of \(context.count) bytes")
            return .ping(try part(context, bytes, offset))
        case .pong: return .pong
        case .subscribe(let topic): return .subscribe(try part(topic, bytes, offset))
        case .cancel(let topic): return .cancel(try part(topic, bytes, offset))
        case .failed(let error):
            ends = true
            let again = self.session.next(in: bytes.span, at: &offset)
            try insist(again == .failed(error), "what failed goes on with \(again)")
            return .failed
        }
    }
}

/// An `EdgeConnection` with the bytes that it points at.
private struct ConnectionReader: StreamReader {
    enum Heard: Equatable {
        case ready, endless, failed
        case request([UInt8], EdgeCorrelation?)
        case subscribe([UInt8])
        case cancel([UInt8])
        case ping([UInt8])
        case invalid(EdgeConnection.InvalidMessage)
    }

    var connection = EdgeConnection()

    var keptMax: Int {
        max(EdgeSettings.requestBytesMax, EdgeSettings.subscriptionBytesMax) + ZMTPLimits.frameHeaderBytesMax
    }

    mutating func next(in bytes: [UInt8], at offset: inout Int, ends: inout Bool) throws(Broken) -> Heard? {
        let before = offset
        switch self.connection.next(in: bytes.span, at: &offset) {
        case .needsMore: return nil
        case .ready:
            try insist(self.connection.peer != nil, "ready without a peer")
            return .ready
        case .request(let body, let correlation):
            try insist(self.connection.peer != nil && self.connection.peer != .subscriber, "a request of a subscriber")
            try insist(body.count <= EdgeSettings.requestBytesMax, "a request of \(body.count) bytes")
            return .request(try part(body, bytes, offset), correlation)
        case .subscribe(let topic): return .subscribe(try self.topic(topic, bytes, offset))
        case .cancel(let topic): return .cancel(try self.topic(topic, bytes, offset))
        case .ping(let context): return .ping(try part(context, bytes, offset))
        case .invalid(let invalid):
            let frames = offset - before
            try insist(frames > 0, "an invalid message without frames")
            return .invalid(invalid)
        case .endless:
            ends = true
            return .endless
        case .failed(let error):
            ends = true
            let again = self.connection.next(in: bytes.span, at: &offset)
            try insist(again == .failed(error), "what failed goes on with \(again)")
            return .failed
        }
    }

    private func topic(_ range: Range<Int>, _ bytes: [UInt8], _ offset: Int) throws(Broken) -> [UInt8] {
        try insist(self.connection.peer == .subscriber, "a subscription of one who asks")
        try insist(range.count < EdgeSettings.subscriptionBytesMax, "a topic of \(range.count) bytes")
        return try part(range, bytes, offset)
    }
}

/// The bytes of a range, which must have been read.
private func part(_ range: Range<Int>, _ bytes: [UInt8], _ offset: Int) throws(Broken) -> [UInt8] {
    try insist(range.lowerBound >= 0 && range.upperBound <= offset, "\(range) is not behind \(offset)")
    return Array(bytes[range])
}

/// Other bytes of a peer behind so many that choose how they are read.
private func changedStream(_ input: [UInt8], choosing count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    var choice = Array(input.prefix(count))
    if Int.random(in: 0..<8, using: &generator) == 0 { choice = generator.bytes(count...count) }
    var frames = FrameList(input.dropFirst(count))
    for _ in 0..<Int.random(in: 1...3, using: &generator) { frames.change(&generator) }
    return choice + frames.bytes
}

private let peers: [SocketType] = [.sub, .xsub, .req, .dealer, .router, .rep, .pub, .xpub]

extension FuzzTarget {
    /// `Session` on either side: a byte that chooses the side, two that choose how the rest is cut, then what the peer sends.
    static let zmtpSession = FuzzTarget(
        name: "zmtp-session",
        sample: { $0.bytes(3...3) + FrameList.sample(of: $0.pick(peers), &$0) },
        change: { changedStream($0, choosing: 3, &$1) },
        fault: { input in
            guard let side = input.first else { return nil }
            return firstBroken { () throws(Broken) in
                try SessionReader.side(side).insistOnSame(input.dropFirst(3), cut: input.dropFirst().prefix(2))
            }
        }
    )

    /// `EdgeConnection`: two bytes that choose how the rest is cut, then what the peer sends.
    static let edgeConnection = FuzzTarget(
        name: "edge-connection",
        sample: { $0.bytes(2...2) + FrameList.sample(of: $0.pick(peers), &$0) },
        change: { changedStream($0, choosing: 2, &$1) },
        fault: { input in
            firstBroken { () throws(Broken) in
                try ConnectionReader().insistOnSame(input.dropFirst(2), cut: input.prefix(2))
            }
        }
    )
}
