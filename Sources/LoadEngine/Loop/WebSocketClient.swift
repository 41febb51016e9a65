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

    /// The reader of the answer; `nil`: it has come in full.
    private var upgrade: WebSocketClientUpgrade?
    /// The bytes to send first.
    let request: [UInt8]
    private var frames: WebSocketFrameReader
    /// Makes the keys of frames: they protect proxies from pages, which there are none of here.
    private var lastKey: UInt32

    /// - Parameters:
    ///   - host: the value of the request's `Host`.
    ///   - path: the path that is asked for.
    ///   - frameBytesMax: the longest ZeroMQ frame that is taken, in bytes.
    ///   - seed: makes the keys of frames.
    init(host: String, path: String, frameBytesMax: Int, seed: UInt32) {
        self.frames = WebSocketFrameReader(ofClient: false, frameBytesMax: frameBytesMax)
        self.lastKey = seed | 1
        let upgrade = WebSocketClientUpgrade(
            host: host,
            path: path,
            mechanism: .null,
            keyBytes: (0..<16).map { UInt8(truncatingIfNeeded: (seed | 1) >> UInt32($0 % 4 * 8)) }
        )
        self.upgrade = upgrade
        self.request = upgrade.request
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
    func takeAnswer(_ bytes: Span<UInt8>) -> Reading {
        guard var upgrade else { return .opened(byteCount: 0) }
        switch upgrade.read(bytes) {
        case .needsMore:
            self.upgrade = upgrade
            return .done
        case .open(let byteCount):
            self.upgrade = nil
            return .opened(byteCount: byteCount)
        case .refused(let reason): return .ended(.noWebSocket(reason: reason))
        }
    }

    /// Whether the peer's answer has not come in full.
    var isWaitingForAnswer: Bool { self.upgrade != nil }

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
