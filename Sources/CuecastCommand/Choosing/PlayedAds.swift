// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import BreakScheduling
import CommandSupport
import CuecastWire
import Foundation
import GatewayCore
import GatewayDocuments

extension PlayedHistory {
    /// The ads of a file.
    ///
    /// - Parameter path: the file.
    /// - Throws: why it cannot be used.
    init(file path: String) throws(FileFault) {
        self.init(try InputFile.document(path, upTo: CandidatesDocument.bytesMax, PlayedAdsDocument.read))
    }
}

extension OperatorGateway {
    /// The most breaks on a page of a report.
    private static let pageMax = 500
    /// How often a ledger that is behind is asked again, and how long it has in between.
    private static let attemptsMax = 50
    private static let attemptEvery = Duration.milliseconds(100)

    /// The ads of the breaks of a stream that start in a time, by the gateway's reports.
    ///
    /// The ledger reads the log a moment later than the board. This waits until it has read what there was when it was asked: otherwise
    /// the ads that another program has just given a break would be missing.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - from: in milliseconds since 1970.
    ///   - to: in milliseconds since 1970; breaks that start then count too.
    /// - Returns: the ads.
    /// - Throws: where they are not known, or not all.
    func played(in stream: String, from: Int64, to: Int64) async throws(Fault) -> PlayedHistory {
        var head: UInt64?
        for _ in 1...Self.attemptsMax {
            var offset: UInt64 = 0
            var lastHead: UInt64 = 0
            var isPartial = false
            let history = try await PlayedHistory.read { (key) async throws(Fault) -> HistoryPage in
                let page = try await self.document(
                    ReportDocument.self,
                    Self.target(
                        "/v1/reports",
                        [
                            ("stream", stream), ("before", key.map { String($0) }), ("limit", String(Self.pageMax)),
                            ("from", Self.text(from)), ("to", Self.text(to + 1)),
                        ]
                    )
                )
                if let lane = page.lanes[Lane.breaks.description] {
                    // The first page is the oldest knowledge.
                    if key == nil { offset = lane.offset }
                    lastHead = lane.head ?? lane.offset
                }
                isPartial =
                    isPartial || page.pending?.contains(GatewayCore.Report.Pending.olderBreaks.rawValue) ?? false
                return HistoryPage(page)
            }
            guard let history else {
                throw Fault(
                    sentence:
                        "the limit historyBreaksMax is \(PlayedHistory.historyBreaksMax), and the stream has more breaks in the time that the rules are about",
                    exit: CommandExit.badData
                )
            }
            guard !isPartial else {
                throw Fault(sentence: GatewayCore.Report.Pending.olderBreaks.sentence, exit: CommandExit.unavailable)
            }
            head = head ?? lastHead
            if offset >= head ?? 0 { return history }
            try? await Task.sleep(for: Self.attemptEvery)
        }
        throw Fault(sentence: "the gateway's ledger is behind its event log", exit: CommandExit.unavailable)
    }

    private static func text(_ milliseconds: Int64) -> String {
        Timestamp(microseconds: milliseconds * 1_000).description
    }
}

extension HistoryPage {
    fileprivate init(_ report: ReportDocument) {
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
    }
}
