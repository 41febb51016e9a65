// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// A strict reader of what Prometheus calls its text-based format, version 0.0.4.
struct PrometheusText {
    struct Sample: Equatable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Family {
        var help = ""
        var type = ""
        var samples: [Sample] = []
    }

    struct Invalid: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var families: [String: Family] = [:]
    private(set) var order: [String] = []

    init(_ text: String) throws(Invalid) {
        guard text.hasSuffix("\n") else { throw Invalid(description: "the last line has no end") }
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("# HELP ") {
                let parts = line.dropFirst(7).split(separator: " ", maxSplits: 1)
                guard parts.count == 2, self.families[String(parts[0])] == nil else {
                    throw Invalid(description: "help twice, or empty: \(line)")
                }
                self.order.append(String(parts[0]))
                self.families[String(parts[0])] = Family(help: String(parts[1]))
            } else if line.hasPrefix("# TYPE ") {
                let parts = line.dropFirst(7).split(separator: " ")
                guard parts.count == 2, let name = self.order.last, name == parts[0],
                    self.families[name]?.type.isEmpty == true, self.families[name]?.samples.isEmpty == true,
                    ["counter", "gauge", "histogram"].contains(parts[1])
                else { throw Invalid(description: "a type without help, or after its samples: \(line)") }
                self.families[name]?.type = String(parts[1])
            } else {
                let sample = try Self.sample(line)
                guard let name = self.order.last, let type = self.families[name]?.type, !type.isEmpty else {
                    throw Invalid(description: "a sample without a type: \(line)")
                }
                let suffixes = type == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
                guard suffixes.contains(where: { sample.name == name + $0 }) else {
                    throw Invalid(description: "a sample outside of its family: \(line)")
                }
                let others = self.families[name]?.samples ?? []
                guard !others.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
                    throw Invalid(description: "a sample twice: \(line)")
                }
                self.families[name]?.samples.append(sample)
            }
        }
    }

    private static func sample(_ line: Substring) throws(Invalid) -> Sample {
        var rest = line
        let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
        rest = rest.dropFirst(name.count)
        guard let first = name.first, !first.isNumber else { throw Invalid(description: "no name: \(line)") }
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                let key = rest.prefix { $0.isASCII && ($0.isLetter || $0 == "_") }
                rest = rest.dropFirst(key.count)
                guard !key.isEmpty, rest.hasPrefix("=\"") else { throw Invalid(description: "no label: \(line)") }
                rest = rest.dropFirst(2)
                var value = ""
                while let character = rest.popFirst(), character != "\"" {
                    guard character == "\\" else {
                        value.append(character)
                        continue
                    }
                    switch rest.popFirst() {
                    case "\\": value.append("\\")
                    case "\"": value.append("\"")
                    case "n": value.append("\n")
                    default: throw Invalid(description: "an escape that does not exist: \(line)")
                    }
                }
                labels[String(key)] = value
                if rest.first == "," { rest = rest.dropFirst() }
                guard !rest.isEmpty else { throw Invalid(description: "labels without an end: \(line)") }
            }
            rest = rest.dropFirst()
        }
        guard rest.first == " ", let value = Double(rest.dropFirst()) ?? (rest == " +Inf" ? .infinity : nil) else {
            throw Invalid(description: "no value: \(line)")
        }
        return Sample(name: String(name), labels: labels, value: value)
    }
}

@Suite(.suiteLimit)
struct MetricTests {
    @Test func `every metric has a name by the rules, and help of its own`() {
        #expect(Set(Metric.allCases.map(\.help)).count == Metric.allCases.count)
        for metric in Metric.allCases {
            #expect(metric.rawValue.hasPrefix("cuecast_"))
            #expect(metric.rawValue.allSatisfy { $0.isASCII && ($0.isLowercase || $0 == "_") })
            #expect(metric.rawValue.hasSuffix("_total") == (metric.kind == .counter), "\(metric)")
            #expect(metric.rawValue.hasSuffix("_seconds") || metric.kind != .histogram, "\(metric)")
            #expect(metric.help.hasSuffix("."))
            #expect(!metric.help.contains("\n"))
            #expect(metric.kind != .histogram || metric.label == nil, "\(metric)")
        }
    }

    @Test func `a registry that counted nothing exposes every metric`() throws {
        let text = try PrometheusText(MetricRegistry().exposition())
        #expect(text.order == Metric.allCases.map(\.rawValue))
        for metric in Metric.allCases {
            let family = try #require(text.families[metric.rawValue])
            #expect(family.help == metric.help)
            #expect(family.type == metric.kind.rawValue)
            // These have the labels of what is there.
            let isEmpty = metric.label == "lane" || metric == .sourceHeardSeconds
            #expect(family.samples.isEmpty == isEmpty, "\(metric)")
            let labels = [metric.label, metric.secondLabel, "le"]
            #expect(family.samples.allSatisfy { $0.labels.keys.allSatisfy { labels.contains($0) } })
            #expect(family.samples.allSatisfy { $0.value == 0 })
        }
    }

    @Test func `counted values are exposed, with their labels`() throws {
        let registry = MetricRegistry()
        registry.count(.batches)
        registry.count(.batches, by: 4)
        registry.count(.joins, .snapshot)
        registry.count(.joins, .current, by: 2)
        registry.count(.refusals, .status(.breakTooOld))
        registry.count(.limitsHit, .limit(.listenersMax))
        registry.set(.listeners, to: 7)
        registry.set(.listeners, to: 3)
        registry.set(.ledgerLag, .lane(.acknowledgements(0)), to: 12)
        #expect(registry.value(.batches) == 5)
        #expect(registry.value(.joins, .current) == 2)
        #expect(registry.value(.joins, .recovered) == 0)

        let text = try PrometheusText(registry.exposition())
        func samples(_ metric: Metric) -> [PrometheusText.Sample]? { text.families[metric.rawValue]?.samples }
        #expect(samples(.batches) == [.init(name: "cuecast_batches_total", labels: [:], value: 5)])
        #expect(samples(.listeners)?.map(\.value) == [3])
        #expect(samples(.joins)?.map { $0.labels["result"] } == ["ahead", "current", "recovered", "snapshot"])
        #expect(samples(.joins)?.map(\.value) == [0, 2, 0, 1])
        #expect(samples(.refusals)?.filter { $0.value > 0 }.map(\.labels) == [["status": "BREAK_TOO_OLD"]])
        #expect(samples(.limitsHit)?.filter { $0.value > 0 }.map(\.labels) == [["limit": "listenersMax"]])
        #expect(samples(.ledgerLag)?.map(\.labels) == [["lane": "acknowledgements/0"]])
    }

    @Test func `the value of a label may hold anything`() throws {
        let registry = MetricRegistry()
        let name = "a\"b\\c\nd\r\ne{f=\"g\"}"
        registry.set(.logOffset, .lane(Lane(name: name)), to: 1)
        let text = try PrometheusText(registry.exposition())
        #expect(text.families[Metric.logOffset.rawValue]?.samples.map(\.labels) == [["lane": name]])
    }

    @Test func `a histogram counts up to each bound, the bound included`() throws {
        let registry = MetricRegistry()
        let durations: [Duration] = [
            .zero, .microseconds(100), .microseconds(101), .milliseconds(1), .seconds(10), .seconds(11),
            .seconds(Int64.max), .seconds(-5),
        ]
        for duration in durations.prefix(6) { registry.observe(.appendSeconds, duration) }
        var text = try PrometheusText(registry.exposition())
        let family = try #require(text.families[Metric.appendSeconds.rawValue])
        let buckets = family.samples.filter { $0.name.hasSuffix("_bucket") }
        #expect(buckets.count == MetricRegistry.bucketBounds.count + 1)
        #expect(
            buckets.compactMap { $0.labels["le"].flatMap { Double($0) } }.dropLast() == MetricRegistry.bucketBounds[...]
        )
        #expect(buckets.last?.labels == ["le": "+Inf"])
        #expect(buckets.map(\.value) == buckets.map(\.value).sorted(), "they are cumulative")
        #expect(buckets[0].value == 2)
        #expect(buckets[1].value == 3)
        #expect(buckets[3].value == 4)
        #expect(buckets[MetricRegistry.bucketBounds.count - 1].value == 5)
        #expect(buckets.last?.value == 6)
        #expect(family.samples.last == .init(name: "cuecast_log_append_seconds_count", labels: [:], value: 6))
        #expect(family.samples.first { $0.name.hasSuffix("_sum") }?.value == 21.001_201)

        // A clock that was set back takes nothing away, and nothing overflows.
        registry.observe(.noticeSeconds, durations[7])
        registry.observe(.noticeSeconds, durations[6])
        registry.observe(.scheduleLateSeconds, durations[7])
        text = try PrometheusText(registry.exposition())
        let late = text.families[Metric.scheduleLateSeconds.rawValue]?.samples
        #expect(late?.first { $0.name.hasSuffix("_sum") }?.value == 0)
        #expect(late?.last?.value == 1)
        registry.observe(.batches, .seconds(1))
        #expect(registry.value(.batches) == 0, "a counter observes nothing")
    }

    @Test func `many threads count together`() async {
        let registry = MetricRegistry()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<500 { registry.count(.refusals, .status(.invalid)) } }
            }
        }
        #expect(registry.value(.refusals, .status(.invalid)) == 4_000)
    }
}
