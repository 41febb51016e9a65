// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The delay of the listener's playback behind live.
///
/// It is a fixed delay, or follows from the programme's time as the player reads it from the stream. It grows while the listener
/// has paused.
struct PlaybackDelay: Hashable, Sendable {
    private enum Base: Hashable {
        case delay(Duration)
        case programme(Timestamp, at: LocalInstant)
    }

    private var base: Base
    private var pausedSince: LocalInstant?

    init(delay: Duration) {
        self.base = .delay(max(delay, .zero))
    }

    var isPaused: Bool { self.pausedSince != nil }

    /// How far the listener is behind the gateway's clock, which shows `gateway` at `now`; never less than zero.
    ///
    /// Where that clock is not known yet, neither is the delay of a programme's own time: it counts as zero.
    func delay(at now: LocalInstant, gateway: Timestamp?) -> Duration {
        switch self.base {
        case .delay(let delay): max(delay + (self.pausedSince.map { now - $0 } ?? .zero), .zero)
        case .programme(let time, let at):
            gateway.map { max($0 - (time + ((self.pausedSince ?? now) - at)), .zero) } ?? .zero
        }
    }

    mutating func set(delay: Duration, now: LocalInstant) {
        self.base = .delay(max(delay, .zero))
        if self.isPaused { self.pausedSince = now }
    }

    mutating func set(programmeTime: Timestamp, now: LocalInstant) {
        self.base = .programme(programmeTime, at: now)
        if self.isPaused { self.pausedSince = now }
    }

    mutating func pause(now: LocalInstant) {
        self.pausedSince = self.pausedSince ?? now
    }

    mutating func resume(now: LocalInstant) {
        guard let since = self.pausedSince.take() else { return }
        switch self.base {
        case .delay(let delay): self.base = .delay(delay + (now - since))
        case .programme(let time, let at): self.base = .programme(time + (since - at), at: now)
        }
    }
}
