// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

// The tracking URLs, where the app has turned them on.
extension ListenerCore {
    /// `nil` before the gateway's clock is known, which tracking needs; it does not need its connection.
    private func trackingMoment(at now: LocalInstant) -> TrackingMoment? {
        self.moment(at: now).map { TrackingMoment(now: now, wall: $0.gateway, session: self.session) }
    }

    /// Something happened to an advertisement.
    mutating func track(
        at now: LocalInstant,
        _ what: (inout TrackingEvents, TrackingMoment) -> [TrackingEvents.Due]
    ) {
        guard let moment = self.trackingMoment(at: now) else { return }
        self.tracking?.tell(at: moment, &self.output) { what(&$0, moment) }
    }

    /// An outcome was recorded.
    mutating func track(_ outcome: AdvertisementOutcome, at now: LocalInstant) {
        guard let moment = self.trackingMoment(at: now) else { return }
        self.tracking?.closed(outcome, at: moment, &self.output)
    }

    /// Calls what is due.
    mutating func track(now: LocalInstant) {
        guard self.tracking != nil, let moment = self.trackingMoment(at: now) else { return }
        let (playing, disk) = (self.queue.playing, self.disk)
        if !self.isSuspended { self.tracking?.advance(playing, at: moment, &self.output) }
        self.tracking?.release(disk, at: moment, &self.output)
    }

    /// Sets the listener's consent from now on.
    mutating func set(consent: ListenerConsent?, now: LocalInstant) {
        let moment = self.trackingMoment(at: now)
        self.tracking?.set(consent: consent, at: moment, &self.output)
    }

    /// An attempt ended.
    mutating func tracked(_ id: UInt64, _ result: TrackingResult, now: LocalInstant) {
        guard self.lifecycle != .stopped, let moment = self.trackingMoment(at: now) else { return }
        self.tracking?.ended(id, result, at: moment, &self.output)
        self.settleTime(now: now)
    }

    /// The client has stopped.
    mutating func endTracking(now: LocalInstant) {
        guard let moment = self.trackingMoment(at: now) else { return }
        self.tracking?.stop(at: moment, &self.output)
    }
}
