// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import SystemSupport

struct Capacity: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reckon what a gateway, or several, need for so many listeners, and what ends first.",
        discussion: """
            Arithmetic from figures that were measured on one machine ('--figures' shows them with the row of 'make bench' that \
            gives them on yours). It reckons with the worst: every listener hears every break of its stream, around the clock, \
            and all streams begin a break at the same moment. Unless told otherwise this machine is what there is.

            With '--gateways' several gateways share the load and one log on three servers of NATS. The machine is that of one \
            gateway, which serves a share of the listeners while another one is away; lines with 'servers' are of the servers.

            Exit codes: 0 it fits, 1 something is used up (each line says so).

            Example: cuecast capacity --listeners 50000 --streams 20 --breaks-per-hour 4 --ads 3

            Example: cuecast capacity --listeners 1000000 --streams 1000 --gateways 21
            """
    )

    @Option(help: "Listeners at the same time, on all streams together: 1 to 100000000.") var listeners: Int?
    @Option(help: "Gateways that share one log: 1 to \(LimitName.gatewaysMax.value). (default: one on its own store)")
    var gateways: Int?
    @Option(help: "Streams: 1 to 1000000.") var streams = 1
    @Option(help: "Breaks of each stream in an hour: above 0, at most 3600.") var breaksPerHour = 4.0
    @Option(help: "Advertisements in a break: 1 to 64.") var ads = 3
    @Option(help: "Listeners that come in an hour. (default: as many as listen)") var joinsPerHour: Int?
    @Option(help: "Connections of each listener: 1, which brings notices too, or 2.") var connections = 1
    @Flag(help: "The gateway encrypts listeners' connections by TLS.") var tls = false
    @Option(help: "Cores that the gateway may use. (default: this machine's)") var cores: Int?
    @Option(help: "Memory in GiB. (default: this machine's)") var memory: Double?
    @Option(help: "Disk in GiB. (default: what is free in the current folder)") var disk: Double?
    @Option(help: "The hard limit on open files. (default: this process's)") var descriptors: Int?
    @OptionGroup var output: OutputOptions
    @Flag(help: "Show the measured figures, and reckon nothing.") var figures = false

    func validate() throws {
        if self.figures { return }
        guard let listeners = self.listeners else { throw ValidationError("--listeners is missing") }
        let whole: [(name: String, value: Int?, range: ClosedRange<Int>)] = [
            ("listeners", listeners, 1...100_000_000), ("streams", self.streams, 1...1_000_000),
            ("ads", self.ads, 1...WireLimits.advertisementsPerBreakMax),
            ("joins-per-hour", self.joinsPerHour, 0...1_000_000_000), ("cores", self.cores, 1...4_096),
            ("connections", self.connections, 1...2), ("gateways", self.gateways, 1...LimitName.gatewaysMax.value),
            ("descriptors", self.descriptors, 1...2_000_000_000),
        ]
        for (name, value, range) in whole {
            guard let value, !range.contains(value) else { continue }
            throw ValidationError("--\(name) is from \(range.lowerBound) to \(range.upperBound); it was \(value)")
        }
        guard self.breaksPerHour > 0, self.breaksPerHour <= 3_600 else {
            throw ValidationError("--breaks-per-hour is above 0 and at most 3600; it was \(self.breaksPerHour)")
        }
        for (name, value) in [("memory", self.memory), ("disk", self.disk)] {
            guard let value, !(value > 0 && value <= 1_000_000) else { continue }
            throw ValidationError("--\(name) is above 0 and at most 1000000 GiB; it was \(value)")
        }
    }

    func run() throws {
        if self.figures { return try self.printFigures() }
        let listeners = self.listeners ?? 0
        let wanted = CapacityCase(
            listeners: listeners,
            streams: self.streams,
            breaksPerHour: self.breaksPerHour,
            advertisements: self.ads,
            joinsPerHour: self.joinsPerHour ?? listeners,
            connectionsPerListener: self.connections,
            isEncrypted: self.tls
        )
        let plan = CapacityPlan(
            wanted,
            on: self.machine,
            settings: CapacitySettings(GatewayConfiguration()),
            cluster: self.gateways.map { CapacityCluster(gateways: $0) }
        )
        if self.output.isJSON {
            let document = PlanDocument(fits: plan.fits, first: plan.first?.resource, needs: plan.needs)
            try CommandOutput.say(json: document, isPretty: true)
        } else {
            self.printText(plan)
        }
        if !plan.fits { throw CommandExit.checkFailed }
    }

    private var machine: CapacityMachine {
        let gibibyte = 1_073_741_824.0
        let free = try? FileManager.default.attributesOfFileSystem(forPath: ".")[.systemFreeSize] as? NSNumber
        return CapacityMachine(
            cores: self.cores ?? ProcessInfo.processInfo.activeProcessorCount,
            memoryBytes: self.memory.map { $0 * gibibyte } ?? Double(ProcessInfo.processInfo.physicalMemory),
            diskBytes: self.disk.map { $0 * gibibyte } ?? free?.doubleValue,
            descriptors: self.descriptors ?? ProcessDescriptors.raiseLimit()
        )
    }
}

extension CapacitySettings {
    /// Of a gateway with this configuration.
    fileprivate init(_ configuration: GatewayConfiguration) {
        self.init(
            breaks: configuration.breaks,
            keepTotalsFor: configuration.keepTotalsFor,
            ledgerCopiesKept: configuration.ledgerCopiesKept,
            ledgerCopiesInterval: configuration.ledgerCopiesInterval,
            logBytesMax: configuration.limits[.logBytesMax]
        )
    }
}

extension Capacity {
    private func printText(_ plan: CapacityPlan) {
        var table = TextTable(["needed", "", "there is", "used", "because of"])
        for need in plan.needs {
            table.add([
                need.resource, Self.text(need.amount, need.unit), need.available.map { Self.text($0, need.unit) } ?? "",
                need.share.map { Self.percent($0) + ($0 > 1 ? " USED UP" : "") } ?? "", need.because,
            ])
        }
        CommandOutput.say(table.text)
        guard let first = plan.first, let share = first.share else { return }
        CommandOutput.say("")
        if plan.fits {
            CommandOutput.say(
                "It fits. What ends first as listeners become more: \(first.resource), of which \(Self.percent(share)) is used."
            )
        } else {
            CommandOutput.say("It does not fit: what is used up is marked, first of all \(first.resource).")
        }
        CommandOutput.say(
            "Reckoned from figures of another machine: 'cuecast capacity --figures', and docs/operations/capacity.md."
        )
    }

    private func printFigures() throws {
        if self.output.isJSON { return try CommandOutput.say(json: MeasuredCost.all, isPretty: true) }
        // As docs/operations/capacity.md has it.
        CommandOutput.say("| figure | value | row of `make bench` |\n| --- | --- | --- |")
        for each in MeasuredCost.all {
            CommandOutput.say("| \(each.name) | \(Self.text(each.value, each.unit, scaled: false)) | `\(each.row)` |")
        }
    }
}

/// The output for programs.
private struct PlanDocument: Encodable {
    let fits: Bool
    let first: String?
    let needs: [CapacityPlan.Need]
}

extension Capacity {
    /// A number with its unit: bytes and bits in thousands, as who sells them counts.
    private static func text(_ amount: Double, _ unit: String, scaled: Bool = true) -> String {
        var (amount, prefix) = (amount, "")
        if scaled, ["B", "B/s", "bit/s"].contains(unit) {
            for next in ["k", "M", "G", "T"] where amount >= 1_000 {
                amount /= 1_000
                prefix = next
            }
        }
        return unit.isEmpty ? Self.digits(amount) : "\(Self.digits(amount)) \(prefix)\(unit)"
    }

    /// Three digits that count.
    private static func digits(_ amount: Double) -> String {
        if amount >= 100 || amount == amount.rounded() { return "\(Int64(amount.rounded()))" }
        let places = amount >= 10 ? 10.0 : amount >= 1 ? 100 : 1_000
        return "\((amount * places).rounded() / places)"
    }

    private static func percent(_ share: Double) -> String { "\(Self.digits((share * 1_000).rounded() / 10)) %" }
}
