// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Dispatch
import GatewayCore
import GatewayDocuments
import GatewayTestKit
import Synchronization
import Testing

@testable import Gateway

/// The clock's service under reads and commands at the same time.
@Suite(.suiteLimit)
struct ClockServiceTests {
    @Test func `a look that was held up shows nothing over what a command has shown since`() async throws {
        let clocks = HandClocks()
        let hook: Mutex<(@Sendable () -> Void)?> = Mutex(nil)
        let sources = ClockSources(
            monotonic: clocks.sources.monotonic,
            wall: {
                let wall = clocks.wall
                // Who looks has seen the wall clock, and is held up.
                hook.withLock { $0.take() }?()
                return wall
            }
        )
        let readiness = ReadinessBoard()
        let retention = RetentionGate()
        let commands = ControlCommands()
        let service = ClockService(
            clock: SteeredClock(sources: sources),
            retentionTime: { nil },
            retention: retention,
            metrics: MetricRegistry(),
            readiness: readiness,
            logger: LogCapture().logger
        )
        service.register(in: commands)
        service.observe()
        #expect(readiness.alarms.isEmpty && retention.isOpen)

        let (steps, sink) = AsyncStream.makeStream(
            of: Task<[String: JSONValue], any Error>.self,
            bufferingPolicy: .bufferingOldest(1)
        )
        hook.withLock { hook in
            hook = {
                clocks.setWall(by: .seconds(401 * 86_400))
                let done = DispatchSemaphore(value: 0)
                sink.yield(
                    Task {
                        defer { done.signal() }
                        return try await commands.perform("clock.step", [:])
                    }
                )
                // The command is done meanwhile, or it waits for its turn; which of them cannot be observed.
                _ = done.wait(timeout: .now() + .milliseconds(200))
            }
        }
        service.observe()
        var iterator = steps.makeAsyncIterator()
        let stepped = try await #require(await iterator.next()).value
        #expect(stepped["state"] == "following")
        #expect(stepped["retention"] == "frozen")
        // The look from before the command would open the gate, and call the clocks apart.
        #expect(readiness.alarms.map(\.alarm) == ["retention"])
        #expect(!retention.isOpen)
    }
}
