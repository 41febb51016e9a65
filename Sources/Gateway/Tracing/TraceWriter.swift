// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Logging
import ServiceLifecycle
import Synchronization

/// Writes spans into a file, on a thread of its own.
///
/// `note` returns at once: spans wait in memory, up to a bound, and go into the file in groups. What finds no room, and what the
/// file does not take, is lost and counted; a file that fails is an alarm. No request waits for it, and neither does the end of
/// the gateway for long.
final class TraceWriter: Service {
    private struct State {
        var waiting: [TraceSpan] = []
        var settings: TracingSettings
        /// How often the file was asked to be opened anew.
        var openings = 0
        var isClosed = false
    }

    /// The most spans that stand in one line; readers of lines have limits too.
    static let spansPerLineMax = 256

    private let instance: UInt64
    private let thread: WorkerThreads
    private let metrics: MetricRegistry
    private let readiness: ReadinessBoard
    private let logger: Logger
    private let state: Mutex<State>
    /// Ends when no part makes spans any more.
    private let closing: AsyncStream<Void>
    private let close: AsyncStream<Void>.Continuation
    private let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - settings: which file.
    ///   - instance: which run of the gateway this is.
    ///   - thread: where it is written; stopped with the service.
    ///   - metrics: counts spans.
    ///   - readiness: shows the alarm.
    ///   - logger: for people.
    init(
        _ settings: TracingSettings,
        instance: UInt64,
        thread: WorkerThreads,
        metrics: MetricRegistry,
        readiness: ReadinessBoard,
        logger: Logger
    ) {
        self.instance = instance
        self.thread = thread
        self.metrics = metrics
        self.readiness = readiness
        self.logger = logger
        self.state = Mutex(State(settings: settings))
        (self.wakeUps, self.wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (self.closing, self.close) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether spans go anywhere.
    var isOn: Bool { self.state.withLock { $0.settings.isEnabled && !$0.settings.file.isEmpty && !$0.isClosed } }

    /// Takes spans over; returns at once.
    func note(_ spans: [TraceSpan]) {
        let (isFirst, lost, waiting) = self.state.withLock { state in
            let room = state.isClosed ? 0 : max(0, state.settings.spansWaitingMax - state.waiting.count)
            let isFirst = state.waiting.isEmpty
            state.waiting += spans.prefix(room)
            return (isFirst, max(0, spans.count - room), state.waiting.count)
        }
        self.metrics.set(.spansWaiting, to: waiting)
        if lost > 0 {
            self.metrics.count(.spans, .lost, by: lost)
            self.metrics.count(.limitsHit, .limit(.spansWaitingMax))
        }
        if isFirst { self.wakeUp.yield() }
    }

    /// Goes on with other settings, and opens the file anew: an operator who has moved the file away reloads for that.
    func reload(_ settings: TracingSettings) {
        self.state.withLock { state in
            state.settings = settings
            state.openings += 1
        }
        self.wakeUp.yield()
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            await self.runUntilEnd()
        } onGracefulShutdown: {
            self.end()
        }
    }

    /// Takes no more; what waits is still written.
    func end() {
        self.state.withLock { $0.isClosed = true }
        self.wakeUp.finish()
        self.close.finish()
    }

    /// Writes until `end` is called.
    func runUntilEnd() async {
        let ended = Occurrence()
        // A disk may hang, and the thread with it: the gateway does not wait for it without end.
        Task.detached(executorPreference: self.thread) {
            await self.write()
            ended.happen()
        }
        for await _ in self.closing {}
        // A cancelled task was not told to end.
        self.end()
        if await !ended.wait(atMost: self.state.withLock(\.settings.endTimeout)) {
            self.logger.warning("spans were lost: the trace file did not take them in time")
        }
        self.thread.stop()
    }

    private func write() async {
        var openings = 0
        var file = self.openFile(&openings)
        for await _ in self.wakeUps {
            if self.state.withLock(\.openings) != openings { file = self.openFile(&openings) }
            while self.writeSome(to: &file) {}
        }
        while self.writeSome(to: &file) {}
    }

    private func openFile(_ openings: inout Int) -> TraceFile {
        let settings = self.state.withLock { state in
            openings = state.openings
            return state.settings
        }
        // Without a file there is nothing that fails.
        if settings.file.isEmpty || !settings.isEnabled { self.works() }
        return TraceFile(path: settings.file, bytesMax: settings.fileBytesMax)
    }

    /// - Returns: whether there may be more.
    private func writeSome(to file: inout TraceFile) -> Bool {
        let (spans, waiting) = self.state.withLock { state in
            let spans = Array(state.waiting.prefix(Self.spansPerLineMax))
            state.waiting.removeFirst(spans.count)
            return (spans, state.waiting.count)
        }
        guard !spans.isEmpty else { return false }
        self.metrics.set(.spansWaiting, to: waiting)
        do throws(TraceFile.Fault) {
            guard !file.path.isEmpty else { throw TraceFile.Fault("There is no trace file any more.") }
            if try file.append(TraceDocument.line(spans, instance: self.instance)) {
                self.metrics.count(.limitsHit, .limit(.traceFileBytesMax))
            }
            self.metrics.count(.spans, .kept, by: spans.count)
            self.works()
        } catch {
            self.metrics.count(.spans, .lost, by: spans.count)
            if !file.path.isEmpty { self.failed(error) }
        }
        return true
    }

    private func failed(_ fault: TraceFile.Fault) {
        let isNew = self.readiness.raise(
            .traceFile,
            "Spans are lost, because the trace file does not take them: \(fault)."
        )
        if isNew { self.logger.error("the trace file cannot be written", metadata: ["error": "\(fault)"]) }
    }

    private func works() {
        guard self.readiness.clear(.traceFile) else { return }
        self.logger.notice("the trace file is written again")
    }
}
