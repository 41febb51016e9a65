// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayTestKit
import LoadEngine
import Testing

/// The measurements against a gateway that runs: nothing lost, nothing refused, everything counted.
@Suite(.serialized, .suiteLimit)
struct GatewayLoadTests {
    /// Runs a gateway, and a measurement on a thread of its own.
    private func measure<Result: Sendable>(
        _ body: @escaping @Sendable (Gateway.Endpoints) throws -> Result
    ) async throws -> (Result, Counted) {
        let log = InMemoryEventLog()
        var configuration = GatewayConfiguration.forTests
        configuration.limits[.requestsPerSessionPerSecondMax] = 0
        configuration.audiences = "load-* join=variant"
        return try await withGateway(configuration: configuration, log: log, ledger: InMemoryLedger()) { running in
            let endpoints = running.endpoints
            let result = try await onThread { try body(endpoints) }
            return (
                result,
                Counted(
                    batches: running.metrics.value(.batches),
                    outcomes: running.metrics.value(.acknowledgedOutcomes)
                )
            )
        }
    }

    /// Measures for 300 ms, or for four times as long again and again until a machine that is busy has got so far.
    private func longerUntil(
        answers: Int,
        _ body: @escaping @Sendable (Duration, Gateway.Endpoints) throws -> RequestsResult
    ) async throws -> (RequestsResult, Counted) {
        var duration = Duration.milliseconds(300)
        while true {
            let measured = duration
            let (result, counted) = try await self.measure { try body(measured, $0) }
            if result.count >= answers { return (result, counted) }
            duration *= 4
        }
    }

    /// The counts of the gateway.
    struct Counted: Sendable {
        let batches: Int
        let outcomes: Int
    }

    @Test(arguments: RequestKind.allCases)
    func `requests of each kind are answered, and every answer is checked`(kind: RequestKind) async throws {
        let (result, counted) = try await self.longerUntil(answers: 1) { duration, endpoints in
            var settings = RequestsSettings(
                requests: try Endpoint(endpoints.requests),
                broadcast: try Endpoint(endpoints.broadcast),
                kind: kind,
                connections: 8
            )
            settings.warmUp = .milliseconds(50)
            settings.duration = duration
            settings.patience = waitMax
            settings.drain = waitMax
            settings.acknowledgementsPerSecondExpected = 500
            return try measureRequests(settings)
        }
        #expect(result.count > 0)
        #expect(result.lost == 0)
        #expect(result.refused == [:])
        #expect(result.latency.p50 > 0 && result.latency.max >= result.latency.p99)
        let reply = try ListenerReply(decoding: result.exchange.reply)
        let request = try ListenerRequest(decoding: result.exchange.request)
        switch (kind, reply.body, request.kind) {
        case (.batch, .batch(let batch), .getBatch): #expect(batch.advertisements.count == 3)
        case (.join, .joined, .join), (.time, .done, .getTime): break
        case (.acknowledge, .acknowledged(let recorded), .acknowledge(let acknowledge)):
            #expect(recorded == 3)
            #expect(acknowledge.outcomes.count == 3)
            #expect(counted.outcomes >= 3 * result.count)
        default: Issue.record("the recorded exchange is of another kind: \(request.kind), \(reply.body)")
        }
        if kind == .batch { #expect(counted.batches >= result.count) }
    }

    @Test(arguments: [1, 32])
    func `sessions ask for the batches of their variants with the tickets that they got`(variants: Int) async throws {
        let (result, counted) = try await self.longerUntil(answers: 1) { duration, endpoints in
            var settings = RequestsSettings(
                requests: try Endpoint(endpoints.requests),
                broadcast: try Endpoint(endpoints.broadcast),
                kind: .batch,
                connections: 600
            )
            settings.variants = variants
            settings.advertisements = 1
            settings.warmUp = .milliseconds(50)
            settings.duration = duration
            settings.patience = waitMax
            settings.drain = waitMax
            return try measureRequests(settings)
        }
        #expect(result.lost == 0 && result.refused == [:] && counted.batches >= result.count)
        let request = try ListenerRequest(decoding: result.exchange.request)
        #expect(!request.ticket.isEmpty)
        let reply = try ListenerReply(decoding: result.exchange.reply)
        guard case .batch(let batch) = reply.body else {
            Issue.record("it is no batch: \(reply.body)")
            return
        }
        #expect(batch.advertisements.count == 1)
    }

    @Test func `a number of variants is refused where it makes no sense`() throws {
        let endpoint = try Endpoint("tcp://127.0.0.1:1")
        for (kind, variants, isBare) in [
            (.batch, 0, false), (.batch, 33, false), (.time, 2, false), (.acknowledge, 2, false), (.batch, 2, true),
        ] as [(RequestKind, Int, Bool)] {
            var settings = RequestsSettings(requests: endpoint, broadcast: endpoint, kind: kind, connections: 1)
            settings.variants = variants
            settings.isBare = isBare
            let error = #expect(throws: LoadError.self) { try measureRequests(settings) }
            #expect(error.map { "\($0)".contains("--variants is 1 to 32") } ?? false, "\(kind) \(variants)")
        }
    }

    @Test(arguments: [true, false])
    func `idle listeners had their notices and batches before they rest`(push: Bool) async throws {
        let (result, counted) = try await self.measure { endpoints in
            var settings = IdleSettings(
                notices: try Endpoint(endpoints.notices),
                requests: try Endpoint(endpoints.requests),
                connections: 20,
                hold: .milliseconds(100)
            )
            settings.push = push
            settings.patience = waitMax
            settings.use = IdleSettings.Use(broadcast: try Endpoint(endpoints.broadcast), notices: 30, requests: 4)
            return try holdIdleListeners(settings) { _ in }
        }
        #expect(result.connections == 20 && result.ended == 0)
        #expect(push || result.pushed == 0)
        #expect(counted.batches == 80)
    }

    @Test func `acknowledgements go on when the deliveries fetched beforehand are used up`() async throws {
        let (result, _) = try await self.longerUntil(answers: 5) { duration, endpoints in
            var settings = RequestsSettings(
                requests: try Endpoint(endpoints.requests),
                broadcast: try Endpoint(endpoints.broadcast),
                kind: .acknowledge,
                connections: 2
            )
            settings.advertisements = 6
            settings.warmUp = .zero
            settings.duration = duration
            settings.patience = waitMax
            settings.drain = waitMax
            settings.acknowledgementsPerSecondExpected = 1
            return try measureRequests(settings)
        }
        #expect(result.deliveriesFetched > 0)
        #expect(result.count > 4)
        #expect(result.lost == 0 && result.refused == [:])
    }

    @Test(arguments: NoticePattern.allCases)
    func `every notice reaches every subscriber`(pattern: NoticePattern) async throws {
        let (result, _) = try await self.measure { endpoints in
            var settings = NoticesSettings(
                notices: try Endpoint(endpoints.notices),
                publisher: .gateway(try Endpoint(endpoints.broadcast)),
                connections: 20,
                pattern: pattern,
                silence: .milliseconds(50)
            )
            settings.rounds = 2
            settings.burst = 100
            settings.patience = waitMax
            settings.roundPatience = waitMax
            return try measureNotices(settings)
        }
        #expect(result.lost == 0 && result.repeated == 0 && result.outOfOrder == 0)
        #expect(result.rounds.map(\.received) == (pattern == .single ? [20, 20] : [2_000, 2_000]))
        #expect(result.noticeBytes > 40)
    }

    @Test func `idle listeners join and stay`() async throws {
        let (result, _) = try await self.measure { endpoints in
            var settings = IdleSettings(
                notices: try Endpoint(endpoints.notices),
                requests: try Endpoint(endpoints.requests),
                connections: 30,
                hold: .milliseconds(100)
            )
            settings.patience = waitMax
            var up = 0
            let result = try holdIdleListeners(settings) { up = $0 }
            #expect(up == 30)
            return result
        }
        #expect(result.ended == 0)
        #expect(result.holdSeconds >= 0.1)
    }

    @Test func `a refused publication is said, and nothing is measured`() async throws {
        let error = await #expect(throws: LoadError.self) {
            _ = try await self.measure { endpoints in
                // The socket of listeners does not know publications.
                var settings = RequestsSettings(
                    requests: try Endpoint(endpoints.requests),
                    broadcast: try Endpoint(endpoints.requests),
                    kind: .batch,
                    connections: 1
                )
                settings.patience = waitMax
                return try measureRequests(settings)
            }
        }
        guard case .unavailable(let sentence) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(sentence.contains("refused"))
    }
}

/// Runs what blocks on a thread of its own: those of a pool run out when many block at once.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Swift.Result { try body() })
        }
    }
}
