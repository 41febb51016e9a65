// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Which requests are traced: those whose caller has sampled its trace, cut by a ratio, and by a bound for each second.
///
/// It decides, it never acts, and it knows no clock. The ratio picks by the trace id alone, so that every service with the same ratio
/// picks the same traces (OpenTelemetry, Trace SDK, "TraceIdRatioBased", below "ParentBased": a trace that the caller has not sampled is
/// never picked).
package struct TraceSampler: Equatable, Sendable {
    /// The kinds of callers.
    ///
    /// Each side has the bound for itself: listeners, who may be anybody, take nothing from those who publish.
    package enum Side: CaseIterable, Sendable {
        /// Changes of breaks.
        case broadcasters
        /// Requests of listeners over HTTP.
        case listeners
    }

    /// The decision about a caller's trace.
    package enum Decision: Hashable, Sendable {
        /// It says nothing.
        case absent
        /// It is no header as Trace Context has it, or there are several: it is passed over.
        case invalid
        /// The caller has not sampled its trace.
        case notSampled
        /// The ratio leaves this trace out.
        case leftOut
        /// As many as may be were traced in this second.
        case overLimit
        /// It is traced; this is the caller's span.
        case traced(TraceContext)
    }

    private struct Second: Equatable, Sendable {
        /// When it began, in microseconds of a clock that never goes back; `nil`: none has.
        var began: Int64?
        var taken = 0
    }

    /// How many of the sampled traces are picked: from 0 to 1.
    package let ratio: Double
    /// The most that are traced of each side within a second.
    package let tracesPerSecondMax: Int
    private var broadcasters = Second()
    private var listeners = Second()

    package init(ratio: Double, tracesPerSecondMax: Int) {
        self.ratio = ratio
        self.tracesPerSecondMax = tracesPerSecondMax
    }

    /// Decides about one request.
    ///
    /// - Parameters:
    ///   - headers: the values of `traceparent`, each once.
    ///   - side: the kind of caller.
    ///   - now: microseconds of a clock that never goes back.
    /// - Returns: whether it is traced, and why not.
    package mutating func decide(_ headers: [String], from side: Side, at now: Int64) -> Decision {
        guard let header = headers.first else { return .absent }
        guard headers.count == 1, let parent = TraceParent(header) else { return .invalid }
        guard parent.isSampled else { return .notSampled }
        guard Self.picks(parent.context, ratio: self.ratio) else { return .leftOut }
        let hasRoom =
            switch side {
            case .broadcasters: Self.take(&self.broadcasters, atMost: self.tracesPerSecondMax, at: now)
            case .listeners: Self.take(&self.listeners, atMost: self.tracesPerSecondMax, at: now)
            }
        return hasRoom ? .traced(parent.context) : .overLimit
    }

    /// Whether a ratio picks a trace: where the number in the last 8 bytes of its id is below that part of all such numbers.
    ///
    /// OpenTelemetry's libraries for Go and Python pick the same ones, but for roundings of the ratio.
    package static func picks(_ context: TraceContext, ratio: Double) -> Bool {
        if ratio >= 1 { return true }
        return context.traceLow >> 1 < UInt64(max(0, ratio) * 0x1p63)
    }

    /// A second begins with the first trace after the one before is over.
    private static func take(_ second: inout Second, atMost most: Int, at now: Int64) -> Bool {
        if second.began.map({ now - $0 >= 1_000_000 || now < $0 }) ?? true { second = Second(began: now) }
        guard second.taken < most else { return false }
        second.taken += 1
        return true
    }
}
