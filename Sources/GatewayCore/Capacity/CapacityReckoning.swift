// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The arithmetic of a ``CapacityPlan`` for one gateway, one function a line of the answer.
struct CapacityReckoning {
    let wanted: CapacityCase
    let settings: CapacitySettings

    private typealias Need = CapacityPlan.Need

    private var listeners: Double { Double(self.wanted.listeners) }
    var advertisements: Double { Double(self.wanted.advertisements) }
    /// Breaks that listeners hear, a second, all listeners together.
    var heardPerSecond: Double { self.listeners * self.wanted.breaksPerHour / 3_600 }
    private var breaksPerDay: Double { Double(self.wanted.streams) * self.wanted.breaksPerHour * 24 }

    /// The total cost of one listener's break.
    func perBreak(_ alone: MeasuredCost, _ each: MeasuredCost) -> Double {
        alone.value + self.advertisements * each.value
    }

    private static let mebibyte = 1_048_576.0

    /// - Parameters:
    ///   - available: how many cores there are.
    ///   - more: microseconds in a second for other work.
    ///   - because: the name of that work.
    /// - Returns: the line of the answer.
    func cores(_ available: Int?, more: Double = 0, because: String = "") -> CapacityPlan.Need {
        let listening = self.listeners * MeasuredCost.idleListenerTime.value
        let joining = Double(self.wanted.joinsPerHour) / 3_600 * self.joinMicroseconds
        let breaks = self.heardPerSecond * self.perBreak(.breakTime, .advertisementTime)
        return Need(
            resource: "cores, on average",
            amount: (listening + joining + breaks + more) / 1_000_000,
            unit: "",
            because: "listening, joins, and \(self.text(self.heardPerSecond)) breaks heard a second\(because)",
            available: available.map(Double.init)
        )
    }

    /// The cost of a listener that joins: its connections and its join.
    private var joinMicroseconds: Double {
        (self.wanted.isEncrypted ? MeasuredCost.tlsJoinTime : .joinTime).value
    }

    func batchRate() -> CapacityPlan.Need {
        let window = self.settings.windowSeconds
        let rate = MeasuredCost.batchRate.value * (self.wanted.isEncrypted ? MeasuredCost.tlsBatchShare.value : 1)
        return Need(
            resource: "batch requests at the break",
            amount: self.listeners / window,
            unit: "/s",
            because: "all listeners in the \(self.text(window)) s of the request window; one thread decides",
            available: min(rate, self.settings.breaks.batchRequestsPerSecond)
        )
    }

    func acknowledgementTime() -> CapacityPlan.Need {
        Need(
            resource: "acknowledgements after an advertisement",
            amount: self.listeners / MeasuredCost.acknowledgementRate.value,
            unit: "s",
            because: "until all listeners have a confirmation; players ask again after 5 s",
            available: 5
        )
    }

    func noticeTime() -> CapacityPlan.Need {
        Need(
            resource: "from the first listener's notice to the last's",
            amount: self.listeners * (self.wanted.isEncrypted ? MeasuredCost.tlsNoticeTime : .noticeTime).value
                / 1_000_000,
            unit: "s",
            because: "all streams at once, one thread that moves bytes; a fifth of the lead is reckoned with",
            available: self.settings.windowSeconds / 5
        )
    }

    func returnTime() -> CapacityPlan.Need {
        Need(
            resource: "until all listeners are back after a restart",
            amount: self.listeners * self.joinMicroseconds / 1_000_000,
            unit: "s",
            because:
                "connections and joins as fast as one thread takes them\(self.wanted.isEncrypted ? ", each with a handshake" : "")",
            available: nil
        )
    }

    /// Of the process, and of the kernel for it.
    private var listenerKibibytes: Double {
        let each = MeasuredCost.connectionMemory.value + (self.wanted.isEncrypted ? MeasuredCost.tlsMemory.value : 0)
        return MeasuredCost.listenerMemory.value + Double(self.wanted.connectionsPerListener) * each
    }

    func memory(_ available: Double?) -> CapacityPlan.Need {
        let crowd = self.listeners * self.listenerKibibytes * 1_024
        let base = MeasuredCost.gatewayMemory.value * Self.mebibyte + Self.cacheBytes
        return Need(
            resource: "memory",
            amount: base + crowd + self.boardBytes,
            unit: "B",
            because:
                "the gateway, its caches, \(self.wanted.listeners) listeners with what the kernel keeps for them, and the board",
            available: available
        )
    }

    /// Pages of the ledger and of the log, and the log's newest records, once the caches are full.
    private static let cacheBytes = 96 * Self.mebibyte

    private var boardBytes: Double {
        let kept = self.breaksPerDay * BoardLimits.acknowledgeWithin.days
        return Double(self.wanted.streams * BoardLimits.streamBytes) + kept * MeasuredCost.breakMemory.value
    }

    func board() -> CapacityPlan.Need {
        Need(
            resource: "the board (boardBytesMax)",
            amount: self.boardBytes,
            unit: "B",
            because: "the breaks of eight days, which may still be acknowledged",
            available: Double(BoardLimits.boardBytesMax)
        )
    }

    func descriptors(_ available: Int?) -> CapacityPlan.Need {
        let each = self.wanted.connectionsPerListener
        let connections = self.wanted.listeners * each
        return Need(
            resource: "open files (LimitNOFILE)",
            amount: Double(DescriptorReserve.limit(for: connections)),
            unit: "",
            because: "\(each == 1 ? "one connection" : "two connections") a listener, and what is kept back",
            available: available.map(Double.init)
        )
    }

    func streams() -> CapacityPlan.Need {
        Need(
            resource: "streams",
            amount: Double(self.wanted.streams),
            unit: "",
            because: "the limit streamsMax",
            available: Double(BoardLimits.streamsMax)
        )
    }

    /// The part of the log that the second newest copy of the ledger does not have yet.
    private var logBytes: Double {
        let kept = 2 * (self.settings.ledgerCopiesInterval / .seconds(1))
        return self.heardPerSecond * kept * self.perBreak(.breakLog, .advertisementLog)
    }

    func log() -> CapacityPlan.Need {
        Need(
            resource: "the event log (log.bytesMax)",
            amount: self.logBytes,
            unit: "B",
            because: "what is younger than the second newest copy of the ledger; keepLogRecords may keep more",
            available: Double(self.settings.logBytesMax)
        )
    }

    /// - Parameters:
    ///   - available: how many bytes there are.
    ///   - hasLog: whether the log is on the same disk.
    /// - Returns: the line of the answer.
    func disk(_ available: Double?, hasLog: Bool = true) -> CapacityPlan.Need {
        let heard = self.heardPerSecond * (BoardLimits.keepRowsFor / .seconds(1))
        let rows = heard * self.perBreak(.breakLedger, .advertisementLedger)
        let totals = self.breaksPerDay * self.settings.keepTotalsFor.days * MeasuredCost.totalsLedger.value
        let ledgers = Double(2 + self.settings.ledgerCopiesKept)
        return Need(
            resource: "disk",
            amount: (rows + totals) * ledgers + (hasLog ? Double(self.settings.logBytesMax) : 0),
            unit: "B",
            because: "\(self.text(BoardLimits.keepRowsFor.days)) days of outcomes and the totals of"
                + " \(self.text(self.settings.keepTotalsFor.days)) days, in the ledger, its copies and one that is being made"
                + (hasLog ? "; the log at its limit" : ""),
            available: available
        )
    }

    /// - Parameter hasLog: whether the log is on the same disk.
    /// - Returns: the line of the answer.
    func diskWrites(hasLog: Bool = true) -> CapacityPlan.Need {
        let log = hasLog ? self.perBreak(.breakLog, .advertisementLog) : 0
        let bytes = log + self.perBreak(.breakLedger, .advertisementLedger)
        return Need(
            resource: "written to the disk, on average",
            // Each page goes into the write-ahead log first, and then into its file.
            amount: self.heardPerSecond * bytes * 2,
            unit: "B/s",
            because: hasLog
                ? "log and ledger, each by way of its write-ahead log" : "the ledger, by way of its write-ahead log",
            available: nil
        )
    }

    func network() -> CapacityPlan.Need {
        let idle = self.listeners * MeasuredCost.idleTraffic.value
        let breaks = self.heardPerSecond * self.perBreak(.breakTraffic, .advertisementTraffic)
        return Need(
            resource: "network, on average",
            amount: (idle + breaks) * 8,
            unit: "bit/s",
            because: "both directions, headers included; media come from elsewhere",
            available: nil
        )
    }

    func networkPeak() -> CapacityPlan.Need {
        let bytes = self.listeners * self.perBreak(.breakTraffic, .advertisementTraffic)
        return Need(
            resource: "network, at the break",
            amount: bytes * 8 / self.settings.windowSeconds,
            unit: "bit/s",
            because: "everything of a break within its request window",
            available: nil
        )
    }

    func text(_ number: Double) -> String {
        let tenths = (number * 10).rounded() / 10
        return tenths == tenths.rounded() ? "\(Int(clamping: Int64(tenths)))" : "\(tenths)"
    }
}

extension Duration {
    fileprivate var days: Double { self / .seconds(86_400) }
}
