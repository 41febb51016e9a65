// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When an outcome can have happened: between the announcement of its break and now, by the gateway's clock.
///
/// A listener hears the stream late, never early: its delay makes what it does later, which "now" bounds. Both ends are wider
/// by `toleranceMax`, because listeners know the gateway's clock only within a bound.
package struct OutcomeTime: Hashable, Sendable {
    /// How wrong a listener's idea of the gateway's clock may be; the client library's is within 0.1 s.
    package static let toleranceMax: Duration = .seconds(10)
    private static let toleranceMicroseconds = Self.toleranceMax.inMicroseconds

    /// The earliest and the latest instant that is accepted.
    package let earliest: Timestamp
    package let latest: Timestamp

    /// The rule for one break at one instant.
    ///
    /// - Parameters:
    ///   - announced: when listeners were told of the break first.
    ///   - now: the gateway's clock.
    ///   - newest: the latest instant that the gateway's clock is known to have shown, should it have been set back since.
    package init(announced: Timestamp, now: Timestamp, newest: Timestamp? = nil) {
        // Where the announcement lies ahead, the clock was set back since: what happened before cannot be told from it.
        self.earliest =
            announced <= now
            ? announced.advanced(microseconds: -Self.toleranceMicroseconds) : Timestamp(microseconds: .min)
        self.latest = max(now, newest ?? now).advanced(microseconds: Self.toleranceMicroseconds)
    }

    @inline(__always)
    package func allows(_ occurred: Timestamp) -> Bool { self.earliest <= occurred && occurred <= self.latest }

    /// Why an outcome is refused, for good; `nil`: it is not.
    package func refusal(_ occurred: Timestamp, of id: AdvertisementID) -> Refusal? {
        let seconds = Self.toleranceMicroseconds / 1_000_000
        guard occurred >= self.earliest else {
            return Refusal(
                .invalid,
                "occurred_us of \(id) is more than \(seconds) s before its break was announced."
            )
        }
        guard occurred <= self.latest else {
            return Refusal(.invalid, "occurred_us of \(id) is more than \(seconds) s ahead of the gateway's clock.")
        }
        return nil
    }
}
