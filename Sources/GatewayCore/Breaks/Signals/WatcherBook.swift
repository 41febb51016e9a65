// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The newest report of each watcher: which sources are watched, and when something came from them last.
///
/// It decides nothing about breaks and is kept in memory only. All times are by the gateway's clock: a report says how long ago something
/// happened, so that the clock of a watcher does not matter.
package struct WatcherBook: Sendable {
    /// How often watchers report at the most seldom.
    package static let reportIntervalMax: Duration = .seconds(30)
    /// How often watchers report at the most frequent.
    package static let reportIntervalMin: Duration = .seconds(1)
    /// A watcher is gone when so many reports in a row did not come.
    package static let missedReportsMax = 3
    /// How long after its last report a watcher that is gone is forgotten.
    package static let goneWatcherKeptFor: Duration = .seconds(3_600)

    /// How often watchers are to report, so that a source is found to be silent soon after it is.
    ///
    /// - Parameter silentAfter: how long nothing may come from a source.
    /// - Returns: the time between two reports.
    package static func reportInterval(silentAfter: Duration) -> Duration {
        min(max((silentAfter / 2).cutToMilliseconds, Self.reportIntervalMin), Self.reportIntervalMax)
    }

    /// A watcher by its newest report.
    package struct Watcher: Hashable, Sendable {
        package let stream: StreamID
        package let source: SignalSource
        /// The name of the watcher.
        package let name: SignalSource
        package let kind: WatcherKind
        /// Where it reads, without secrets.
        package let address: String
        /// Whether silence of the source is a fault.
        package let isSteady: Bool
        /// When its first report came, and its newest.
        package let first: Timestamp
        package let reported: Timestamp
        /// When the last playlist, packet or title came; `nil`: none did.
        package let heard: Timestamp?
        /// Its last trouble; empty: there was none.
        package let problem: String
        package let problemAt: Timestamp?
        /// How long after this report the next one is expected.
        package let interval: Duration
        /// The number of the report.
        let number: UInt64

        /// How long the source was silent when the report was made; since the watcher's first report where nothing came at all.
        package var silence: Duration { max(self.reported - (self.heard ?? self.first), .zero) }

        /// Whether its reports stay away.
        package func isGone(at now: Timestamp) -> Bool {
            now - self.reported > self.interval * WatcherBook.missedReportsMax
        }
    }

    /// A source from which nothing comes, or that has no watcher any more.
    package struct SilentSource: Hashable, Sendable {
        package let stream: StreamID
        package let source: SignalSource
        /// How long nothing came; of a source without watchers, since the last report.
        package let silence: Duration
        /// When that began.
        package let since: Timestamp
        /// The watcher that heard of it last.
        package let watcher: Watcher
        /// Whether all its watchers are gone.
        package let isUnwatched: Bool

        /// The sentence for people, without what follows for others.
        package var sentence: String {
            // An instant and no duration: the sentence stays the same while nothing changes.
            let place = "\(self.watcher.name)" + (self.watcher.address.isEmpty ? "" : " at \(self.watcher.address)")
            if self.isUnwatched {
                return
                    "No watcher of the source \(self.source) of \(self.stream) is left: \(place) has not reported since \(self.since)."
            }
            let problem = self.watcher.problem.isEmpty ? "" : " \(self.watcher.problem)"
            return
                "The source \(self.source) of \(self.stream) has been silent since \(self.since), as its watcher \(place) says.\(problem)"
        }
    }

    private struct Place: Hashable {
        let stream: StreamID
        let source: SignalSource
        let watcher: SignalSource
    }

    private struct Source: Hashable {
        let stream: StreamID
        let name: SignalSource
    }

    /// A watcher that said goodbye: it makes no alarm and is in no list.
    private struct Departure {
        /// The number of its last report.
        let number: UInt64
        let at: Timestamp
    }

    private let watchersMax: Int
    private var watchers: [Place: Watcher] = [:]
    /// By which a goodbye that is told again, because its answer was lost, counts once.
    private var departures: [Place: Departure] = [:]

    package init(watchersMax: Int = LimitName.watchersMax.value) {
        self.watchersMax = watchersMax
    }

    /// How many watchers are kept.
    package var count: Int { self.watchers.count }

    /// The watchers of a stream, by source and name.
    package func watchers(of stream: StreamID) -> [Watcher] {
        self.watchers.values.filter { $0.stream == stream }.sorted { ($0.source, $0.name) < ($1.source, $1.name) }
    }

    /// Keeps a report.
    ///
    /// - Parameters:
    ///   - report: the report, checked.
    ///   - now: when it came.
    ///   - interval: how long after it the next one is expected.
    /// - Returns: whether it is news, and not one that was kept before; and whether the limit was reached.
    @discardableResult
    package mutating func note(
        _ report: BroadcastRequest.WatchReport,
        at now: Timestamp,
        interval: Duration
    ) -> (isNews: Bool, isFull: Bool) {
        let place = Place(stream: report.stream, source: report.source, watcher: report.watcher)
        let before = self.watchers[place]
        let known = before?.number ?? self.departures[place]?.number
        let isNews = known.map { report.number > $0 } ?? true
        let number = max(report.number, known ?? 0)
        if report.isLast {
            self.watchers[place] = nil
            self.departures[place] = Departure(number: number, at: now)
            // A goodbye takes no watcher's place.
            self.forgetDepartures(over: self.watchersMax - self.watchers.count)
            return (isNews, false)
        }
        self.departures[place] = nil
        let isFull = before == nil && self.watchers.count >= self.watchersMax
        if isFull { self.forgetOne(for: report.stream) }
        self.watchers[place] = Watcher(
            stream: report.stream,
            source: report.source,
            name: report.watcher,
            kind: report.kind,
            address: report.address,
            isSteady: report.isSteady,
            first: before?.first ?? now,
            reported: now,
            heard: Self.settled(report.heardAge, before?.heard, at: now),
            problem: report.problem,
            problemAt: Self.settled(report.problemAge, before?.problemAt, at: now),
            interval: interval,
            number: number
        )
        self.forgetDepartures(over: self.watchersMax - self.watchers.count)
        return (isNews, isFull)
    }

    /// Forgets the watcher that reported longest ago, of the stream that has the most: no stream can push out those of others.
    ///
    /// - Parameter stream: the stream that gets one more watcher; it counts as having it.
    private mutating func forgetOne(for stream: StreamID) {
        var counts: [StreamID: Int] = [stream: 1]
        for place in self.watchers.keys { counts[place.stream, default: 0] += 1 }
        let most = self.watchers.keys.map { counts[$0.stream] ?? 0 }.max()
        let oldest = self.watchers.filter { counts[$0.key.stream] == most }.min { Self.isOlder($0.value, $1.value) }
        if let oldest { self.watchers[oldest.key] = nil }
    }

    /// Forgets the oldest goodbyes beyond a number.
    private mutating func forgetDepartures(over most: Int) {
        while self.departures.count > max(most, 0),
            let oldest = self.departures.min(by: { $0.value.at < $1.value.at })
        {
            self.departures[oldest.key] = nil
        }
    }

    /// When something happened: as the report before had it, where both mean the same moment.
    private static func settled(_ age: Duration?, _ before: Timestamp?, at now: Timestamp) -> Timestamp? {
        guard let age else { return nil }
        let moment = now - age
        guard let before, before.gap(to: moment) <= SignalLimits.measuredDifferenceMax else { return moment }
        return before
    }

    /// Forgets watchers that have been gone for long.
    package mutating func forget(at now: Timestamp) {
        let oldest = now - Self.goneWatcherKeptFor
        self.watchers = self.watchers.filter { $0.value.reported >= oldest }
        self.departures = self.departures.filter { $0.value.at >= oldest }
    }

    /// The sources from which nothing comes, or that have no watcher any more.
    ///
    /// A source is silent if one of its watchers is steady and none hears it. A watcher that is gone counts only if all others are gone too.
    /// A watcher that said goodbye does not count.
    ///
    /// - Parameters:
    ///   - now: the gateway's clock.
    ///   - limit: how long nothing may come.
    /// - Returns: them, the one that was silent for longest first.
    package func silentSources(at now: Timestamp, after limit: Duration) -> [SilentSource] {
        var found: [SilentSource] = []
        for (source, watchers) in self.bySource {
            let present = watchers.filter { !$0.isGone(at: now) }
            if present.isEmpty, let last = watchers.max(by: { $0.reported < $1.reported }) {
                found.append(Self.silent(source, now - last.reported, since: last.reported, last, isUnwatched: true))
                continue
            }
            guard present.contains(where: \.isSteady), let best = present.min(by: { $0.silence < $1.silence }),
                best.silence >= limit
            else { continue }
            found.append(
                Self.silent(source, best.silence, since: best.heard ?? best.first, best, isUnwatched: false)
            )
        }
        return found.sorted { ($1.silence, $0.stream, $0.source) < ($0.silence, $1.stream, $1.source) }
    }

    /// How long ago something came from each source, by its name; of a name that several streams have, the longest.
    ///
    /// - Parameter now: the gateway's clock.
    /// - Returns: the ages, as the newest reports have them; of sources without watchers, until now.
    package func ages(at now: Timestamp) -> [SignalSource: Duration] {
        var ages: [SignalSource: Duration] = [:]
        for (source, watchers) in self.bySource {
            let present = watchers.filter { !$0.isGone(at: now) }.map(\.silence).min()
            let age = present ?? watchers.map { max(now - ($0.heard ?? $0.first), .zero) }.min() ?? .zero
            ages[source.name] = max(ages[source.name] ?? .zero, age)
        }
        return ages
    }

    private var bySource: [Source: [Watcher]] {
        Dictionary(grouping: self.watchers.values) { Source(stream: $0.stream, name: $0.source) }
    }

    private static func silent(
        _ source: Source,
        _ silence: Duration,
        since: Timestamp,
        _ watcher: Watcher,
        isUnwatched: Bool
    ) -> SilentSource {
        SilentSource(
            stream: source.stream,
            source: source.name,
            silence: silence,
            since: since,
            watcher: watcher,
            isUnwatched: isUnwatched
        )
    }

    private static func isOlder(_ one: Watcher, _ other: Watcher) -> Bool {
        (one.reported, one.stream, one.source, one.name) < (other.reported, other.stream, other.source, other.name)
    }
}
