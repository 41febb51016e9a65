// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayTestKit
import Logging
import TestSupport
import Testing

/// How a gateway stops: what was accepted is answered, what is new is refused.
@Suite(.suiteLimit)
struct DrainTests {
    var station = Station()

    @Test func `accepted requests are answered while new ones are refused`() async throws {
        try await self.station.runByHand { running in
            let listener = try await running.listener()
            let broadcaster = try await running.broadcaster()
            try await broadcaster.publish("b", duration: .seconds(30))
            let batch = try await listener.batch(of: "b")
            try await until("the delivery is recorded") {
                try await !self.station.memory.acknowledgementGroups().isEmpty
            }
            self.station.log.set(.acknowledgements(0), .holding)
            self.station.log.set(.breaks, .holding)
            let acknowledged = try await listener.send(listener.acknowledgement(of: batch, of: "b"))
            let published = try await broadcaster.send(.publication(of: .of("radio2", "accepted")))
            try await until("both are with the log") {
                running.metrics.value(.listenerRequests, .acknowledge) == 1
                    && running.metrics.value(.broadcastRequests, .publish) == 2
            }

            await running.beginShutdown()
            try await until("it is not ready any more") { running.gateway.readiness.missing == [.sockets] }
            for kind in [ListenerRequest.Kind.getTime, try listener.acknowledgement(of: batch, of: "b")] {
                let refusal = try await listener.ask(kind).refusal
                #expect(refusal?.status == .draining)
                #expect(refusal?.status.canRetry == true)
            }
            #expect(try await broadcaster.ask(.list(BroadcastRequest.List())).refusal?.status == .draining)

            self.station.log.set(.breaks, .passing)
            #expect(try await broadcaster.reply(to: published).info?.state == .announced)
            self.station.log.set(.acknowledgements(0), .passing)
            #expect(try await listener.reply(to: acknowledged).body == .acknowledged(recorded: 2))
        }
    }

    @Test func `a log that does not answer holds a stop up for no longer than the drain time-out`() async throws {
        var station = self.station
        station.configuration.drainTimeout = .milliseconds(300)
        let stopped = try await station.runByHand { running in
            let broadcaster = try await running.broadcaster()
            station.log.set(.breaks, .holding)
            _ = try await broadcaster.send(.publication(of: .of("radio1", "never")))
            try await until("it is with the log") { station.log.appendCount(of: .breaks) == 1 }
            return (at: ContinuousClock.now, logs: running.logs)
        }
        // It has ended although the log never answers.
        #expect(ContinuousClock.now - stopped.at >= .milliseconds(300))
        #expect(stopped.logs.messages(.error) == ["stopping before everything was answered"])
        station.log.set(.breaks, .passing)
    }

    @Test func `an idle gateway stops at once, says nothing bad, and its addresses are free again`() async throws {
        var station = self.station
        let (notices, requests, broadcast) = (try HeldPort(), try HeldPort(), try HeldPort())
        station.configuration.notices = notices.endpoint
        station.configuration.requests = requests.endpoint
        station.configuration.broadcast = broadcast.endpoint
        // Descriptors are enough for so many on any machine.
        station.configuration.limits[.listenersMax] = 16
        // What waits for this waits for ever.
        station.configuration.drainTimeout = .seconds(36_000)
        let (endpoints, logs) = try await station.runByHand { running in
            let listener = try await running.listener()
            _ = try await listener.join()
            return (running.endpoints, running.logs)
        }
        #expect(logs.messages(.warning).isEmpty)
        try await station.runByHand { running in
            #expect(running.endpoints == endpoints)
            let joined = try await running.listener().join()
            #expect(joined.kind == .snapshot)
        }
    }

    @Test func `the last answers arrive although the gateway is gone by then`() async throws {
        // The peers outlive the gateway here.
        let network = try PeerNetwork()
        for _ in 0..<20 {
            let (listener, id, acknowledgements) = try await self.station.runByHand { running in
                let listener = try await RawListener.subscribed(
                    to: StreamID("radio1"),
                    at: running.endpoints,
                    in: network
                )
                let broadcaster = try await running.broadcaster()
                try await broadcaster.publish("b", duration: .seconds(300))
                let batch = try await listener.batch(of: "b")
                let acknowledgements = running.metrics.value(.listenerRequests, .acknowledge)
                let id = try await listener.send(listener.acknowledgement(of: batch, of: "b"))
                try await until("it is accepted") { running.metrics.value(.listenerRequests, .acknowledge) == 1 }
                return (listener, id, acknowledgements)
            }
            #expect(acknowledgements == 0)
            #expect(try await listener.reply(to: id).body == .acknowledged(recorded: 2))
            await listener.close()
        }
        await network.stop()
    }
}
