// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Which outcomes an acknowledgement may have: one rule behind both readers.
struct OutcomeRule {
    private let served: ServedBreak
    /// The ordinal at which the batch began that the listener got.
    private let first: UInt32
    private let variant: UInt32
    private let times: OutcomeTime
    /// The earliest instant that is not too long ago.
    private let oldest: Timestamp

    private static let acknowledgeWithinMicroseconds = BoardLimits.acknowledgeWithin.inMicroseconds

    /// The rule for one acknowledgement.
    ///
    /// - Parameters:
    ///   - served: the break that it is about.
    ///   - token: its delivery.
    ///   - board: as it is.
    ///   - now: the gateway's clock.
    @inline(__always)
    init(_ served: ServedBreak, _ token: DeliveryToken, on board: Board, at now: Timestamp) {
        self.served = served
        self.first = AdOrdinal.of(Int(token.first), in: token.variant)
        self.variant = token.variant
        self.times = OutcomeTime(announced: served.announced ?? now, now: now, newest: board.newestTime)
        self.oldest = board.retentionTime.advanced(microseconds: -Self.acknowledgeWithinMicroseconds)
    }

    /// Refuses the first outcome that breaks the rule; behind those that were found stands one of an unknown advertisement.
    @inline(__always)
    func check(_ found: FoundOutcomes, unknown: AdvertisementID?) throws(Refusal) {
        for index in found.ordinals.indices {
            let ordinal = found.ordinals[index]
            for earlier in 0..<index where found.ordinals[earlier] == ordinal { throw self.twice(ordinal) }
            guard ordinal >= self.first else { throw self.beforeBatch(ordinal) }
            let occurred = found.outcomes[index].details.occurred
            guard self.times.allows(occurred), occurred >= self.oldest else { throw self.outOfTime(ordinal, occurred) }
        }
        if let unknown { throw self.notInBreak(unknown) }
    }

    private func name(_ ordinal: UInt32) -> AdvertisementID { self.served.advertisementID(ordinal) }

    private func twice(_ ordinal: UInt32) -> Refusal {
        Refusal(.invalid, "The advertisement \(self.name(ordinal)) is listed twice.")
    }

    private func beforeBatch(_ ordinal: UInt32) -> Refusal {
        Refusal(
            .deliveryInvalid,
            "The batch of this delivery began behind the advertisement \(self.name(ordinal))."
        )
    }

    private func outOfTime(_ ordinal: UInt32, _ occurred: Timestamp) -> Refusal {
        // An instant that cannot be says nothing about how old the break is.
        self.times.refusal(occurred, of: self.name(ordinal))
            ?? Refusal(.breakTooOld, "The outcome of \(self.name(ordinal)) is more than 8 days old.")
    }

    private func notInBreak(_ id: AdvertisementID) -> Refusal {
        let others = self.served.variants(with: id)
        if !others.isEmpty {
            return Refusal(
                .deliveryInvalid,
                """
                The advertisement \(id) is one of the variant \(others.joined(separator: " and ")), and this delivery is of the variant \
                \(self.served.name(ofVariant: self.variant)).
                """
            )
        }
        return Refusal(.notFound, "The break \(self.served.key.id) has no advertisement \(id).")
    }
}
