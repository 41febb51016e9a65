// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

/// Counts of streams that are watched: how often they are made, and who is told.
@Suite(.suiteLimit)
struct EventCountsTests {
    private func run(
        booksReadMax: Int = 64,
        books: ChangingBooks = ChangingBooks(),
        _ body: (RunningGateway, EventCounts, MetricRegistry) async throws -> Void
    ) async throws {
        let clock = ManualClock(Parts.now)
        try await withGateway(log: InMemoryEventLog(), ledger: InMemoryLedger(), clock: clock) { running in
            // Its own, so that the ledger moves on when a test says so.
            let metrics = MetricRegistry()
            let counts = EventCounts(
                running.gateway.overview,
                running.gateway.breakChanges,
                ledger: books,
                metrics: metrics,
                booksReadMax: booksReadMax,
                now: { clock.now() }
            )
            try await body(running, counts, metrics)
        }
    }

    private static func join(_ running: RunningGateway, _ stream: String, listeners: Int) async throws {
        let id = try StreamID(stream)
        _ = try await running.listener(of: stream).join()
        try await until("the listener counts") { running.gateway.overview.listenerCount(of: id) == listeners }
    }

    @Test func `readers of a stream share what is made once, and what stays the same is neither made nor told`()
        async throws
    {
        try await self.run { running, counts, _ in
            let one = Reading(counts.enter([try StreamID("radio1")]))
            let other = Reading(counts.enter(try ["radio1", "radio2"].map { try StreamID($0) }))
            #expect(try one.take(counts).isEmpty)
            #expect(await counts.refresh(isDue: false))
            #expect(counts.watchedCount == 2 && counts.encodedCount == 2)
            #expect(try one.take(counts).map(\.stream) == ["radio1"])
            #expect(try other.take(counts).map(\.stream) == ["radio1", "radio2"])
            for isDue in [true, false, true] { #expect(await counts.refresh(isDue: isDue) == false) }
            #expect(try one.take(counts).isEmpty && other.take(counts).isEmpty)
            #expect(counts.encodedCount == 2)

            try await Self.join(running, "radio1", listeners: 1)
            // A reader gets the counts again when they are due.
            #expect(await counts.refresh(isDue: false) == false)
            #expect(await counts.refresh(isDue: true))
            #expect(counts.encodedCount == 3)
            let changed = try one.take(counts)
            #expect(changed.map(\.listeners) == [1] && changed.map(\.stream) == ["radio1"])
            #expect(try other.take(counts) == changed)
            #expect(try one.take(counts).isEmpty)

            // A later reader gets the present counts at once, without new work.
            let late = Reading(counts.enter(try ["radio1", "radio2"].map { try StreamID($0) }))
            #expect(try late.take(counts).map(\.listeners) == [1, 0])
            #expect(await counts.refresh(isDue: false) == false)
            #expect(counts.encodedCount == 3)
        }
    }

    @Test func `a stream without readers is forgotten, and counted anew for the next one`()
        async throws
    {
        try await self.run { running, counts, _ in
            let streams = try ["radio1", "radio2"].map { try StreamID($0) }
            let (one, other) = (counts.enter(streams), counts.enter([streams[0]]))
            _ = await counts.refresh(isDue: false)
            counts.leave(one)
            #expect(counts.watchedCount == 1)
            // Its place is another stream's now.
            let third = Reading(counts.enter([try StreamID("radio3")]))
            #expect(try third.take(counts).isEmpty)
            _ = await counts.refresh(isDue: false)
            #expect(try third.take(counts).map(\.stream) == ["radio3"])
            counts.leave(other)
            counts.leave(third.watch)
            #expect(counts.watchedCount == 0)
            #expect(await counts.refresh(isDue: true) == false)

            try await Self.join(running, "radio1", listeners: 1)
            let back = Reading(counts.enter(streams))
            #expect(try back.take(counts).isEmpty)
            _ = await counts.refresh(isDue: false)
            #expect(try back.take(counts).map(\.listeners) == [1, 0])
        }
    }

    @Test func `the books of so many breaks are read at one time, new ones first, and all have their turn`()
        async throws
    {
        let books = ChangingBooks()
        try await self.run(booksReadMax: 2, books: books) { running, counts, metrics in
            let streams = try (0..<5).map { try StreamID("s\($0)") }
            let broadcaster = try await running.broadcaster()
            for stream in streams {
                try await broadcaster.publish("b", of: stream.description, start: .after(.seconds(3_600)))
            }
            try await until("the breaks are on the board") {
                streams.allSatisfy { running.board.stream($0)?.focus(at: .init(microseconds: 0)) != nil }
            }
            books.set(running.board, streams, sessions: 1)
            let reading = Reading(counts.enter(streams))
            // A break whose books were not read, though they could be, is not sent.
            for told in [2, 2, 1] {
                #expect(await counts.refresh(isDue: false))
                let documents = try reading.take(counts)
                #expect(documents.count == told)
                #expect(documents.allSatisfy { $0.break == "b" && $0.funnel?.asked == 1 && $0.funnel?.delivered == 2 })
            }
            #expect(books.asked == streams)
            #expect(await counts.refresh(isDue: true) == false)
            #expect(books.asked.count == 5)

            // The ledger moves on: each has its turn before one has a second.
            books.set(running.board, streams, sessions: 2)
            metrics.set(.ledgerOffset, .lane(.acknowledgements(0)), to: 1)
            for told in [2, 2, 1] {
                #expect(await counts.refresh(isDue: true))
                let documents = try reading.take(counts)
                #expect(documents.count == told && documents.allSatisfy { $0.funnel?.asked == 2 })
            }
            #expect(Set(books.asked.dropFirst(5)) == Set(streams) && books.asked.count == 10)
            #expect(await counts.refresh(isDue: true) == false)

            // The ledger moves on without a change for them: it is asked, and nothing is made.
            let encoded = counts.encodedCount
            metrics.set(.ledgerOffset, .lane(.acknowledgements(0)), to: 2)
            for _ in 0..<3 { #expect(await counts.refresh(isDue: true) == false) }
            #expect(books.asked.count == 15 && counts.encodedCount == encoded)

            // A break of which nothing was read comes before those of which something was.
            try await broadcaster.publish("b2", of: "s3", start: .now, duration: .seconds(10))
            try await until("it runs") {
                running.board.stream(streams[3])?.focus(at: Parts.now)?.key.id.description == "b2"
            }
            metrics.set(.ledgerOffset, .lane(.acknowledgements(0)), to: 3)
            #expect(await counts.refresh(isDue: true))
            #expect(books.asked.dropFirst(15).first == streams[3])
            let news = try reading.take(counts)
            #expect(news.map(\.break) == ["b2"] && news.map(\.funnel) == [nil])
        }
    }

    @Test func `books that cannot be read leave the funnel as it was`() async throws {
        let books = ChangingBooks()
        try await self.run(books: books) { running, counts, metrics in
            let stream = try StreamID("radio1")
            try await running.broadcaster().publish("b", start: .after(.seconds(3_600)))
            try await until("the break is on the board") { running.board.stream(stream) != nil }
            books.fail(true)
            let reading = Reading(counts.enter([stream]))
            #expect(await counts.refresh(isDue: false))
            var told = try reading.take(counts)
            #expect(told.map(\.break) == ["b"] && told.map(\.funnel) == [nil])
            books.fail(false)
            books.set(running.board, [stream], sessions: 3)
            #expect(await counts.refresh(isDue: true))
            told = try reading.take(counts)
            #expect(told.first?.funnel?.asked == 3)
            books.fail(true)
            metrics.set(.ledgerOffset, .lane(.acknowledgements(0)), to: 1)
            #expect(await counts.refresh(isDue: true) == false)
            #expect(try reading.take(counts).isEmpty)
        }
    }

    @Test func `10,000 streams and 200 readers cost what changes`() async throws {
        try await self.run { running, counts, _ in
            let streams = try (0..<10_000).map { try StreamID("stream-\($0)") }
            let readers = (0..<200).map { Reading(counts.enter(streams[($0 * 50)..<($0 * 50 + 50)])) }
            #expect(counts.watchedCount == 10_000)
            #expect(await counts.refresh(isDue: false))
            #expect(counts.encodedCount == 10_000)
            for each in readers { #expect(try each.take(counts).count == 50) }
            #expect(await counts.refresh(isDue: true) == false)
            #expect(readers.allSatisfy { $0.size(counts) == 0 })
            try await Self.join(running, "stream-77", listeners: 1)
            #expect(await counts.refresh(isDue: true))
            #expect(counts.encodedCount == 10_001)
            for (index, each) in readers.enumerated() {
                let told = try each.take(counts)
                #expect(told.map(\.stream) == (index == 1 ? ["stream-77"] : []))
            }
            for each in readers { counts.leave(each.watch) }
            #expect(counts.watchedCount == 0)
        }
    }

    @Test(arguments: [
        "null", #"{"asked":0,"delivered":0,"failed":0,"ignored":0,"notified":null,"played":0,"unknown":0}"#,
        #"{"asked":9223372036854775807,"delivered":5,"failed":1,"ignored":2,"notified":17,"played":3,"unknown":-1}"#,
    ])
    func `an event is the document as JSON`(funnel: String) throws {
        let ids = ["radio1", "A.z_9-", String(repeating: "x", count: 64)]
        for (stream, breakID) in zip(ids, [nil, "noon-1", String(repeating: "y", count: 64)]) {
            for listeners in [0, 1, 123_456] {
                let counts = EventCounts.Counts(
                    listeners: listeners,
                    breakID: try breakID.map { try BreakID($0) },
                    funnel: try JSONDecoder().decode(CountsEventDocument.Funnel?.self, from: Data(funnel.utf8))
                )
                let event = String(decoding: counts.event(of: try StreamID(stream)), as: UTF8.self)
                #expect(event.hasPrefix(Reading.head) && event.hasSuffix("\n\n"))
                let data = event.dropFirst(Reading.head.count).dropLast(2)
                let document = try JSONDecoder().decode(CountsEventDocument.self, from: Data(data.utf8))
                #expect(document.stream == stream && document.break == breakID && document.listeners == listeners)
                #expect(document.funnel == counts.funnel)
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                #expect(String(decoding: try encoder.encode(document), as: UTF8.self) == data)
            }
        }
    }
}

/// A reader of counts, and up to where it has read.
private final class Reading {
    static let head = "event: counts\ndata: "

    let watch: EventCounts.Watch
    private var number: UInt64 = 0

    init(_ watch: EventCounts.Watch) { self.watch = watch }

    /// The new counts, as they would be sent.
    func take(_ counts: EventCounts) throws -> [CountsEventDocument] {
        var bytes: [UInt8] = []
        self.number = counts.append(self.watch, after: self.number, to: &bytes)
        return try String(decoding: bytes, as: UTF8.self).components(separatedBy: "\n\n").dropLast()
            .map { event in
                #expect(event.hasPrefix(Self.head))
                let data = event.dropFirst(Self.head.count)
                return try JSONDecoder().decode(CountsEventDocument.self, from: Data(data.utf8))
            }
    }

    /// How many bytes are new.
    func size(_ counts: EventCounts) -> Int {
        var bytes: [UInt8] = []
        self.number = counts.append(self.watch, after: self.number, to: &bytes)
        return bytes.count
    }
}

/// Books that a test changes, and that keep what they were asked for.
private final class ChangingBooks: Ledger {
    private struct State {
        var breaks: [Report.Break] = []
        var asked: [StreamID] = []
        var fails = false
    }

    private let state = Mutex(State())

    /// The streams that were asked for, in order.
    var asked: [StreamID] { self.state.withLock(\.asked) }

    func fail(_ fails: Bool) { self.state.withLock { $0.fails = fails } }

    /// Writes books of two ads for the break in view of each stream.
    func set(_ board: Board, _ streams: [StreamID], sessions: Int64) {
        var counts = OutcomeCounts()
        counts.delivered = sessions
        counts.unknown = sessions
        let breaks = streams.compactMap { stream -> Report.Break? in
            guard let each = board.stream(stream)?.focus(at: Timestamp(microseconds: 0)),
                let id = try? AdvertisementID("ad")
            else { return nil }
            let ad = Report.Advertisement(id: id, title: "", duration: .seconds(1), counts: counts)
            return Report.Break(
                summary: BreakSummary(
                    number: each.number,
                    key: each.key,
                    broadcaster: "",
                    published: Timestamp(microseconds: 0),
                    start: nil,
                    end: nil,
                    cancelled: false,
                    expired: false,
                    preStream: false,
                    advertisements: []
                ),
                sessions: sessions,
                advertisements: [ad, ad],
                settled: false
            )
        }
        self.state.withLock { $0.breaks = breaks }
    }

    func report(_ query: ReportQuery) async throws(LedgerError) -> Report {
        let (breaks, fails) = self.state.withLock { state in
            if let stream = query.stream { state.asked.append(stream) }
            return (state.breaks, state.fails)
        }
        guard !fails else { throw .closed }
        return Report(breaks: breaks.filter { query.takes($0.summary) }, offsets: [:], more: false)
    }

    func appliedOffset(of lane: Lane) async throws(LedgerError) -> UInt64 { 0 }
    @discardableResult
    func apply(_ postings: [LedgerPosting], of lane: Lane) async throws(LedgerError) -> NewOutcomes { throw .closed }
    func record(_ breaks: [BreakSummary], through offset: UInt64) async throws(LedgerError) { throw .closed }
    func checkpoint() async throws(LedgerError) -> [Lane: UInt64] { [:] }
    func audit() async throws(LedgerError) -> [String] { [] }
    func prune(
        rowsOfBreaksEndedBefore rowsLimit: Timestamp,
        totalsBefore totalsLimit: Timestamp
    ) async throws(LedgerError) -> [BreakNumber] { [] }
    func close() async {}
}
