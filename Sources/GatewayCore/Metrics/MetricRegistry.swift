// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Synchronization

/// Counts what happens.
///
/// Shared by all parts of a gateway; the numbers are atomics.
package final class MetricRegistry: Sendable {
    /// Upper bounds of the buckets of every histogram, in seconds.
    package static let bucketBounds: [Double] = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private struct Key: Hashable {
        let metric: Metric
        let label: MetricLabel
    }

    /// One counter or gauge, for those who count so often that they do not look it up each time.
    package final class Cell: Sendable {
        fileprivate let value = Atomic<Int>(0)

        @inline(__always)
        package func add(_ amount: Int = 1) {
            self.value.wrappingAdd(amount, ordering: .relaxed)
        }
    }

    /// One more bucket than bounds, then the sum in microseconds.
    private final class Histogram: Sendable {
        let cells = (0...MetricRegistry.bucketBounds.count + 1).map { _ in Cell() }
    }

    private let cells: Mutex<[Key: Cell]> = Mutex([:])
    private let histograms: [Metric: Histogram]

    package init() {
        self.histograms = Dictionary(
            uniqueKeysWithValues: Metric.allCases.filter { $0.kind == .histogram }.map { ($0, Histogram()) }
        )
        for metric in Metric.allCases {
            for label in metric.declaration.labelsShownAtFirst { _ = self.cell(metric, label) }
        }
    }

    /// Adds to a counter.
    package func count(_ metric: Metric, _ label: MetricLabel = .none, by amount: Int = 1) {
        self.cell(metric, label).value.wrappingAdd(amount, ordering: .relaxed)
    }

    /// Sets a gauge.
    package func set(_ metric: Metric, _ label: MetricLabel = .none, to value: Int) {
        self.cell(metric, label).value.store(value, ordering: .relaxed)
    }

    /// The value of a counter or gauge.
    package func value(_ metric: Metric, _ label: MetricLabel = .none) -> Int {
        self.cell(metric, label).value.load(ordering: .relaxed)
    }

    /// Adds an observation to a histogram.
    package func observe(_ metric: Metric, _ duration: Duration) {
        guard let histogram = self.histograms[metric] else { return }
        // A clock that was set back must not take anything from the sum.
        let duration = max(duration, .zero)
        let seconds = duration.inSeconds
        let bucket = Self.bucketBounds.firstIndex { seconds <= $0 } ?? Self.bucketBounds.count
        histogram.cells[bucket].value.wrappingAdd(1, ordering: .relaxed)
        histogram.cells[Self.bucketBounds.count + 1].value
            .wrappingAdd(Int(clamping: duration.inMicroseconds), ordering: .relaxed)
    }

    /// How often each bucket of a histogram was observed, in the order of `bucketBounds`, and what is above all of them; empty for
    /// other metrics.
    package func buckets(of metric: Metric) -> [Int] {
        guard let histogram = self.histograms[metric] else { return [] }
        return histogram.cells.dropLast().map { $0.value.load(ordering: .relaxed) }
    }

    /// The place of a counter or gauge; the same one at every call.
    package func cell(_ metric: Metric, _ label: MetricLabel = .none) -> Cell {
        self.cells.withLock { cells in
            let key = Key(metric: metric, label: label)
            if let cell = cells[key] { return cell }
            let cell = Cell()
            cells[key] = cell
            return cell
        }
    }

    /// Everything in the text format of Prometheus (version 0.0.4).
    package func exposition() -> String {
        let cells = self.cells.withLock { cells in cells.mapValues { $0.value.load(ordering: .relaxed) } }
        var text = ""
        for metric in Metric.allCases {
            text += "# HELP \(metric.rawValue) \(metric.help)\n# TYPE \(metric.rawValue) \(metric.kind.rawValue)\n"
            if let histogram = self.histograms[metric] {
                text += Self.exposition(of: metric, histogram.cells.map { $0.value.load(ordering: .relaxed) })
                continue
            }
            let values = cells.filter { $0.key.metric == metric }
                .sorted { ($0.key.label.text, $0.key.label.second) < ($1.key.label.text, $1.key.label.second) }
            if values.isEmpty, metric.label == nil { text += "\(metric.rawValue) 0\n" }
            for (key, value) in values {
                let second = metric.secondLabel.map { ",\($0)=\"\(Self.escaped(key.label.second))\"" } ?? ""
                let label = metric.label.map { "{\($0)=\"\(Self.escaped(key.label.text))\"\(second)}" } ?? ""
                let number = metric.declaration.isInMicroseconds ? "\(Double(value) / 1e6)" : "\(value)"
                text += "\(metric.rawValue)\(label) \(number)\n"
            }
        }
        return text
    }

    /// The value of a label (Prometheus, "Text-based format", "Comments, help text, and type information").
    private static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func exposition(of metric: Metric, _ cells: [Int]) -> String {
        var text = ""
        var sum = 0
        for (bound, count) in zip(Self.bucketBounds, cells) {
            sum += count
            text += "\(metric.rawValue)_bucket{le=\"\(bound)\"} \(sum)\n"
        }
        sum += cells[Self.bucketBounds.count]
        text += "\(metric.rawValue)_bucket{le=\"+Inf\"} \(sum)\n"
        text += "\(metric.rawValue)_sum \(Double(cells[Self.bucketBounds.count + 1]) / 1e6)\n"
        return text + "\(metric.rawValue)_count \(sum)\n"
    }
}
