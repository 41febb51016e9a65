// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CuecastWire
import Foundation
import GatewayCore
import SQLiteStore

/// Measures the ledger as the gateway uses it, without a gateway around it.
@main
struct StoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "StoreBenchmark",
        abstract: "Measure the ledger without a gateway around it.",
        discussion: """
            Example: StoreBenchmark ledger --data-dir ledger --existing-rows 10000000 --groups 300
            """,
        subcommands: [LedgerCommand.self]
    )
}

/// Projects groups of acknowledgements into a ledger that holds rows already.
struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Project groups of acknowledgements, from the records of the log to the rows."
    )

    @Option(help: "The folder of the ledger; made where there is none.")
    var dataDir: String

    @Option(help: "How many outcomes are there before.")
    var existingRows = 0

    @Option(help: "How many groups to project.")
    var groups = 300

    @Option(help: "How many requests of three outcomes a group has.")
    var requestsPerGroup = 1_000

    @Option(help: "How many groups one transaction takes: 1, or what gathers under load.")
    var groupsPerTransaction = 1

    @Flag(help: "Print one JSON object; there is no other form.")
    var json = false

    func validate() throws {
        guard self.existingRows >= 0, self.groups > 0, self.requestsPerGroup > 0, self.groupsPerTransaction > 0 else {
            throw ValidationError("--existing-rows is 0 or more, the other numbers are above 0")
        }
    }

    func run() async throws {
        try FileManager.default.createDirectory(atPath: self.dataDir, withIntermediateDirectories: true)
        let ledger = try SQLiteLedger(in: StoreDirectory(path: self.dataDir))
        let lane = Lane.acknowledgements(0)
        let marks = URL(fileURLWithPath: self.dataDir).appending(path: "next-break")
        // Where the last run ended: every row is new.
        var work = Work(
            nextBreak: (try? String(contentsOf: marks, encoding: .utf8)).flatMap { UInt64($0) } ?? 1
        )
        var offset = try await ledger.appliedOffset(of: lane)
        if offset == 0 {
            while work.requests * Work.outcomesPerRequest < self.existingRows {
                offset += 1
                try await ledger.apply([try LedgerPosting(work.wave(offset))], of: lane)
            }
            work.beginBreaks()
        }
        let records = (1...UInt64(self.groups)).map { work.group(offset + $0, requests: self.requestsPerGroup) }
        let before = Self.processorSeconds()
        let began = ContinuousClock.now
        for first in stride(from: 0, to: records.count, by: self.groupsPerTransaction) {
            let taken = records[first..<min(first + self.groupsPerTransaction, records.count)]
            try await ledger.apply(
                try taken.map { (record) throws(WireError) in try LedgerPosting(record) },
                of: lane
            )
        }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        let processor = Self.processorSeconds() - before
        work.beginBreaks()
        try "\(work.nextBreak)".write(to: marks, atomically: true, encoding: .utf8)
        await ledger.close()
        let requests = self.groups * self.requestsPerGroup
        let outcomes = requests * Work.outcomesPerRequest
        let report: [String: Double] = [
            "existing_rows": Double(self.existingRows), "groups": Double(self.groups), "requests": Double(requests),
            "outcomes": Double(outcomes), "seconds": seconds, "outcomes_per_second": Double(outcomes) / seconds,
            "rows_per_second": Double(outcomes + requests) / seconds, "cpu_seconds": processor,
        ]
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        // Safety: the call fills the structure that it is handed.
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
