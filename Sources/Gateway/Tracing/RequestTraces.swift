// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore
package import Logging
import Synchronization
import SystemSupport

/// A request that is traced.
package struct RequestTrace: Hashable, Sendable {
    /// The trace, and the gateway's own span for the request.
    package let context: TraceContext
    /// The caller's span.
    package let parent: UInt64
    /// When it came, by the gateway's clock.
    package let start: Timestamp

    package init(context: TraceContext, parent: UInt64, start: Timestamp) {
        self.context = context
        self.parent = parent
        self.start = start
    }

    /// The fields of log lines about it (OpenTelemetry, "Trace Context in non-OTLP Log Formats").
    package var logFields: Logger.Metadata {
        ["trace_id": "\(self.context.traceID)", "span_id": "\(self.context.spanID)"]
    }
}

/// Which requests are traced, and where their spans go: one set of rules for every entrance.
///
/// While tracing is off, a request costs one look at an atomic, and nothing else is done.
package final class RequestTraces: Sendable {
    private let isEnabled: Atomic<Bool>
    private let sampler: Mutex<TraceSampler>
    private let metrics: MetricRegistry
    private let elapsed: @Sendable () -> Int64
    let writer: TraceWriter

    /// - Parameters:
    ///   - settings: which requests.
    ///   - writer: where spans go.
    ///   - metrics: counts what becomes of what callers say.
    ///   - elapsed: microseconds of a clock that never goes back.
    init(
        _ settings: TracingSettings,
        writer: TraceWriter,
        metrics: MetricRegistry,
        elapsed: @escaping @Sendable () -> Int64 = { Int64(System.monotonicNanoseconds() / 1_000) }
    ) {
        self.isEnabled = Atomic(settings.isEnabled)
        self.sampler = Mutex(Self.sampler(settings))
        self.writer = writer
        self.metrics = metrics
        self.elapsed = elapsed
    }

    private static func sampler(_ settings: TracingSettings) -> TraceSampler {
        TraceSampler(ratio: settings.ratio, tracesPerSecondMax: settings.tracesPerSecondMax)
    }

    /// Whether any request is traced.
    package var isOn: Bool { self.isEnabled.load(ordering: .relaxed) }

    /// Whether spans are kept: what only makes spans need not be done otherwise.
    package var keepsSpans: Bool { self.isOn && self.writer.isOn }

    /// Goes on with other settings; the file is opened anew.
    func reload(_ settings: TracingSettings) {
        self.sampler.withLock { sampler in
            let next = Self.sampler(settings)
            // The second that runs stays begun where nothing changes.
            if next.ratio != sampler.ratio || next.tracesPerSecondMax != sampler.tracesPerSecondMax { sampler = next }
        }
        self.isEnabled.store(settings.isEnabled, ordering: .relaxed)
        self.writer.reload(settings)
    }

    /// Decides whether a request is traced.
    ///
    /// - Parameters:
    ///   - headers: the values of `traceparent`, each once.
    ///   - side: the kind of caller.
    ///   - start: when the request came, by the gateway's clock.
    /// - Returns: the trace, with a span of the gateway's own; `nil`: it is not traced.
    package func begin(_ headers: [String], from side: TraceSampler.Side, at start: Timestamp) -> RequestTrace? {
        guard self.isOn, !headers.isEmpty else { return nil }
        let now = self.elapsed()
        switch self.sampler.withLock({ $0.decide(headers, from: side, at: now) }) {
        case .absent: return nil
        case .invalid: self.metrics.count(.traces, .invalid)
        case .notSampled: self.metrics.count(.traces, .notSampled)
        case .leftOut: self.metrics.count(.traces, .leftOut)
        case .overLimit:
            self.metrics.count(.traces, .overLimit)
            self.metrics.count(.limitsHit, .limit(.tracesPerSecondMax))
        case .traced(let parent):
            self.metrics.count(.traces, .traced)
            return RequestTrace(context: parent.newSpan(), parent: parent.span, start: start)
        }
        return nil
    }

    /// Keeps what was done; returns at once.
    ///
    /// - Parameter spans: made only where they are kept.
    package func keep(_ spans: @autoclosure () -> [TraceSpan]) {
        guard self.keepsSpans else { return }
        let spans = spans()
        if !spans.isEmpty { self.writer.note(spans) }
    }
}
