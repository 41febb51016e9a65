// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats
internal import CuecastWire

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Watches the playlists of one stream, and gives what it sees to a ``SignalSender``.
///
/// Of a multivariant playlist one rendition is watched, the smallest; another one is taken when it fails. A broken playlist, or a
/// server that does not answer, does not end the watch: the fault is told once, and the next load comes later and later.
package struct PlaylistWatcher: Sendable {
    /// The stream and its playlists.
    package struct Target: Sendable {
        /// The stream that the gateway knows.
        package let stream: String
        /// The name of the source.
        package let source: String
        /// Where the playlist is; the next address is taken when one fails.
        package let urls: [URL]
        /// Is told what comes, and says which segments open a break; `nil`: the usual ones do.
        package let watched: WatchedSource?

        /// A target.
        package init(stream: String, source: String, urls: [URL], watched: WatchedSource? = nil) {
            self.stream = stream
            self.source = source
            self.urls = urls
            self.watched = watched
        }
    }

    /// How the watch goes on after one round.
    private enum Step {
        case again(afterMilliseconds: Int)
        case failed
        case over
    }

    /// The state of a watch.
    private struct Course {
        var watch = PlaylistWatch()
        var signals: PlaylistSignals
        /// The version of the rules that the signals are made by.
        var rulesVersion: Int?
        /// Where the renditions are, the one to watch first; empty: that is not known.
        var renditions: [URL] = []
        var current = 0
        /// How many rounds in a row failed.
        var failures = 0
        /// When faults were told, by their kind, in milliseconds since 1970.
        var told: [String: Int] = [:]
    }

    /// The longest wait after rounds that failed, in milliseconds, and the wait after the end of a playlist.
    static let waitMillisecondsMax = 30_000
    /// The first wait after a round that failed, in milliseconds.
    private static let waitMillisecondsFirst = 500
    /// How long a kind of fault is not told again, in milliseconds (10 min).
    private static let toldMilliseconds = 600_000
    /// The most kinds of faults that are remembered as told.
    private static let toldKindsMax = 64

    private let target: Target
    private let fetcher: PlaylistFetcher
    private let sender: SignalSender
    private let clock: WatchClock
    private let endsWithPlaylist: Bool

    /// A watcher; ``run()`` watches.
    ///
    /// - Parameters:
    ///   - target: the stream and its playlists.
    ///   - fetcher: loads playlists.
    ///   - sender: is told what was seen.
    ///   - clock: the time.
    ///   - endsWithPlaylist: whether the watch is over when the playlist has ended; otherwise it may begin again.
    package init(
        _ target: Target,
        fetcher: PlaylistFetcher,
        sender: SignalSender,
        clock: WatchClock = .system,
        endsWithPlaylist: Bool = false
    ) {
        self.target = target
        self.fetcher = fetcher
        self.sender = sender
        self.clock = clock
        self.endsWithPlaylist = endsWithPlaylist
    }

    /// Watches until the task is cancelled, or the playlist has ended and that ends the watch.
    package func run() async {
        var course = Course(
            signals: PlaylistSignals(stream: self.target.stream, source: self.target.source)
        )
        while !Task.isCancelled {
            let began = self.clock.now()
            var wait: Int
            switch await self.round(&course) {
            case .over: return
            case .again(let milliseconds):
                course.failures = 0
                wait = milliseconds
            case .failed:
                let rounds = course.failures / max(self.target.urls.count, 1)
                wait = min(Self.waitMillisecondsFirst << min(rounds, 16), Self.waitMillisecondsMax)
                course.failures += 1
                // The next round begins with an address that was given: the renditions may be others by then.
                course.renditions = []
                course.current = 0
            }
            wait = max(began + wait - self.clock.now(), 0)
            guard (try? await self.clock.sleep(.milliseconds(wait))) != nil else { return }
        }
    }

    /// Loads until one playlist of segments was read, or no rendition is left.
    private func round(_ course: inout Course) async -> Step {
        if course.renditions.isEmpty {
            switch await self.open(&course) {
            case .again(let wait): return .again(afterMilliseconds: wait)
            case .over: return .over
            case .failed: if course.renditions.isEmpty { return .failed }
            }
        }
        for _ in course.renditions.indices {
            let url = course.renditions[course.current]
            if let loaded = await self.load(url, &course) {
                let step = await self.take(loaded.bytes, of: url, &course)
                if case .failed = step {} else { return step }
            }
            guard !Task.isCancelled else { return .over }
            course.current = (course.current + 1) % course.renditions.count
        }
        return .failed
    }

    /// Loads an address that was given.
    ///
    /// - Returns: `failed` also where it is a multivariant playlist, with its renditions to load then.
    private func open(_ course: inout Course) async -> Step {
        guard !self.target.urls.isEmpty else { return .over }
        let url = self.target.urls[course.failures % self.target.urls.count]
        guard let loaded = await self.load(url, &course) else { return Task.isCancelled ? .over : .failed }
        do throws(PlaylistError) {
            switch try Playlist.read(loaded.bytes) {
            case .media:
                course.renditions = [url]
                let step = await self.take(loaded.bytes, of: url, &course)
                if case .failed = step { course.renditions = [] }
                return step
            case .multivariant(let playlist):
                course.renditions = playlist.watchOrder.prefix(PlaylistLimits().watchedRenditionsMax)
                    .compactMap { PlaylistFetcher.address($0, relativeTo: loaded.url) }
                if course.renditions.isEmpty {
                    let sentence = "\(url.shown) names no playlist that may be loaded."
                    await self.tell("renditions", CueRefusal(.badSource, sentence), &course)
                }
            }
        } catch {
            await self.tell("playlist", CueRefusal(.badSource, "\(url.shown): \(error)"), &course)
        }
        return .failed
    }

    private func load(_ url: URL, _ course: inout Course) async -> PlaylistFetcher.Loaded? {
        do throws(PlaylistFetcher.Fault) {
            return try await self.fetcher.load(url)
        } catch {
            if !Task.isCancelled { await self.tell(error.kind, error.refusal, &course) }
            return nil
        }
    }

    /// Reads a playlist of segments; instead of a delta update that does not fit what is known it loads the whole one, once.
    private func take(_ bytes: [UInt8], of url: URL, isWhole: Bool = false, _ course: inout Course) async -> Step {
        let now = self.clock.now()
        // What does not fit is not kept: the whole playlist would be behind it.
        var watch = course.watch
        let reading: PlaylistReading
        do throws(PlaylistError) {
            reading = try watch.read(bytes, rendition: url.absoluteString, atMilliseconds: now)
        } catch {
            await self.tell("playlist", CueRefusal(.badSource, "\(url.shown): \(error)"), &course)
            return .failed
        }
        if reading.needsWholePlaylist {
            if !isWhole, let whole = url.withoutDeltaUpdates {
                guard let loaded = await self.load(whole, &course) else { return Task.isCancelled ? .over : .failed }
                return await self.take(loaded.bytes, of: url, isWhole: true, &course)
            }
            let sentence = "\(url.shown) skips segments that were never read (EXT-X-SKIP), and nothing asks it to."
            await self.tell("delta", CueRefusal(.badSource, sentence), &course)
        }
        course.watch = watch
        // A live playlist that stands still is one of an encoder that is away.
        let isNew = reading.isChanged || reading.reloadAfterMilliseconds == nil
        self.useRules(&course, heardMilliseconds: isNew ? now : nil)
        for fault in reading.faults {
            await self.tell(fault.tag, CueRefusal(.badSource, "\(url.shown): \(fault)"), &course)
        }
        for observation in course.signals.observations(of: reading.events, atMilliseconds: now) {
            await self.sender.take(observation)
        }
        if let wait = reading.reloadAfterMilliseconds { return .again(afterMilliseconds: wait) }
        await self.tell("end", nil, &course)
        return self.endsWithPlaylist ? .over : .again(afterMilliseconds: Self.waitMillisecondsMax)
    }

    /// Goes on by the rules that the gateway tells.
    private func useRules(_ course: inout Course, heardMilliseconds: Int?) {
        guard let watched = self.target.watched else { return }
        if let heardMilliseconds { watched.heard(atMilliseconds: heardMilliseconds) }
        let rules = watched.rules
        guard rules.version != course.rulesVersion else { return }
        course.rulesVersion = rules.version
        course.signals.use(rules)
    }

    /// Tells the first fault of a kind, and counts the others; without a refusal it tells that the playlist has ended.
    private func tell(_ kind: String, _ refusal: CueRefusal?, _ course: inout Course) async {
        let now = self.clock.now()
        if let refusal { self.target.watched?.trouble(refusal.sentence, atMilliseconds: now) }
        if let told = course.told[kind], now - told < Self.toldMilliseconds {
            await self.sender.countRepeatedFault()
            return
        }
        if course.told.count >= Self.toldKindsMax { course.told = [:] }
        course.told[kind] = now
        let meaning: CueObservation.Meaning =
            refusal.map { .refused($0) } ?? .ignored(reason: "it is loaded again later, in case that it goes on")
        let seen = refusal == nil ? "the playlist has ended" : "a load of the playlist"
        await self.sender.take(
            CueObservation(stream: self.target.stream, source: self.target.source, seen: seen, meaning: meaning)
        )
    }
}
