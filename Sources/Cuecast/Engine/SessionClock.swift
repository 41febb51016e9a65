// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// The time of a session: instants count from its making.
final class SessionClock: Sendable {
    /// A device that was asleep for less is not noticed.
    private static let sleepMin = Duration.seconds(1)

    /// The instant that local instants count from.
    let origin = ContinuousClock.now
    private let suspendingOrigin = SuspendingClock.now
    /// How far the clock that sleeps with the device was behind the other when it was last looked at.
    private let slept = Mutex(Duration.zero)

    var now: LocalInstant { LocalInstant(sinceStart: self.origin.duration(to: .now)) }

    /// Whether the device was asleep since this was last asked: it may have drifted, because one of the two clocks stood still
    /// meanwhile.
    func hasSleptSinceLastAsked() -> Bool {
        let slept = self.origin.duration(to: .now) - self.suspendingOrigin.duration(to: .now)
        return self.slept.withLock { last in
            defer { last = slept }
            return slept - last > Self.sleepMin
        }
    }
}
