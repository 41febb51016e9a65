// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import LoadEngine
import SystemSupport

/// How many processes the limit on open files asks for.
enum DescriptorLimit {
    /// As many for each listener as it has connections, and some for everything else.
    static func processes(listeners: Int, connections: Int) -> Int {
        let each = max(1, (ProcessDescriptors.raiseLimit() - 64) / connections)
        return min(256, (listeners + each - 1) / each)
    }
}

/// Where a run happened, for its report.
enum RunFacts {
    static func facts(
        _ settings: RunSettings,
        http: String,
        began: Timestamp,
        outcome: RunOutcome
    ) -> LoadReport.Facts {
        LoadReport.Facts(
            machine: self.machine,
            options: self.options(settings),
            gateway: [
                .init("Notices", settings.gateway.notices), .init("Requests", settings.gateway.requests),
                .init("Broadcast", settings.follows ? "–" : settings.gateway.broadcast), .init("Report", http),
            ],
            began: began,
            processes: settings.processes,
            ownCPUSeconds: outcome.cpuSeconds
        )
    }

    private static var machine: [LoadReport.Facts.Pair] {
        let info = ProcessInfo.processInfo
        let memory = Double(info.physicalMemory) / 1_073_741_824
        return [
            .init(
                "System",
                Self.line(of: "/proc/sys/kernel/ostype") + " " + Self.line(of: "/proc/sys/kernel/osrelease")
            ),
            .init("Processor", Self.processor),
            .init("Cores", "\(info.activeProcessorCount)"),
            .init("Memory", "\((memory * 10).rounded() / 10) GiB"),
            .init("Open files", "\(ProcessDescriptors.raiseLimit()) at most"),
        ]
    }

    private static func line(of path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
            ?? "unknown"
    }

    private static var processor: String {
        let lines = Self.line(of: "/proc/cpuinfo").split(separator: "\n")
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        return model?.trimmingCharacters(in: .whitespaces) ?? "unknown"
    }

    private static func options(_ settings: RunSettings) -> [LoadReport.Facts.Pair] {
        func time(_ microseconds: Microseconds) -> String { Duration.microseconds(microseconds).inSecondsText }
        var pairs: [LoadReport.Facts.Pair] = [
            .init(
                "Streams",
                settings.streams.count > 4 ? "\(settings.streams.count)" : settings.streams.joined(separator: ", ")
            ),
            .init("Listeners", "\(settings.listeners)"),
        ]
        if settings.follows {
            pairs.append(.init("Breaks", "followed\(settings.breaks.map { ", \($0) on each stream" } ?? "")"))
        } else {
            let count = settings.breaks.map { "\($0) on each stream" } ?? "as many as fit"
            pairs.append(.init("Breaks", "\(count), every \(time(settings.every))"))
            pairs.append(
                .init(
                    "A break",
                    "published \(time(settings.lead)) ahead, \(time(settings.duration)) long, \(settings.advertisements) ads"
                )
            )
        }
        let rate = settings.connectRate > 0 ? "\(Int(settings.connectRate)) a second" : "all at once"
        pairs += [
            .init("Connecting", rate),
            .init(
                "Connections",
                settings.push ? "one for each listener, where the gateway pushes" : "two for each listener"
            ),
            .init("Encryption", settings.encryption == nil ? "none" : "TLS"),
            .init("Tokens", settings.tokensFile == nil ? "none" : "joins have one"),
            .init("Asking", settings.storm ? "all at once" : "each in its slot"),
            .init(
                "Outcomes",
                "played \(settings.mix.played), ignored \(settings.mix.ignored), failed \(settings.mix.failed)"
            ),
            .init("Acknowledging", settings.speed.map { "after playing, \($0) times as fast" } ?? "at once"),
        ]
        if settings.stall > 0 {
            pairs.append(.init("Stalling", "\(settings.stall) of the listeners, \(time(settings.stallFor)) each time"))
        }
        if settings.churn > 0 { pairs.append(.init("Churn", "\(settings.churn) sessions a second")) }
        if let runFor = settings.runFor { pairs.append(.init("Run for", time(runFor))) }
        pairs.append(.init("Seed", "\(settings.seed)"))
        return pairs
    }
}
