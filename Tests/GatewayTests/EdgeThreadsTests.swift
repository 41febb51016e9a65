// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// A gateway with several threads for listeners: one table of leases, groups of several threads, and one stop.
@Suite(.suiteLimit)
struct EdgeThreadsTests {
    private func station(_ threads: Int) -> Station {
        var station = Station()
        station.configuration.edgeThreads = threads
        return station
    }

    /// Listeners of `radio1`, one after the other: their two connections each are handed to the threads in turn.
    private func listeners(
        _ count: Int,
        session: SessionID? = nil,
        at running: RunningGateway
    ) async throws -> [RawListener] {
        var listeners: [RawListener] = []
        for _ in 0..<count {
            listeners.append(try await running.listener(session: session ?? .random()))
        }
        return listeners
    }

    @Test func `a session on connections of several threads is counted once and has one allowance`() async throws {
        var station = self.station(4)
        station.configuration.limits[.requestsPerSessionPerSecondMax] = 4
        try await station.runByHand { running in
            let connections = try await self.listeners(4, session: .random(), at: running)
            // The clock stands: eight at once is all that there is, on whichever connection they come.
            _ = try await connections[0].join()
            var refused = 0
            for number in 0..<12 {
                if try await connections[number % 4].ask(.getTime).refusal?.status == .rateLimited { refused += 1 }
            }
            #expect(refused == 4)
            #expect(running.metrics.value(.listeners) == 1)
            #expect(running.metrics.value(.limitsHit, .limit(.requestsPerSessionPerSecondMax)) == 4)
        }
    }

    @Test func `a session that moves from thread to thread keeps its lease, and gets its batch recorded once`()
        async throws
    {
        let station = self.station(4)
        try await station.runByHand { running in
            let session = SessionID.random()
            let connections = try await self.listeners(4, session: session, at: running)
            try await running.broadcaster().publish("b", duration: .seconds(30))
            for connection in connections {
                _ = try await connection.join()
                _ = try await connection.batch(of: "b")
            }
            #expect(running.metrics.value(.listeners) == 1)
            try await until("the delivery is recorded") {
                try await !station.memory.acknowledgementGroups().isEmpty
            }
            let batch = try await connections[0].batch(of: "b")
            let last = try await connections[0].ask(connections[0].acknowledgement(of: batch, of: "b"))
            #expect(last.body == .acknowledged(recorded: 2))
            #expect(try await station.memory.acknowledgementGroups().flatMap(\.deliveries).map(\.session) == [session])
            #expect(try await connections[3].ask(.leave(connections[3].stream)).body == .done)
            #expect(running.metrics.value(.listeners) == 0)
        }
    }

    @Test func `there are exactly as many listeners as may be, however many join at once`() async throws {
        var station = self.station(4)
        station.configuration.limits[.listenersMax] = 25
        try await station.runByHand { running in
            let listeners = try await self.listeners(40, at: running)
            let joined = try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for listener in listeners {
                    tasks.addTask {
                        let join = ListenerRequest.Join(stream: listener.stream, instance: 0)
                        return try await listener.ask(.join(join)).refusal == nil
                    }
                }
                return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(joined == 25)
            #expect(running.metrics.value(.listeners) == 25)
            #expect(running.metrics.value(.limitsHit, .limit(.listenersMax)) == 15)
        }
    }

    @Test(arguments: [1, 2, 4])
    func `the confirmed outcomes of every thread are durable, and the books balance`(threads: Int) async throws {
        let station = self.station(threads)
        try await station.runByHand { running in
            let listeners = try await self.listeners(24, at: running)
            try await running.broadcaster().publish("b", duration: .seconds(30))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for listener in listeners {
                    tasks.addTask {
                        _ = try await listener.join()
                        let batch = try await listener.batch(of: "b")
                        let request = try listener.acknowledgement(of: batch, of: "b")
                        #expect(try await listener.ask(request).body == .acknowledged(recorded: 2))
                        let recorded = try await station.memory.acknowledgementGroups().flatMap(\.requests)
                            .compactMap { try? ListenerRequest(decoding: $0.request).session }
                        #expect(recorded.contains(listener.session), "it is durable before it is confirmed")
                    }
                }
                try await tasks.waitForAll()
            }
            let totals = try await running.books { $0.total.played == 48 }.total
            #expect(totals.delivered == 48)
            #expect(totals.ignored == 0 && totals.failed == 0 && totals.repeats == 0)
            #expect(running.metrics.value(.noticesSent) == 1)
        }
    }

    @Test func `the waiting requests are limited for all threads together`() async throws {
        var station = self.station(2)
        station.configuration.limits[.acknowledgementsWaitingMax] = 3
        station.configuration.limits[.rememberedOutcomesMax] = 0
        try await station.runByHand { running in
            let listeners = try await self.listeners(8, at: running)
            try await running.broadcaster().publish("b", duration: .seconds(30))
            var requests: [ListenerRequest.Kind] = []
            for listener in listeners {
                requests.append(try listener.acknowledgement(of: try await listener.batch(of: "b"), of: "b"))
            }
            try await until("the deliveries are recorded") {
                try await station.memory.acknowledgementGroups().reduce(0) { $0 + $1.deliveries.count } == 8
            }
            station.log.set(.acknowledgements(0), .holding)
            let before = station.log.appendCount(of: .acknowledgements(0))
            // Each of the two threads hands one group to the log; three more may wait for the two together.
            var waiting: [(RawListener, UInt64)] = []
            var refused = 0
            for (listener, request) in zip(listeners, requests) {
                let id = try await listener.send(request)
                try await until("it waits or is refused") {
                    running.metrics.value(.acknowledgementsWaiting) == waiting.count + 1
                        || running.metrics.value(.limitsHit, .limit(.acknowledgementsWaitingMax)) == refused + 1
                }
                if running.metrics.value(.limitsHit, .limit(.acknowledgementsWaitingMax)) > refused {
                    refused += 1
                    #expect(try await listener.reply(to: id).refusal == .logBehind)
                } else {
                    waiting.append((listener, id))
                }
            }
            let handed = station.log.appendCount(of: .acknowledgements(0)) - before
            #expect((1...2).contains(handed))
            #expect(waiting.count == handed + 3)
            station.log.set(.acknowledgements(0), .passing)
            for (listener, id) in waiting {
                #expect(try await listener.reply(to: id).body == .acknowledged(recorded: 2))
            }
        }
    }

    @Test func `a stop answers what waits on every thread`() async throws {
        let station = self.station(4)
        try await station.runByHand { running in
            let listeners = try await self.listeners(8, at: running)
            try await running.broadcaster().publish("b", duration: .seconds(30))
            var requests: [ListenerRequest.Kind] = []
            for listener in listeners {
                requests.append(try listener.acknowledgement(of: try await listener.batch(of: "b"), of: "b"))
            }
            try await until("the deliveries are recorded") {
                try await station.memory.acknowledgementGroups().reduce(0) { $0 + $1.deliveries.count } == 8
            }
            station.log.set(.acknowledgements(0), .holding)
            var sent: [UInt64] = []
            for (listener, request) in zip(listeners, requests) { sent.append(try await listener.send(request)) }
            try await until("all are accepted") {
                running.metrics.value(.acknowledgementsWaiting) == listeners.count
            }
            await running.beginShutdown()
            try await until("it is not ready any more") { running.gateway.readiness.missing == [.sockets] }
            for listener in listeners {
                #expect(try await listener.ask(.getTime).refusal?.status == .draining)
            }
            station.log.set(.acknowledgements(0), .passing)
            for (listener, id) in zip(listeners, sent) {
                #expect(try await listener.reply(to: id).body == .acknowledged(recorded: 2))
            }
        }
    }

    // MARK: - The table of leases

    @Test func `the table keeps the number of sessions, of all and of each stream, through whatever comes`()
        async throws
    {
        let metrics = MetricRegistry()
        let live = LiveListeners(metrics: metrics)
        let table = SharedLeases(length: .seconds(300), listenersMax: 500, requestsPerSecondMax: 0, live: live)
        let streams = try (0..<5).map { try StreamID("radio\($0)") }
        let sessions = (0..<2_000).map { _ in SessionID.random() }
        let now = Timestamp(microseconds: 1_000_000)
        await withTaskGroup(of: Void.self) { tasks in
            for worker in 0..<4 {
                tasks.addTask {
                    for (number, session) in sessions.enumerated() {
                        _ = table.renew(session, stream: streams[(number + worker) % 5], at: now, mayBegin: true)
                        #expect(table.count <= 500)
                        if number % 3 == worker { table.end(session) }
                    }
                }
            }
        }
        #expect(live.counts.values.reduce(0, +) == table.count)
        #expect(metrics.value(.listeners) == table.count)
        #expect(streams.reduce(0) { $0 + table.count(of: $1) } == table.count)
        table.expire(at: now + .seconds(300))
        #expect(table.count == 0)
        #expect(live.counts.isEmpty)
    }

    @Test func `a lease without a subject does not evade the sessions of a subject in the table either`() throws {
        let live = LiveListeners(metrics: MetricRegistry())
        let table = SharedLeases(length: .seconds(300), listenersMax: 100, requestsPerSecondMax: 0, live: live)
        let now = Timestamp(microseconds: 0)
        func owner(_ subject: String) throws -> LeaseOwner {
            let ticket = SessionTicket(session: .numbered(0), stream: .radio, subject: subject, sessionsMax: 2)
            return try #require(LeaseOwner(ticket))
        }
        for subject in ["one", "two"] {
            var given = 0
            for number in 0..<20 as Range<UInt64> {
                _ = table.renew(.numbered(number), stream: .radio, at: now, mayBegin: true)
                if table.renew(.numbered(number), stream: .radio, owner: try owner(subject), at: now, mayBegin: true)
                    .isGiven
                {
                    given += 1
                }
            }
            #expect(given == 2, "\(subject)")
        }
        // Both of the first subject are the second one's now, and its places are free.
        #expect(table.renew(.numbered(19), stream: .radio, owner: try owner("one"), at: now, mayBegin: true).isGiven)
        for number in 0..<20 as Range<UInt64> { table.end(.numbered(number)) }
        #expect(table.renew(.numbered(30), stream: .radio, owner: try owner("two"), at: now, mayBegin: true) == .begun)
        #expect(table.count == 1 && live.total == 1)
    }

    @Test func `an expired session frees a place in the table, wherever it was`() {
        let live = LiveListeners(metrics: MetricRegistry())
        let table = SharedLeases(length: .seconds(300), listenersMax: 3, requestsPerSecondMax: 0, live: live)
        let at = { (seconds: Int) in Timestamp(microseconds: Int64(seconds) * 1_000_000) }
        func renew(_ low: UInt64, _ seconds: Int, mayBegin: Bool = true) -> LeaseRenewal {
            table.renew(.numbered(low), stream: .radio, at: at(seconds), mayBegin: mayBegin)
        }
        for number in 1...3 as ClosedRange<UInt64> { #expect(renew(number, Int(number)) == .begun) }
        #expect(renew(4, 4) == .full)
        #expect(renew(1, 4) == .renewed)
        #expect(renew(4, 4, mayBegin: false) == .notAllowed)
        #expect(renew(4, 301) == .full)
        #expect(renew(4, 302) == .begun)
        #expect(renew(5, 302) == .full)
        table.setLimits(listenersMax: 4, requestsPerSecondMax: 1)
        #expect(renew(5, 302) == .begun)
        #expect(table.count == 4)
        for isAllowed in [true, true, false] { #expect(table.allows(.numbered(5), at: at(302)) == isAllowed) }
    }
}

extension SessionID {
    fileprivate static func numbered(_ low: UInt64) -> SessionID { SessionID(high: 0, low: low) }
}

extension StreamID {
    fileprivate static var radio: StreamID {
        guard let stream = try? StreamID("radio1") else { preconditionFailure("it is a name of a stream") }
        return stream
    }
}
