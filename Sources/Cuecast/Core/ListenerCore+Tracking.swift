// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

// The tracking URLs, where the app has turned them on.
extension ListenerCore {
    /// Tells the tracking what happened to an advertisement.
    mutating func track(
        at now: LocalInstant,
        _ tell: (inout TrackingQueue, TrackingMoment, inout JitterSource) -> [TrackingQueue.Action]
    ) {
        guard var tracking = self.tracking, let moment = self.moment(at: now) else { return }
        let facts = TrackingMoment(now: now, wall: moment.gateway, session: self.session)
        let actions = tell(&tracking, facts, &self.jitter)
        self.tracking = tracking
        self.perform(actions)
    }

    /// Calls what is due.
    ///
    /// It needs the gateway's clock, and not its connection.
    mutating func track(now: LocalInstant) {
        guard !self.isSuspended else { return self.releaseCalls(now: now) }
        self.track(at: now) { tracking, moment, jitter in
            tracking.advance(now: now, wall: moment.wall, jitter: &jitter) + tracking.due(now: now, wall: moment.wall)
        }
        self.releaseCalls(now: now)
    }

    /// The listener has agreed to something else.
    mutating func set(consent: ListenerConsent?, now: LocalInstant) {
        guard self.tracking?.consent != consent else { return }
        // A call that still waits for the disk is not made before the new consent says that it may be.
        if consent?.deniesTracking == true { self.takeBackCalls("the listener denies tracking", now: now) }
        if let actions = self.tracking?.set(consent: consent) { self.perform(actions) }
        self.settleTime(now: now)
    }

    /// An attempt ended.
    mutating func tracked(_ id: UInt64, _ result: TrackingResult, now: LocalInstant) {
        guard self.lifecycle != .stopped else { return }
        self.track(at: now) { $0.finished(id, result, now: now, wall: $1.wall, jitter: &$2) }
        self.settleTime(now: now)
    }

    /// The client has stopped: whether what is under way arrives nobody will hear.
    mutating func endTracking(now: LocalInstant) {
        self.takeBackCalls("the client was stopped before it was sent", now: now)
        for id in self.tracking?.sending ?? [] {
            self.track(at: now) {
                $0.finished(id, .uncertain("the client was stopped meanwhile"), now: now, wall: $1.wall, jitter: &$2)
            }
        }
    }

    private mutating func perform(_ actions: [TrackingQueue.Action]) {
        for action in actions {
            switch action {
            case .journal(let entry): self.keep(.tracking(entry.encoded()))
            case .forget(let ids): self.keep(.trackingForgotten(ids))
            case .status(let status): self.emit(.trackingChanged(status))
            case .send(let request): self.callWhenKept(request)
            }
        }
    }
}
