// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Dispatch
import Foundation
import Gateway
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

/// A request is decided on the board that is newest then: a listener with a notice finds its break, however busy the gateway is.
@Suite(.suiteLimit)
struct NewestBoardTests {
    /// A clock that stands still, and lets the thread of the listeners stop in the middle of a pass.
    private final class StoppingClock: GatewayClock {
        private let time = SystemClock().now()
        private let isArmed = Atomic<Bool>(false)
        let stopped = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)

        /// The thread of the listeners stops when it reads the clock for a request next.
        func arm() { self.isArmed.store(true, ordering: .releasing) }

        func now() -> Timestamp {
            if self.isArmed.load(ordering: .acquiring), Self.isListenersThread,
                self.isArmed.exchange(false, ordering: .acquiringAndReleasing)
            {
                self.stopped.signal()
                self.goOn.wait()
            }
            return self.time
        }

        private static var isListenersThread: Bool {
            (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) == "cuecast-edge-1\n"
        }
    }

    @Test func `a break that is announced while a pass lasts is found by the rest of the pass`() async throws {
        let memory = InMemoryEventLog()
        let log = ControlledLog(memory)
        let clock = StoppingClock()
        var configuration = GatewayConfiguration.forTests
        // The thread that stops is the one that the listener is served by.
        configuration.edgeThreads = 1
        try await withGateway(configuration: configuration, log: log, ledger: InMemoryLedger(), clock: clock) {
            running in
            let listener = try await running.listener()
            _ = try await listener.join()
            let broadcaster = try await running.broadcaster()
            let key = try BreakKey.of("radio1", "b")
            log.set(.breaks, .holding)
            _ = try await broadcaster.send(.publication(of: key, start: .now))
            try await until("the log has the publication") { log.appendCount(of: .breaks) == 1 }

            clock.arm()
            let first = try await listener.send(.getTime)
            await withCheckedContinuation { continuation in
                DispatchQueue.global()
                    .async {
                        clock.stopped.wait()
                        continuation.resume()
                    }
            }
            let second = try await listener.send(.getBatch(ListenerRequest.GetBatch(key: key)))
            log.set(.breaks, .passing)
            try await until("the board has it") { running.board[key]?.record != nil }
            clock.goOn.signal()

            #expect(try await listener.reply(to: first).body == .done)
            guard case .batch(let batch) = try await listener.reply(to: second).body else {
                Issue.record("a listener with the notice of a break must get its batch")
                return
            }
            #expect(batch.advertisements.count == 1)
        }
    }
}
