// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ZMTP

/// A client's side of WebSocket, between the bytes of a connection and its session.
final class WebSocketClient {
    /// The result of reading the peer's bytes.
    enum Reading: Hashable {
        /// All were taken.
        case done
        /// The peer serves WebSocket: the handshake of ZMTP begins. So many of the bytes were its answer.
        case opened(byteCount: Int)
        case ended(ConnectionEnd)
    }

    /// The longest head of an answer, in bytes.
    private static let headBytesMax = 8_192

    /// The part of the answer that has come; `nil`: all of it has.
    private var head: [UInt8]? = []
    private var frames: WebSocketFrameReader
    /// Makes the keys of frames: they protect proxies from pages, which there are none of here.
    private var lastKey: UInt32

    /// - Parameters:
    ///   - frameBytesMax: the longest ZeroMQ frame that is taken, in bytes.
    ///   - seed: makes the keys of frames.
    init(frameBytesMax: Int, seed: UInt32) {
        self.frames = WebSocketFrameReader(ofClient: false, frameBytesMax: frameBytesMax)
        self.lastKey = seed | 1
    }

    /// The request, to be sent first.
    func request(host: String, path: String) -> [UInt8] {
        let key = WebSocketKey.base64((0..<16).map { UInt8(truncatingIfNeeded: self.lastKey >> UInt32($0 % 4 * 8)) })
        return Array(
            """
            GET \(path) HTTP/1.1\r
            Host: \(host)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: \(key)\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Protocol: \(ZWSMechanism.null.rawValue)\r
            \r

            """
            .utf8
        )
    }

    /// Frames of ZMTP as messages.
    func masked(_ frames: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames.count + 32)
        ZWSFraming.append(zmtp: frames, mask: { self.key() }, to: &bytes)
        return bytes
    }

    /// A pong.
    func pong(_ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        ZWSFraming.appendControl(.pong, payload, mask: self.key(), to: &bytes)
        return bytes
    }

    private func key() -> UInt32 {
        // Xorshift (Marsaglia, 2003).
        self.lastKey ^= self.lastKey << 13
        self.lastKey ^= self.lastKey >> 17
        self.lastKey ^= self.lastKey << 5
        return self.lastKey
    }

    /// Reads the answer to the request, where it has not come in full.
    func takeAnswer(_ bytes: ArraySlice<UInt8>) -> Reading {
        guard var head = self.head else { return .opened(byteCount: 0) }
        let before = head.count
        for (number, byte) in bytes.enumerated() {
            head.append(byte)
            guard head.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
            self.head = nil
            let line = String(decoding: head.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            return line.hasPrefix("HTTP/1.1 101") ? .opened(byteCount: number + 1) : .ended(.noWebSocket(answer: line))
        }
        self.head = head
        return before + bytes.count > Self.headBytesMax ? .ended(.noWebSocket(answer: "its answer is too long")) : .done
    }

    /// Whether the peer's answer has not come in full.
    var isWaitingForAnswer: Bool { self.head != nil }

    /// Reads frames.
    ///
    /// - Parameters:
    ///   - bytes: of the peer.
    ///   - buffer: gets them as ZMTP has them.
    ///   - end: where they begin, and then end.
    ///   - pongs: gets the payloads of pings.
    /// - Returns: `done` or `ended`.
    func unmask(
        _ bytes: Span<UInt8>,
        into buffer: inout [UInt8],
        at end: inout Int,
        pongs: inout [[UInt8]]
    ) -> Reading {
        var offset = 0
        while true {
            switch self.frames.next(in: bytes, at: &offset, into: &buffer, at: &end) {
            case .needsMore: return .done
            case .ping(let payload): pongs.append(payload)
            case .pong: continue
            case .close: return .ended(.closedByPeer)
            case .failed(let failure): return .ended(.webSocket(failure))
            }
        }
    }
}
