// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A figure that was measured, with the row of `make bench` that gives it on another machine.
///
/// docs/capacity.md has the same table, and says on which machine it was taken.
package struct MeasuredCost: Hashable, Sendable, Encodable {
    /// What costs that much.
    package let name: String
    package let value: Double
    package let unit: String
    /// The row of `make bench`.
    package let row: String
}

extension MeasuredCost {
    // Memory.
    package static let gatewayMemory = MeasuredCost(
        name: "memory of a gateway with nobody",
        value: 49,
        unit: "MiB",
        row: "footprint"
    )
    package static let listenerMemory = MeasuredCost(
        name: "memory of a listener that had breaks",
        value: 82,
        unit: "KiB",
        row: "footprint"
    )
    package static let breakMemory = MeasuredCost(
        name: "memory of a kept break",
        value: 2_819,
        unit: "B",
        row: "growth-kept"
    )

    // Time of one core.
    package static let idleListenerTime = MeasuredCost(
        name: "CPU of an idle listener, a second",
        value: 3.1,
        unit: "µs",
        row: "idle-cpu"
    )
    package static let joinTime = MeasuredCost(name: "CPU of a join", value: 188, unit: "µs", row: "joins")
    package static let breakTime = MeasuredCost(
        name: "CPU of one listener's break",
        value: 97,
        unit: "µs",
        row: "footprint"
    )
    package static let advertisementTime = MeasuredCost(
        name: "CPU of each advertisement in it",
        value: 5.2,
        unit: "µs",
        row: "footprint"
    )
    package static let noticeTime = MeasuredCost(
        name: "until one more listener has a notice",
        value: 10.2,
        unit: "µs",
        row: "single-notice"
    )
    package static let batchRate = MeasuredCost(
        name: "batch requests at most, a second",
        value: 63_000,
        unit: "",
        row: "batch-9000"
    )
    package static let acknowledgementRate = MeasuredCost(
        name: "acknowledgements at most, a second",
        value: 51_000,
        unit: "",
        row: "acknowledgements"
    )

    // Bytes on the wire, with the headers of TCP and IP.
    package static let idleTraffic = MeasuredCost(
        name: "sent to and by an idle listener, a second",
        value: 32,
        unit: "B",
        row: "footprint"
    )
    package static let breakTraffic = MeasuredCost(
        name: "sent for one listener's break",
        value: 900,
        unit: "B",
        row: "footprint"
    )
    package static let advertisementTraffic = MeasuredCost(
        name: "sent for each advertisement in it",
        value: 482,
        unit: "B",
        row: "footprint"
    )

    // Bytes on the disk.
    package static let breakLog = MeasuredCost(
        name: "log for one listener's break",
        value: 154,
        unit: "B",
        row: "footprint"
    )
    package static let advertisementLog = MeasuredCost(
        name: "log for each advertisement in it",
        value: 43,
        unit: "B",
        row: "footprint"
    )
    package static let breakLedger = MeasuredCost(
        name: "ledger for one listener's break",
        value: 38,
        unit: "B",
        row: "footprint"
    )
    package static let advertisementLedger = MeasuredCost(
        name: "ledger for each advertisement in it",
        value: 60,
        unit: "B",
        row: "footprint"
    )
    package static let totalsLedger = MeasuredCost(
        name: "ledger for the totals of a break",
        value: 151,
        unit: "B",
        row: "growth-kept"
    )

    /// All of them, in the order of the table.
    package static let all: [MeasuredCost] = [
        .gatewayMemory, .listenerMemory, .breakMemory, .idleListenerTime, .joinTime, .breakTime,
        .advertisementTime,
        .noticeTime, .batchRate, .acknowledgementRate, .idleTraffic, .breakTraffic, .advertisementTraffic, .breakLog,
        .advertisementLog, .breakLedger, .advertisementLedger, .totalsLedger,
    ]
}
