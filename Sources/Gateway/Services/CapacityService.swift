// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Logging
import ServiceLifecycle

/// Measures the use of disk, memory and descriptors, and raises an alarm before the log or the disk is full.
struct CapacityService: Service {
    /// With less free space on the disk than this it raises the alarm, in bytes (1 GiB).
    static let diskFreeBytesMin = 1_073_741_824

    /// `nil`: the log is not on this machine.
    let log: (any LogMaintenance)?
    let ledger: any Ledger
    /// The data directory.
    let folder: String
    let interval: Duration
    let metrics: MetricRegistry
    let readiness: ReadinessBoard
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { self.sample() } while (try? await Task.sleep(for: self.interval)) != nil
        }
    }

    private func sample() {
        let machine = MachineSample(folder: self.folder)
        let gauges: [(Metric, Int?)] = [
            (.logBytes, self.log?.fileBytes), (.ledgerBytes, self.ledger.fileBytes),
            (.diskFreeBytes, machine.diskFreeBytes), (.openDescriptors, machine.openDescriptors),
            (.descriptorsMax, machine.descriptorsMax), (.residentMemory, machine.residentBytes),
            (.logUsedBytes, self.log?.usage?.bytes), (.logUsedBytesMax, self.log?.usage?.bytesMax),
        ]
        for case (let metric, let value?) in gauges { self.metrics.set(metric, to: value) }
        self.report(.logNearlyFull, Self.sentence(about: self.log?.usage))
        self.report(.diskNearlyFull, Self.sentence(aboutFree: machine.diskFreeBytes, in: self.folder))
    }

    private func report(_ alarm: Alarm, _ sentence: String?) {
        if let sentence {
            if self.readiness.raise(alarm, sentence) { self.logger.warning("\(sentence)") }
        } else if self.readiness.clear(alarm) {
            self.logger.notice("the alarm is over", metadata: ["alarm": "\(alarm.rawValue)"])
        }
    }

    /// The sentence about the log's capacity for an operator; `nil`: none is needed.
    static func sentence(about usage: LogUsage?) -> String? {
        guard let usage, usage.isNear else { return nil }
        let numbers = "The event log uses \(usage.bytes) of \(usage.bytesMax) bytes (log.bytesMax)"
        return usage.isReached
            ? "\(numbers): publications and acknowledgements are refused until there is room."
            : "\(numbers): at the limit new work is refused. See that the ledger follows and its copies are made, or raise it."
    }

    /// The sentence about the disk's free space for an operator; `nil`: none is needed.
    static func sentence(aboutFree bytes: Int?, in folder: String) -> String? {
        guard let bytes, bytes < Self.diskFreeBytesMin else { return nil }
        return "Only \(bytes) bytes are free on the disk of \(folder): when it is full, new work is refused."
    }
}
