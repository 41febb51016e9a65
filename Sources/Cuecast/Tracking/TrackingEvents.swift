// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// When something happened to an advertisement, and whose.
struct TrackingMoment: Sendable {
    let now: LocalInstant
    /// By a wall clock, the same one at each call: the gateway's where it is known.
    let wall: Timestamp
    let session: SessionID
}

/// Derives the due trackers from the events of advertisements (VAST 4.3 sections 3.14.1 and 3.17).
///
/// How far an advertisement is, its `Playback` says; this knows only how far its trackers are. Whether and how often their
/// URLs are called `TrackingQueue` decides.
struct TrackingEvents: Sendable {
    /// The most advertisements that are watched at the same time; of more, the oldest is forgotten.
    static let watchesMax = 256

    /// A tracker whose event happened.
    struct Due: Sendable {
        let advertisement: Advertisement
        let tracker: Advertisement.Tracker
        let facts: TrackingMacros.Facts
    }

    /// How far the trackers of an advertisement are that something was reported about, and that is not over.
    struct Watch: Sendable {
        let advertisement: Advertisement
        let session: SessionID
        /// How many quarters were passed.
        var quartiles = 0
        /// Which of the advertisements of its break that began it is, counted from 1; `nil`: it has not begun.
        var ordinal: Int?
        /// How far the trackers for progress were called.
        var progress = Duration.seconds(-1)
    }

    /// The advertisements of one break that began.
    private struct BegunBreak {
        let session: SessionID
        let breakID: String
        var count = 0
    }

    private(set) var watches: [Watch] = []
    private var begun: [BegunBreak] = []

    // MARK: What happens

    /// A report of the app that was taken; `playback` is as it was after it.
    mutating func reported(
        _ report: AdvertisementReport,
        _ playback: Playback,
        at moment: TrackingMoment
    ) -> [Due] {
        var told = self.telling(playback, at: moment)
        switch report {
        case .started: self.start(&told)
        case .quartile(let number): self.pass(&told, quartile: number)
        case .completed: self.pass(&told, quartile: 4)
        case .failed(let code): told.fire("error", error: code)
        case .skipped:
            told.progress(to: told.position)
            told.fire("skip")
        case .muted: told.fire("mute")
        case .unmuted: told.fire("unmute")
        case .paused:
            told.progress(to: told.position)
            told.fire("pause")
        case .resumed: told.fire("resume")
        }
        switch report {
        case .completed, .failed, .skipped: self.forget(playback.advertisement)
        default: self.keep(told.watch)
        }
        return told.due
    }

    /// An outcome was recorded: nothing more happens to the advertisement.
    ///
    /// What was concluded from time alone counts like what was reported where it `countsInferred`.
    mutating func closed(_ outcome: AdvertisementOutcome, countsInferred: Bool, at moment: TrackingMoment) -> [Due] {
        defer { self.forget(outcome.advertisement) }
        guard countsInferred, outcome.evidence == .inferred, outcome.result == .played, outcome.heard > .zero else {
            return []
        }
        let watch = self.watch(outcome.advertisement, moment.session)
        var told = Telling(watch, position: outcome.heard, isMuted: outcome.muted, at: moment)
        let duration = outcome.advertisement.exactDuration
        let passed = (1...3).last { outcome.heard >= duration * $0 / 4 } ?? 0
        // What was taken for played needs not have been heard to its last second.
        let isComplete = outcome.heard >= duration - .seconds(1) && outcome.heard >= duration * 3 / 4
        self.pass(&told, quartile: isComplete ? 4 : passed)
        told.progress(to: outcome.heard)
        return told.due
    }

    /// Nothing more is heard of the advertisement.
    mutating func abandoned(_ advertisement: Advertisement) {
        self.forget(advertisement)
    }

    /// The listener acted on the banner; on the advertisement where it has none.
    ///
    /// A companion has click trackers of its own (VAST 4.3 section 3.13, `CompanionClickTracking`): a click on it is not one
    /// on the linear advertisement.
    func clicked(_ advertisement: Advertisement, _ playback: Playback?, at moment: TrackingMoment) -> [Due] {
        let event = advertisement.banner == nil ? "clickTracking" : "bannerClick"
        return self.used(event, advertisement, playback, at: moment)
    }

    /// The listener acted on the advertisement itself.
    func advertisementClicked(_ advertisement: Advertisement, _ playback: Playback?, at moment: TrackingMoment) -> [Due]
    {
        self.used("clickTracking", advertisement, playback, at: moment)
    }

    /// The listener saw the banner.
    func bannerShown(_ advertisement: Advertisement, _ playback: Playback?, at moment: TrackingMoment) -> [Due] {
        self.used("bannerView", advertisement, playback, at: moment)
    }

    /// The listener saw or did something that is no part of hearing the advertisement, which may be over: then it has no
    /// `playback`.
    private func used(
        _ event: String,
        _ advertisement: Advertisement,
        _ playback: Playback?,
        at moment: TrackingMoment
    ) -> [Due] {
        let watch = self.watch(advertisement, moment.session)
        let position = playback?.position(at: moment.now)
        var told = Telling(watch, position: position, isMuted: playback?.isMuted ?? false, at: moment)
        told.fire(event)
        return told.due
    }

    // MARK: Progress

    /// The trackers for progress whose time has come, of the advertisements that have no outcome yet.
    mutating func advance(_ playing: [Playback], at moment: TrackingMoment) -> [Due] {
        var due: [Due] = []
        for playback in playing {
            guard let next = self.nextProgress(of: playback), next <= moment.now else { continue }
            var told = self.telling(playback, at: moment)
            told.progress(to: told.position)
            self.keep(told.watch)
            due += told.due
        }
        return due
    }

    /// When `advance` has something to do.
    func nextDeadline(_ playing: [Playback]) -> LocalInstant? {
        playing.lazy.compactMap { self.nextProgress(of: $0) }.min()
    }

    private func nextProgress(of playback: Playback) -> LocalInstant? {
        let advertisement = playback.advertisement
        guard let watch = self.watches.first(where: { $0.advertisement == advertisement }) else { return nil }
        let next = advertisement.trackers.lazy.filter { $0.event == "progress" }.compactMap(\.offset)
            .filter { $0 > watch.progress && $0 <= advertisement.exactDuration }.min()
        return next.flatMap { playback.reaches(position: $0) }
    }

    // MARK: Beginnings and quarters

    private mutating func start(_ told: inout Telling) {
        guard told.watch.ordinal == nil else { return }
        told.watch.ordinal = self.countBegun(told.watch)
        told.fire("impression", position: .zero)
        told.fire("start", position: .zero)
        told.progress(to: .zero)
    }

    /// The end of a quarter was passed, and with it all that comes before it.
    private mutating func pass(_ told: inout Telling, quartile: Int) {
        self.start(&told)
        let events = ["firstQuartile", "midpoint", "thirdQuartile", "complete"]
        while told.watch.quartiles < min(quartile, 4) {
            told.watch.quartiles += 1
            let passed = told.watch.advertisement.exactDuration * told.watch.quartiles / 4
            told.progress(to: passed)
            told.fire(events[told.watch.quartiles - 1], position: passed)
        }
    }

    // MARK: Watches

    private func telling(_ playback: Playback, at moment: TrackingMoment) -> Telling {
        Telling(
            self.watch(playback.advertisement, moment.session),
            position: playback.position(at: moment.now),
            isMuted: playback.isMuted,
            at: moment
        )
    }

    private func watch(_ advertisement: Advertisement, _ session: SessionID) -> Watch {
        self.watches.first { $0.advertisement == advertisement && $0.session == session }
            ?? Watch(advertisement: advertisement, session: session)
    }

    private mutating func keep(_ watch: Watch) {
        if let index = self.watches.firstIndex(where: { $0.advertisement == watch.advertisement }) {
            self.watches[index] = watch
        } else {
            self.watches.append(watch)
            if self.watches.count > Self.watchesMax { self.watches.removeFirst() }
        }
    }

    /// Counts an advertisement that begins; gives its number in its break.
    private mutating func countBegun(_ watch: Watch) -> Int {
        let breakID = watch.advertisement.breakID
        var begun = BegunBreak(session: watch.session, breakID: breakID)
        if let index = self.begun.firstIndex(where: { $0.breakID == breakID && $0.session == watch.session }) {
            begun = self.begun.remove(at: index)
        }
        begun.count += 1
        self.begun.append(begun)
        if self.begun.count > Self.watchesMax { self.begun.removeFirst() }
        return begun.count
    }

    private mutating func forget(_ advertisement: Advertisement) {
        self.watches.removeAll { $0.advertisement == advertisement }
    }
}

/// Collects the trackers of one advertisement that are due at one moment.
private struct Telling {
    var watch: TrackingEvents.Watch
    /// How far into the advertisement; `nil`: it has not begun.
    let position: Duration?
    private let isMuted: Bool
    private let moment: TrackingMoment
    private(set) var due: [TrackingEvents.Due] = []

    init(_ watch: TrackingEvents.Watch, position: Duration?, isMuted: Bool, at moment: TrackingMoment) {
        self.watch = watch
        self.position = position
        self.isMuted = isMuted
        self.moment = moment
    }

    /// The trackers for progress up to `position`.
    mutating func progress(to position: Duration?) {
        guard let reached = position, reached > self.watch.progress else { return }
        let passed = self.watch.advertisement.trackers.filter { tracker in
            guard tracker.event == "progress", let offset = tracker.offset else { return false }
            return offset > self.watch.progress && offset <= reached
        }
        self.watch.progress = reached
        for tracker in passed.sorted(by: { ($0.offset ?? .zero) < ($1.offset ?? .zero) }) {
            self.fire(tracker, position: tracker.offset)
        }
    }

    mutating func fire(_ event: String, position: Duration? = nil, error: Int? = nil) {
        for tracker in self.watch.advertisement.trackers where tracker.event == event {
            self.fire(tracker, position: position, error: error)
        }
    }

    private mutating func fire(_ tracker: Advertisement.Tracker, position: Duration?, error: Int? = nil) {
        let advertisement = self.watch.advertisement
        self.due.append(
            TrackingEvents.Due(
                advertisement: advertisement,
                tracker: tracker,
                facts: TrackingMacros.Facts(
                    wall: self.moment.wall,
                    adPlayhead: position ?? self.position,
                    errorCode: error,
                    isMuted: self.isMuted,
                    adCount: self.watch.ordinal,
                    podSequence: advertisement.podPosition.index,
                    assetURI: advertisement.audioFileURL,
                    adType: advertisement.adType,
                    isSkippable: advertisement.skipOffset != nil,
                    adServingID: advertisement.adServingID,
                    universalIDs: advertisement.universalIDs.map { "\($0.registry) \($0.value)" }
                )
            )
        )
    }
}

extension Advertisement {
    /// As VAST names it (VAST 4.3 section 3.3, `adType`); `nil`: not known.
    fileprivate var adType: String? {
        let types = Set(self.mediaFiles.map { $0.type.lowercased().prefix { $0 != "/" } })
        return switch (types.contains("audio"), types.contains("video")) {
        case (true, true): "hybrid"
        case (true, false): "audio"
        case (false, true): "video"
        case (false, false): nil
        }
    }
}
