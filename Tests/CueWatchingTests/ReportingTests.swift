// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastBroadcast
import CuecastWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CueWatching

/// What watchers report to the gateway, and by which rule they make signals.
@Suite(.suiteLimit)
struct ReportingTests {
    private static func source(
        _ stream: String = "sport1",
        address: String = "https://encoder.example/live.m3u8",
        choice: SegmentationChoice = SegmentationChoice()
    ) throws -> WatchedSource {
        WatchedSource(
            WatchedSource.Facts(
                stream: try StreamID(stream),
                source: try SignalSource("playlist"),
                kind: .hls,
                address: address,
                isSteady: true
            ),
            choice: choice
        )
    }

    private static func watcher() throws -> SignalSource { try SignalSource("studio-1") }

    private static func rule(
        _ segments: SegmentPolicy = SegmentPolicy(),
        late: Int64 = 120,
        isKnown: Bool = true
    ) -> CueRule {
        CueRule(
            isKnown: isKnown,
            segments: segments,
            programmeLateMax: .seconds(late),
            reportInterval: .seconds(7)
        )
    }

    // MARK: Texts

    @Test(arguments: [
        ("https://user:secret@a.example/live.m3u8?token=1#x", "https://a.example/live.m3u8"),
        ("https://a.example/live.m3u8", "https://a.example/live.m3u8"),
        ("udp://@239.1.1.1:5000", "udp://@239.1.1.1:5000"),
        ("https://a.example/a@b/c", "https://a.example/a@b/c"),
        (
            "“https://u@a.example/x?k=1” leads to https://v:w@b.example?k",
            "“https://a.example/x” leads to https://b.example"
        ),
        ("http://a.example/?next=http://u:p@b.example/", "http://a.example/"),
        ("a\nb\u{7F}c", "a b c"), ("/var/a?b.ts", "/var/a?b.ts"),
    ])
    func `what others read has no secrets and one line`(text: String, shown: String) {
        #expect(WatchText.line(text) == shown)
    }

    @Test func `no text makes a report that the gateway refuses`() throws {
        var generator = SeededGenerator(for: #function)
        let pieces = [
            "://", "https://", "user", ":", "@", "/", "?", "#", " ", "é", "𝄞", "\n", "\u{0}", "\u{85}", "\"", "”",
            "token=1",
            String(repeating: "x", count: 90),
        ]
        for _ in 0..<2_000 {
            let text = generator.list(0...12) { $0.pick(pieces) }.joined()
            let source = try Self.source(address: text)
            source.trouble(text, atMilliseconds: Cues.noon)
            source.note(isUnusable: generator.bool(), seen: text, reason: text)
            let report = source.report(by: try Self.watcher(), atMilliseconds: Cues.noon)
            let request = BroadcastRequest(id: 1, kind: .watchReport(report))
            #expect(throws: Never.self, "\(text)") { try request.checked() }
            // Outside of an address it is no secret.
            #expect(!WatchText.line(text).contains(/:\/\/[^\/?#\s"'<>“”]*user@/), "\(text)")
        }
    }

    @Test func `a long text is cut at the limit, and one of that length is not`() {
        let most = WireLimits.watchTextBytesMax
        let text = String(repeating: "é", count: most / 2)
        #expect(WatchText.line(text) == text)
        let cut = WatchText.line(text + "x")
        #expect(cut.hasSuffix("é…") && cut.utf8.count <= most)
    }

    // MARK: What is gathered

    @Test func `a report that may not have arrived stays as it is until it has`() throws {
        let source = try Self.source()
        source.note(isUnusable: false, seen: "one", reason: "a repeat")
        let first = source.report(by: try Self.watcher(), atMilliseconds: Cues.noon)
        #expect(first.number == 1 && first.ignored == 1 && first.heardAge == nil && first.isSteady)
        source.note(isUnusable: false, seen: "two", reason: "a repeat")
        source.note(isUnusable: true, seen: "three", reason: "unreadable")
        source.heard(atMilliseconds: Cues.noon - 2_000)
        let again = source.report(by: try Self.watcher(), atMilliseconds: Cues.noon)
        #expect(again.number == 1 && again.ignored == 1 && again.cues == first.cues)
        #expect(again.heardAge == .seconds(2), "what the source does is of now")
        #expect(source.settle(Self.rule()))
        let next = source.report(by: try Self.watcher(), atMilliseconds: Cues.noon)
        #expect(next.number == 2 && next.ignored == 1 && next.unusable == 1)
        #expect(next.cues.map(\.seen) == ["two", "three"])
        #expect(!source.settle(Self.rule()), "the rule is the same")
        let last = source.report(by: try Self.watcher(), atMilliseconds: Cues.noon)
        #expect(last.cues.isEmpty)
    }

    @Test func `so many reasons are told one by one, and one more is counted`() {
        var gathering = WatchGathering()
        let most = WireLimits.watchedCuesPerReportMax
        for number in 1...most + 1 { gathering.note(isUnusable: false, seen: "s", reason: "reason \(number)") }
        gathering.note(isUnusable: false, seen: "newest", reason: "reason 1")
        let part = gathering.part()
        #expect(part.cues.count == most && Int(part.ignored) == most + 2)
        #expect(part.cues[0].times == 2 && part.cues[0].seen == "newest")
    }

    @Test func `the sender tells what did not reach the gateway, and what the gateway refused it does not`()
        async throws
    {
        struct Refusing: SignalReceiver {
            let error: BroadcastError
            func receive(_ signal: ProgrammeSignal) async throws(BroadcastError) -> BreakStatus { throw self.error }
        }
        let signal = ProgrammeSignal(stream: "sport1", source: "playlist", eventID: "1", kind: .out)
        func observation(_ meaning: CueObservation.Meaning, _ stream: String = "sport1") -> CueObservation {
            CueObservation(stream: stream, source: "playlist", seen: "line 7", meaning: meaning)
        }
        let output = WatchOutput(line: { _ in }, complain: { _ in })
        let cases: [(BroadcastError, UInt32)] = [
            (.refused(BroadcastRefusal(status: .notFound, sentence: "None.")), 0), (.closed, 1),
        ]
        for (error, unusable) in cases {
            let source = try Self.source()
            let sender = SignalSender(receiver: Refusing(error: error), output: output, sources: [source])
            await sender.take(observation(.signal(signal)))
            await sender.take(observation(.ignored(reason: "a repeat")))
            await sender.take(observation(.ignored(reason: "of a stream that is not watched"), "other"))
            await sender.take(observation(.refused(CueRefusal(.unreadable, "It is cut."))))
            await sender.take(observation(.refused(CueRefusal(.unreachable, "The server is away."))))
            await sender.end()
            let report = source.report(by: try Self.watcher(), atMilliseconds: Cues.noon)
            #expect(report.ignored == 1 && report.unusable == 1 + unusable, "\(error)")
            #expect(report.problem == "The server is away.")
            #expect(report.cues.contains { $0.isUnusable && $0.reason == "UNREADABLE: It is cut." })
        }
    }

    // MARK: Rules

    @Test func `an option goes before the policy, and the policy before what is usual`() throws {
        var policy = SegmentPolicy()
        policy.openingTypes = [0x34]
        policy.endingTypes = [0x10]
        policy.restrictions = [.web]
        let free = SegmentationChoice().rule(policy)
        #expect(free.openingTypes == [0x34] && free.endingTypes == [0x10])
        #expect(free.obeysDeliveryRestrictions && !free.obeysRegionalBlackout)
        var choice = SegmentationChoice()
        choice.openingTypes = [0x22]
        choice.endingTypes = []
        choice.obeysRegionalBlackout = true
        let chosen = choice.rule(policy)
        #expect(chosen.openingTypes == [0x22] && chosen.endingTypes.isEmpty)
        #expect(chosen.obeysDeliveryRestrictions && chosen.obeysRegionalBlackout)
        #expect(SegmentationChoice().rule(SegmentPolicy()) == SegmentationRule())
    }

    @Test func `a rule that changes has another version, and its lateness is bounded`() throws {
        let source = try Self.source()
        let before = source.rules
        _ = source.settle(Self.rule())
        #expect(source.rules == before, "it says what is usual")
        var segments = SegmentPolicy()
        segments.openingTypes = [0x34]
        _ = source.settle(Self.rule(segments, late: 3_600))
        #expect(source.rules.version == before.version + 1)
        #expect(source.rules.latenessMilliseconds == 3_600_000 && source.rules.segmentation.openingTypes == [0x34])
        _ = source.settle(Self.rule(segments, late: 3_601))
        #expect(source.rules.latenessMilliseconds == CueRule.programmeLateMillisecondsMax)
        #expect(source.heard(atMilliseconds: Cues.noon) == source.rules.version)
    }

    @Test func `a break that began under another rule is ended by its own segment`() throws {
        var splices = SpliceSignals(stream: "sport1", source: "encoder")
        let clock = CueClock.reference(ptsTicks: 0, atMilliseconds: Cues.noon)
        func take(_ section: SpliceInfoSection) throws -> [String] {
            short(splices.observations(of: section, raw: [], clock: clock, atMilliseconds: Cues.noon))
        }
        #expect(try take(Cues.segment(7, 0x22)) == ["out segment-7 +10000"])
        var rule = SegmentationRule()
        rule.openingTypes = [0x34]
        splices.use(rule)
        #expect(try take(Cues.segment(7, 0x23, pts: 1_800_000)) == ["in segment-7 +20000"])
        #expect(try take(Cues.segment(8, 0x22, pts: 2_700_000))[0].hasPrefix("ignored: segments of type 0x22"))
        #expect(try take(Cues.segment(8, 0x23, pts: 2_700_000))[0].hasPrefix("ignored: segments of type 0x23"))
    }

    // MARK: The reporter

    /// A gateway that a test scripts.
    private final class ScriptedGateway: WatchReportReceiver {
        struct State {
            var reports: [BroadcastRequest.WatchReport] = []
            var failure: BroadcastError?
            /// Of a stream; it goes before `failure`.
            var refused: [String: BroadcastError] = [:]
            var rule = ReportingTests.rule()
        }

        let state = Mutex(State())

        func report(_ report: BroadcastRequest.WatchReport) async throws(BroadcastError) -> CueRule {
            let (failure, rule) = self.state.withLock { state in
                state.reports.append(report)
                return (state.refused[report.stream.description] ?? state.failure, state.rule)
            }
            if let failure { throw failure }
            return rule
        }

        func fail(_ failure: BroadcastError?) { self.state.withLock { $0.failure = failure } }
        var numbers: [UInt64] { self.state.withLock { $0.reports.map(\.number) } }
        var last: BroadcastRequest.WatchReport? { self.state.withLock { $0.reports.last } }
    }

    /// What a reporter said, and a clock that stops after so many rounds.
    private final class Said: Sendable {
        let sentences = Mutex<[String]>([])
        let waits = Mutex<[Duration]>([])
        let roundsMax: Int

        init(rounds: Int = 0) { self.roundsMax = rounds }

        var clock: WatchClock {
            WatchClock(
                now: { Cues.noon },
                sleep: { wait in
                    let rounds = self.waits.withLock { waits in
                        waits.append(wait)
                        return waits.count
                    }
                    guard rounds > self.roundsMax else { return }
                    // It is over when the test cancels it.
                    try await Task.sleep(for: .seconds(600))
                }
            )
        }

        func reporter(_ sources: [WatchedSource], _ gateway: ScriptedGateway) throws -> WatchReporter {
            WatchReporter(
                sources,
                watcher: try ReportingTests.watcher(),
                receiver: gateway,
                complain: { text in self.sentences.withLock { $0.append(text) } },
                clock: self.clock
            )
        }

        var told: [String] { self.sentences.withLock { $0 } }
    }

    @Test func `the first round brings the rules, and the goodbye is the last report`() async throws {
        let (gateway, said) = (ScriptedGateway(), Said())
        var segments = SegmentPolicy()
        segments.openingTypes = [0x34]
        gateway.state.withLock { $0.rule = Self.rule(segments, late: 300) }
        let sources = [try Self.source("sport1"), try Self.source("sport2")]
        let reporter = try said.reporter(sources, gateway)
        await reporter.begin()
        #expect(sources.map(\.rules.segmentation.openingTypes) == [[0x34], [0x34]])
        #expect(sources.map(\.rules.latenessMilliseconds) == [300_000, 300_000])
        #expect(
            said.told.count == 2 && said.told[0].hasPrefix("The cue policy for sport1: segments 0x34 open a break.")
        )
        await reporter.end()
        #expect(gateway.state.withLock { $0.reports.map(\.isLast) } == [false, false, true, true])
        #expect(gateway.last?.watcher.description == "studio-1")
    }

    @Test func `a stream without a rule is told of once, and again when that changes`() async throws {
        let (gateway, said) = (ScriptedGateway(), Said())
        gateway.state.withLock { $0.rule = Self.rule(isKnown: false) }
        let reporter = try said.reporter([try Self.source()], gateway)
        await reporter.begin()
        await reporter.begin()
        #expect(
            said.told == ["The gateway has no cue rule for the stream sport1 (breaks.cues): it refuses its signals."]
        )
        var segments = SegmentPolicy()
        segments.openingTypes = [0x34]
        let policy = "The cue policy for sport1: segments 0x34 open a break. Options of the watcher go before it."
        let usual = "The cue policy for sport1 is the usual one again."
        let changes: [(CueRule, String?)] = [
            (Self.rule(segments), policy), (Self.rule(segments, late: 300), nil), (Self.rule(), usual),
            (Self.rule(late: 300), nil), (Self.rule(segments), policy),
        ]
        for (rule, sentence) in changes {
            gateway.state.withLock { $0.rule = rule }
            let before = said.told.count
            await reporter.begin()
            await reporter.begin()
            #expect(Array(said.told[before...]) == (sentence.map { [$0] } ?? []), "\(rule)")
        }
    }

    @Test func `the usual rule is not told of at the first answer`() async throws {
        let (gateway, said) = (ScriptedGateway(), Said())
        let reporter = try said.reporter([try Self.source()], gateway)
        await reporter.begin()
        #expect(said.told.isEmpty && gateway.numbers == [1])
    }

    @Test func `a source that is refused is told of once, and the others are reported as often as before`() async throws
    {
        let (gateway, said) = (ScriptedGateway(), Said(rounds: 3))
        let refusal = BroadcastError.refused(BroadcastRefusal(status: .notAllowed, sentence: "No right to it."))
        gateway.state.withLock { $0.refused["sport2"] = refusal }
        let reporter = try said.reporter([try Self.source("sport1"), try Self.source("sport2")], gateway)
        let running = Task { await reporter.run() }
        try await until { said.waits.withLock { $0.count } >= 4 }
        running.cancel()
        await running.value
        let waits = said.waits.withLock { Array($0.prefix(4)) }
        #expect(waits == [WatchReporterLimits().interval, .seconds(7), .seconds(7), .seconds(7)])
        #expect(
            said.told == [
                "The gateway takes no reports of this watcher about sport2: NOT_ALLOWED: No right to it. The watch goes on with its options."
            ]
        )
        // Another reason is told, and the same one after a report was taken.
        let other = BroadcastError.refused(BroadcastRefusal(status: .invalid, sentence: "It is none."))
        for failure in [other, other, nil, refusal, refusal] {
            gateway.state.withLock { $0.refused["sport2"] = failure }
            await reporter.begin()
        }
        let reasons = said.told.map { $0.contains("NOT_ALLOWED") ? "right" : "invalid" }
        #expect(reasons == ["right", "invalid", "right"])
    }

    @Test func `a watch of which no source is taken asks more seldom`() async throws {
        let (gateway, said) = (ScriptedGateway(), Said(rounds: 1))
        gateway.fail(.refused(BroadcastRefusal(status: .notAllowed, sentence: "No right to it.")))
        let reporter = try said.reporter([try Self.source("sport1"), try Self.source("sport2")], gateway)
        let running = Task { await reporter.run() }
        try await until { said.waits.withLock { $0.count } >= 2 }
        running.cancel()
        await running.value
        #expect(said.waits.withLock { Array($0.prefix(2)).last } == WatchReporterLimits().refusedInterval)
        #expect(said.told.count == 2, "each source has its sentence")
    }

    @Test func `an older gateway is told of once, and asked more seldom`() async throws {
        let (gateway, said) = (ScriptedGateway(), Said(rounds: 3))
        gateway.fail(.refused(BroadcastRefusal(status: .unsupported, sentence: "No such request.")))
        let sources = [try Self.source("sport1"), try Self.source("sport2")]
        let before = sources[0].rules
        let reporter = try said.reporter(sources, gateway)
        await reporter.begin()
        let running = Task { await reporter.run() }
        try await until { said.waits.withLock { $0.count } >= 4 }
        running.cancel()
        await running.value
        #expect(
            said.told.count == 1 && said.told[0].hasPrefix("The gateway knows no reports of watchers"),
            "\(said.told)"
        )
        #expect(sources[0].rules == before)
        #expect(gateway.state.withLock { $0.reports.allSatisfy { $0.stream.description == "sport1" } })
        let long = WatchReporterLimits().refusedInterval
        #expect(said.waits.withLock { $0.contains(long) })
        // It is replaced by a newer one.
        gateway.fail(nil)
        await reporter.begin()
        #expect(said.told.count == 1)
    }

    @Test func `a gateway that is away is told of once at the beginning, and gets the same report later`() async throws
    {
        let (gateway, said) = (ScriptedGateway(), Said())
        gateway.fail(.timedOut(after: .seconds(1)))
        let source = try Self.source()
        let reporter = try said.reporter([source, try Self.source("sport2")], gateway)
        await reporter.begin()
        #expect(said.told.count == 1 && said.told[0].hasPrefix("The gateway does not tell its cue rules"))
        #expect(gateway.numbers == [1], "the second source is not tried")
        source.note(isUnusable: false, seen: "s", reason: "r")
        gateway.fail(nil)
        await reporter.begin()
        #expect(gateway.numbers == [1, 1, 1])
        await reporter.begin()
        #expect(gateway.numbers == [1, 1, 1, 2, 2] && said.told.count == 1)
    }

    @Test func `a gateway that is away is asked again soon`() async throws {
        let (gateway, said) = (ScriptedGateway(), Said(rounds: 2))
        gateway.fail(.timedOut(after: .seconds(1)))
        let reporter = try said.reporter([try Self.source()], gateway)
        let running = Task { await reporter.run() }
        try await until { gateway.numbers.count >= 2 }
        running.cancel()
        await running.value
        let limits = WatchReporterLimits()
        #expect(said.waits.withLock { Array($0.prefix(2)) } == [limits.interval, limits.retryInterval])
    }

    @Test func `reports go on as often as the gateway says`() async throws {
        let (gateway, said) = (ScriptedGateway(), Said(rounds: 3))
        let reporter = try said.reporter([try Self.source()], gateway)
        let running = Task { await reporter.run() }
        try await until { gateway.numbers.count >= 3 }
        running.cancel()
        await running.value
        let waits = said.waits.withLock { Array($0.prefix(3)) }
        #expect(waits == [WatchReporterLimits().interval, .seconds(7), .seconds(7)])
        #expect(gateway.numbers.prefix(3) == [1, 2, 3])
    }
}
