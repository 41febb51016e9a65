// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import Synchronization

/// Makes each event once, as bytes, for all readers; without a reader it does nothing.
///
/// A reader holds no events: it knows its position, and takes new events when it has capacity. So a slow reader costs no more than
/// a quick one. Of `gateway` and `counts` it gets the newest; of breaks it gets all changes, or learns that it missed some
/// (`resync`). Unchanged counts are not sent again; the `gateway` that follows them says that they still hold.
final class EventFeed: Sendable {
    /// The bounds and times of events.
    struct Settings: Hashable, Sendable {
        /// The most streams of which one reader asks for counts.
        static let streamsPerReaderMax = 50
        /// The most changes of breaks that one piece of an answer has.
        static let changesPerPieceMax = 256
        /// How often it is looked whether a break has changed.
        var interval: Duration = .milliseconds(100)
        /// How often the gateway is told, and counts are looked at.
        var period: Duration = .seconds(1)
        /// The most breaks whose books are read at one time; where more are watched, they take turns.
        var booksReadMax = 64
    }

    /// Up to where a reader has read.
    struct Cursor: Hashable, Sendable {
        /// The newest change of a break that it knows.
        var change: UInt64
        /// The newest change of counts that it knows.
        var counts: UInt64 = 0
        /// How often it could have been told how the gateway is.
        var gateway: UInt64 = 0
        /// Whether changes are missing that it could have known.
        var hasGap = false
    }

    /// A reader of events.
    final class Reader: Sendable {
        /// The streams whose counts and breaks it wants; `nil`: no counts, and all breaks.
        let streams: Set<StreamID>?
        /// Their counts.
        fileprivate let watch: EventCounts.Watch
        /// Yields when there is something new; further news meanwhile are one.
        let news: AsyncStream<Void>
        fileprivate let sink: AsyncStream<Void>.Continuation

        fileprivate init(_ streams: Set<StreamID>?, _ watch: EventCounts.Watch) {
            self.streams = streams
            self.watch = watch
            (self.news, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        }
    }

    private struct State {
        var readers: [ObjectIdentifier: Reader] = [:]
        /// How often it was told how the gateway is.
        var number: UInt64 = 0
        /// The newest event that tells it; `nil`: there is none that is not old.
        var gateway: [UInt8]?
    }

    /// Which run of the gateway this is: what another one has counted means nothing here.
    private let instance = UInt64.random(in: 1 ... .max)
    private let settings: Settings
    private let parts: HTTPParts
    /// Those in force.
    private let limits: @Sendable () -> [LimitState]
    private let overview: StreamOverview
    private let changes: BreakChanges
    private let counts: EventCounts
    private let state = Mutex(State())
    /// Yields when a reader begins.
    private let begun: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    /// `nil`: nothing tells what happens to breaks.
    init?(_ parts: HTTPParts, settings: Settings, limits: @escaping @Sendable () -> [LimitState]) {
        guard let overview = parts.breaks.overview, let changes = parts.breaks.changes else { return nil }
        self.settings = settings
        self.limits = limits
        self.parts = parts
        self.overview = overview
        self.changes = changes
        self.counts = EventCounts(
            overview,
            changes,
            ledger: parts.stores.ledger,
            metrics: parts.metrics,
            booksReadMax: settings.booksReadMax,
            now: parts.now
        )
        (self.begun, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: - Readers

    /// A reader begins; call `leave` for each.
    func enter(_ streams: Set<StreamID>?) -> Reader {
        let reader = Reader(streams, self.counts.enter(streams ?? []))
        self.state.withLock { $0.readers[ObjectIdentifier(reader)] = reader }
        self.sink.yield()
        // The events of a moment ago are here.
        reader.sink.yield()
        return reader
    }

    func leave(_ reader: Reader) {
        let isFirst = self.state.withLock { state in
            guard state.readers.removeValue(forKey: ObjectIdentifier(reader)) != nil else { return false }
            if state.readers.isEmpty { state.gateway = nil }
            return true
        }
        if isFirst { self.counts.leave(reader.watch) }
    }

    /// Where a reader begins: behind the event whose id it has, or now where it has none.
    ///
    /// An id that this run of the gateway never gave leaves a gap.
    func cursor(after id: String?) -> Cursor {
        let newest = self.changes.newest
        guard let id else { return Cursor(change: newest) }
        let parts = id.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == String(self.instance, radix: 16), let change = UInt64(parts[1]),
            change <= newest
        else { return Cursor(change: newest, hasGap: true) }
        return Cursor(change: change)
    }

    /// The beginning of a connection: the time after which to reconnect, and the id of all earlier events.
    ///
    /// Where changes are missing there is no id: it comes with `resync`. A connection that is cut off before leaves the reader with
    /// the id that it had, and the next one tells the gap again.
    func opening(_ cursor: Cursor) -> [UInt8] {
        let id = cursor.hasGap ? "" : "id: \(self.id(cursor.change))\n"
        return Array("retry: \(Self.retryMilliseconds)\n\(id)\n".utf8)
    }

    /// The new events for a reader.
    ///
    /// - Parameters:
    ///   - reader: the reader.
    ///   - cursor: up to where; moves on.
    /// - Returns: the events as bytes, and whether there are more.
    func take(_ reader: Reader, _ cursor: inout Cursor) -> (bytes: [UInt8], hasMore: Bool) {
        var bytes: [UInt8] = []
        let portion = self.changes.changes(
            after: cursor.change,
            most: Settings.changesPerPieceMax,
            of: reader.streams
        )
        var hasMore = false
        if portion.hasGap || cursor.hasGap {
            cursor.hasGap = false
            cursor.change = self.changes.newest
            bytes += Self.event("resync", id: self.id(cursor.change), Array("{}".utf8))
        } else {
            for change in portion.elements { bytes += change.encoded { self.event($0) } }
            hasMore = portion.newest > cursor.change && portion.newest < self.changes.newest
            cursor.change = portion.newest
        }
        // Taken before the counts and told behind them: what the reader knows then is at least as new.
        let (gateway, number) = self.state.withLock { ($0.gateway, $0.number) }
        cursor.counts = self.counts.append(reader.watch, after: cursor.counts, to: &bytes)
        if let gateway, number > cursor.gateway { bytes += gateway }
        cursor.gateway = number
        return (bytes, hasMore)
    }

    /// After so long a reader that keeps nothing else in mind comes back, in milliseconds.
    private static let retryMilliseconds = 2_000

    private func id(_ change: UInt64) -> String { "\(String(self.instance, radix: 16)):\(change)" }

    private func event(_ change: BreakChange) -> [UInt8] {
        Self.event(
            "break",
            id: self.id(change.sequence),
            HTTPAnswer.encoded(BreakListDocument.Break(change.info))
        )
    }

    /// JSON has no line breaks, so that the data is one line.
    private static func event(_ name: String, id: String? = nil, _ data: [UInt8]) -> [UInt8] {
        let id = id.map { "id: \($0)\n" } ?? ""
        return Array("\(id)event: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }

    // MARK: - Making events

    /// Makes events while there are readers, until it is cancelled.
    func run() async {
        for await _ in self.begun { await self.produce() }
    }

    private var hasReaders: Bool { self.state.withLock { !$0.readers.isEmpty } }

    private func produce() async {
        let clock = ContinuousClock()
        var sampler = GatewaySampler(
            self.parts,
            self.overview,
            self.changes,
            limits: self.limits,
            at: clock.now
        )
        var newest = self.changes.newest
        // The first rates are those of a moment.
        var due = clock.now + self.settings.interval * 2
        while self.hasReaders {
            guard (try? await Task.sleep(for: self.settings.interval)) != nil else { return }
            let now = clock.now
            let isDue = now >= due
            var hasNews = await self.counts.refresh(isDue: isDue)
            if isDue {
                // One late event delays no later one.
                due = max(due + self.settings.period, now)
                let document = sampler.sample(at: clock.now)
                self.put(gateway: Self.event("gateway", HTTPAnswer.encoded(document)))
                hasNews = true
            }
            let change = self.changes.newest
            if change != newest || hasNews {
                newest = change
                for reader in self.state.withLock({ Array($0.readers.values) }) { reader.sink.yield() }
            }
        }
    }

    private func put(gateway bytes: [UInt8]) {
        self.state.withLock { state in
            // Without readers it would be old for the next one.
            guard !state.readers.isEmpty else { return }
            state.number += 1
            state.gateway = bytes
        }
    }
}
