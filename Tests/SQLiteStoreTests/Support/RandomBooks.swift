// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport

/// The events of a few breaks with a few listeners, at random: batches handed out twice and late, outcomes repeated and
/// contradicted, before and after their batches.
struct RandomBooks {
    static let lanes = [Lane.acknowledgements(0), .acknowledgements(1)]

    /// The numbers of the variants.
    static let variants: ClosedRange<UInt32> = 0...3

    private let breaks = 4
    private let sessions = 14
    private(set) var random: SeededGenerator

    init(_ random: SeededGenerator) { self.random = random }

    /// The groups of a lane, with offsets from 1 on; a session keeps to one lane.
    mutating func postings(lane: Int, count: Int) throws -> [LedgerPosting] {
        try (1...UInt64(count))
            .map { offset in
                LedgerPosting(
                    offset: offset,
                    deliveries: (0..<self.number(in: 0...5)).map { _ in self.delivery(lane: lane) },
                    outcomes: try (0..<self.number(in: 0...8)).map { _ in try self.outcome(lane: lane) }
                )
            }
    }

    mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self.random) }

    mutating func happens(oneIn chances: Int) -> Bool { self.number(in: 1...chances) == 1 }

    private mutating func session(lane: Int) -> Int {
        self.number(in: 0...self.sessions) * Self.lanes.count + lane
    }

    private mutating func breakNumber() -> UInt64 { UInt64(self.number(in: 1...self.breaks)) * 1_024 }

    private mutating func delivery(lane: Int) -> LedgerPosting.Delivery {
        Books.delivery(
            self.session(lane: lane),
            of: self.breakNumber(),
            variant: UInt32.random(in: Self.variants, using: &self.random),
            first: UInt32(self.happens(oneIn: 2) ? 0 : self.number(in: 0...5))
        )
    }

    private mutating func outcome(lane: Int) throws -> LedgerPosting.OutcomeRow {
        try Books.outcome(
            self.session(lane: lane),
            AdOrdinal.of(self.number(in: 0...5), in: UInt32.random(in: Self.variants, using: &self.random)),
            Outcome.Kind.allCases.randomElement(using: &self.random) ?? .played,
            of: self.breakNumber(),
            reason: Outcome.Reason.allCases.randomElement(using: &self.random) ?? .user,
            heard: .milliseconds(self.number(in: 0...30_000)),
            evidence: self.happens(oneIn: 3) ? .inferred : .reported,
            muted: self.happens(oneIn: 4),
            clicked: self.happens(oneIn: 4)
        )
    }

    /// The summaries of all breaks at an offset of the lane `breaks`; they change with the offset.
    func summaries(at offset: UInt64) throws -> [BreakSummary] {
        try (1...UInt64(self.breaks))
            .map { number in
                try Books.summary(
                    number * 1_024,
                    advertisements: Int((number + offset) % 6) + 1,
                    end: number == 4 ? nil : Books.start + .seconds(Int64(100 * number)),
                    title: "At \(offset)",
                    variants: ["cars", "phones", "others"]
                )
            }
    }
}
