// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayDocuments
import GatewayTestKit
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The audit: every entrance, performed and refused changes, and a failure to keep them.
@Suite(.suiteLimit)
struct AuditTrailTests {
    private let station = Station()
    private let audit = InMemoryAudit()

    private func run(
        _ configuration: GatewayConfiguration = .forTests,
        _ body: (RunningGateway) async throws -> Void
    ) async throws {
        try await withGateway(
            configuration: configuration,
            log: self.station.log,
            ledger: InMemoryLedger(),
            clock: self.station.clock,
            audit: self.audit,
            body
        )
    }

    /// The lines once there are so many.
    private func lines(_ count: Int) async throws -> [AuditRecord] {
        try await until("there are \(count) lines") { self.audit.all.count >= count }
        return self.audit.all
    }

    @Test func `a signal's line has its stream and says why nothing changed, and metrics know its source`() async throws
    {
        var configuration = GatewayConfiguration.forTests
        configuration.cues = "* list=spots"
        try await self.run(configuration) { running in
            let desk = running.gateway.breakDesk
            let studio = BroadcastPrincipal(name: "studio", streams: [.every])
            func ask(_ kind: BroadcastRequest.Kind) async -> BroadcastReply {
                let request = CheckedBroadcastRequest(BroadcastRequest(id: 5, kind: kind))
                return await desk.ask(request, by: studio, from: RequestOrigin(.http))
            }
            let stream = try StreamID("tv")
            func signal(_ kind: SignalKind, _ event: String = "1") throws -> BroadcastRequest.Kind {
                let name = SignalName(source: try SignalSource("encoder"), event: try SignalEventID(event))
                let start = kind == .out ? BreakStart.at(self.station.clock.now() + .seconds(60)) : nil
                return .signal(.init(stream: stream, name: name, kind: kind, start: start))
            }
            guard case .publish(let sample) = try BroadcastRequest.Kind.publication(of: .of("tv", "b1")) else { return }
            let ads = sample.advertisements
            _ = await ask(.putList(.init(name: try AdListName("spots"), advertisements: ads)))
            for kind in [try signal(.out), try signal(.out), try signal(.in, "none")] { _ = await ask(kind) }
            let lines = try await self.lines(4).suffix(3)
            #expect(lines.map(\.outcome) == [.changed, .unchanged, .refused])
            #expect(lines.map { $0.stream?.description } == ["tv", "tv", "tv"])
            #expect(lines.map { $0.key == nil } == [false, false, true])
            let unchanged = try #require(lines.dropFirst().first)
            #expect(unchanged.sentence.hasPrefix("Nothing changed: the break "))
            #expect(unchanged.sentence.contains("OUT of the event 1 of the source encoder on tv."))
            let found = try await self.audit.records(AuditQuery(stream: stream))
            #expect(found.count == 3, "the refused one is found by its stream")

            let metrics = running.gateway.metrics
            for result in [MetricLabel.changed, .unchanged, .refused] {
                #expect(metrics.value(.sourceSignals, .source("encoder", result)) == 1)
            }
            let line = #"cuecast_source_signals_total{source="encoder",result="refused"} 1"#
            #expect(metrics.exposition().contains(line))
            #expect(metrics.value(.oddSignals, .inWithoutOut) == 1)
            let kept = try #require(running.gateway.signals.stream(stream))
            #expect(kept.signals.map(\.result) == [.changed, .unchanged, .refused])
            #expect(kept.signals.first?.breakID == lines.first?.key?.id)

            // One is refused already: below the number there is no alarm, and a signal that is taken ends it.
            func isRaised() -> Bool { running.gateway.readiness.alarms.contains { $0.alarm == "cuesRefused" } }
            for _ in 2..<SignalMonitor.refusedInARow { _ = await ask(try signal(.in, "none")) }
            let monitor = running.gateway.signals
            let logger = Logger(label: "test")
            let look = { monitor.lookAtSources(at: self.station.clock.now(), running.gateway.readiness, logger) }
            look()
            #expect(!isRaised())
            _ = await ask(try signal(.in, "none"))
            look()
            #expect(isRaised())
            let alarm = try #require(running.gateway.readiness.alarms.first { $0.alarm == "cuesRefused" })
            let words = "The last 5 signals of the source encoder on tv were refused: NOT_FOUND: "
            #expect(alarm.sentence.hasPrefix(words))
            _ = await ask(try signal(.out))
            look()
            #expect(!isRaised())
        }
    }

    @Test func `a report of a watcher is answered with the rule, counted once, and makes no line of the audit`()
        async throws
    {
        var configuration = GatewayConfiguration.forTests
        configuration.cues = "tv list=spots opens=0x34 late=90s"
        try await self.run(configuration) { running in
            let desk = running.gateway.breakDesk
            let studio = BroadcastPrincipal(name: "studio", streams: [.every])
            func report(_ number: UInt64, _ change: (inout BroadcastRequest.WatchReport) -> Void = { _ in })
                async throws
                -> BroadcastReply.Body
            {
                var report = BroadcastRequest.WatchReport(
                    stream: try StreamID("tv"),
                    source: try SignalSource("encoder"),
                    watcher: try SignalSource("w1"),
                    kind: .hls,
                    address: "",
                    number: number
                )
                report.isSteady = true
                report.heardAge = .zero
                change(&report)
                let request = CheckedBroadcastRequest(BroadcastRequest(id: 5, kind: .watchReport(report)))
                return await desk.ask(request, by: studio, from: RequestOrigin(.http)).body
            }
            var segments = SegmentPolicy()
            segments.openingTypes = [0x34]
            let interval = WatcherBook.reportIntervalMax
            let rule = CueRule(
                isKnown: true,
                segments: segments,
                programmeLateMax: .seconds(90),
                reportInterval: interval
            )
            for _ in 0..<2 {
                let body = try await report(1) {
                    ($0.ignored, $0.unusable) = (5, 7)
                    $0.cues = [
                        .init(isUnusable: false, seen: "s", reason: "a repeat", times: 2),
                        .init(isUnusable: true, seen: "s", reason: "unreadable", times: 4),
                    ]
                }
                #expect(body == .cueRule(rule))
            }
            let metrics = running.gateway.metrics
            #expect(metrics.value(.sourceSignals, .source("encoder", .ignored)) == 5)
            #expect(metrics.value(.sourceSignals, .source("encoder", .unusable)) == 7)
            #expect(metrics.value(.broadcastRequests, .watchReport) == 2)
            let monitor = running.gateway.signals
            let (tv, encoder) = (try StreamID("tv"), try SignalSource("encoder"))
            let kept = try #require(monitor.stream(tv))
            #expect(kept.signals.map(\.result) == [.ignored, .unusable] && kept.signals.map(\.times) == [2, 4])
            #expect(kept.sources[encoder]?.counts == [.ignored: 5, .unusable: 7])
            #expect(monitor.watchers(tv).map(\.name.description) == ["w1"])

            func isRaised() -> Bool { running.gateway.readiness.alarms.contains { $0.alarm == "sourceSilent" } }
            let logger = Logger(label: "test")
            let look = { monitor.lookAtSources(at: self.station.clock.now(), running.gateway.readiness, logger) }
            look()
            #expect(!isRaised() && metrics.value(.watchers) == 1)
            #expect(metrics.exposition().contains(#"cuecast_source_heard_seconds{source="encoder"}"#))
            _ = try await report(2) { $0.heardAge = SettingDefaults.sourceSilentAfter }
            look()
            #expect(isRaised())
            #expect(metrics.value(.sourceHeardSeconds, MetricLabel(text: "encoder")) >= 60_000_000)
            _ = try await report(3) { $0.isLast = true }
            look()
            #expect(!isRaised() && metrics.value(.watchers) == 0)
            #expect(metrics.value(.sourceHeardSeconds, MetricLabel(text: "encoder")) == 0)
            // Without the right to the stream there is neither a rule nor a trace.
            let stranger = BroadcastPrincipal(name: "stranger", streams: [])
            let alien = BroadcastRequest.WatchReport(
                stream: try StreamID("tv"),
                source: try SignalSource("other"),
                watcher: try SignalSource("w9"),
                kind: .other,
                address: "",
                number: 1
            )
            let request = CheckedBroadcastRequest(BroadcastRequest(id: 6, kind: .watchReport(alien)))
            let reply = await desk.ask(request, by: stranger, from: RequestOrigin(.http))
            guard case .refused(let refusal) = reply.body else { return #expect(Bool(false)) }
            #expect(refusal.status == .notAllowed && monitor.watchers(tv).isEmpty)
            let lines = try await self.audit.records(AuditQuery(stream: tv))
            #expect(lines.isEmpty)
        }
    }

    @Test func `sources beyond the limit share one label`() throws {
        let metrics = MetricRegistry()
        let monitor = SignalMonitor(metrics: metrics, sourcesMax: 2)
        for source in ["a", "b", "c", "a", "d"] {
            let name = SignalName(source: try SignalSource(source), event: try SignalEventID("1"))
            let signal = BroadcastRequest.Signal(stream: try StreamID("tv"), name: name, kind: .in)
            let refusal = Refusal(.notFound, "No OUT came before.")
            let reply = BroadcastReply(requestID: 1, gatewayTime: Timestamp(microseconds: 1), body: .refused(refusal))
            monitor.note(signal, SignalOutcome(refusal, of: signal), reply)
        }
        #expect(metrics.value(.sourceSignals, .source("a", .refused)) == 2)
        #expect(metrics.value(.sourceSignals, .source("b", .refused)) == 1)
        #expect(metrics.value(.sourceSignals, .source("(other)", .refused)) == 2)
        #expect(metrics.value(.limitsHit, .limit(.signalSourcesMax)) == 2)
        let alien = BroadcastRequest.Signal(
            stream: try StreamID("radio"),
            name: SignalName(source: try SignalSource("a"), event: try SignalEventID("1")),
            kind: .in
        )
        let refusal = Refusal(.notAllowed, "You may not.")
        let reply = BroadcastReply(requestID: 1, gatewayTime: Timestamp(microseconds: 1), body: .refused(refusal))
        monitor.note(alien, SignalOutcome(refusal, of: alien), reply)
        #expect(monitor.stream(alien.stream) == nil, "without the right to a stream nothing is left there")
    }

    @Test func `a line says who, when, from where, what, and what became of it`() async throws {
        try await self.run { running in
            let broadcaster = try await running.broadcaster()
            let publication = try BroadcastRequest.Kind.publication(of: .of("radio1", "b1"))
            let id = try await broadcaster.send(publication)
            _ = try await broadcaster.reply(to: id)
            self.station.clock.advance(by: .seconds(1))
            let origin = RequestOrigin(.http, address: "192.0.2.7:50123", requestID: "abc")
            let studio = BroadcastPrincipal(name: "studio", streams: [.every])
            let update = BroadcastRequest.Update(key: try .of("radio1", "b1"), duration: .seconds(20))
            let secret = "a-secret-token"
            for revision in [nil, 1] as [UInt64?] {
                let request = BroadcastRequest(id: 5, token: secret, expectedRevision: revision, kind: .update(update))
                _ = await running.gateway.breakDesk.ask(CheckedBroadcastRequest(request), by: studio, from: origin)
            }
            _ = await running.gateway.breakDesk.ask(
                CheckedBroadcastRequest(
                    BroadcastRequest(id: 6, token: secret, expectedRevision: 1, kind: .cancel(update.key))
                ),
                by: studio,
                from: origin
            )
            // A request that changes nothing by its kind is not listed.
            _ = try await broadcaster.ask(.list(BroadcastRequest.List()))

            let lines = try await self.lines(4)
            #expect(lines.count == 4)
            let first = lines[0]
            #expect(first.at == self.station.clock.now() - .seconds(1))
            #expect(first.principal.isEmpty)
            #expect(first.origin == RequestOrigin(.zeromq, address: "127.0.0.1", requestID: "\(id)"))
            #expect(first.action == "publish")
            #expect(first.key == update.key)
            #expect(first.outcome == .changed && first.status == nil && first.sentence.isEmpty)
            #expect(first.revision == 1)
            #expect(lines[1].principal == "studio" && lines[1].origin == origin)
            #expect(lines[1].outcome == .changed && lines[1].revision == 2)
            #expect(lines[2].outcome == .unchanged && lines[2].revision == 2)
            #expect(lines[3].action == "cancel")
            #expect(lines[3].outcome == .refused && lines[3].status == .revisionConflict)
            #expect(lines[3].sentence == "The break b1 has revision 2, and 1 is expected.")
            #expect(!lines.contains { "\($0)".contains(secret) })
            #expect(running.metrics.value(.auditRecords, .kept) == 4)
            #expect(try await running.gateway.audit.records(AuditQuery(limit: 2)).map(\.number) == [4, 3])
        }
        #expect(self.audit.isClosed)
    }

    @Test func `every entrance is there, whether it was let in or refused`() async throws {
        var configuration = GatewayConfiguration.forTests
        configuration.limits[.broadcastCallsWaitingMax] = 1
        try await self.run(configuration) { running in
            running.gateway.control.register("change", changes: true) { arguments, _ in
                if arguments["fails"] != nil { throw ControlError("the session 00ff is not there", exitCode: 65) }
                return [:]
            }
            running.gateway.control.register("look") { _, _ in [:] }
            let broadcaster = try await running.broadcaster()
            let http = RequestOrigin(.http, address: "192.0.2.7")
            func call(_ kind: BroadcastRequest.Kind) async -> BroadcastReply {
                let request = CheckedBroadcastRequest(BroadcastRequest(id: 1, kind: kind))
                return await running.gateway.breakDesk.ask(request, by: .anybody, from: http)
            }
            let cancel = BroadcastRequest.Kind.cancel(try .of("radio1", "nothing"))
            _ = try await broadcaster.ask(.publication(of: .of("radio1", "a")))
            _ = try await broadcaster.ask(cancel)
            _ = try await broadcaster.requests.peer.send([[], [0xFF]])
            try await until("it came") { running.metrics.value(.broadcastRequests, .undecodable) == 1 }
            _ = await call(try .publication(of: .of("radio2", "b")))
            _ = await call(cancel)
            _ = await call(try .publication(of: .of("radio3", "c"), duration: .zero))
            _ = try await running.gateway.control.perform("change", [:])
            _ = try? await running.gateway.control.perform("change", ["fails": true])
            _ = try await running.gateway.control.perform("look", [:])
            // One past the limit of calls.
            self.station.log.set(.breaks, .holding)
            let kind = try BroadcastRequest.Kind.publication(of: .of("radio4", "d"))
            let waiting = Task { await call(kind) }
            try await until("it is with the log") { running.metrics.value(.broadcastRequests, .publish) == 3 }
            _ = await call(cancel)
            self.station.log.set(.breaks, .passing)
            _ = await waiting.value
            await running.beginShutdown()
            try await until("it is not ready any more") { running.gateway.readiness.missing == [.sockets] }
            _ = await call(cancel)
        }
        struct Row: Hashable {
            let entrance: RequestOrigin.Entrance
            let action: String
            let outcome: AuditRecord.Outcome
            let status: StatusCode?
        }
        let rows = self.audit.all.map {
            Row(entrance: $0.origin.entrance, action: $0.action, outcome: $0.outcome, status: $0.status)
        }
        let expected = [
            Row(entrance: .zeromq, action: "publish", outcome: .changed, status: nil),
            Row(entrance: .zeromq, action: "cancel", outcome: .refused, status: .notFound),
            Row(entrance: .zeromq, action: "undecodable", outcome: .refused, status: .invalid),
            Row(entrance: .http, action: "publish", outcome: .changed, status: nil),
            Row(entrance: .http, action: "cancel", outcome: .refused, status: .notFound),
            Row(entrance: .http, action: "undecodable", outcome: .refused, status: .invalid),
            Row(entrance: .command, action: "change", outcome: .changed, status: nil),
            Row(entrance: .command, action: "change", outcome: .refused, status: .invalid),
            Row(entrance: .http, action: "cancel", outcome: .refused, status: .limitReached),
            Row(entrance: .http, action: "publish", outcome: .changed, status: nil),
            Row(entrance: .http, action: "cancel", outcome: .refused, status: .draining),
        ]
        #expect(Set(rows) == Set(expected))
        #expect(rows.count == expected.count)
        // A command may be about a listener's session: what it was told stays out.
        #expect(!self.audit.all.contains { $0.sentence.contains("00ff") })
    }

    // MARK: - When it cannot be kept

    /// A trail without a gateway.
    private struct Trail {
        let metrics = MetricRegistry()
        let readiness: ReadinessBoard
        let trail: AuditTrail

        init(_ store: (any AuditStore)?, fault: String? = nil, _ change: (inout AuditTrail.Settings) -> Void = { _ in })
        {
            var settings = AuditTrail.Settings()
            settings.retryDelay = .milliseconds(1)
            settings.pruneInterval = .milliseconds(1)
            change(&settings)
            self.readiness = ReadinessBoard(metrics: self.metrics)
            self.trail = AuditTrail(
                store: store,
                fault: fault,
                settings: settings,
                now: { Timestamp(microseconds: 5_000_000) },
                retentionTime: { Timestamp(microseconds: 4_000_000) },
                metrics: self.metrics,
                readiness: self.readiness,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
        }

        func note(_ action: String, at seconds: Int64 = 5) {
            self.trail.note(
                AuditRecord(
                    at: Timestamp(microseconds: seconds * 1_000_000),
                    principal: "",
                    origin: RequestOrigin(.http),
                    action: action,
                    outcome: .changed
                )
            )
        }

        var alarm: String? { self.readiness.alarms.first { $0.alarm == "audit" }?.sentence }

        func run(_ body: () async throws -> Void) async throws {
            let group = ServiceGroup(
                services: [self.trail],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                let result: Result<Void, any Error>
                do {
                    result = .success(try await body())
                } catch {
                    result = .failure(error)
                }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
                try result.get()
            }
        }
    }

    @Test func `a record without capacity is counted, raises the alarm, and is listed as missing`() async throws {
        let trail = Trail(self.audit) { $0.recordsWaitingMax = 3 }
        try await trail.run {
            self.audit.fail("the disk is gone")
            trail.note("1")
            try await until("it alarms") { trail.alarm?.contains("the disk is gone") == true }
            trail.note("2")
            trail.note("3")
            #expect(trail.metrics.value(.limitsHit, .limit(.auditRecordsWaitingMax)) == 0)
            trail.note("4")
            trail.note("5")
            #expect(trail.metrics.value(.limitsHit, .limit(.auditRecordsWaitingMax)) == 2)
            #expect(trail.metrics.value(.auditRecords, .lost) == 2)
            self.audit.fail(nil)
            let lines = try await self.lines(4)
            #expect(lines.map(\.action) == ["1", "2", "3", "audit"])
            #expect(lines[3].outcome == .missing)
            #expect(lines[3].sentence.hasPrefix("2 lines before this one"))
            try await until("the alarm ends") { trail.alarm == nil }
            trail.note("6")
            #expect(try await self.lines(5).last?.action == "6")
            #expect(trail.metrics.value(.auditRecords, .kept) == 4)
        }
    }

    @Test func `a line that comes alone is kept at once, and those soon after it go together`() async throws {
        let trail = Trail(self.audit) { $0.gatherFor = .seconds(3_600) }
        try await trail.run {
            trail.note("first")
            _ = try await self.lines(1)
            for number in 0..<500 { trail.note("\(number)") }
            try await until("the first one waits no more") { trail.trail.waitingCount == 500 }
            #expect(self.audit.all.map(\.action) == ["first"])
        }
        // The stop does not wait for the hour.
        #expect(self.audit.all.map(\.action) == ["first"] + (0..<500).map { "\($0)" })
        let soon = Trail(InMemoryAudit()) { $0.gatherFor = .milliseconds(1) }
        try await soon.run {
            for number in 0..<50 {
                soon.note("\(number)")
                await Task.yield()
            }
            try await until("nothing waits any more") { soon.metrics.value(.auditRecords, .kept) == 50 }
        }
    }

    @Test func `lines that find no room again and again do not keep those that wait from the store`() async throws {
        let store = FloodedAudit()
        let trail = Trail(store) {
            $0.recordsWaitingMax = 3
            $0.gatherFor = .milliseconds(1)
        }
        // While the store takes a group, more lines come than there is room for.
        store.flood { for number in 0..<5 { trail.note("flood \(number)") } }
        try await trail.run {
            trail.note("first")
            try await until("lines of three floods are kept") { store.kept("flood 0") >= 3 }
            store.flood(nil)
        }
        #expect(trail.metrics.value(.auditRecords, .lost) > 0)
        #expect(store.kept("audit") > 0)
    }

    @Test func `at a stop everything that waits is kept`() async throws {
        let trail = Trail(self.audit)
        try await trail.run {
            for number in 0..<2_500 { trail.note("\(number)") }
        }
        #expect(self.audit.all.count == 2_500)
        #expect(self.audit.isClosed)
        trail.note("late")
        #expect(trail.metrics.value(.auditRecords, .lost) == 1)
    }

    @Test func `a store that fails holds up no stop, and what is lost then is counted`() async throws {
        let trail = Trail(self.audit)
        try await trail.run {
            self.audit.fail("the disk is gone")
            trail.note("1")
            try await until("it alarms") { trail.alarm != nil }
        }
        #expect(trail.metrics.value(.auditRecords, .lost) == 1)
    }

    @Test func `a fault of the start stays raised, and without a store nothing is kept`() async throws {
        let kept = Trail(self.audit, fault: "A new one begins.")
        try await kept.run {
            #expect(kept.alarm == "A new one begins.")
            self.audit.fail("the disk is gone")
            kept.note("1")
            try await until("it alarms") { kept.alarm?.contains("the disk is gone") == true }
            self.audit.fail(nil)
            try await until("it is as before") { kept.alarm == "A new one begins." }
        }
        let none = Trail(nil, fault: "A later version wrote it.")
        try await none.run {
            none.note("1")
            #expect(none.alarm != nil)
            await #expect(throws: AuditError.self) { try await none.trail.records(AuditQuery()) }
        }
        #expect(none.metrics.value(.auditRecords, .lost) == 0)
    }

    @Test func `too old and too many records are removed`() async throws {
        let trail = Trail(self.audit) {
            $0.keepFor = .seconds(2)
            $0.recordsMax = 3
        }
        try await trail.run {
            for seconds in [1, 2, 3, 4, 5, 6] as [Int64] { trail.note("\(seconds)", at: seconds) }
            // By the log's own time, which is at 4, the first is too old; two more are too many.
            try await until("it is let go of") { self.audit.all.map(\.action) == ["4", "5", "6"] }
        }
    }
}

/// An audit to which something happens while it takes a group.
private final class FloodedAudit: AuditStore {
    private let base = InMemoryAudit()
    private let flooding = Mutex<(@Sendable () -> Void)?>(nil)

    func flood(_ body: (@Sendable () -> Void)?) { self.flooding.withLock { $0 = body } }

    /// How many lines of this action are kept.
    func kept(_ action: String) -> Int { self.base.all.count { $0.action == action } }

    func append(_ records: [AuditRecord]) async throws(AuditError) {
        self.flooding.withLock { $0 }?()
        try await self.base.append(records)
    }

    func records(_ query: AuditQuery) async throws(AuditError) -> [NumberedAuditRecord] {
        try await self.base.records(query)
    }

    func prune(before limit: Timestamp?, recordsMax: Int) async throws(AuditError) -> Int {
        try await self.base.prune(before: limit, recordsMax: recordsMax)
    }

    func close() async { await self.base.close() }
}
