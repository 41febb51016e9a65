// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Dispatch
import GatewayCore
import GatewayTestKit
import Logging
import ServiceLifecycle
import Testing

@testable import Gateway

@Suite(.suiteLimit)
struct TokenChecksTests {
    private static let now = Timestamp(microseconds: 1_700_000_000_000_000)

    /// Grants what says `true`.
    private static func checks(waitingMax: Int = TokenChecks.tokenChecksWaitingMax) -> TokenChecks {
        TokenChecks(
            waitingMax: waitingMax,
            now: { Self.now },
            check: { token, now in
                token == "true"
                    ? .success(ListenerGrant(subject: token, streams: [.every], until: now))
                    : .failure(Refusal(.notAllowed, token))
            }
        )
    }

    @Test func `as many tokens wait as the limit says, the next is refused, and all that wait are answered in order`()
        async throws
    {
        let checks = Self.checks(waitingMax: 3)
        let (answers, sink) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(10))
        for token in ["one", "true", "three"] {
            #expect(
                checks.submit(token) { result in
                    switch result {
                    case .success(let grant): sink.yield("\(grant.subject) until \(grant.until)")
                    case .failure(let refusal): sink.yield(refusal.sentence)
                    }
                }
            )
        }
        #expect(!checks.submit("four") { _ in sink.yield("four") })
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        let group = ServiceGroup(services: [checks], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = answers.makeAsyncIterator()
            for expected in ["one", "true until \(Self.now)", "three"] {
                #expect(await iterator.next() == expected)
            }
            // There is room again, and after the stop there is none.
            #expect(checks.submit("five") { _ in sink.yield("five") })
            #expect(await iterator.next() == "five")
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(!checks.submit("six") { _ in sink.yield("six") })
    }

    @Test func `a second join of a connection is refused while the token of its first is checked`() async throws {
        let mayAnswer = DispatchSemaphore(value: 0)
        // Whatever is still checked when a demand has failed.
        defer { for _ in 0..<3 { mayAnswer.signal() } }
        let check: ListenerTokenCheck = { token, now in
            mayAnswer.wait()
            return .success(ListenerGrant(subject: token, streams: [.every], until: now + .seconds(3_600)))
        }
        var configuration = GatewayConfiguration.forTests
        configuration.protectedStreams = [.every]
        try await withGateway(
            configuration: configuration,
            log: InMemoryEventLog(),
            ledger: InMemoryLedger(),
            tokens: check
        ) { running in
            let stream = try StreamID("radio1")
            let listener = try await RawListener(
                of: stream,
                at: running.endpoints,
                session: .random(),
                in: running.network
            )
            let join = ListenerRequest.Kind.join(.init(stream: stream, instance: 0, token: "true", push: true))
            let first = try await listener.send(join)
            let second = try await listener.ask(join)
            #expect(second.refusal?.status == .limitReached)
            #expect(second.refusal?.retryAfter == TokenChecks.retryAfter)
            #expect(running.metrics.value(.limitsHit, .limit(.tokenChecksWaitingMax)) == 1)
            mayAnswer.signal()
            #expect(try await listener.reply(to: first).refusal == nil)
            // There is room again.
            mayAnswer.signal()
            #expect(try await listener.ask(join).refusal == nil)
        }
    }
}
