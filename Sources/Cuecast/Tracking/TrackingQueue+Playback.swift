// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// When something happened to an advertisement, and whose.
struct TrackingMoment: Sendable {
    let now: LocalInstant
    /// By a wall clock, the same one at each call: the gateway's where it is known.
    let wall: Timestamp
    let session: SessionID
    /// How far into the programme the listener is; `nil`: not known.
    var contentPlayhead: Duration?
}

// What happens to advertisements, and which events that makes of it (VAST 4.3 sections 3.14.1 and 3.17).
extension TrackingQueue {
    /// The most advertisements that are watched at the same time; of more, the oldest is forgotten.
    static let watchesMax = 256

    /// An advertisement that something was reported about, and that is not over.
    struct Watch: Sendable {
        let advertisement: Advertisement
        let session: SessionID
        var startedAt: LocalInstant?
        var pausedSince: LocalInstant?
        var pausedBefore = Duration.zero
        var isMuted = false
        /// How many quarters were passed.
        var quartiles = 0
        /// Which of the advertisements of its break that began it is, counted from 1; `nil`: it has not begun.
        var ordinal: Int?
        /// How far the trackers for progress were called.
        var progress = Duration.seconds(-1)
        /// What the last call said.
        var contentPlayhead: Duration?

        /// How far into it, never past its end; `nil`: it has not begun.
        func playhead(at now: LocalInstant) -> Duration? {
            guard let startedAt else { return nil }
            let elapsed = (self.pausedSince ?? now) - startedAt - self.pausedBefore
            return min(max(elapsed, .zero), self.advertisement.exactDuration)
        }
    }

    /// The advertisements of one break that began.
    struct BegunBreak: Sendable {
        let session: SessionID
        let breakID: String
        var count = 0
    }

    /// A report of the app that was taken.
    mutating func reported(
        _ report: AdvertisementReport,
        _ advertisement: Advertisement,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        guard !self.isDenied else { return [] }
        var watch = self.watch(advertisement, at: moment)
        var actions: [Action] = []
        switch report {
        case .started: actions += self.start(&watch, at: moment, jitter: &jitter)
        case .quartile(let number):
            actions += self.pass(&watch, quartile: number, at: moment, jitter: &jitter)
        case .completed: actions += self.pass(&watch, quartile: 4, at: moment, jitter: &jitter)
        case .failed(let code):
            actions += self.fire("error", watch, at: moment, error: code, jitter: &jitter)
        case .skipped:
            actions += self.progress(&watch, to: nil, at: moment, jitter: &jitter)
            actions += self.fire("skip", watch, at: moment, jitter: &jitter)
        case .muted:
            watch.isMuted = true
            actions += self.fire("mute", watch, at: moment, jitter: &jitter)
        case .unmuted:
            watch.isMuted = false
            actions += self.fire("unmute", watch, at: moment, jitter: &jitter)
        case .paused:
            actions += self.progress(&watch, to: nil, at: moment, jitter: &jitter)
            actions += self.fire("pause", watch, at: moment, jitter: &jitter)
            watch.pausedSince = watch.pausedSince ?? moment.now
        case .resumed:
            if let since = watch.pausedSince {
                watch.pausedSince = nil
                if watch.startedAt != nil { watch.pausedBefore += moment.now - since }
            }
            actions += self.fire("resume", watch, at: moment, jitter: &jitter)
        }
        switch report {
        case .completed, .failed, .skipped: self.forget(advertisement)
        default: self.keep(watch)
        }
        return actions
    }

    /// An outcome was recorded: nothing more happens to the advertisement.
    mutating func closed(
        _ outcome: AdvertisementOutcome,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        defer { self.forget(outcome.advertisement) }
        guard !self.isDenied, self.configuration.countsInferred, outcome.evidence == .inferred,
            outcome.result == .played, outcome.heard > .zero
        else { return [] }
        var watch = self.watch(outcome.advertisement, at: moment)
        let duration = outcome.advertisement.exactDuration
        let passed = (1...3).last { outcome.heard >= duration * $0 / 4 } ?? 0
        // What was taken for played needs not have been heard to its last second.
        let isComplete = outcome.heard >= duration - .seconds(1) && outcome.heard >= duration * 3 / 4
        let actions = self.pass(&watch, quartile: isComplete ? 4 : passed, at: moment, jitter: &jitter)
        return actions + self.progress(&watch, to: outcome.heard, at: moment, jitter: &jitter)
    }

    /// Nothing more is heard of the advertisement.
    mutating func abandoned(_ advertisement: Advertisement) {
        self.forget(advertisement)
    }

    /// The listener acted on the banner; on the advertisement where it has none.
    ///
    /// A companion has click trackers of its own (VAST 4.3 section 3.13, `CompanionClickTracking`): a click on it is not one
    /// on the linear advertisement.
    mutating func clicked(
        _ advertisement: Advertisement,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        let event = advertisement.banner == nil ? "clickTracking" : "bannerClick"
        return self.used(event, advertisement, at: moment, jitter: &jitter)
    }

    /// The listener acted on the advertisement itself.
    mutating func advertisementClicked(
        _ advertisement: Advertisement,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        self.used("clickTracking", advertisement, at: moment, jitter: &jitter)
    }

    /// The listener saw the banner.
    mutating func bannerShown(
        _ advertisement: Advertisement,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        self.used("bannerView", advertisement, at: moment, jitter: &jitter)
    }

    /// The listener saw or did something that is no part of hearing the advertisement.
    private mutating func used(
        _ event: String,
        _ advertisement: Advertisement,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        guard !self.isDenied else { return [] }
        let watch = self.watches.first { $0.advertisement == advertisement && $0.session == moment.session }
        return self.fire(event, watch ?? self.watch(advertisement, at: moment), at: moment, jitter: &jitter)
    }

    /// Calls the trackers for progress whose time has come; call it where `due` is called, before it.
    mutating func advance(now: LocalInstant, wall: Timestamp, jitter: inout JitterSource) -> [Action] {
        var actions: [Action] = []
        for watch in self.watches {
            guard let next = self.nextProgress(of: watch), next <= now else { continue }
            var watch = watch
            let moment = TrackingMoment(
                now: now,
                wall: wall,
                session: watch.session,
                contentPlayhead: watch.contentPlayhead
            )
            actions += self.progress(&watch, to: nil, at: moment, jitter: &jitter)
            self.keep(watch)
        }
        return actions
    }

    /// When the next tracker for progress is due.
    func nextProgress(of watch: Watch) -> LocalInstant? {
        guard let startedAt = watch.startedAt, watch.pausedSince == nil else { return nil }
        let next = watch.advertisement.trackers.lazy.filter { $0.event == "progress" }.compactMap(\.offset)
            .filter { $0 > watch.progress && $0 <= watch.advertisement.exactDuration }.min()
        return next.map { startedAt + watch.pausedBefore + $0 }
    }

    // MARK: Events

    private mutating func start(
        _ watch: inout Watch,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        guard watch.startedAt == nil else { return [] }
        watch.startedAt = moment.now
        if watch.pausedSince != nil { watch.pausedSince = moment.now }
        watch.ordinal = self.countBegun(watch)
        return self.fire("impression", watch, at: moment, playhead: .zero, jitter: &jitter)
            + self.fire("start", watch, at: moment, playhead: .zero, jitter: &jitter)
            + self.progress(&watch, to: .zero, at: moment, jitter: &jitter)
    }

    /// The end of a quarter was passed, and with it all that comes before it.
    private mutating func pass(
        _ watch: inout Watch,
        quartile: Int,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        let quartile = min(quartile, 4)
        var actions = self.start(&watch, at: moment, jitter: &jitter)
        guard quartile > watch.quartiles else { return actions }
        let events = ["firstQuartile", "midpoint", "thirdQuartile", "complete"]
        while watch.quartiles < quartile {
            watch.quartiles += 1
            let passed = watch.advertisement.exactDuration * watch.quartiles / 4
            actions += self.progress(&watch, to: passed, at: moment, jitter: &jitter)
            actions += self.fire(events[watch.quartiles - 1], watch, at: moment, playhead: passed, jitter: &jitter)
        }
        // From here on time counts from where the app said that it is.
        if watch.pausedSince != nil { watch.pausedSince = moment.now }
        watch.pausedBefore = .zero
        watch.startedAt = moment.now - watch.advertisement.exactDuration * quartile / 4
        return actions
    }

    /// Calls the trackers for progress up to `offset`; `nil`: as far as time says.
    private mutating func progress(
        _ watch: inout Watch,
        to offset: Duration?,
        at moment: TrackingMoment,
        jitter: inout JitterSource
    ) -> [Action] {
        guard let reached = offset ?? watch.playhead(at: moment.now), reached > watch.progress else { return [] }
        let due = watch.advertisement.trackers.filter { tracker in
            guard tracker.event == "progress", let offset = tracker.offset else { return false }
            return offset > watch.progress && offset <= reached
        }
        watch.progress = reached
        var actions: [Action] = []
        for tracker in due.sorted(by: { ($0.offset ?? .zero) < ($1.offset ?? .zero) }) {
            actions += self.fire(tracker, watch, at: moment, playhead: tracker.offset, jitter: &jitter)
        }
        return actions
    }

    private mutating func fire(
        _ event: String,
        _ watch: Watch,
        at moment: TrackingMoment,
        playhead: Duration? = nil,
        error: Int? = nil,
        jitter: inout JitterSource
    ) -> [Action] {
        watch.advertisement.trackers.filter { $0.event == event }
            .flatMap { self.fire($0, watch, at: moment, playhead: playhead, error: error, jitter: &jitter) }
    }

    private mutating func fire(
        _ tracker: Advertisement.Tracker,
        _ watch: Watch,
        at moment: TrackingMoment,
        playhead: Duration?,
        error: Int? = nil,
        jitter: inout JitterSource
    ) -> [Action] {
        let advertisement = watch.advertisement
        let macros = TrackingMacros(
            facts: TrackingMacros.Facts(
                wall: moment.wall,
                cacheBuster: UInt32.random(in: 0...99_999_999, using: &jitter),
                adPlayhead: playhead ?? watch.playhead(at: moment.now),
                contentPlayhead: moment.contentPlayhead,
                errorCode: error,
                isMuted: watch.isMuted,
                adCount: watch.ordinal,
                podSequence: advertisement.podPosition.index,
                assetURI: advertisement.audioFileUrl,
                adType: advertisement.adType,
                isSkippable: advertisement.skipOffset != nil
            ),
            userAgent: self.userAgent,
            appBundle: self.configuration.appBundle,
            consent: self.consent
        )
        let offset = tracker.event == "progress" ? "\(tracker.offset?.inMicroseconds ?? 0)" : ""
        let key = StableHash.hash(
            [moment.session.bytes]
                + [advertisement.breakID, advertisement.adID, tracker.event, tracker.url, offset].map { Array($0.utf8) }
        )
        return self.intend(
            key: key,
            url: macros.replaced(in: tracker.url),
            template: tracker.url,
            event: tracker.event,
            of: advertisement,
            at: moment
        )
    }

    // MARK: Watches

    private func watch(_ advertisement: Advertisement, at moment: TrackingMoment) -> Watch {
        let kept = self.watches.first { $0.advertisement == advertisement && $0.session == moment.session }
        if var kept {
            kept.contentPlayhead = moment.contentPlayhead
            return kept
        }
        return Watch(
            advertisement: advertisement,
            session: moment.session,
            contentPlayhead: moment.contentPlayhead
        )
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
