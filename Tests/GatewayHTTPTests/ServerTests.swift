// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Gateway
import GatewayDocuments
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

    #if os(Linux)
    @Test func `the thread of the server has a lower priority than those of listeners`() async throws {
        try await Parts()
            .serve { peer in
                #expect(try await peer.get("/healthz").status == 200)
                let folder = "/proc/self/task/"
                let loops = try FileManager.default.contentsOfDirectory(atPath: folder)
                    .compactMap { try? String(contentsOfFile: folder + $0 + "/stat", encoding: .utf8) }
                    .filter { $0.contains("(NIO-") }
                // proc_pid_stat(5): the fields behind the name begin with the third, and the niceness is the 19th.
                let niceness = loops.compactMap { $0.split(separator: ")").last?.split(separator: " ")[16] }
                #expect(niceness.contains("5"))
            }
    }
    #endif

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

    @Test func `a request that names two hosts is refused, whichever comes first`() async throws {
        try await Parts()
            .serve { peer in
                for hosts in [["localhost", "evil.example"], ["evil.example", "localhost"], ["localhost", ""]] {
                    let fields = hosts.map { "Host: \($0)\r\n" }.joined()
                    let answer = try await peer.send("GET /v1 HTTP/1.1\r\n\(fields)Connection: close\r\n\r\n")
                    #expect(answer.status == 400)
                    let problem = try answer.decoded(as: ProblemDocument.self)
                    #expect(problem.detail == "The request names more than one host.")
                }
            }
    }

    @Test func `bytes that are not HTTP are refused`() async throws {
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

    /// How many answers come until the server closes; it waits for more requests for an hour, where it waits.
    private static func answerCount(_ peer: HTTPPeer, _ requests: [String]) async throws -> Int {
        let bytes = try await peer.exchange(Array(requests.joined().utf8))
        return try String(decoding: bytes, as: UTF8.self).matches(of: Regex("HTTP/1\\.[01] 200 OK")).count
    }

    @Test(arguments: [
        ("HTTP/1.0", ""), ("HTTP/1.0", "Connection: keep-alive\r\n"), ("HTTP/1.0", "Connection: close\r\n"),
        ("HTTP/1.1", "Connection: close\r\n"), ("HTTP/1.1", "connection: Close\r\n"),
        ("HTTP/1.1", "Connection: TE, close\r\n"),
    ])
    func `the answer to HTTP/1.0, or to a request with this field, is the last`(version: String, field: String)
        async throws
    {
        try await Parts()
            .serve { peer in
                let request = "GET /healthz \(version)\r\nHost: test\r\n\(field)\r\n"
                let count = try await Self.answerCount(peer, [request, request])
                #expect(count == 1)
            }
    }

    /// RFC 9112 section 6.1: what is not known must not be read as if it were.
    @Test(arguments: [
        ("chunked", 405), ("CHUNKED", 405), ("gzip, chunked", 501), ("chunked\r\nTransfer-Encoding: chunked", 400),
    ])
    func `a body that is packed in another way is refused`(coding: String, status: Int) async throws {
        try await Parts()
            .serve { peer in
                let head =
                    "POST /v1/breaks HTTP/1.1\r\nHost: test\r\nConnection: close\r\nTransfer-Encoding: \(coding)\r\n\r\n"
                let answer = try await peer.send(head + "0\r\n\r\n")
                #expect(answer.status == status, "\(answer.body)")
            }
    }

    @Test(arguments: ["", "Connection: keep-alive\r\n", "Connection: TE\r\n"])
    func `a connection of HTTP/1.1 goes on until it says so`(field: String) async throws {
        try await Parts()
            .serve { peer in
                let request = "GET /healthz HTTP/1.1\r\nHost: test\r\n"
                let last = request + "Connection: close\r\n\r\n"
                let count = try await Self.answerCount(peer, [request + field + "\r\n", request + "\r\n", last])
                #expect(count == 3)
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

    @Test func `after a stop the server's thread is unused, however often one is started and stopped`() async throws {
        // What is given to a thread that has ended says so on standard error, and is lost.
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            var parts = Parts()
            parts.access = HTTPAccessHolder(try await TokenWorkshop().access(.all))
            let all = parts
            // Several at a time, so that threads wait for each other where it matters.
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<8 {
                    tasks.addTask {
                        for _ in 0..<20 {
                            try await all.serve { peer in
                                // One that is idle, one with half a request, and one that is answered.
                                let (idle, half) = (try peer.connect(), try peer.connect())
                                try half.send("GET /healthz HTTP/1.1\r\n")
                                _ = try await peer.get("/healthz")
                                withExtendedLifetime((idle, half)) {}
                            }
                        }
                    }
                }
                try await tasks.waitForAll()
            }
        }
        let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(!said.contains("EventLoop"), "\(said.prefix(2_000))")
    }
}
