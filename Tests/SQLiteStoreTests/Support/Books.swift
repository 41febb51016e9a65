// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Short ways to write what a ledger is told.
enum Books {
    static let lane = Lane.acknowledgements(0)
    static let start = Timestamp(microseconds: 1_700_000_000_000_000)

    static func session(_ number: Int) -> SessionID {
        // The first bytes differ most, as with random ones.
        SessionID(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number))
    }

    static func delivery(
        _ session: Int,
        of number: UInt64 = 1,
        variant: UInt32 = 0,
        first: UInt32 = 0
    ) -> LedgerPosting.Delivery {
        LedgerPosting.Delivery(
            session: Self.session(session),
            breakNumber: BreakNumber(rawValue: number),
            variant: variant,
            first: AdOrdinal.of(Int(first), in: variant),
            at: Self.start
        )
    }

    static func outcome(
        _ session: Int,
        _ ordinal: UInt32,
        _ kind: Outcome.Kind = .played,
        of number: UInt64 = 1,
        reason: Outcome.Reason = .user,
        heard: Duration = .seconds(3),
        evidence: Outcome.Evidence = .reported,
        muted: Bool = false,
        clicked: Bool = false
    ) throws -> LedgerPosting.OutcomeRow {
        LedgerPosting.OutcomeRow(
            breakNumber: BreakNumber(rawValue: number),
            session: Self.session(session),
            ordinal: ordinal,
            outcome: Outcome(
                advertisementID: try AdvertisementID("ad-\(AdOrdinal.place(of: ordinal))"),
                kind: kind,
                evidence: evidence,
                reason: kind == .ignored ? reason : nil,
                heard: heard,
                quartiles: 4,
                muted: muted,
                vastError: kind == .failed ? 400 : 0,
                occurred: Self.start,
                clicked: clicked
            )
            .details,
            received: Self.start + .seconds(1)
        )
    }

    static func summary(
        _ number: UInt64 = 1,
        advertisements: Int = 3,
        stream: String = "radio1",
        id: String? = nil,
        end: Timestamp? = Self.start + .seconds(30),
        title: String = "Title",
        variants: [String] = []
    ) throws -> BreakSummary {
        BreakSummary(
            number: BreakNumber(rawValue: number),
            key: BreakKey(stream: try StreamID(stream), id: try BreakID(id ?? "break-\(number)")),
            broadcaster: "studio",
            published: Self.start - .seconds(60),
            start: Self.start,
            end: end,
            cancelled: false,
            expired: false,
            preStream: false,
            advertisements: try (0...variants.count)
                .flatMap { variant in
                    try (0..<advertisements)
                        .map { ordinal in
                            BreakSummary.Advertisement(
                                id: try AdvertisementID("ad-\(ordinal)"),
                                title: "\(title) \(ordinal)",
                                duration: .milliseconds(15_000 + ordinal),
                                variant: UInt32(variant)
                            )
                        }
                },
            variants: variants
        )
    }
}

extension Ledger {
    /// Applies one group after what is applied.
    func post(
        _ deliveries: [LedgerPosting.Delivery] = [],
        _ outcomes: [LedgerPosting.OutcomeRow] = [],
        lane: Lane = Books.lane
    ) async throws {
        let next = try await self.appliedOffset(of: lane) + 1
        try await self.apply([LedgerPosting(offset: next, deliveries: deliveries, outcomes: outcomes)], of: lane)
    }

    /// The report of all breaks.
    func everything() async throws -> Report {
        try await self.report(ReportQuery(limit: ReportQuery.breaksMax, now: Books.start))
    }

    /// The counts of the advertisements of the only break there is.
    func counts() async throws -> [OutcomeCounts] {
        try await self.everything().breaks[0].advertisements.map(\.counts)
    }
}
