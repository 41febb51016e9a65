// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Follows the sequence numbers of RTP (RFC 3550 section A.1): a datagram that comes late or twice is passed over.
struct DatagramOrder: Hashable, Sendable {
    /// The meaning of a sequence number.
    enum Step: Hashable, Sendable {
        /// It is the next one, behind this many that are missing.
        case next(missing: Int)
        /// It came already, or a later one did.
        case late
    }

    /// How far a number may jump forward; one further away is taken for one from the past.
    private static let jumpMax: UInt16 = 0x8000

    private var last: UInt16?
    /// The number that would prove that the sender began anew.
    private var anew: UInt16?

    /// Takes the next number.
    mutating func take(_ number: UInt16) -> Step {
        guard let last = self.last else {
            self.last = number
            return .next(missing: 0)
        }
        let step = number &- last
        if step == 0 || step >= Self.jumpMax {
            // Two in a row from the past: the sender was started again.
            guard step != 0, number == self.anew else {
                if step != 0 { self.anew = number &+ 1 }
                return .late
            }
            self.last = number
            self.anew = nil
            return .next(missing: 0)
        }
        self.last = number
        self.anew = nil
        return .next(missing: Int(step) - 1)
    }
}
