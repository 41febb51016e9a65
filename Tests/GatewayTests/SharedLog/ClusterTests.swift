// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Gateways with sockets on one log far away, which speak with each other on a bus far away.
@Suite(.suiteLimit)
struct ClusterTests {
    private let server = FarServer(.calm)
    private let exchange: FarExchange

    /// A busy machine takes no gateway for gone: one that leaves says so, and that is not lost.
    init() { self.exchange = FarExchange(.late, seed: SeededGenerator.seed) }

    /// Runs one gateway of the cluster.
    private func run(
        rules: UInt32 = FoldRules.newest,
        keys: MessageKeys = .fixed,
        clock: any GatewayClock = SystemClock(),
        bus: FarBus? = nil,
        goneAfter: Duration = TestPatience.condition,
        late: LogLateness.Bounds = LogLateness.Bounds(),
        holding held: Held? = nil,
        changing change: (@Sendable (LoggedRecord) -> LoggedRecord)? = nil,
        _ body: (RunningGateway) async throws -> Void
    ) async throws {
        let far = self.server.connect()
        let log = try await WriterLog(over: far, settledAfter: .milliseconds(50))
        let changed: any EventLog = change.map { ChangedLog(base: log, change: $0) } ?? log
        let read: any EventLog = held.map { ChangedLog(base: changed, held: $0) } ?? changed
        // A board that is another one is no snapshot for others.
        let snapshots: any SnapshotStore = change == nil ? far : InMemoryEventLog()
        var configuration = GatewayConfiguration.forTests
        configuration.beatInterval = .milliseconds(50)
        configuration.gatewayGoneAfter = goneAfter
        configuration.gatewayLate = late
        configuration.rulesKnown = rules
        try await withGateway(
            configuration: configuration,
            parts: LogParts(log: read, snapshots: snapshots, watermarks: far, maintenance: nil),
            ledger: InMemoryLedger(),
            keys: keys,
            clock: clock,
            bus: GatewayBusParts(bus: bus ?? self.exchange.connect(), writer: log.writer, version: "test"),
            body
        )
    }

    private func sentence(of alarm: Alarm, at running: RunningGateway) -> String? {
        running.gateway.readiness.alarms.first { $0.alarm == alarm.rawValue }?.sentence
    }

    @Test func `gateways know each other, and size windows for the listeners of all`() async throws {
        try await self.run { one in
            let stream = try StreamID("radio1")
            func expected() -> Int {
                one.gateway.breakDesk.tools.forecast.count(of: stream, at: SystemClock().reading().steady)
            }
            let here = try await one.listener()
            _ = try await here.join()
            try await self.run { other in
                let there = [try await other.listener(), try await other.listener()]
                for each in there { _ = try await each.join() }
                for running in [one, other] {
                    try await until("they know each other") { running.metrics.value(.gateways) == 2 }
                }
                try await until("all are counted") { expected() == 3 }
                // Lists, `top` and the dashboard show those of all; a stream that is heard elsewhere only is in the list, too.
                for running in [one, other] {
                    try await until("the overview has all") {
                        running.gateway.overview.listenerCount == 3
                            && running.gateway.overview.listenerCount(of: stream) == 3
                            && running.gateway.overview.streamIDs == [stream]
                    }
                }
                #expect(one.gateway.overview.ownListenerCount == 1 && other.gateway.overview.ownListenerCount == 2)
                // Leases stay where they are.
                #expect(one.metrics.value(.listeners) == 1 && other.metrics.value(.listeners) == 2)
                for running in [one, other] { #expect(running.gateway.readiness.alarms.isEmpty) }
                try await one.broadcaster().publish("b", duration: .seconds(30))
                try await until("it is announced") { other.metrics.value(.notifiedListeners) == 2 }
                try await until("each counts its own") { one.metrics.value(.notifiedListeners) == 1 }
            }
            try await until("the other has gone") { one.metrics.value(.gateways) == 1 }
            #expect(expected() == 1 && one.gateway.overview.listenerCount == 1)
        }
    }

    @Test func `a gateway that is heard no more has gone, and comes back`() async throws {
        let bus = self.exchange.connect()
        try await self.run(goneAfter: .seconds(1)) { one in
            try await self.run(bus: bus) { _ in
                try await until("it is heard") { one.metrics.value(.gateways) == 2 }
                self.exchange.cut(bus)
                try await until("it has gone") { one.metrics.value(.gateways) == 1 }
                self.exchange.mend(bus)
                try await until("it is heard again") { one.metrics.value(.gateways) == 2 }
            }
        }
    }

    @Test func `gateways on a bus that loses much announce each break once`() async throws {
        self.exchange.set(.stormy)
        let clock = ManualClock()
        try await self.run(clock: clock) { one in
            try await self.run(clock: clock) { other in
                for running in [one, other] {
                    try await until("they know each other") { running.metrics.value(.gateways) == 2 }
                }
                let desks = [one, other].map(\.gateway.breakDesk)
                for desk in desks {
                    try await until("they take turns") { await desk.peers.appending.count == 1 }
                }
                let broadcaster = try await one.broadcaster()
                for number in 0..<20 {
                    try await broadcaster.publish("b", of: "radio\(number)", start: .after(.seconds(60)))
                }
                try await until("both have them") { other.board.breakCount == 20 && one.board.breakCount == 20 }
                clock.advance(by: .seconds(52))
                for running in [one, other] {
                    try await until("all are announced, each by the first of its ranks") {
                        running.board.sortedStreams.count == 20
                            && running.board.sortedStreams.allSatisfy { $0.sequence == 1 }
                    }
                }
            }
        }
    }

    @Test func `rules that only one gateway knows are not used, and are when all know them`() async throws {
        let newer = FoldRules.newest + 1
        try await self.run(rules: newer) { one in
            try await self.run { old in
                try await until("the newer one is sure of whom it hears") {
                    await one.gateway.breakDesk.peers.rules == [FoldRules.newest]
                }
                try await one.broadcaster().publish("b1", start: nil, hold: .seconds(600))
                try await old.broadcaster().publish("b2", of: "radio2", start: nil, hold: .seconds(600))
                try await until("both have them") { one.board == old.board && old.board.breakCount == 2 }
                #expect(one.board.rules == FoldRules.newest)
            }
            try await self.run(rules: newer) { other in
                for running in [one, other] {
                    try await until("the newer rules are used") { running.board.rules == newer }
                }
                try await other.broadcaster().publish("b3", of: "radio3", start: nil, hold: .seconds(600))
                try await until("both have it") { one.board == other.board && one.board.breakCount == 3 }
            }
            let activations = try self.server.everything(in: .breaks)
                .flatMap { try BreakGroup(decoding: $0.bytes).entries }
                .filter { if case .rules = $0.kind { true } else { false } }
            // A repeat would be harmless.
            #expect(Set(activations.map(\.kind)) == [.rules(newer)])
            // The old program refuses to start on them.
            let error = await #expect(throws: WireError.self) {
                try await self.run { _ in Issue.record("it started") }
            }
            #expect(error.map { "\($0)" }?.contains("version \(newer)") ?? false)
        }
    }

    @Test func `an old gateway that was not heard confirms nothing from the newer rules on, and says why`() async throws
    {
        let newer = FoldRules.newest + 1
        let bus = self.exchange.connect()
        self.exchange.cut(bus)
        let error = await #expect(throws: WireError.self) {
            try await self.run(bus: bus) { old in
                try await self.run(rules: newer) { one in
                    try await until("the newer rules are used") { one.board.rules == newer }
                    try await until("the old one stops") { old.gateway.readiness.failure != nil }
                    #expect(old.gateway.readiness.failure?.contains("a newer program is needed") ?? false)
                    #expect(old.gateway.readiness.missing.contains(.board))
                    #expect(old.board.rules == FoldRules.newest)
                    // Nothing of it comes into the board of the old one any more.
                    try await one.broadcaster().publish("b", start: nil, hold: .seconds(600))
                    #expect(old.board.breakCount == 0)
                }
            }
        }
        #expect(error.map { "\($0)" }?.contains("version \(newer)") ?? false)
    }

    @Test func `a gateway that hears no one, not even itself, activates nothing`() async throws {
        let bus = self.exchange.connect()
        self.exchange.cut(bus)
        try await self.run(rules: FoldRules.newest + 1, bus: bus) { one in
            // Twice as long as it takes to be sure of whom it hears.
            try await until("it has spoken for long") { one.metrics.value(.gatewayBeats, .sent) >= 200 }
            #expect(await one.gateway.breakDesk.peers == .unknown)
            #expect(one.board.rules == FoldRules.newest)
            self.exchange.mend(bus)
            try await until("the newer rules are used") { one.board.rules == FoldRules.newest + 1 }
        }
    }

    @Test func `a board that was made otherwise of the same records is an alarm that names the stream`() async throws {
        // One gateway reads another duration than is written.
        @Sendable func change(_ record: LoggedRecord) -> LoggedRecord {
            guard var group = try? BreakGroup(decoding: record.bytes) else { return record }
            for place in group.entries.indices {
                guard case .publish(var publish) = group.entries[place].kind,
                    publish.request.key.stream.description == "radio2"
                else { continue }
                publish.request.duration = .seconds(21)
                group.entries[place].kind = .publish(publish)
            }
            return LoggedRecord(
                offset: record.offset,
                previous: record.previous,
                bytes: group.encoded(),
                mark: record.mark
            )
        }
        try await self.run { one in
            try await self.run(changing: change) { other in
                let broadcaster = try await one.broadcaster()
                for number in 1...3 {
                    try await broadcaster.publish("b", of: "radio\(number)", start: nil, hold: .seconds(600))
                }
                try await until("both have them") { one.board.breakCount == 3 && other.board.breakCount == 3 }
                try await self.keepHouse()
                for running in [one, other] {
                    try await until("the alarm names the stream") {
                        self.sentence(of: .boardsDiffer, at: running)?.contains("first in the stream radio2") ?? false
                    }
                    #expect(running.metrics.value(.alarm, .alarm(.boardsDiffer)) == 1)
                    #expect(running.gateway.readiness.missing.isEmpty)
                }
            }
            try await until("the alarm ends with the other one") {
                self.sentence(of: .boardsDiffer, at: one) == nil
            }
        }
    }

    @Test func `boards that were made of the same records are no alarm`() async throws {
        try await self.run { one in
            try await one.broadcaster().publish("b", start: nil, hold: .seconds(600))
            try await self.run { other in
                try await self.keepHouse()
                for running in [one, other] {
                    let cluster = running.gateway.cluster
                    try await until("the digest is made") { !(cluster?.withLock { $0.boards.marks.isEmpty } ?? true) }
                }
                let marks = [one, other].map { $0.gateway.cluster?.withLock(\.boards.marks) }
                #expect(marks[0]?.first == marks[1]?.first)
                #expect(self.sentence(of: .boardsDiffer, at: one) == nil)
            }
        }
    }

    /// Another writer of the log appends a record of housekeeping.
    private func keepHouse() async throws {
        let log = try await WriterLog(over: self.server.connect(), settledAfter: .milliseconds(50))
        let entry = BreakEntry(at: SystemClock().now(), kind: .housekeeping(SystemClock().now()))
        _ = try await log.append(BreakGroup(entries: [entry]).encoded(), to: .breaks)
        await log.close()
    }

    @Test func `other signing keys are an alarm at both, until they are the same`() async throws {
        let keys = MessageKeys(.make(at: SystemClock().now()))
        try await self.run { one in
            try await self.run(keys: keys) { other in
                for running in [one, other] {
                    try await until("it is told") {
                        self.sentence(of: .signingKeysDiffer, at: running)?
                            .contains(keys.ring.signing.id.description) ?? false
                    }
                }
                other.gateway.keys.swap(.fixed)
                for running in [one, other] {
                    try await until("it is over") { self.sentence(of: .signingKeysDiffer, at: running) == nil }
                }
            }
        }
    }

    @Test func `a clock that is far off is an alarm at both`() async throws {
        let late = ShiftedClock(by: .seconds(-3))
        try await self.run { one in
            try await self.run(clock: late) { other in
                for (running, direction) in [(one, "behind"), (other, "ahead of")] {
                    try await until("it is told") {
                        self.sentence(of: .gatewayClocksDiffer, at: running)?.contains(direction) ?? false
                    }
                    #expect(running.metrics.value(.gatewayClockDifferenceSeconds) > 50_000)
                }
            }
        }
    }

    @Test func `a question reaches all on a bus that loses much, and those that do not answer are named`() async throws
    {
        self.exchange.set(.stormy)
        let bus = self.exchange.connect()
        try await self.run { one in
            try await self.run { other in
                try await self.run(bus: bus) { third in
                    for running in [one, other, third] {
                        try await until("they know each other") { running.metrics.value(.gateways) == 3 }
                    }
                    let questions = try [one, other, third].map { try #require($0.gateway.questions) }
                    let asked = Counter()
                    questions[1]
                        .register("double") { body in
                            asked.add()
                            return body + body
                        }
                    questions[2].register("double") { _ in throw EventLogError.closed }
                    self.exchange.set(.late)
                    let all = try await questions[0].ask("double", [1, 2])
                    #expect(all.missing == [] && all.answered.count == 2)
                    let contents = Dictionary(uniqueKeysWithValues: all.answered.map { ($0.gateway, $0.content) })
                    #expect(contents[other.gateway.instance] == .body([1, 2, 1, 2]))
                    #expect(contents[third.gateway.instance] == .refusal("\(EventLogError.closed)"))
                    #expect(asked.count >= 1)
                    // One that does not know the question says so.
                    let unknown = try await questions[1].ask("unknown", [])
                    #expect(
                        unknown.answered.count == 2
                            && unknown.answered.allSatisfy { if case .refusal = $0.content { true } else { false } }
                    )
                    self.exchange.cut(bus)
                    let some = try await questions[0].ask("double", [3])
                    #expect(some.answered.map(\.content) == [.body([3, 3])])
                    #expect(
                        some.missing == [
                            GatewayBeat.name(of: third.gateway.instance) + " at \(third.gateway.endpoints.requests)"
                        ]
                    )
                    self.exchange.mend(bus)
                }
            }
            try await until("they have gone") { one.metrics.value(.gateways) == 1 }
            let alone = try #require(one.gateway.questions)
            let none = try await alone.ask("double", [])
            #expect(none.answered.isEmpty && none.missing.isEmpty)
        }
    }

    @Test(arguments: [1, LimitName.answersUnderWayMax.value])
    func `so many questions are answered at one time, and one more when it is repeated`(most: Int) async throws {
        let exchange = FarExchange()
        let (bus, asking) = (exchange.connect(), exchange.connect())
        let metrics = MetricRegistry()
        let common = CommonParts(clock: SystemClock(), metrics: metrics, logger: Logger(label: "test"))
        let cluster = ClusterHolder(GatewayCluster(own: common.instance), own: LiveListeners(metrics: metrics))
        let questions = ClusterQuestions(bus: bus, cluster: cluster, underWayMax: most, common: common)
        let (begun, held) = (Counter(), Held())
        held.isHeld.store(true, ordering: .relaxed)
        questions.register("slow") { body in
            begun.add()
            try await until("it may answer") { !held.isHeld.load(ordering: .relaxed) }
            return body
        }
        let running = Task { try await questions.run() }
        let asker = common.instance ^ 1
        func ask(_ number: Int) async {
            let question = GatewayQuestion(gateway: asker, number: UInt64(number), kind: "slow", body: [])
            await asking.publish(question.encoded(), on: BusSubject.questions)
        }
        func answered() -> Set<UInt64> {
            let answers = exchange.published.filter { $0.subject == BusSubject.answers(to: asker) }
            return Set(answers.compactMap { try? GatewayAnswer(decoding: $0.bytes).number })
        }
        // The service may not listen yet: a question is repeated, as gateways do it.
        try await until("as many as may be are under way") {
            for number in 1...most { await ask(number) }
            return begun.count == most
        }
        #expect(metrics.value(.limitsHit, .limit(.answersUnderWayMax)) == 0)
        await ask(most + 1)
        try await until("one more is not begun") { metrics.value(.limitsHit, .limit(.answersUnderWayMax)) == 1 }
        #expect(begun.count == most && answered().isEmpty)
        held.isHeld.store(false, ordering: .relaxed)
        try await until("all are answered") { answered().count == most }
        try await until("it is answered, too") {
            await ask(most + 1)
            return answered().contains(UInt64(most + 1))
        }
        running.cancel()
        try await running.value
    }

    @Test func `a gateway that reads the log late is an alarm at both, until it has caught up`() async throws {
        let held = Held()
        let bounds = LogLateness.Bounds(after: .milliseconds(300))
        try await self.run(late: bounds) { one in
            try await self.run(late: bounds, holding: held) { other in
                for running in [one, other] {
                    try await until("they know each other") { running.metrics.value(.gateways) == 2 }
                }
                held.isHeld.store(true, ordering: .relaxed)
                try await one.broadcaster().publish("b", start: nil, hold: .seconds(600))
                try await until("it is told") {
                    self.sentence(of: .gatewayLate, at: one)?.hasPrefix("The gateway") ?? false
                }
                try await until("the late one says it, too") {
                    self.sentence(of: .gatewayLate, at: other)?.hasPrefix("This gateway") ?? false
                }
                #expect(other.metrics.value(.gatewayLateRecords) > 0 && one.metrics.value(.gatewayLateRecords) == 0)
                #expect(other.metrics.value(.gatewayLateSeconds) > 300_000)
                #expect(one.metrics.value(.limitsHit, .limit(.gatewayLateAfter)) >= 1)
                held.isHeld.store(false, ordering: .relaxed)
                for running in [one, other] {
                    try await until("it is over") { self.sentence(of: .gatewayLate, at: running) == nil }
                }
            }
        }
    }

    @Test func `a gateway that has its log for itself says nothing to anyone`() async throws {
        try await withGateway(log: InMemoryEventLog(), ledger: InMemoryLedger()) { running in
            try await running.broadcaster().publish("b", start: nil, hold: .seconds(600))
            #expect(running.metrics.value(.gateways) == 0 && running.metrics.value(.gatewayBeats, .sent) == 0)
            #expect(running.gateway.cluster == nil)
            #expect(await running.gateway.breakDesk.peers == .none)
        }
    }
}

/// How often something happened.
private final class Counter: Sendable {
    private let number = Atomic(0)
    func add() { self.number.add(1, ordering: .relaxed) }
    var count: Int { self.number.load(ordering: .relaxed) }
}

/// Whether a gateway gets no records of breaks for now.
private final class Held: Sendable {
    let isHeld = Atomic(false)
}

/// A log of which one gateway reads something else than is written, or reads it later.
private struct ChangedLog: EventLog {
    let base: any EventLog
    var change: @Sendable (LoggedRecord) -> LoggedRecord = { $0 }
    var held: Held?

    var identity: LogIdentity { self.base.identity }

    func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
    ) { self.base.append(record, id: id, to: lane, done: done) }

    func read(
        _ lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> [LoggedRecord] {
        let records = try await self.base.read(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax)
        while lane == .breaks, let held, held.isHeld.load(ordering: .relaxed) {
            guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { throw .closed }
        }
        return lane == .breaks ? records.map(self.change) : records
    }

    func head(of lane: Lane) async throws(EventLogError) -> UInt64 { try await self.base.head(of: lane) }

    func stopped() async -> String? { await self.base.stopped() }

    func close() async { await self.base.close() }
}

/// The machine's clock, and so much.
private struct ShiftedClock: GatewayClock {
    let by: Duration

    func now() -> Timestamp { SystemClock().now() + self.by }
}
