// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A figure that was measured, with the row of `make bench` that gives it on another machine.
///
/// docs/operations/capacity.md has the same table, and says on which machine it was taken.
package struct MeasuredCost: Hashable, Sendable, Encodable {
    /// The operation that costs that much.
    package let name: String
    package let value: Double
    package let unit: String
    /// The row of `make bench`.
    package let row: String
}

extension MeasuredCost {
    // Memory.
    package static let gatewayMemory = MeasuredCost(
        name: "memory of a gateway without listeners",
        value: 52,
        unit: "MiB",
        row: "footprint"
    )
    package static let listenerMemory = MeasuredCost(
        name: "memory of a listener that had breaks",
        value: 1.75,
        unit: "KiB",
        row: "memory-used"
    )
    package static let connectionMemory = MeasuredCost(
        name: "memory of the kernel for a connection",
        value: 4.2,
        unit: "KiB",
        row: "footprint"
    )
    package static let tlsMemory = MeasuredCost(
        name: "more memory for a connection by TLS",
        value: 14.4,
        unit: "KiB",
        row: "tls-memory"
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
        value: 0.86,
        unit: "µs",
        row: "joins-18000"
    )
    package static let joinTime = MeasuredCost(
        name: "CPU of a connection and its join",
        value: 60,
        unit: "µs",
        row: "tls-handshakes"
    )
    package static let tlsJoinTime = MeasuredCost(
        name: "CPU of a connection by TLS and its join",
        value: 357,
        unit: "µs",
        row: "tls-handshakes"
    )
    package static let breakTime = MeasuredCost(
        name: "CPU of one listener's break",
        value: 77.5,
        unit: "µs",
        row: "footprint"
    )
    package static let advertisementTime = MeasuredCost(
        name: "CPU of each advertisement in it",
        value: 2.1,
        unit: "µs",
        row: "footprint"
    )
    package static let noticeTime = MeasuredCost(
        name: "until one more listener has a notice",
        value: 7.6,
        unit: "µs",
        row: "single-notice-send"
    )
    package static let tlsNoticeTime = MeasuredCost(
        name: "until one more listener by TLS has a notice",
        value: 13.3,
        unit: "µs",
        row: "tls-notice-9000"
    )
    package static let batchRate = MeasuredCost(
        name: "batch requests at most, a second",
        value: 90_000,
        unit: "",
        row: "batch-9000"
    )
    package static let tlsBatchShare = MeasuredCost(
        name: "of them by TLS",
        value: 0.73,
        unit: "",
        row: "tls-batch-100"
    )
    package static let acknowledgementRate = MeasuredCost(
        name: "acknowledgements at most, a second",
        value: 48_800,
        unit: "",
        row: "acknowledgements"
    )

    package static let ledgerRowTime = MeasuredCost(
        name: "CPU of a row in the ledger",
        value: 1.69,
        unit: "µs",
        row: "projection"
    )
    package static let ledgerRowRate = MeasuredCost(
        name: "rows in the ledger at most, a second",
        value: 540_921,
        unit: "",
        row: "projection"
    )
    package static let sharedAppendRate = MeasuredCost(
        name: "records of 30 kB that three servers take, a second",
        value: 2_500,
        unit: "",
        row: "shared-append"
    )

    // Bytes on the wire, with the headers of TCP and IP.
    package static let idleTraffic = MeasuredCost(
        name: "sent to and by an idle listener, a second",
        value: 7.9,
        unit: "B",
        row: "footprint"
    )
    package static let breakTraffic = MeasuredCost(
        name: "sent for one listener's break",
        value: 1_104,
        unit: "B",
        row: "footprint"
    )
    package static let advertisementTraffic = MeasuredCost(
        name: "sent for each advertisement in it",
        value: 478,
        unit: "B",
        row: "footprint"
    )

    // Bytes on the disk.
    package static let breakLog = MeasuredCost(
        name: "log for one listener's break",
        value: 199,
        unit: "B",
        row: "footprint"
    )
    package static let advertisementLog = MeasuredCost(
        name: "log for each advertisement in it",
        value: 40.3,
        unit: "B",
        row: "footprint"
    )
    package static let breakLedger = MeasuredCost(
        name: "ledger for one listener's break",
        value: 36.5,
        unit: "B",
        row: "footprint"
    )
    package static let advertisementLedger = MeasuredCost(
        name: "ledger for each advertisement in it",
        value: 60.2,
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
        .gatewayMemory, .listenerMemory, .connectionMemory, .tlsMemory, .breakMemory, .idleListenerTime, .joinTime,
        .tlsJoinTime, .breakTime, .advertisementTime, .noticeTime, .tlsNoticeTime, .batchRate, .tlsBatchShare,
        .acknowledgementRate, .ledgerRowTime, .ledgerRowRate, .sharedAppendRate,
        .idleTraffic, .breakTraffic, .advertisementTraffic, .breakLog, .advertisementLog,
        .breakLedger, .advertisementLedger, .totalsLedger,
    ]
}
