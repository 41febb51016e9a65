// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Estimates the gateway's clock, as seen from this device, and the error of the estimate.
///
/// A request sent at t1 and answered at t4 with the gateway's time T bounds the offset o between the two clocks:
/// `T − t4 ≤ o ≤ T − t1`. The last eight bounds, each widened by how far the clocks may have drifted since, are
/// intersected; the middle is the estimate. Where they contradict each other (the gateway's clock was stepped), it starts
/// over with the newest.
struct ClockEstimator: Sendable {
    /// How many samples are kept.
    static let samplesMax = 8
    /// How far two clocks may drift apart, in parts per million.
    static let driftPartsPerMillion: Int64 = 100

    private struct Sample {
        /// Microseconds by which the gateway's clock, counted from 1970, is ahead of the local one.
        let low: Int64
        let high: Int64
        let taken: LocalInstant
    }

    private struct Bounds {
        var low: Int64
        var high: Int64
        let at: LocalInstant
    }

    private var samples: [Sample] = []
    private var bounds: Bounds?

    /// When the newest sample was taken.
    var lastSampled: LocalInstant? { self.samples.last?.taken }

    /// Takes the facts of one request and its reply.
    mutating func add(sent: LocalInstant, gateway: Timestamp, received: LocalInstant) {
        guard sent <= received else { return }
        // A microsecond each way: all three readings are rounded to whole ones.
        let low = Self.saturating(gateway.microseconds, minus: received.sinceStart.inMicroseconds + 1)
        let high = Self.saturating(gateway.microseconds, minus: sent.sinceStart.inMicroseconds - 1)
        let sample = Sample(low: low, high: high, taken: received)
        self.samples.append(sample)
        if self.samples.count > Self.samplesMax { self.samples.removeFirst() }
        if let bounds = self.intersection(at: received) {
            self.bounds = bounds
        } else {
            self.samples = [sample]
            self.bounds = Bounds(low: low, high: high, at: received)
        }
    }

    /// The time of the gateway's clock now; `nil` before the first sample.
    func gatewayTime(at now: LocalInstant) -> Timestamp? {
        guard let bounds else { return nil }
        let offset = bounds.low + (bounds.high - bounds.low) / 2
        return Timestamp(microseconds: offset) + now.sinceStart
    }

    /// How far the truth may be from `gatewayTime(at:)`; `nil` before the first sample.
    func errorBound(at now: LocalInstant) -> Duration? {
        guard let bounds else { return nil }
        let half = (bounds.high - bounds.low) / 2 + 1
        return .microseconds(half + Self.drift(over: now - bounds.at))
    }

    /// Forgets what was learned on an earlier connection's clock, but keeps the estimate until the next sample.
    mutating func restart() {
        self.samples = []
    }

    private func intersection(at now: LocalInstant) -> Bounds? {
        var bounds = Bounds(low: .min, high: .max, at: now)
        for sample in self.samples {
            let drift = Self.drift(over: now - sample.taken)
            bounds.low = max(bounds.low, Self.saturating(sample.low, minus: drift))
            bounds.high = min(bounds.high, Self.saturating(sample.high, minus: -drift))
        }
        return bounds.low <= bounds.high ? bounds : nil
    }

    private static func drift(over age: Duration) -> Int64 {
        max(0, age.inMicroseconds) / 1_000_000 * self.driftPartsPerMillion
            + max(0, age.inMicroseconds) % 1_000_000 * self.driftPartsPerMillion / 1_000_000 + 1
    }

    private static func saturating(_ left: Int64, minus right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        return overflow ? (right > 0 ? .min : .max) : difference
    }
}
