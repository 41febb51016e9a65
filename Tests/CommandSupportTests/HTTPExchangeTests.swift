// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import CuecastWire
import Foundation
import Testing

/// A server that does not answer as it should is given up in time.
@Suite(.suiteLimit)
struct HTTPExchangeTests {
    private func endpoint(_ port: UInt16) -> HTTPEndpoint {
        HTTPEndpoint(NetworkAddress(host: "127.0.0.1", port: port))
    }

    private func get(
        _ server: RawServer,
        silenceMax: Duration = .seconds(3_600),
        exchangeMax: Duration = .seconds(3_600),
        answerBytesMax: Int = 1_000
    ) async throws -> HTTPExchange.Answer {
        var limits = HTTPExchange.Limits()
        limits.silenceMax = silenceMax
        limits.exchangeMax = exchangeMax
        limits.answerBytesMax = answerBytesMax
        return try await HTTPExchange.get("/v1/reports", at: self.endpoint(server.port), limits: limits)
    }

    @Test func `ten seconds of silence are the limit, and thirty in all`() {
        #expect(HTTPExchange.Limits().silenceMax == .seconds(10))
        #expect(HTTPExchange.Limits().exchangeMax == .seconds(30))
    }

    @Test func `an answer is read whole`() async throws {
        let server = try RawServer { peer in
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        }
        let answer = try await self.get(server)
        #expect(answer.status == 200 && answer.body == Data("hello".utf8))
    }

    @Test func `a thread can wait for an answer, and for none`() async throws {
        let server = try RawServer { peer in
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        }
        let mute = try RawServer { _ in }
        let limits = {
            var limits = HTTPExchange.Limits()
            limits.silenceMax = .seconds(3_600)
            limits.exchangeMax = .seconds(3_600)
            return limits
        }()
        func wait(for port: UInt16) async throws -> HTTPExchange.Answer {
            let endpoint = self.endpoint(port)
            return try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try HTTPExchange.wait(for: "/", at: endpoint, limits: limits) })
                }
            }
        }
        #expect(try await wait(for: server.port).body == Data("hello".utf8))
        await #expect(throws: HTTPExchange.Failure.self) { try await wait(for: mute.port) }
    }

    @Test func `a server that says nothing is given up`() async throws {
        let server = try RawServer { peer in peer.waitForEnd() }
        await #expect(throws: HTTPExchange.Failure.silent(.milliseconds(200))) {
            try await self.get(server, silenceMax: .milliseconds(200))
        }
    }

    @Test func `a server that trickles is given up when its time is over`() async throws {
        let server = try RawServer { peer in
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while peer.send("x") { usleep(10_000) }
        }
        await #expect(throws: HTTPExchange.Failure.tooSlow(.milliseconds(500))) {
            try await self.get(server, exchangeMax: .milliseconds(500), answerBytesMax: 1_000_000)
        }
    }

    @Test(arguments: [1_000, 1_001])
    func `an answer at the limit is taken and one byte more is not`(bytes: Int) async throws {
        let server = try RawServer { peer in
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes)\r\n\r\n" + String(repeating: "x", count: bytes))
        }
        if bytes <= 1_000 {
            #expect(try await self.get(server).body.count == bytes)
        } else {
            await #expect(throws: HTTPExchange.Failure.tooLarge(bytes: 1_000)) { try await self.get(server) }
        }
    }

    @Test func `a server that closes without a word is told as that`() async throws {
        let server = try RawServer { _ in }
        await #expect {
            try await self.get(server)
        } throws: { error in
            guard case .unreachable = error as? HTTPExchange.Failure else { return false }
            return true
        }
    }

    @Test func `only the host of the address is asked`() async throws {
        let server = try RawServer { peer in
            peer.send("HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(try await self.get(server).status == 302)
    }
}

/// A server that reads one request and then does what a test says, on a thread of its own.
final class RawServer: Sendable {
    /// The received request.
    struct Peer {
        let descriptor: Int32

        @discardableResult
        func send(_ text: String) -> Bool {
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Returns when the peer has closed.
        func waitForEnd() {
            var byte: UInt8 = 0
            while unsafe recv(self.descriptor, &byte, 1, 0) > 0 {}
        }
    }

    let port: UInt16
    private let descriptor: Int32

    init(_ answer: @escaping @Sendable (Peer) -> Void) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard unsafe bind(descriptor, pointer, length) == 0, listen(descriptor, 8) == 0 else {
                    return Int32(-1)
                }
                return unsafe getsockname(descriptor, pointer, &length)
            }
        }
        try #require(code == 0)
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let peer = accept(descriptor, nil, nil)
                guard peer >= 0 else { return }
                Thread.detachNewThread {
                    var request = [UInt8](repeating: 0, count: 4_096)
                    _ = unsafe recv(peer, &request, request.count, 0)
                    answer(Peer(descriptor: peer))
                    close(peer)
                }
            }
        }
    }

    deinit {
        _ = shutdown(self.descriptor, Int32(SHUT_RDWR))
        close(self.descriptor)
    }
}
