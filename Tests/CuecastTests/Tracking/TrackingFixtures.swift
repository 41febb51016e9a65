// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

@testable import Cuecast

/// A sender for configurations of queues, which never call it.
struct NoSender: TrackingSender {
    func send(_ request: TrackingRequest) async -> TrackingResult { .notSendable("nobody sends here") }
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

/// A queue with its jitter, and what the tests ask of both.
struct TrackingBench {
    var queue: TrackingQueue
    var jitter = JitterSource(seed: 7)

    init(
        _ configuration: TrackingConfiguration = .testing(),
        consent: ListenerConsent? = nil,
        restoring entries: [TrackingEntry] = []
    ) {
        self.queue = TrackingQueue(configuration: configuration, consent: consent, restoring: entries)
    }

    /// The actions of a report.
    mutating func report(
        _ report: AdvertisementReport,
        _ advertisement: Advertisement,
        at moment: TrackingMoment
    ) -> [TrackingQueue.Action] {
        self.queue.reported(report, advertisement, at: moment, jitter: &self.jitter)
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

    func next(_ seconds: Double) -> LocalInstant? { self.queue.nextDeadline(now: local(seconds)) }
}

extension TrackingEntry.Intent {
    /// What comes after the host.
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
