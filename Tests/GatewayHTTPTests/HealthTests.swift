// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import Synchronization
import Testing

/// Health answers whatever others do with their connections and their requests.
@Suite(.suiteLimit)
struct HealthTests {
    private func requireHealth(_ peer: HTTPPeer) async throws {
        for path in ["/healthz", "/readyz", "/metrics"] {
            let answer = try await peer.get(path)
            #expect(answer.status == 200)
        }
    }

    @Test(arguments: [63, 64, 65, 500])
    func `health answers beside idle keep-alive connections`(count: Int) async throws {
        var parts = Parts()
        parts.configuration.connectionsMax = 64
        parts.configuration.readersWaitingMax = 8
        parts.configuration.idleTimeout = .seconds(600)
        try await parts.serve { [metrics = parts.metrics] peer in
            let idle = try await onThread {
                try (0..<count)
                    .map { _ in
                        let connection = try peer.connect()
                        try connection.ask("/healthz", until: "}")
                        return connection
                    }
            }
            let hitBefore = metrics.value(.limitsHit, .limit(.httpConnectionsMax))
            #expect(hitBefore == max(0, count - 64))
            #expect(metrics.value(.connections, .http) == min(count, 64))
            try await self.requireHealth(peer)
            // At the limit it took a place; those that had been idle longest made room.
            if count >= 64 { #expect(metrics.value(.limitsHit, .limit(.httpConnectionsMax)) > hitBefore) }
            if count > 64 {
                let rest = try await onThread { try idle[0].rest() }
                #expect(rest.isEmpty)
            }
            // The newest is served on.
            try await onThread { try idle[count - 1].ask("/healthz", until: "}") }
        }
    }

    @Test func `health answers beside connections that send half a head, or nothing`() async throws {
        var parts = Parts()
        parts.configuration.connectionsMax = 8
        parts.configuration.readersWaitingMax = 4
        parts.configuration.idleTimeout = .seconds(600)
        try await parts.serve { peer in
            let slow = try (0..<50)
                .map { number in
                    let connection = try peer.connect()
                    if number % 2 == 0 { try connection.send("GET /healthz HTTP/1.1\r\nX-Slow: ") }
                    return connection
                }
            try await self.requireHealth(peer)
            try #require(slow.last).send("1\r\nHost: test\r\n\r\n")
        }
    }

    @Test func `a head that trickles in is not waited for longer than idleTimeout`() async throws {
        var parts = Parts()
        parts.configuration.idleTimeout = .milliseconds(300)
        try await parts.serve { [metrics = parts.metrics] peer in
            let connection = try peer.connect()
            try connection.send("GET /healthz HTTP/1.1\r\n")
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    // A server that waits for more would wait for ever.
                    while !Task.isCancelled {
                        try? connection.send("X-Slow: 1\r\n")
                        try? await Task.sleep(for: .milliseconds(20))
                    }
                }
                let rest = try? await onThread { try connection.rest() }
                #expect(rest == [])
                group.cancelAll()
            }
            // Nothing was asked.
            #expect(metrics.value(.httpExchangesCut, .late) == 0)
        }
    }

    @Test func `health answers beside peers that do not read their answers`() async throws {
        var parts = Parts()
        parts.configuration.connectionsMax = 8
        parts.configuration.readersWaitingMax = 4
        parts.configuration.exchangeTimeout = .seconds(600)
        let report = try aReport(titleBytes: 4_000_000)
        parts.books.breaks = [report]
        try await parts.serve { [metrics = parts.metrics] peer in
            // One after the other, so that none of them is turned away as one too many.
            var slow: [HTTPConnection] = []
            for _ in 0..<20 {
                let connection = try peer.connect()
                try connection.send("GET /v1/reports HTTP/1.1\r\nHost: test\r\n\r\n")
                let head = try await onThread { try connection.receive() }
                #expect(!head.isEmpty)
                slow.append(connection)
            }
            try await self.requireHealth(peer)
            #expect(metrics.value(.connections, .http) <= 8 + 1)
            #expect(slow.count == 20)
        }
    }

    @Test func `an answer that is not sent in time ends with its connection`() async throws {
        let barrier = Barrier()
        var parts = Parts()
        parts.books.beforeReport = { await barrier.pass() }
        parts.configuration.exchangeTimeout = .milliseconds(200)
        parts.configuration.idleTimeout = .seconds(3_600)
        try await parts.serve { [metrics = parts.metrics] peer in
            #expect(metrics.value(.httpExchangesCut, .late) == 0)
            let bytes = try await peer.exchange(Array("GET /v1/reports HTTP/1.1\r\nHost: test\r\n\r\n".utf8))
            #expect(bytes.isEmpty)
            #expect(metrics.value(.httpExchangesCut, .late) == 1)
            // Others are answered; on a busy machine not always in so short a time.
            while try await peer.exchange(HTTPPeer.request("/healthz")).isEmpty {}
            barrier.open()
        }
    }

    @Test func `an answer that is sent in time is sent`() async throws {
        let barrier = Barrier()
        var parts = Parts()
        parts.books.beforeReport = { await barrier.pass() }
        parts.configuration.exchangeTimeout = .seconds(600)
        parts.configuration.idleTimeout = .milliseconds(100)
        try await parts.serve { peer in
            async let answer: [UInt8] = {
                // On a busy machine a connection may be idle for so long before its request comes.
                var bytes: [UInt8] = []
                repeat {
                    bytes = try await peer.exchange(HTTPPeer.request("/v1/reports"))
                } while bytes.isEmpty && !barrier.hasSeenCaller
                return bytes
            }()
            await barrier.arrival()
            // Longer than a connection may be idle: this one is not.
            try await Task.sleep(for: .milliseconds(300))
            barrier.open()
            let bytes = try await answer
            #expect(bytes.starts(with: Array("HTTP/1.1 200 ".utf8)))
        }
    }

    @Test func `reports wait for their turn, one more is turned away, and health does not wait`() async throws {
        let barrier = Barrier()
        var parts = Parts()
        parts.books.beforeReport = { await barrier.pass() }
        parts.configuration.readersMax = 1
        parts.configuration.readersWaitingMax = 2
        parts.configuration.exchangeTimeout = .seconds(600)
        try await parts.serve { [metrics = parts.metrics] peer in
            try await withThrowingTaskGroup(of: HTTPPeer.Answer.self) { group in
                // Three fill the place and the queue; of four at once, one is turned away, whichever it is.
                for _ in 0..<4 { group.addTask { try await peer.get("/v1/reports") } }
                let turnedAway = try #require(try await group.next())
                #expect(turnedAway.status == 503)
                #expect(turnedAway.headers["retry-after"] == "1")
                #expect(try turnedAway.decoded(as: ProblemDocument.self).detail.contains("readersWaitingMax is 2"))
                #expect(metrics.value(.limitsHit, .limit(.httpReadersWaitingMax)) == 1)
                await barrier.arrival()
                try await self.requireHealth(peer)
                barrier.open()
                for try await answer in group { #expect(answer.status == 200) }
            }
        }
    }

    @Test func `reports are made on threads of lower priority that do nothing else`() async throws {
        let seen = Mutex<[(name: String, niceness: Int32)]>([])
        let own = getpriority(Int32(PRIO_PROCESS.rawValue), 0)
        var parts = Parts()
        parts.books.beforeReport = {
            let facts = (threadName(), getpriority(Int32(PRIO_PROCESS.rawValue), 0))
            seen.withLock { $0.append(facts) }
        }
        try await parts.serve { peer in
            for path in ["/v1/reports", "/v1/reports/radio1/noon"] { _ = try await peer.get(path) }
        }
        #expect(seen.withLock { $0.map(\.name) } == ["cuecast-reader", "cuecast-reader"])
        #expect(seen.withLock { $0.allSatisfy { $0.niceness == min(19, own + 10) } })
    }

    /// Books of one ad with a title of many bytes.
    private func aReport(titleBytes: Int) throws -> Report.Break {
        let summary = BreakSummary(
            number: BreakNumber(rawValue: 1),
            key: BreakKey(stream: try StreamID("radio1"), id: try BreakID("noon")),
            broadcaster: String(repeating: "x", count: titleBytes),
            published: Parts.now,
            start: nil,
            end: nil,
            cancelled: false,
            expired: false,
            preStream: false,
            advertisements: []
        )
        return Report.Break(summary: summary, sessions: 0, advertisements: [], settled: false)
    }
}

/// The name that the system knows the calling thread by.
private func threadName() -> String {
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return name?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
}
