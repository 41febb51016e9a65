// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Edge
import TestSupport
import ZMTP

/// What a reader of frames makes of a peer's bytes.
private struct ReadFrames: Equatable {
    /// The ZeroMQ frames, as ZMTP has them.
    var frames: [UInt8] = []
    var told: [WebSocketFrameReader.Event] = []

    private static let frameBytesMax = 2_048

    /// - Parameters:
    ///   - bytes: of the peer.
    ///   - isClient: whether the peer masks its frames.
    ///   - partMax: parts have one byte to so many; `nil`: all comes as one.
    ///   - seed: chooses how long each is.
    /// - Throws: the rule that the reader breaks.
    init(_ bytes: ArraySlice<UInt8>, ofClient isClient: Bool, partMax: Int?, seed: UInt64) throws(Broken) {
        var generator = SeededGenerator(seed: seed)
        var reader = WebSocketFrameReader(ofClient: isClient, frameBytesMax: Self.frameBytesMax)
        var (rest, end) = (bytes, 0)
        while !rest.isEmpty {
            let count = partMax.map { min(rest.count, Int.random(in: 1...$0, using: &generator)) } ?? rest.count
            let part = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            var offset = 0
            while true {
                let (before, endBefore) = (offset, end)
                let event = reader.next(in: part.span, at: &offset, into: &self.frames, at: &end)
                try insist((before...part.count).contains(offset), "the offset went from \(before) to \(offset)")
                try insist((endBefore...self.frames.count).contains(end), "the end went from \(endBefore) to \(end)")
                try insist(
                    reader.bytesHeld <= Self.frameBytesMax + 1 + WebSocketFrameHeader.bytesMax
                        + WebSocketFrameHeader.controlBytesMax,
                    "\(reader.bytesHeld) bytes are kept"
                )
                if event == .needsMore {
                    try insist(offset == part.count, "bytes are left")
                    break
                }
                self.told.append(event)
                if case .failed = event {
                    let again = reader.next(in: part.span, at: &offset, into: &self.frames, at: &end)
                    try insist(again == event, "what failed goes on with \(again)")
                    self.frames.removeSubrange(end...)
                    return
                }
                try insist(offset > before, "\(event) took no bytes")
            }
        }
        self.frames.removeSubrange(end...)
    }

    /// Insists that what came is frames of ZMTP that an `EdgeConnection` reads without a trap.
    func insistOnConnection(_ mechanism: ZWSMechanism) throws(Broken) {
        var connection = EdgeConnection(overWebSocket: mechanism)
        var offset = 0
        while true {
            let before = offset
            let event = connection.next(in: self.frames.span, at: &offset)
            switch event {
            case .needsMore, .failed, .endless: return
            default: try insist(offset > before, "\(event) took no bytes")
            }
        }
    }
}

/// Messages of a peer, masked where it is a client.
private func messages(ofClient isClient: Bool, _ generator: inout SeededGenerator) -> [UInt8] {
    var frames: [UInt8] = []
    if generator.bool() { frames += Session(generator.pick([.dealer, .sub, .req])).ready() }
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
        if generator.bool() {
            Outgoing.appendRequest(generator.bytes(0...300), to: &frames)
        } else {
            Outgoing.appendSubscription(generator.bytes(0...20), to: &frames)
        }
    }
    var bytes: [UInt8] = []
    let key: UInt32? = isClient ? generator.number(0...UInt32.max) : nil
    ZWSFraming.append(zmtp: frames, mask: key.map { key in { key } }, to: &bytes)
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let payload = generator.bytes(0...20)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: ZWSFraming.appendControl(.ping, payload, mask: key, to: &bytes)
        case 1: ZWSFraming.appendControl(.pong, payload, mask: key, to: &bytes)
        case 2: ZWSFraming.appendClose(1_000, "bye", mask: key, to: &bytes)
        default:
            for isFinal in [false, false, true] {
                WebSocketFrameHeader.append(
                    isFinal || generator.bool() ? .continuation : .binary,
                    payloadBytes: payload.count,
                    isFinal: isFinal,
                    mask: key,
                    to: &bytes
                )
                bytes += payload
            }
        }
    }
    return bytes
}

/// Other bytes behind so many that choose how they are read.
private func changed(_ input: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = input
    guard !bytes.isEmpty else { return generator.bytes(1...20) }
    let place = Int.random(in: 0..<bytes.count, using: &generator)
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: bytes = Array(bytes.prefix(place))
    case 1: bytes.insert(contentsOf: generator.bytes(1...8), at: place)
    case 2: bytes[place] ^= 1 << generator.number(UInt8(0)...7)
    case 3: bytes.remove(at: place)
    default: bytes[place] = generator.pick([0, 1, 2, 0x0A, 0x0D, 0x20, 0x3A, 0x7E, 0x7F, 0x80, 0x82, 0x88, 0x89, 0xFF])
    }
    return bytes
}

private let head = """
    GET /listen HTTP/1.1\r
    Host: gateway.example\r
    Upgrade: websocket\r
    Connection: keep-alive, Upgrade\r
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
    Sec-WebSocket-Version: 13\r
    Sec-WebSocket-Protocol: ZWS2.0/NULL, ZWS2.0\r
    Origin: https://radio.example\r
    \r

    """

extension FuzzTarget {
    /// `WebSocketFrameReader` of either side: a byte that chooses the side and the mechanism, two that choose how the rest is cut, then
    /// what the peer sends.
    static let webSocket = FuzzTarget(
        name: "web-socket",
        sample: { generator in
            let choice = generator.bytes(3...3)
            return choice + messages(ofClient: choice[0] & 1 == 0, &generator)
        },
        change: { changed($0, &$1) },
        fault: { input in
            guard input.count >= 3 else { return nil }
            return firstBroken { () throws(Broken) in
                let (isClient, seed) = (input[0] & 1 == 0, UInt64(input[1]) << 8 | UInt64(input[2]))
                let bytes = input.dropFirst(3)
                let whole = try ReadFrames(bytes, ofClient: isClient, partMax: nil, seed: 0)
                let inParts = try ReadFrames(
                    bytes,
                    ofClient: isClient,
                    partMax: [1, 2, 7, 64][Int(seed % 4)],
                    seed: seed
                )
                try insist(whole == inParts, "whole: \(whole), in parts: \(inParts)")
                try whole.insistOnConnection(input[0] & 2 == 0 ? .null : .none)
            }
        }
    )

    /// The request for WebSocket: more bytes change nothing once something is decided.
    static let webSocketUpgrade = FuzzTarget(
        name: "web-socket-upgrade",
        sample: { Array(head.utf8) + $0.bytes(0...4) },
        change: { changed($0, &$1) },
        fault: { input in
            firstBroken { () throws(Broken) in
                let whole = Result { () throws(WebSocketRefusal) in
                    var reader = WebSocketUpgradeReader()
                    return try reader.next(in: input.span)
                }
                if case .success(let upgrade?) = whole {
                    try insist(upgrade.byteCount <= input.count, "it is longer than what came")
                    try insist(!upgrade.answer.isEmpty, "it has no answer")
                }
                var reader = WebSocketUpgradeReader()
                var cut = Result<WebSocketUpgrade?, WebSocketRefusal>.success(nil)
                for count in 0...input.count {
                    cut = Result { () throws(WebSocketRefusal) in
                        try reader.next(in: input.span.extracting(0..<count))
                    }
                    if case .success(nil) = cut { continue }
                    break
                }
                try insist(cut == whole, "in parts it is \(cut), and whole \(whole)")
            }
        }
    )

    /// The answer to a client's request for WebSocket, after a byte that chooses how it is cut: the cuts change nothing.
    static let webSocketAnswer = FuzzTarget(
        name: "web-socket-answer",
        sample: { [$0.bytes(1...1)[0]] + Array(answer.utf8) + $0.bytes(0...4) },
        change: { changed($0, &$1) },
        fault: { input in
            guard let choice = input.first else { return nil }
            return firstBroken { () throws(Broken) in
                let bytes = Array(input.dropFirst())
                func read(partMax: Int) -> (step: WebSocketClientUpgrade.Step, place: Int) {
                    var upgrade = WebSocketClientUpgrade(
                        host: "gateway.example",
                        path: "/",
                        mechanism: .null,
                        keyBytes: Array("the sample nonce".utf8)
                    )
                    var place = 0
                    while place < bytes.count {
                        let end = partMax > bytes.count - place ? bytes.count : place + partMax
                        switch upgrade.read(bytes.span.extracting(place..<end)) {
                        case .needsMore: place = end
                        case .open(let byteCount): return (.open(byteCount: 0), place + byteCount)
                        case .refused(let reason): return (.refused(reason), 0)
                        }
                    }
                    return (.needsMore, place)
                }
                let (whole, parts) = (read(partMax: .max), read(partMax: [1, 2, 7, 64][Int(choice % 4)]))
                try insist(whole == parts, "whole: \(whole), in parts: \(parts)")
                try insist(whole.place <= bytes.count, "it is longer than what came")
            }
        }
    )
}

private let answer = """
    HTTP/1.1 101 Switching Protocols\r
    Upgrade: websocket\r
    Connection: Upgrade\r
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
    Sec-WebSocket-Protocol: ZWS2.0/NULL\r
    \r

    """
