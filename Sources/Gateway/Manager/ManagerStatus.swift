// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// The status line of a gateway in `systemctl status`.
package struct ManagerStatus: Hashable, Sendable {
    package var isStopping = false
    /// The parts that do not work.
    package var missing: [ReadinessBoard.Part] = []
    /// The permanent failure.
    package var failure: String?
    package var alarms: [String] = []
    package var listeners = 0
    package var streams = 0
    /// The number of requests that wait for an answer.
    package var waiting = 0

    package init() {}

    /// The status of a running gateway.
    package init(_ readiness: ReadinessBoard, _ metrics: MetricRegistry) {
        self.missing = readiness.missing
        self.failure = readiness.failure
        self.alarms = readiness.alarms.map(\.alarm)
        self.listeners = metrics.value(.listeners)
        self.streams = metrics.value(.streams)
        self.waiting = metrics.value(.acknowledgementsWaiting)
    }

    /// The sentence, for instance `serving 9,000 listeners, 12 streams; alarms: clock`.
    package var sentence: String {
        if let failure { return "failed: \(failure)" }
        if self.isStopping {
            return self.waiting > 0
                ? "draining: \(Self.count(self.waiting, "acknowledgement")) to be confirmed" : "draining"
        }
        let crowd = "\(Self.count(self.listeners, "listener")), \(Self.count(self.streams, "stream"))"
        let begin =
            self.missing.isEmpty
            ? "serving \(crowd)"
            : "not ready: missing \(self.missing.map(\.rawValue).joined(separator: ", ")); \(crowd)"
        return self.alarms.isEmpty ? begin : begin + "; alarms: \(self.alarms.joined(separator: ", "))"
    }

    /// Whether another status says nothing new but numbers.
    func differsOnlyInNumbers(from other: ManagerStatus) -> Bool {
        var other = other
        other.listeners = self.listeners
        other.streams = self.streams
        other.waiting = self.waiting
        return self == other
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        var digits = Array(String(number))
        for index in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: index) }
        return "\(String(digits)) \(noun)\(number == 1 ? "" : "s")"
    }
}

/// Decides when another status is sent: a change within a second, and numbers alone every five.
struct StatusPacer: Equatable, Sendable {
    private var told: ManagerStatus?
    private var at: ContinuousClock.Instant?

    /// Whether this status is sent now; if so, it counts as told.
    mutating func tells(_ status: ManagerStatus, at now: ContinuousClock.Instant) -> Bool {
        if let told, let at {
            guard status != told else { return false }
            let interval =
                status.differsOnlyInNumbers(from: told) ? ManagerLimits.numbersInterval : ManagerLimits.statusInterval
            guard now - at >= interval else { return false }
        }
        (self.told, self.at) = (status, now)
        return true
    }
}
