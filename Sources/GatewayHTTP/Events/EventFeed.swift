// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import Synchronization

/// Makes each event once, as bytes, for all who read them; while nobody reads it does nothing.
///
/// A reader holds no events: it knows up to where it has read, and takes what is new when it has room. So it costs the same however
/// slow it is. Of `gateway` and `counts` it gets the newest; changes of breaks it gets all, or is told that it missed some (`resync`).
final class EventFeed: Sendable {
    /// The bounds and times of events.
    struct Settings: Hashable, Sendable {
        /// The most streams of which one reader asks for counts.
        static let streamsPerReaderMax = 50
        /// The most changes of breaks that one piece of an answer has.
        static let changesPerPieceMax = 256
        /// How often it is looked whether a break has changed.
        var interval: Duration = .milliseconds(100)
        /// How often the gateway and counts are told.
        var period: Duration = .seconds(1)
        /// The most breaks whose books are read at one time; where more are watched, they take turns.
        var booksReadMax = 64
    }

    /// Up to where a reader has read.
    struct Cursor: Hashable, Sendable {
        /// The newest change of a break that it knows.
        var change: UInt64
        /// The newest of the numbers that the feed gives to other events.
        var number: UInt64 = 0
        /// Whether changes are missing that it could have known.
        var hasGap = false
    }

    /// Somebody who reads.
    final class Reader: Sendable {
        /// Whose counts and breaks it wants; `nil`: no counts, and all breaks.
        let streams: Set<StreamID>?
        /// Yields when there is something new; further news meanwhile are one.
        let news: AsyncStream<Void>
        fileprivate let sink: AsyncStream<Void>.Continuation

        fileprivate init(_ streams: Set<StreamID>?) {
            self.streams = streams
            (self.news, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        }
    }

    /// An event that takes the place of the one before.
    private struct Event {
        let number: UInt64
        let bytes: [UInt8]
    }

    private struct State {
        var readers: [ObjectIdentifier: Reader] = [:]
        /// How many readers want counts of a stream.
        var watched: [StreamID: Int] = [:]
        var number: UInt64 = 0
        var gateway: Event?
        var counts: [StreamID: Event] = [:]
    }

    /// Which books were read last, and at what they stood.
    private struct Books {
        let number: BreakNumber
        let offsets: [Int]
        let funnel: CountsEventDocument.Funnel?
        /// When, counted in periods.
        let period: UInt64
    }

    /// The books of streams that are watched, for the one task that reads them.
    private struct Shelf {
        var books: [StreamID: Books] = [:]
        var period: UInt64 = 0
        /// How many more may be read at this time.
        var rest = 0
    }

    /// Which run of the gateway this is: what another one has counted means nothing here.
    private let instance = UInt64.random(in: 1 ... .max)
    private let settings: Settings
    private let parts: HTTPParts
    /// Those in force.
    private let limits: @Sendable () -> [LimitState]
    private let overview: StreamOverview
    private let changes: BreakChanges
    private let state = Mutex(State())
    /// Yields when somebody begins to read.
    private let begun: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    /// `nil`: nothing tells what happens to breaks.
    init?(_ parts: HTTPParts, settings: Settings, limits: @escaping @Sendable () -> [LimitState]) {
        guard let overview = parts.overview, let changes = parts.breakChanges else { return nil }
        self.settings = settings
        self.limits = limits
        self.parts = parts
        self.overview = overview
        self.changes = changes
        (self.begun, self.sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: - Readers

    /// Somebody begins to read; `leave` is called for each.
    func enter(_ streams: Set<StreamID>?) -> Reader {
        let reader = Reader(streams)
        self.state.withLock { state in
            state.readers[ObjectIdentifier(reader)] = reader
            for stream in streams ?? [] { state.watched[stream, default: 0] += 1 }
        }
        self.sink.yield()
        // What others had a moment ago is here.
        reader.sink.yield()
        return reader
    }

    func leave(_ reader: Reader) {
        self.state.withLock { state in
            guard state.readers.removeValue(forKey: ObjectIdentifier(reader)) != nil else { return }
            for stream in reader.streams ?? [] {
                let count = state.watched[stream, default: 1] - 1
                state.watched[stream] = count > 0 ? count : nil
                if count <= 0 { state.counts[stream] = nil }
            }
            if state.readers.isEmpty { state.gateway = nil }
        }
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

    /// What a connection begins with: after how long to come back, and the id of all that was before.
    func opening(_ cursor: Cursor) -> [UInt8] {
        Array("retry: \(Self.retryMilliseconds)\nid: \(self.id(cursor.change))\n\n".utf8)
    }

    /// What is new for a reader.
    ///
    /// - Parameters:
    ///   - reader: who reads.
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
        self.state.withLock { state in
            if let gateway = state.gateway, gateway.number > cursor.number { bytes += gateway.bytes }
            for stream in reader.streams ?? [] {
                if let counts = state.counts[stream], counts.number > cursor.number { bytes += counts.bytes }
            }
            cursor.number = state.number
        }
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

    /// Makes events while somebody reads them, until it is cancelled.
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
        var shelf = Shelf()
        var newest = self.changes.newest
        // The first rates are those of a moment.
        var due = clock.now + self.settings.interval * 2
        while self.hasReaders {
            guard (try? await Task.sleep(for: self.settings.interval)) != nil else { return }
            let now = clock.now
            var hasNews = false
            if now >= due {
                // What was late makes nothing late.
                due = max(due + self.settings.period, now)
                let document = sampler.sample(at: now)
                self.put(gateway: Self.event("gateway", HTTPAnswer.encoded(document)))
                await self.count(&shelf, isDue: true)
                hasNews = true
            } else if await self.count(&shelf, isDue: false) {
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
            // What nobody takes would be old for whoever comes next.
            guard !state.readers.isEmpty else { return }
            state.number += 1
            state.gateway = Event(number: state.number, bytes: bytes)
        }
    }

    /// Tells the counts of the streams that are watched: of all of them where that is due, else of those that nobody was told of.
    ///
    /// - Returns: whether there are new ones.
    @discardableResult
    private func count(_ shelf: inout Shelf, isDue: Bool) async -> Bool {
        let (watched, missing) = self.state.withLock { state in
            (Set(state.watched.keys), state.watched.keys.filter { state.counts[$0] == nil })
        }
        if isDue {
            shelf.period += 1
            shelf.books = shelf.books.filter { watched.contains($0.key) }
        }
        let wanted = isDue ? Array(watched) : missing
        guard !wanted.isEmpty else { return false }
        shelf.rest = self.settings.booksReadMax
        let board = self.overview.board
        let books = shelf.books
        // Whose books were read longest ago comes first.
        for stream in wanted.sorted(by: { books[$0]?.period ?? 0 < books[$1]?.period ?? 0 }) {
            let document = await self.counts(of: stream, on: board, &shelf)
            let bytes = Self.event("counts", HTTPAnswer.encoded(document))
            self.state.withLock { state in
                guard state.watched[stream] != nil else { return }
                state.number += 1
                state.counts[stream] = Event(number: state.number, bytes: bytes)
            }
        }
        return true
    }

    private func counts(of stream: StreamID, on board: Board, _ shelf: inout Shelf) async -> CountsEventDocument {
        let now = self.parts.now()
        var document = CountsEventDocument(
            stream: stream.description,
            listeners: self.overview.listenerCount(of: stream),
            break: nil,
            funnel: nil
        )
        guard let each = board.stream(stream)?.focus(at: now) else { return document }
        document.break = each.key.id.description
        let known = shelf.books[stream].flatMap { $0.number == each.number ? $0 : nil }
        document.funnel = known?.funnel
        let lanes = (0..<Lane.acknowledgementLaneCount).map { Lane.acknowledgements($0) }
        // Before the ledger has the break, every record may be the one by which it has.
        let offsets = (known?.funnel == nil ? lanes + [.breaks] : lanes)
            .map { self.parts.metrics.value(.ledgerOffset, .lane($0)) }
        if known?.offsets != offsets, shelf.rest > 0 {
            shelf.rest -= 1
            let query = ReportQuery(stream: stream, breakID: each.key.id, limit: 1, now: now)
            // Books that cannot be read now are as they were; the gateway's alarms and metrics say the rest.
            if let report = try? await self.parts.ledger.report(query) {
                let found = report.breaks.first { $0.summary.number == each.number }
                document.funnel = found.map { CountsEventDocument.Funnel($0) }
                shelf.books[stream] = Books(
                    number: each.number,
                    offsets: offsets,
                    funnel: document.funnel,
                    period: shelf.period
                )
            }
        }
        document.funnel?.notified = self.changes.notifiedCount(of: each.number)
        return document
    }
}

extension CountsEventDocument.Funnel {
    fileprivate init(_ each: Report.Break) {
        var total = OutcomeCounts()
        for advertisement in each.advertisements { total += advertisement.counts }
        self.init(
            notified: nil,
            asked: each.sessions,
            delivered: total.delivered,
            played: total.played,
            ignored: total.ignored,
            failed: total.failed,
            unknown: total.unknown
        )
    }
}
