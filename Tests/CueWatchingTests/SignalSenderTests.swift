// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CueWatching
@testable import CuecastBroadcast

/// From signals to the gateway.
@Suite(.suiteLimit)
struct SignalSenderTests {
    /// A gateway that a test scripts.
    private final class ScriptedReceiver: SignalReceiver {
        private struct State {
            var received: [ProgrammeSignal] = []
            var failures: [BroadcastError] = []
            var isHeld = false
            var onAttempt: @Sendable () -> Void = {}
        }

        private let state = Mutex(State())

        var received: [String] { self.state.withLock { $0.received.map { short($0) } } }

        /// The next attempts fail with these errors.
        func fail(_ errors: [BroadcastError]) { self.state.withLock { $0.failures = errors } }

        /// Whether every signal waits.
        func hold(_ isHeld: Bool) { self.state.withLock { $0.isHeld = isHeld } }

        /// What happens while an attempt lasts.
        func onAttempt(_ action: @escaping @Sendable () -> Void) { self.state.withLock { $0.onAttempt = action } }

        func receive(_ signal: ProgrammeSignal) async throws(BroadcastError) -> BreakStatus {
            let failure = self.state.withLock { state -> BroadcastError? in
                state.received.append(signal)
                return state.failures.isEmpty ? nil : state.failures.removeFirst()
            }
            self.state.withLock(\.onAttempt)()
            while self.state.withLock(\.isHeld) {
                do {
                    try await Task.sleep(for: .milliseconds(1))
                } catch {
                    throw .cancelled
                }
            }
            if let failure { throw failure }
            return BreakStatus.of(signal)
        }
    }

    /// What a sender said, and a clock by hand.
    private final class Said: Sendable {
        let lines = Mutex<[WatchLine]>([])
        let complaints = Mutex<[String]>([])
        let now = Mutex(Cues.noon)

        var output: WatchOutput {
            WatchOutput(
                line: { line in self.lines.withLock { $0.append(line) } },
                complain: { text in self.complaints.withLock { $0.append(text) } }
            )
        }

        /// A wait moves the clock by the longest wait before the next attempt.
        var clock: WatchClock {
            WatchClock(
                now: { self.now.withLock { $0 } },
                sleep: { _ in
                    try Task.checkCancellation()
                    self.now.withLock { $0 += 5_000 }
                    await Task.yield()
                }
            )
        }

        var results: [WatchLine.Result] { self.lines.withLock { $0.map(\.result) } }
    }

    /// The source of the observations, with a cue rule.
    private static func source(late: Duration) throws -> WatchedSource {
        let source = WatchedSource(
            WatchedSource.Facts(
                stream: try StreamID("radio1"),
                source: try SignalSource("encoder"),
                kind: .transportStream,
                address: "udp://@239.1.1.1:5000",
                isSteady: true
            )
        )
        _ = source.settle(
            CueRule(
                isKnown: true,
                segments: SegmentPolicy(),
                programmeLateMax: late,
                reportInterval: .seconds(30)
            )
        )
        return source
    }

    private static func observation(_ number: Int, source: String = "encoder") -> CueObservation {
        let signal = ProgrammeSignal(
            stream: "radio1",
            source: source,
            eventID: "splice-\(number)",
            kind: .out,
            start: .at(Date(timeIntervalSince1970: Double(Cues.noon) / 1_000)),
            isProgrammeTime: true
        )
        return CueObservation(stream: "radio1", source: source, seen: "cue \(number)", meaning: .signal(signal))
    }

    private static func refusal(_ status: BroadcastRefusal.Status) -> BroadcastError {
        // As the gateway tells it.
        let canRetry = StatusCode.allCases.first { $0.name == status.rawValue }?.canRetry ?? false
        return .refused(BroadcastRefusal(status: status, sentence: "Because of the test.", canRetry: canRetry))
    }

    @Test func `signals of a source are sent in their order, and a line tells each one`() async throws {
        let (receiver, said) = (ScriptedReceiver(), Said())
        let sender = SignalSender(receiver: receiver, output: said.output, clock: said.clock)
        for number in 1...50 { await sender.take(Self.observation(number)) }
        await sender.take(
            CueObservation(stream: "radio1", source: "encoder", seen: "a cue", meaning: .ignored(reason: "of a reason"))
        )
        let refusal = CueRefusal(.noTimeReference, "There is none.")
        await sender.take(
            CueObservation(stream: "radio1", source: "encoder", seen: "a cue", meaning: .refused(refusal))
        )
        try await until { said.results.count == 52 }
        #expect(receiver.received == (1...50).map { "out splice-\($0) +0" })
        let counts = await sender.counts
        #expect((counts.seen, counts.sent, counts.ignored, counts.refused) == (52, 50, 1, 1))
        let line = try #require(said.lines.withLock { $0.first { $0.result == .sent } })
        #expect(
            line.text
                == "2026-11-27T12:00:00.000Z radio1/encoder: cue 1 -> out splice-1 at 2026-11-27T12:00:00.000Z -> sent: "
                + "cue-1 scheduled, revision 1"
        )
        await sender.end()
    }

    @Test func `what the gateway cannot take now is tried again, and the outage is told once`() async throws {
        let (receiver, said) = (ScriptedReceiver(), Said())
        receiver.fail([
            .unreachable(reason: "nothing listens"), Self.refusal(.unavailable), Self.refusal(.draining),
            .timedOut(after: .seconds(15)), Self.refusal(.rateLimited),
        ])
        let sender = SignalSender(receiver: receiver, output: said.output, clock: said.clock)
        await sender.take(Self.observation(1))
        await sender.take(Self.observation(2))
        try await until { said.results == [.sent, .sent] }
        #expect(receiver.received.count == 7)
        #expect(await sender.counts.retries == 5)
        let complaints = said.complaints.withLock { $0 }
        #expect(complaints.count == 2)
        #expect(complaints.last == "The gateway takes signals again.")
        await sender.end()
    }

    @Test func `what the gateway refuses is told, and the next signal is sent`() async throws {
        let (receiver, said) = (ScriptedReceiver(), Said())
        let invalid = BroadcastError.invalid(field: "stream", reason: "it is none")
        receiver.fail([Self.refusal(.breakOverlap), Self.refusal(.notFound), invalid])
        let sender = SignalSender(receiver: receiver, output: said.output, clock: said.clock)
        for number in 1...4 { await sender.take(Self.observation(number)) }
        try await until { said.results.count == 4 }
        #expect(said.results == [.refusedByGateway, .refusedByGateway, .refusedByGateway, .sent])
        #expect(said.lines.withLock { $0.first?.reason } == "BREAK_OVERLAP: Because of the test.")
        await sender.end()
    }

    @Test func `a signal is tried until it is too old to matter`() async throws {
        let (receiver, said) = (ScriptedReceiver(), Said())
        receiver.fail([BroadcastError](repeating: .unreachable(reason: "nothing listens"), count: 1_000))
        let sender = SignalSender(receiver: receiver, output: said.output, clock: said.clock)
        await sender.take(Self.observation(1))
        try await until { said.results == [.expired] }
        // A wait is 5 s by this clock.
        #expect((20...26).contains(receiver.received.count), "\(receiver.received.count)")
        await sender.end()
    }

    @Test(arguments: [0, 30_000, 3_600_000])
    func `a start in programme time is tried again while it is as late as the cue rule allows, and not 1 ms more`(
        late: Int
    ) async throws {
        for beyond in [0, 1] {
            let (receiver, said) = (ScriptedReceiver(), Said())
            receiver.fail([.unreachable(reason: "nothing listens")])
            receiver.onAttempt { said.now.withLock { if $0 == Cues.noon { $0 += late + beyond } } }
            var limits = SignalSenderLimits()
            limits.retryDelayFirst = .zero
            let sender = SignalSender(
                receiver: receiver,
                output: said.output,
                sources: [try Self.source(late: .milliseconds(late))],
                clock: said.clock,
                limits: limits
            )
            await sender.take(Self.observation(1))
            try await until { said.results.count == 1 }
            #expect(said.results == [beyond == 0 ? .sent : .expired])
            await sender.end()
        }
    }

    @Test func `the cue rule says nothing about how long a signal without a start is tried again`() async throws {
        for late in [Duration.zero, .seconds(3_600)] {
            let (receiver, said) = (ScriptedReceiver(), Said())
            receiver.fail([.unreachable(reason: "nothing listens")])
            let sender = SignalSender(
                receiver: receiver,
                output: said.output,
                sources: [try Self.source(late: late)],
                clock: said.clock
            )
            func cancel(_ number: Int) -> CueObservation {
                let signal = ProgrammeSignal(
                    stream: "radio1",
                    source: "encoder",
                    eventID: "splice-\(number)",
                    kind: .cancel
                )
                return CueObservation(
                    stream: "radio1",
                    source: "encoder",
                    seen: "cue \(number)",
                    meaning: .signal(signal)
                )
            }
            await sender.take(cancel(1))
            try await until { said.results == [.sent] }
            receiver.fail([BroadcastError](repeating: .unreachable(reason: "nothing listens"), count: 1_000))
            await sender.take(cancel(2))
            try await until { said.results == [.sent, .expired] }
            // 120 s, and a wait is 5 s by this clock.
            #expect((20...28).contains(receiver.received.count), "\(receiver.received.count)")
            await sender.end()
        }
    }

    @Test func `a full queue drops its oldest signal, and says so`() async throws {
        let (receiver, said) = (ScriptedReceiver(), Said())
        receiver.hold(true)
        var limits = SignalSenderLimits()
        limits.waitingSignalsMax = 3
        let sender = SignalSender(receiver: receiver, output: said.output, clock: said.clock, limits: limits)
        await sender.take(Self.observation(0))
        // The first one is under way and does not wait any more.
        try await until { receiver.received.count == 1 }
        for number in 1...3 { await sender.take(Self.observation(number)) }
        #expect(await sender.waitingSignals == 3)
        #expect(said.results.isEmpty && said.complaints.withLock(\.isEmpty))
        await sender.take(Self.observation(4))
        #expect(await sender.waitingSignals == 3)
        #expect(said.results == [.dropped])
        #expect(said.lines.withLock { $0.first?.seen } == "cue 1")
        #expect(said.complaints.withLock { $0.first?.contains("waitingSignalsMax") } == true)
        // The next one is counted, and told with the first one of the next period.
        await sender.take(Self.observation(5))
        #expect(said.results.count == 2 && said.complaints.withLock(\.count) == 1)
        receiver.hold(false)
        try await until { said.results.count == 6 }
        #expect(receiver.received == [0, 3, 4, 5].map { "out splice-\($0) +0" })
        await sender.end()
    }

    @Test func `a source does not wait for another one`() async throws {
        let (receiver, said) = (ScriptedReceiver(), Said())
        receiver.hold(true)
        let sender = SignalSender(receiver: receiver, output: said.output, clock: said.clock)
        await sender.take(Self.observation(1))
        await sender.take(Self.observation(2, source: "playlist"))
        try await until { receiver.received.count == 2 }
        receiver.hold(false)
        try await until { said.results == [.sent, .sent] }
        await sender.end()
    }

    @Test func `the end sends what waits, and what cannot be sent is told`() async throws {
        let (receiver, said) = (ScriptedReceiver(), Said())
        var patient = SignalSenderLimits()
        patient.endWaitMax = .seconds(86_400)
        let sender = SignalSender(receiver: receiver, output: said.output, clock: .system, limits: patient)
        for number in 1...10 { await sender.take(Self.observation(number)) }
        await sender.end()
        #expect(said.results == [WatchLine.Result](repeating: .sent, count: 10))
        receiver.hold(true)
        var limits = SignalSenderLimits()
        limits.endWaitMax = .milliseconds(1)
        let stuck = SignalSender(receiver: receiver, output: said.output, clock: .system, limits: limits)
        for number in 1...3 { await stuck.take(Self.observation(number)) }
        await stuck.end()
        #expect(said.results.suffix(3) == [.dropped, .dropped, .dropped])
        await stuck.take(Self.observation(4))
        #expect(await stuck.counts.dropped == 4)
    }

    @Test func `without a gateway nothing is sent, and lines say what would be`() async throws {
        let said = Said()
        let sender = SignalSender(receiver: nil, output: said.output, clock: said.clock)
        await sender.take(Self.observation(1))
        await sender.end()
        #expect(said.results == [.notSent])
        #expect(await sender.counts.notSent == 1)
    }
}

extension BreakStatus {
    /// The break that a signal made.
    fileprivate static func of(_ signal: ProgrammeSignal) -> BreakStatus {
        BreakStatus(
            stream: signal.stream,
            id: "cue-1",
            state: .scheduled,
            start: nil,
            end: nil,
            duration: nil,
            advertisementCount: 1,
            firstAdvertisementTitle: "",
            isPreStream: false,
            isExact: false,
            position: nil,
            announcement: nil,
            holdUntil: nil,
            published: Date(timeIntervalSince1970: 0),
            broadcaster: nil,
            revision: 1,
            gatewayTime: Date(timeIntervalSince1970: 0)
        )
    }
}
