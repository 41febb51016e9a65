// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ZMTP

/// Carries the frames of ZMTP as messages of a WebSocket (RFC 45), from a client's side and without its I/O.
///
/// `WireLink` speaks ZMTP's frames; they go through here in both directions. No mechanism is asked for: its name, `ZWS2.0/NULL`, is
/// no token of HTTP, so that strict proxies refuse it.
struct WebSocketCarrier: Sendable {
    /// Why nothing more comes.
    enum End: Hashable, Sendable {
        case closed(code: UInt16?)
        /// The peer violates a protocol, for a reason in a few words.
        case failed(String)
    }

    /// Whether pings are answered; not while the peer does not take what is sent to it.
    var answersPings = true
    private(set) var end: End?
    /// Whether the peer agreed to the upgrade.
    private(set) var isOpen = false
    private var upgrade: WebSocketClientUpgrade
    private var frames: WebSocketFrameReader
    /// The request, then control frames.
    private var output: [UInt8]

    /// - Parameters:
    ///   - address: the host and the path that are asked for.
    ///   - frameBytesMax: the longest ZeroMQ frame that is taken, in bytes.
    init(to address: WebSocketAddress, frameBytesMax: Int) {
        self.upgrade = WebSocketClientUpgrade(
            host: address.host,
            path: address.path,
            mechanism: .none,
            keyBytes: (0..<16).map { _ in UInt8.random(in: 0...255) }
        )
        self.frames = WebSocketFrameReader(ofClient: false, frameBytesMax: frameBytesMax)
        self.output = self.upgrade.request
    }

    /// Reads the peer's bytes; the ZeroMQ frames in them are appended to `buffer` as ZMTP has them.
    mutating func received(_ bytes: Span<UInt8>, into buffer: inout [UInt8]) {
        guard self.end == nil else { return }
        var offset = 0
        if !self.isOpen {
            switch self.upgrade.read(bytes) {
            case .needsMore: return
            case .refused(let reason):
                self.end = .failed(reason)
                return
            case .open(let byteCount): (self.isOpen, offset) = (true, byteCount)
            }
        }
        var filled = buffer.count
        read: while true {
            switch self.frames.next(in: bytes, at: &offset, into: &buffer, at: &filled) {
            case .needsMore: break read
            case .ping(let payload): if self.answersPings { self.appendControl(.pong, payload) }
            case .pong: continue
            case .close(let code):
                ZWSFraming.appendClose(code, mask: Self.key(), to: &self.output)
                self.end = .closed(code: code)
                break read
            case .failed(let failure):
                ZWSFraming.appendClose(failure.closeCode, failure.description, mask: Self.key(), to: &self.output)
                self.end = .failed(failure.description)
                break read
            }
        }
        buffer.removeLast(buffer.count - filled)
    }

    /// The bytes to send now: the request or control frames, and the frames of ZMTP, which are held until the peer agreed.
    mutating func takeOutput(_ zmtp: inout [UInt8]) -> [UInt8] {
        defer { self.output = [] }
        guard self.isOpen, !zmtp.isEmpty else { return self.output }
        ZWSFraming.append(zmtp: zmtp, mask: Self.key, to: &self.output)
        zmtp = []
        return self.output
    }

    /// Asks the peer for a sign of life.
    mutating func ping() { self.appendControl(.ping, []) }

    /// Says that this side closes; nothing may follow.
    mutating func close() {
        guard self.isOpen, self.end == nil else { return }
        ZWSFraming.appendClose(1_000, mask: Self.key(), to: &self.output)
    }

    private mutating func appendControl(_ opcode: WebSocketFrameHeader.Opcode, _ payload: [UInt8]) {
        ZWSFraming.appendControl(opcode, payload, mask: Self.key(), to: &self.output)
    }

    /// The key of a frame, which no page can foresee (RFC 6455 section 5.3).
    private static func key() -> UInt32 { .random(in: 0...(.max)) }
}

/// The host and the path that a client asks a server of WebSockets for.
struct WebSocketAddress: Hashable, Sendable {
    /// A name or an address, with the port where it is not the usual one.
    let host: String
    /// Path and query.
    let path: String
}
