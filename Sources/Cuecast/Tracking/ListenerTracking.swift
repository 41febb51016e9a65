// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The tracking URLs of one session: what happens makes calls due, and a call is made once it is on the disk that it is made.
struct ListenerTracking: Sendable {
    private var events = TrackingEvents()
    private var queue: TrackingQueue
    /// Calls that wait for the disk, each for the entry of this number; at most ``TrackingLimits/inFlightMax``.
    private var waiting: [(entry: UInt64, request: TrackingRequest)] = []
    private var consent: ListenerConsent?
    private let countsInferred: Bool
    private var jitter: JitterSource

    init(
        _ configuration: TrackingConfiguration,
        consent: ListenerConsent?,
        restoring entries: [TrackingEntry],
        jitter: JitterSource
    ) {
        self.queue = TrackingQueue(configuration: configuration, consent: consent, restoring: entries)
        self.consent = consent
        self.countsInferred = configuration.countsInferred
        self.jitter = jitter
    }

    /// Whether an attempt is under way.
    var isSending: Bool { self.queue.isSending }

    /// When `settle` has something to do.
    func nextDeadline(_ playing: [Playback], now: LocalInstant) -> LocalInstant? {
        earlier(self.events.nextDeadline(playing), self.queue.nextDeadline(now: now))
    }

    /// Something happened to an advertisement.
    mutating func tell(
        at moment: TrackingMoment,
        _ output: inout ListenerCore.Output,
        _ what: (inout TrackingEvents) -> [TrackingEvents.Due]
    ) {
        self.perform(self.queue.call(what(&self.events), at: moment, jitter: &self.jitter), &output)
    }

    /// An outcome was recorded: nothing more happens to the advertisement.
    mutating func closed(
        _ outcome: AdvertisementOutcome,
        at moment: TrackingMoment,
        _ output: inout ListenerCore.Output
    ) {
        self.tell(at: moment, &output) { [countsInferred] in
            $0.closed(outcome, countsInferred: countsInferred, at: moment)
        }
    }

    /// Nothing more is heard of the advertisement.
    mutating func abandoned(_ advertisement: Advertisement) {
        self.events.abandoned(advertisement)
    }

    /// Decides on the calls whose time has come.
    mutating func advance(
        _ playing: [Playback],
        at moment: TrackingMoment,
        _ output: inout ListenerCore.Output
    ) {
        self.tell(at: moment, &output) { $0.advance(playing, at: moment) }
        self.perform(self.queue.due(now: moment.now, wall: moment.wall), &output)
    }

    /// Makes the calls that wait for the disk no more.
    mutating func release(
        _ disk: JournalDisk,
        at moment: TrackingMoment,
        _ output: inout ListenerCore.Output
    ) {
        let through: UInt64
        switch disk {
        case .none: through = .max
        case .committing(let entry): through = entry
        case .failing: return self.takeBack("the session's file cannot be written", at: moment, &output)
        }
        let count = self.waiting.prefix { $0.entry <= through }.count
        for call in self.waiting.prefix(count) { output.act(.track(call.request)) }
        self.waiting.removeFirst(count)
    }

    /// An attempt ended.
    mutating func ended(
        _ id: UInt64,
        _ result: TrackingResult,
        at moment: TrackingMoment,
        _ output: inout ListenerCore.Output
    ) {
        let actions = self.queue.finished(id, result, now: moment.now, wall: moment.wall, jitter: &self.jitter)
        self.perform(actions, &output)
    }

    /// The listener has agreed to something else.
    mutating func set(
        consent: ListenerConsent?,
        at moment: TrackingMoment?,
        _ output: inout ListenerCore.Output
    ) {
        guard self.consent != consent else { return }
        self.consent = consent
        // A call that still waits for the disk is not made before the new consent says that it may be.
        if consent?.deniesTracking == true, let moment {
            self.takeBack("the listener denies tracking", at: moment, &output)
        }
        self.perform(self.queue.set(consent: consent), &output)
    }

    /// The client has stopped: whether calls that are under way arrive is not reported.
    mutating func stop(at moment: TrackingMoment, _ output: inout ListenerCore.Output) {
        self.takeBack("the client was stopped before it was sent", at: moment, &output)
        for id in self.queue.sending {
            self.ended(id, .uncertain("the client was stopped meanwhile"), at: moment, &output)
        }
    }

    /// Calls that wait for the disk are not made for now, and certainly were not: they wait for another attempt.
    private mutating func takeBack(
        _ reason: String,
        at moment: TrackingMoment,
        _ output: inout ListenerCore.Output
    ) {
        let calls = self.waiting
        self.waiting = []
        for call in calls { self.ended(call.request.id, .couldNotConnect(reason), at: moment, &output) }
    }

    private mutating func perform(_ actions: [TrackingQueue.Action], _ output: inout ListenerCore.Output) {
        for action in actions {
            switch action {
            case .journal(let entry): output.keep(.tracking(entry.encoded()))
            case .forget(let ids): output.keep(.trackingForgotten(ids))
            case .status(let status): output.emit(.trackingChanged(status))
            case .send(let request): self.waiting.append((output.keptCount, request))
            }
        }
    }
}
