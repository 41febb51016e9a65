// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// A moment by this device's monotonic clock, counted from the beginning of the listening.
struct LocalInstant: Hashable, Comparable, Sendable, CustomStringConvertible {
    let sinceStart: Duration

    static let start = LocalInstant(sinceStart: .zero)

    static func < (left: Self, right: Self) -> Bool { left.sinceStart < right.sinceStart }

    static func + (left: Self, right: Duration) -> LocalInstant {
        LocalInstant(sinceStart: left.sinceStart + right)
    }

    static func - (left: Self, right: Duration) -> LocalInstant {
        LocalInstant(sinceStart: left.sinceStart - right)
    }

    static func - (left: Self, right: Self) -> Duration { left.sinceStart - right.sinceStart }

    var description: String { "\(self.sinceStart)" }
}

/// One moment on the three clocks that decisions need: this device's, the gateway's, and the programme that this
/// listener hears, which is `delay` behind the gateway's.
struct Moment: Hashable, Sendable {
    let now: LocalInstant
    let gateway: Timestamp
    let delay: Duration
    /// Whether the listener has paused the programme: then the playhead stands still.
    var isPaused = false

    /// So far ahead that something else happens before.
    private static let never = Duration.seconds(30 * 86_400)

    /// The instant of the programme that the listener hears now.
    var playhead: Timestamp { self.gateway - self.delay }

    /// When the gateway's clock shows `time`.
    func local(gateway time: Timestamp) -> LocalInstant { self.now + (time - self.gateway) }

    /// When the listener hears the instant `time` of the programme.
    ///
    /// Far ahead where it comes and the programme is paused.
    func local(playhead time: Timestamp) -> LocalInstant {
        let rest = time - self.playhead
        return self.now + (self.isPaused && rest > .zero ? Self.never : rest)
    }
}

/// The earlier of two instants, where `nil` means never.
func earlier(_ left: LocalInstant?, _ right: LocalInstant?) -> LocalInstant? {
    guard let left else { return right }
    guard let right else { return left }
    return min(left, right)
}
