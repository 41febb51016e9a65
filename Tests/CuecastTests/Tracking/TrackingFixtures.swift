// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

@_spi(Tracking) @testable import Cuecast

/// A sender for configurations of queues, which never call it.
struct NoSender: TrackingSender {
    func send(_ request: TrackingRequest) async -> TrackingResult { .notSendable("this sender never sends") }
}

extension TrackingConfiguration {
    static func testing(_ change: (inout TrackingLimits) -> Void = { _ in }) -> TrackingConfiguration {
        var configuration = TrackingConfiguration(sender: NoSender(), userAgent: "Player/1.0")
        change(&configuration.limits)
        return configuration
    }
}

/// An advertisement of 40 s, with a banner where wanted, and with one tracker for each event, `https://t.example/<event>`, and progress at 5 and 15 s.
func tracked(
    _ id: String = "a",
    break name: String = "b1",
    seconds: Double = 40,
    trackers: [AdvertisementContent.Tracker]? = nil,
    index: Int = 1,
    hasBanner: Bool = false
) -> Advertisement {
    var content = content(id, seconds: seconds)
    if hasBanner { content.banner = .init(imageURL: "https://media.example/\(id).png") }
    let events = [
        "impression", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute", "unmute", "pause",
        "resume", "skip", "clickTracking", "error", "bannerView", "bannerClick",
    ]
    content.trackers =
        trackers
        ?? events.map { .init(event: $0, url: "https://t.example/\($0)") } + [
            .init(event: "progress", url: "https://t.example/progress15", offset: .seconds(15)),
            .init(event: "progress", url: "https://t.example/progress5", offset: .seconds(5)),
        ]
    return Advertisement(
        content,
        breakID: breakID(name),
        delivery: [1],
        position: .init(index: index, count: 3)
    )
}

extension TrackingMoment {
    /// So many seconds after the beginning.
    static func at(_ seconds: Double, session: SessionID = SessionID(high: 1, low: 2)) -> TrackingMoment {
        TrackingMoment(now: local(seconds), wall: gateway(seconds), session: session)
    }
}

/// The events of advertisements that play, the calls that come of them, and what the tests ask of both.
struct TrackingBench {
    var queue: TrackingQueue
    private(set) var events = TrackingEvents()
    private var playing: [Playback] = []
    private let configuration: TrackingConfiguration
    private var jitter = JitterSource(seed: 7)

    init(
        _ configuration: TrackingConfiguration = .testing(),
        consent: ListenerConsent? = nil,
        restoring entries: [TrackingEntry] = []
    ) {
        self.configuration = configuration
        self.queue = TrackingQueue(configuration: configuration, consent: consent, restoring: entries)
    }

    /// The actions of a report, of which those that do not fit are refused as the app's are.
    mutating func report(
        _ report: AdvertisementReport,
        _ advertisement: Advertisement,
        at moment: TrackingMoment
    ) -> [TrackingQueue.Action] {
        var playback = self.playback(of: advertisement) ?? Playback(advertisement, handedOut: moment.now)
        guard playback.take(report, now: moment.now) == nil else { return [] }
        self.playing.removeAll { $0.advertisement == advertisement }
        switch report {
        case .completed, .failed, .skipped: break
        default: self.playing.append(playback)
        }
        return self.queue.call(
            self.events.reported(report, playback, at: moment),
            at: moment,
            jitter: &self.jitter
        )
    }

    private func playback(of advertisement: Advertisement) -> Playback? {
        self.playing.first { $0.advertisement == advertisement }
    }

    /// Another run of the app, or another session: what plays is not known there.
    mutating func forgetPlaying() {
        self.playing = []
    }

    /// The actions of what is no report.
    mutating func tell(
        _ seconds: Double,
        _ what: (TrackingEvents) -> (Advertisement, Playback?, TrackingMoment) -> [TrackingEvents.Due],
        _ advertisement: Advertisement
    ) -> [TrackingQueue.Action] {
        let moment = TrackingMoment.at(seconds)
        let due = what(self.events)(advertisement, self.playback(of: advertisement), moment)
        return self.queue.call(due, at: moment, jitter: &self.jitter)
    }

    mutating func closed(_ outcome: AdvertisementOutcome, _ seconds: Double) -> [TrackingQueue.Action] {
        self.playing.removeAll { $0.advertisement == outcome.advertisement }
        let moment = TrackingMoment.at(seconds)
        let countsInferred = self.configuration.countsInferred
        let due = self.events.closed(outcome, countsInferred: countsInferred, at: moment)
        return self.queue.call(due, at: moment, jitter: &self.jitter)
    }

    mutating func abandoned(_ advertisement: Advertisement) {
        self.playing.removeAll { $0.advertisement == advertisement }
        self.events.abandoned(advertisement)
    }

    /// The actions of the time that passed.
    mutating func advance(_ seconds: Double) -> [TrackingQueue.Action] {
        let moment = TrackingMoment.at(seconds)
        return self.queue.call(self.events.advance(self.playing, at: moment), at: moment, jitter: &self.jitter)
    }

    /// Which paths a report makes due, in order.
    mutating func paths(
        _ report: AdvertisementReport,
        _ advertisement: Advertisement,
        _ seconds: Double
    ) -> [String] {
        self.report(report, advertisement, at: .at(seconds)).intended.map(\.path)
    }

    mutating func due(_ seconds: Double) -> [TrackingQueue.Action] {
        self.queue.due(now: local(seconds), wall: gateway(seconds))
    }

    mutating func finished(_ id: UInt64, _ result: TrackingResult, _ seconds: Double) -> [TrackingQueue.Action] {
        self.queue.finished(id, result, now: local(seconds), wall: gateway(seconds), jitter: &self.jitter)
    }

    func next(_ seconds: Double) -> LocalInstant? {
        earlier(self.events.nextDeadline(self.playing), self.queue.nextDeadline(now: local(seconds)))
    }
}

extension TrackingEntry.Intent {
    /// The part after the host.
    var path: String { String(self.url.dropFirst("https://t.example/".count)) }
}

extension [TrackingQueue.Action] {
    var intended: [TrackingEntry.Intent] {
        self.journal.compactMap { if case .intended(let intent) = $0 { intent } else { nil } }
    }

    var journal: [TrackingEntry] { self.compactMap { if case .journal(let entry) = $0 { entry } else { nil } } }

    var sends: [TrackingRequest] { self.compactMap { if case .send(let request) = $0 { request } else { nil } } }

    var statuses: [TrackingStatus] { self.compactMap { if case .status(let status) = $0 { status } else { nil } } }

    var forgotten: [UInt64] { self.flatMap { if case .forget(let ids) = $0 { ids } else { [UInt64]() } } }
}
