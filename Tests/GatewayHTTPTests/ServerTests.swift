// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayHTTP
import Testing

@Suite(.suiteLimit)
struct ServerTests {
    @Test func `a target at the limit is answered and one byte more is too long`() async throws {
        var parts = Parts()
        parts.configuration.targetBytesMax = 100
        try await parts.serve { peer in
            let longest = "/" + String(repeating: "a", count: 99)
            let answer1 = try await peer.get(longest)
            #expect(answer1.status == 404)
            let answer = try await peer.get(longest + "a")
            #expect(answer.status == 414)
            #expect(try answer.decoded(as: ProblemDocument.self).detail.contains("targetBytesMax"))
        }
    }

    @Test func `a request line or a header without end is refused`() async throws {
        try await Parts()
            .serve { peer in
                let answer2 = try await peer.get("/" + String(repeating: "a", count: 200_000))
                #expect(answer2.status == 400)
                let padding = String(repeating: "a", count: 20_000)
                let header = "GET / HTTP/1.1\r\nHost: test\r\nX-Padding: \(padding)\r\n\r\n"
                let answer3 = try await peer.send(header)
                #expect(answer3.status == 400)
                let fields = (0..<100).map { "X-\($0): 1\r\n" }.joined()
                let answer4 = try await peer.send("GET / HTTP/1.1\r\nHost: test\r\n\(fields)\r\n")
                #expect(answer4.status == 400)
            }
    }

    @Test func `what is not HTTP is refused`() async throws {
        try await Parts()
            .serve { peer in
                let answer5 = try await peer.send("hello\r\n\r\n")
                #expect(answer5.status == 400)
            }
    }

    @Test func `a body is not waited for and not taken`() async throws {
        try await Parts()
            .serve { peer in
                let request =
                    "POST /v1/breaks HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n"
                let answer6 = try await peer.send(request + "abc")
                #expect(answer6.status == 405)
            }
    }

    @Test func `a connection that sends nothing, or half a request, is closed`() async throws {
        var parts = Parts()
        parts.configuration.idleTimeout = .milliseconds(200)
        try await parts.serve { peer in
            let answer7 = try await peer.exchange([])
            #expect(answer7.isEmpty)
            let answer8 = try await peer.exchange(Array("GET / HTTP/1.1\r\nHost:".utf8))
            #expect(answer8.isEmpty)
        }
    }

    @Test func `an address that is in use is told as that`() async throws {
        try await Parts()
            .serve { peer in
                var parts = Parts()
                parts.configuration = try #require(GatewayHTTPConfiguration(address: peer.address))
                let service = try await parts.service { _ in }
                await #expect(throws: GatewayHTTPError.addressInUse(peer.address)) { try await service.run() }
            }
    }

    @Test func `an address that this machine does not have is told as that`() async throws {
        var parts = Parts()
        parts.configuration = GatewayHTTPConfiguration(host: "192.0.2.1", port: 0)
        let service = try await parts.service { _ in }
        await #expect {
            try await service.run()
        } throws: { error in
            guard case .cannotBind("192.0.2.1:0", _) = error as? GatewayHTTPError else { return false }
            return true
        }
    }

    @Test(arguments: [
        ("127.0.0.1:7480", "127.0.0.1:7480"), ("localhost:*", "localhost:0"), ("[::1]:80", "[::1]:80"),
        ("127.0.0.1", nil), (":80", nil), ("::1:80", nil), ("h:65536", nil), ("h:-1", nil), ("", nil),
    ])
    func `an address is HOST:PORT`(_ text: String, _ address: String?) {
        #expect(GatewayHTTPConfiguration(address: text)?.address == address)
    }
}
