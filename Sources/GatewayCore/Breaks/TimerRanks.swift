// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// In which order the gateways of one log append the record that a timer makes due.
///
/// Every gateway knows what is due. For each break they rank themselves by a hash that all of them come to; the one of rank k appends
/// k times `rankDelay` after the instant, unless the record of another is there by then. So one record is enough as a rule, whichever
/// gateway is slow or has gone. A repeat is harmless.
package struct TimerRanks: Hashable, Sendable {
    /// How long a gateway waits for each one that ranks before it (250 ms).
    package static let rankDelay: Duration = .milliseconds(250)

    /// The run of this gateway.
    package let own: UInt64
    /// The runs of the other gateways that are alive.
    package var others: Set<UInt64>

    /// - Parameters:
    ///   - own: the run of this gateway.
    ///   - others: those of the others that are alive.
    package init(own: UInt64, others: Set<UInt64> = []) {
        self.own = own
        self.others = others.subtracting([own])
    }

    /// A gateway that has the log for itself.
    package static let alone = TimerRanks(own: 0)

    /// How many gateways append the record of a break before this one.
    package func rank(of number: BreakNumber) -> Int {
        guard !self.others.isEmpty else { return 0 }
        let weight = Self.weight(self.own, number)
        return self.others.count { other in
            let theirs = Self.weight(other, number)
            return theirs == weight ? other > self.own : theirs > weight
        }
    }

    /// How many gateways append what concerns the whole board, and no break, before this one.
    package var boardRank: Int { self.rank(of: BreakNumber(rawValue: 0)) }

    /// How long after its instant this gateway appends the record of a break.
    package func delay(of number: BreakNumber) -> Duration {
        self.others.isEmpty ? .zero : Self.rankDelay * self.rank(of: number)
    }

    /// The gateway with the highest one appends first.
    private static func weight(_ gateway: UInt64, _ number: BreakNumber) -> UInt64 {
        StableHash.weight(of: gateway, for: StableHash.bytes(of: number.rawValue))
    }
}

extension StableHash {
    /// How much a gateway weighs for a key: so the gateways of one log rank themselves (rendezvous hashing; Thaler and Ravishankar,
    /// 1996), each with the same result.
    ///
    /// - Parameters:
    ///   - gateway: its run.
    ///   - key: of the matter for which they rank themselves.
    /// - Returns: the weight; the gateway with the highest one comes first.
    static func weight(of gateway: UInt64, for key: some Sequence<UInt8>) -> UInt64 {
        var hash = StableHash()
        hash.add(Self.bytes(of: gateway))
        hash.add(key)
        return hash.value
    }

    /// The bytes of a word, the lowest first.
    static func bytes(of word: UInt64) -> some Sequence<UInt8> {
        (0..<8).lazy.map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
}
