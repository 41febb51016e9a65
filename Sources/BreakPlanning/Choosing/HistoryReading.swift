// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import BreakDocuments
internal import CuecastWire
internal import GatewayCore
package import GatewayDocuments

/// Why the ads of other breaks of a stream are not known.
package enum HistoryFault: Error, Hashable, Sendable {
    /// There are more than ``PlayedHistory/historyBreaksMax``.
    case tooMany
    /// The ledger has not read older breaks yet.
    case olderBreaks
    /// The ledger did not reach the head that the log had when it was asked.
    case behind

    /// One sentence for people, without its stop.
    package var sentence: String {
        switch self {
        case .tooMany:
            "the limit historyBreaksMax is \(PlayedHistory.historyBreaksMax), and the stream has more breaks in the time that the rules are about"
        case .olderBreaks: GatewayCore.Report.Pending.olderBreaks.sentence
        case .behind: "the gateway's ledger is behind its event log"
        }
    }
}

extension PlayedHistory {
    /// The most breaks on a page of a report.
    package static let pageMax = 500
    /// How often a ledger that is behind is asked.
    package static let attemptsMax = 50
    /// The time between two attempts.
    package static let attemptEvery = Duration.milliseconds(100)

    /// Reads the ads of other breaks, and waits until the ledger has read what there was when it was asked.
    ///
    /// The ledger reads the log a moment later than the board. Without the wait, the ads that another program has just given a break would
    /// be missing.
    ///
    /// - Parameters:
    ///   - page: gives the page of a key; `nil`: the first one.
    ///   - pause: waits for ``attemptEvery``.
    /// - Returns: the ads, or why they are not known.
    /// - Throws: the errors of `page` and `pause`.
    package static func upToDate<Failure>(
        _ page: (UInt64?) async throws(Failure) -> HistoryPage,
        pause: () async throws(Failure) -> Void
    ) async throws(Failure) -> Result<PlayedHistory, HistoryFault> {
        var head: UInt64?
        for _ in 1...Self.attemptsMax {
            var offset: UInt64 = 0
            var lastHead: UInt64 = 0
            var isPartial = false
            let history = try await Self.read { (key) async throws(Failure) -> HistoryPage in
                let page = try await page(key)
                if let lane = page.lane {
                    // The first page is the oldest knowledge.
                    if key == nil { offset = lane.offset }
                    lastHead = lane.head ?? lane.offset
                }
                isPartial = isPartial || page.isPartial
                return page
            }
            guard let history else { return .failure(.tooMany) }
            guard !isPartial else { return .failure(.olderBreaks) }
            let wanted = head ?? lastHead
            head = wanted
            if offset >= wanted { return .success(history) }
            try await pause()
        }
        return .failure(.behind)
    }
}

extension HistoryPage {
    /// The ads of a report.
    ///
    /// - Parameter report: one page.
    package init(_ report: ReportDocument) {
        var entries: [PlayedHistory.Entry] = []
        for each in report.breaks where !each.cancelled && !each.expired {
            guard let start = each.start.flatMap({ Timestamp(rfc3339: $0) }) else { continue }
            for ad in each.ads {
                entries.append(
                    PlayedHistory.Entry(
                        milliseconds: start.microseconds / 1_000,
                        breakID: each.break,
                        id: CandidatesDocument.ownID(ad.id),
                        variant: ad.variantName
                    )
                )
            }
        }
        self.init(entries: entries, breakCount: report.breaks.count, next: report.before)
        self.lane = report.lanes[Lane.breaks.description].map { Progress(offset: $0.offset, head: $0.head) }
        self.isPartial = report.pending?.contains(GatewayCore.Report.Pending.olderBreaks.rawValue) ?? false
    }
}
