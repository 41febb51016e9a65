// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Gateway
package import GatewayCore
package import GatewayDocuments
import Synchronization

/// The counts of watched streams, as bytes: made once for each change, however many readers watch the stream.
///
/// It holds only watched streams, and forgets a stream with its last reader. Each change has a number, and a reader knows the
/// number up to which it has read: counts without a change are found by a comparison and not sent.
///
/// `refresh` is for one task at a time; the rest may be called by any.
package final class EventCounts: Sendable {
    /// The counts of one stream.
    package struct Counts: Hashable, Sendable {
        package var listeners: Int
        /// The break that the funnel is about.
        package var breakID: BreakID?
        package var funnel: CountsEventDocument.Funnel?

        package init(listeners: Int, breakID: BreakID? = nil, funnel: CountsEventDocument.Funnel? = nil) {
            self.listeners = listeners
            self.breakID = breakID
            self.funnel = funnel
        }
    }

    /// The streams of one reader, by their places; to be given back once.
    package struct Watch: Hashable, Sendable {
        fileprivate let places: [Int]
    }

    /// The ledger's counts of a break, and its offset at that time.
    private struct Books {
        let number: BreakNumber
        let funnel: CountsEventDocument.Funnel?
        let progress: Progress

        /// Whether the ledger can say something else by now.
        func areBehind(_ now: Progress) -> Bool {
            // Before the ledger has the break, every record may be the one by which it has.
            now.acknowledgements != self.progress.acknowledgements
                || (self.funnel == nil && now.breaks != self.progress.breaks)
        }
    }

    /// How far the ledger has counted.
    private struct Progress {
        let acknowledgements: [Int]
        let breaks: Int

        init(_ metrics: MetricRegistry) {
            self.acknowledgements = (0..<Lane.acknowledgementLaneCount)
                .map { metrics.value(.ledgerOffset, .lane(.acknowledgements($0))) }
            self.breaks = metrics.value(.ledgerOffset, .lane(.breaks))
        }
    }

    /// A stream that is watched.
    private struct Place {
        let stream: StreamID
        /// By how many.
        var readers = 1
        /// The counts that were sent last; `nil`: none yet.
        var counts: Counts?
        /// Which change that was; 0: none yet.
        var number: UInt64 = 0
        /// It as an event.
        var bytes: [UInt8] = []
        var books: Books?

        init(_ stream: StreamID) { self.stream = stream }
    }

    private struct State {
        /// `nil`: free.
        var places: [Place?] = []
        var free: [Int] = []
        var index: [StreamID: Int] = [:]
        /// Places of which nothing was told yet, those that came first in front.
        var untold: [Int] = []
        /// Of the newest change.
        var number: UInt64 = 0
        /// How often counts were made into bytes.
        var encodedCount = 0
        /// The place with which the next to be told begin: those before have had their turn.
        var turn = 0
    }

    /// The values that all streams share at one time.
    private struct Moment {
        let now: Timestamp
        let board: Board
        let progress: Progress
    }

    /// A stream whose books are to be read before it is told.
    private struct Wanted {
        let place: Int
        let stream: StreamID
        let key: BreakKey
        let number: BreakNumber
        /// The counts to send if the books cannot be read.
        var counts: Counts
        /// Whether nothing was read of this break before.
        let isNew: Bool
    }

    /// Of so many places the counts are looked at before readers get their turn.
    private static let placesPerLockMax = 256

    private let overview: StreamOverview
    private let changes: BreakChanges
    private let ledger: any Ledger
    private let metrics: MetricRegistry
    private let now: @Sendable () -> Timestamp
    private let booksReadMax: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - overview: how many listen, and the board.
    ///   - changes: how many were told of a break.
    ///   - ledger: has the outcomes of breaks.
    ///   - metrics: how far the ledger has counted.
    ///   - booksReadMax: the most breaks whose books are read by one `refresh`; where more are watched, they take turns.
    ///   - now: the gateway's clock.
    package init(
        _ overview: StreamOverview,
        _ changes: BreakChanges,
        ledger: any Ledger,
        metrics: MetricRegistry,
        booksReadMax: Int,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.overview = overview
        self.changes = changes
        self.ledger = ledger
        self.metrics = metrics
        self.booksReadMax = booksReadMax
        self.now = now
    }

    // MARK: - Readers

    /// How many streams are watched.
    package var watchedCount: Int { self.state.withLock { $0.index.count } }

    /// How often counts were made into bytes.
    package var encodedCount: Int { self.state.withLock(\.encodedCount) }

    /// A reader begins to watch streams.
    ///
    /// - Parameter streams: each once.
    /// - Returns: the watch; `leave` takes it back.
    package func enter(_ streams: some Sequence<StreamID>) -> Watch {
        self.state.withLock { state in
            Watch(places: streams.map { Self.enter($0, &state) })
        }
    }

    private static func enter(_ stream: StreamID, _ state: inout State) -> Int {
        if let place = state.index[stream] {
            state.places[place]?.readers += 1
            return place
        }
        let place: Int
        if let free = state.free.popLast() {
            place = free
            state.places[place] = Place(stream)
        } else {
            place = state.places.count
            state.places.append(Place(stream))
        }
        state.index[stream] = place
        state.untold.append(place)
        return place
    }

    /// A reader ends watching.
    package func leave(_ watch: Watch) {
        self.state.withLock { state in
            for place in watch.places {
                guard let each = state.places[place] else { continue }
                guard each.readers == 1 else {
                    state.places[place]?.readers -= 1
                    continue
                }
                state.places[place] = nil
                state.free.append(place)
                state.index[each.stream] = nil
            }
            // The memory is in proportion to the watched streams, not to former ones.
            guard state.index.isEmpty else { return }
            state.places = []
            state.free = []
            state.untold = []
        }
    }

    /// Adds the counts that a reader has not been told.
    ///
    /// - Parameters:
    ///   - watch: the watch of the reader.
    ///   - number: the newest change that the reader knows; 0: none.
    ///   - bytes: where they go, as events.
    /// - Returns: the newest change that it knows then.
    package func append(_ watch: Watch, after number: UInt64, to bytes: inout [UInt8]) -> UInt64 {
        self.state.withLock { state in
            guard state.number > number else { return number }
            for place in watch.places {
                guard let each = state.places[place], each.number > number else { continue }
                bytes += each.bytes
            }
            return state.number
        }
    }

    // MARK: - Counting

    /// Looks at the counts anew: of all streams that are watched where that is due, else of those of which nothing was told yet.
    ///
    /// - Parameter isDue: whether it is due.
    /// - Returns: whether anything has changed.
    package func refresh(isDue: Bool) async -> Bool {
        let moment = Moment(now: self.now(), board: self.overview.board, progress: Progress(self.metrics))
        let before = self.state.withLock(\.number)
        var wanted = self.emitPending(moment)
        if isDue { wanted += self.emitDue(moment, booksMax: self.booksReadMax - wanted.count) }
        for each in wanted { await self.readBooks(each, moment) }
        return self.state.withLock(\.number) != before
    }

    /// Tells those of which nothing was told, as far as no books are needed for it.
    ///
    /// - Returns: those whose books are needed, as many as may be read; the rest stays untold until the next time.
    private func emitPending(_ moment: Moment) -> [Wanted] {
        var wanted: [Wanted] = []
        var rest = self.state.withLock { state in
            defer { state.untold = [] }
            return state.untold[...]
        }
        while !rest.isEmpty, wanted.count < self.booksReadMax {
            let portion = rest.prefix(Self.placesPerLockMax)
            let seen = self.state.withLock { state in
                for (seen, place) in portion.enumerated() {
                    guard wanted.count < self.booksReadMax else { return seen }
                    // It may be gone, and another one's place now.
                    guard let each = Self.place(place, state), each.number == 0 else { continue }
                    if let books = self.look(at: place, each, &state, moment) { wanted.append(books) }
                }
                return portion.count
            }
            rest = rest.dropFirst(seen)
        }
        self.state.withLock { $0.untold.insert(contentsOf: rest, at: 0) }
        return wanted
    }

    /// Tells those of which something was told before.
    ///
    /// - Returns: those whose books are to be read first: new breaks, then those whose turn it is.
    private func emitDue(_ moment: Moment, booksMax: Int) -> [Wanted] {
        var (new, known): ([Wanted], [Wanted]) = ([], [])
        let (count, turn) = self.state.withLock { ($0.places.count, $0.turn) }
        var step = 0
        while step < count {
            self.state.withLock { state in
                for _ in 0..<min(Self.placesPerLockMax, count - step) {
                    let place = (turn + step) % count
                    step += 1
                    guard let each = Self.place(place, state), each.number != 0,
                        let books = self.look(at: place, each, &state, moment)
                    else { continue }
                    // Books that cannot be read now are sent as far as they are known.
                    if books.isNew, new.count < booksMax {
                        new.append(books)
                    } else if !books.isNew, known.count < booksMax {
                        known.append(books)
                    } else {
                        Self.emit(books.counts, at: place, &state)
                    }
                }
            }
        }
        let late = known.dropFirst(booksMax - new.count)
        known.removeLast(late.count)
        self.state.withLock { state in
            for each in late where Self.place(each.place, state)?.stream == each.stream {
                Self.emit(each.counts, at: each.place, &state)
            }
            if let last = known.last { state.turn = last.place + 1 }
        }
        return new + known
    }

    private static func place(_ place: Int, _ state: State) -> Place? {
        place < state.places.count ? state.places[place] : nil
    }

    /// Tells what is known of a stream.
    ///
    /// - Returns: the data to read first; `nil`: the counts were sent.
    private func look(at place: Int, _ each: Place, _ state: inout State, _ moment: Moment) -> Wanted? {
        var counts = Counts(listeners: self.overview.listenerCount(of: each.stream))
        guard let focus = moment.board.stream(each.stream)?.focus(at: moment.now) else {
            state.places[place]?.books = nil
            Self.emit(counts, at: place, &state)
            return nil
        }
        counts.breakID = focus.key.id
        let books = each.books.flatMap { $0.number == focus.number ? $0 : nil }
        counts.funnel = books?.funnel
        counts.funnel?.notified = self.changes.notifiedCount(of: focus.number)
        guard books?.areBehind(moment.progress) ?? true else {
            Self.emit(counts, at: place, &state)
            return nil
        }
        return Wanted(
            place: place,
            stream: each.stream,
            key: focus.key,
            number: focus.number,
            counts: counts,
            isNew: books == nil
        )
    }

    /// Reads the books of a stream's break, and tells them.
    private func readBooks(_ wanted: Wanted, _ moment: Moment) async {
        let query = ReportQuery(stream: wanted.stream, breakID: wanted.key.id, limit: 1, now: moment.now)
        var counts = wanted.counts
        var books: Books?
        // Books that cannot be read now are as they were; the gateway's alarms and metrics say the rest.
        if let report = try? await self.ledger.report(query) {
            let found = report.breaks.first { $0.summary.number == wanted.number }
            counts.funnel = found.map { CountsEventDocument.Funnel($0) }
            books = Books(number: wanted.number, funnel: counts.funnel, progress: moment.progress)
            counts.funnel?.notified = self.changes.notifiedCount(of: wanted.number)
        }
        self.state.withLock { state in
            guard Self.place(wanted.place, state)?.stream == wanted.stream else { return }
            if let books { state.places[wanted.place]?.books = books }
            Self.emit(counts, at: wanted.place, &state)
        }
    }

    /// Makes the event, where it is another one than before.
    private static func emit(_ counts: Counts, at place: Int, _ state: inout State) {
        guard let each = state.places[place], each.counts != counts else { return }
        state.number += 1
        state.encodedCount += 1
        state.places[place]?.counts = counts
        state.places[place]?.number = state.number
        state.places[place]?.bytes = counts.event(of: each.stream)
    }
}

extension EventCounts.Counts {
    /// These counts as an event: the data is `CountsEventDocument` as JSON.
    ///
    /// Written by hand, because where thousands of streams change at once an encoder takes most of the time that they cost. Ids have no
    /// character that JSON writes otherwise.
    ///
    /// - Parameter stream: the stream of the counts.
    /// - Returns: the whole event.
    package func event(of stream: StreamID) -> [UInt8] {
        var text = "event: counts\ndata: {\"break\":"
        if let breakID { text += "\"\(breakID.description)\"" } else { text += "null" }
        text += ",\"funnel\":"
        if let funnel {
            text += "{\"asked\":\(funnel.asked),\"delivered\":\(funnel.delivered),\"failed\":\(funnel.failed),"
            text += "\"ignored\":\(funnel.ignored),\"notified\":"
            if let notified = funnel.notified { text += "\(notified)" } else { text += "null" }
            text += ",\"played\":\(funnel.played),\"unknown\":\(funnel.unknown)}"
        } else {
            text += "null"
        }
        text += ",\"listeners\":\(self.listeners),\"stream\":\"\(stream.description)\"}\n\n"
        return Array(text.utf8)
    }
}

extension CountsEventDocument.Funnel {
    fileprivate init(_ each: Report.Break) {
        let total = each.total
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
