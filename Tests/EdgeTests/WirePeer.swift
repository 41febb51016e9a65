// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Glibc
import TestSupport
import Testing
import ZMTP

/// A session on a real connection, for tests: it blocks until what it waits for comes, or the connection is closed.
final class WirePeer {
    private let descriptor: Int32
    /// The tunnel between this and the peer, if there is one; it lives as long.
    let tunnel: TLSTunnel?
    private(set) var session: Session
    private var bytes: [UInt8] = []
    /// The mechanism, where the connection is over WebSocket; `nil`: it is not.
    private var mechanism: ZWSMechanism?
    private var frames = WebSocketFrameReader(ofClient: false, frameBytesMax: ZMTPLimits.frameBytesDefaultMax)
    /// The control frames that came over WebSocket.
    private(set) var told: [WebSocketFrameReader.Event] = []

    /// How long a test waits for what must happen, in seconds: longer than the limit of its suite.
    ///
    /// Nothing else ends a thread that is blocked.
    private static let patienceSeconds = 3_700

    private init(_ descriptor: Int32, _ session: Session, _ tunnel: TLSTunnel? = nil) throws {
        self.descriptor = descriptor
        self.tunnel = tunnel
        self.session = session
        var limit = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
        // Safety: the kernel reads the value during the call only.
        let result = unsafe setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &limit,
            socklen_t(MemoryLayout<timeval>.size)
        )
        try #require(result == 0)
    }

    deinit {
        _ = Glibc.close(self.descriptor)
    }

    /// Connects to where a libzmq socket is bound.
    convenience init(connectedTo endpoint: String, _ session: Session) throws {
        let port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port)
        // Safety: the kernel reads the address during the call only.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0, "connecting failed")
        try self.init(descriptor, session)
    }

    /// Speaks through what encrypts.
    convenience init(through tunnel: TLSTunnel, _ session: Session) throws {
        try self.init(tunnel.descriptor, session, tunnel)
    }

    /// Asks for WebSocket on its connection, and insists that it gets it.
    ///
    /// - Parameters:
    ///   - mechanism: the only subprotocol that it asks for.
    ///   - type: what it says that it is, where the mechanism lets it.
    ///   - step: so many bytes are sent at a time; `nil`: all at once.
    /// - Throws: where the connection is closed.
    func upgrade(_ mechanism: ZWSMechanism, as type: SocketType, step: Int? = nil) throws {
        let request = Self.upgradeRequest(protocols: mechanism.rawValue)
        for start in stride(from: 0, to: request.count, by: step ?? request.count) {
            try self.sendRaw(Array(request[start..<min(start + (step ?? request.count), request.count)]))
        }
        self.session = Session(type, start: mechanism == .null ? .handshake : .routingID)
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            var byte: UInt8 = 0
            // Safety: the kernel writes one byte, during the call only.
            let count = unsafe recv(self.descriptor, &byte, 1, 0)
            if count < 0, errno == EINTR { continue }
            try #require(count == 1, "the connection was closed after \(String(decoding: head, as: UTF8.self))")
            head.append(byte)
        }
        #expect(head.starts(with: "HTTP/1.1 101 ".utf8))
        self.mechanism = mechanism
    }

    /// A request for WebSocket.
    static func upgradeRequest(
        path: String = "/",
        protocols: String = "ZWS2.0/NULL",
        origin: String? = nil
    ) -> [UInt8] {
        var text = "GET \(path) HTTP/1.1\r\nHost: gateway.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        text += "Sec-WebSocket-Protocol: \(protocols)\r\n"
        if let origin { text += "Origin: \(origin)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// Whether the connection is over WebSocket.
    var isOverWebSocket: Bool { self.mechanism != nil }

    /// The bytes that a client sends first.
    var opening: [UInt8] {
        switch self.mechanism {
        case nil: return self.session.greeting + self.session.ready()
        case .some(.none):
            var routingID: [UInt8] = []
            Outgoing.appendFrame(Array("name".utf8), to: &routingID)
            return routingID
        case .some(.null): return self.session.ready()
        }
    }

    /// Listens on a free port, has `connect` called with the endpoint, and takes the connection that comes.
    static func accepting(_ session: Session, _ connect: (String) throws -> Void) throws -> WirePeer {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { _ = Glibc.close(listener) }
        var address = Self.loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safety: the kernel reads and writes the address during the calls only.
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, size) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, $0, &size) == 0
            }
        }
        try #require(result, "listening failed")
        try connect("tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
        let descriptor = accept(listener, nil, nil)
        try #require(descriptor >= 0, "no peer connected")
        return try WirePeer(descriptor, session)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }

    /// Sends all of it.
    func send(_ bytes: [UInt8]) throws { try #require(self.offer(bytes), "the connection is closed") }

    /// Sends all of it as it is, over WebSocket too.
    func sendRaw(_ bytes: [UInt8]) throws { try #require(self.offerRaw(bytes), "the connection is closed") }

    /// Sends all of it, unless the other side has closed; over WebSocket each frame is a masked message.
    func offer(_ bytes: [UInt8]) -> Bool {
        guard self.isOverWebSocket else { return self.offerRaw(bytes) }
        var masked: [UInt8] = []
        ZWSFraming.append(zmtp: bytes, mask: { UInt32.random(in: 0 ... .max) }, to: &masked)
        return self.offerRaw(masked)
    }

    private func offerRaw(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Safety: the kernel reads the bytes during the call only.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Says that nothing more will be sent; what the peer sends still comes.
    func sendNoMore() { _ = shutdown(self.descriptor, Int32(SHUT_WR)) }

    /// The next thing that the peer says, waited for; `nil` when it closed the connection.
    func next() throws -> Heard? {
        while true {
            var offset = 0
            let bytes = self.bytes
            let event = self.session.next(in: bytes.span, at: &offset)
            self.bytes.removeFirst(offset)
            if let heard = Heard(event, in: bytes) { return heard }
            var buffer = [UInt8](repeating: 0, count: 100_000)
            // Safety: the kernel writes at most `count` bytes, during the call only.
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(self.descriptor, $0.baseAddress, $0.count, 0)
            }
            // A process that was stopped and goes on: receiving with a limit ends then.
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                try #require(count == 0 || errno == ECONNRESET, "nothing came in time")
                return nil
            }
            self.take(Array(buffer.prefix(count)))
        }
    }

    private func take(_ part: [UInt8]) {
        guard self.isOverWebSocket else {
            self.bytes += part
            return
        }
        var (offset, end) = (0, self.bytes.count)
        while true {
            let event = self.frames.next(in: part.span, at: &offset, into: &self.bytes, at: &end)
            guard event != .needsMore else { return }
            self.told.append(event)
            if case .failed = event { return }
        }
    }

    /// All that comes until the peer closes the connection.
    func rest() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            var buffer = [UInt8](repeating: 0, count: 100_000)
            // Safety: the kernel writes at most `count` bytes, during the call only.
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(self.descriptor, $0.baseAddress, $0.count, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                try #require(count == 0 || errno == ECONNRESET, "nothing came in time")
                return bytes
            }
            bytes += buffer.prefix(count)
        }
    }

    /// Says that nothing more is sent.
    func endSending() { _ = shutdown(self.descriptor, Int32(SHUT_WR)) }

    /// Greets, and waits until messages may go.
    func shakeHands() throws {
        try self.send(self.session.greeting)
        #expect(try self.next() == .greeted)
        try self.send(self.session.ready())
        #expect(try self.next() == .ready)
    }
}
