// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

extension Refusal {
    /// The gateway is stopping.
    package static let draining = Refusal(
        .draining,
        "The gateway is stopping; ask again in a moment.",
        retryAfter: .seconds(1)
    )
    /// A connection, or an address, has begun as many sessions lately as it may.
    package static let tooManySessions = Refusal(
        .limitReached,
        "This connection or this address has begun as many sessions as it may (listeners.sessionsPerConnectionMax, listeners.sessionsPerAddressMax).",
        retryAfter: .seconds(10)
    )
    /// A session asks more often than it may.
    static let asksTooOften = Refusal(
        .rateLimited,
        "The limit requestsPerSessionPerSecondMax is passed.",
        retryAfter: .seconds(1)
    )
    /// A delivery whose bytes are none.
    static let noDelivery = Refusal(.deliveryInvalid, "The delivery is not one that a batch carried.")
    /// A delivery without a signature: no gateway hands one out.
    static let unsignedDelivery = Refusal(.deliveryInvalid, "The delivery is not signed.")
    /// The event log did not take a record.
    package static let logUnavailable = Refusal(
        .unavailable,
        "The event log does not work at present; nothing was confirmed.",
        retryAfter: .seconds(1)
    )
    /// The event log takes as much room as it may.
    package static let logFull = Refusal(
        .unavailable,
        "The event log has no room for new work (log.bytesMax); nothing was confirmed.",
        retryAfter: .seconds(10)
    )
    /// More waits for the event log than may wait.
    package static let logBehind = Refusal(
        .unavailable,
        "The event log is behind; ask again in a moment.",
        retryAfter: .seconds(1)
    )
}

extension MessageKeys.Fault {
    /// The end of a sentence about what was signed.
    var reason: String {
        switch self {
        case .unknownKey: "was signed with a key that this gateway does not have"
        case .revokedKey: "was signed with a key that was withdrawn"
        case .forged: "is not one that a gateway made"
        }
    }
}
