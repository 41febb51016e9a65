// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The newest signals of each stream: what is kept, what is counted, and what makes room.
@Suite(.suiteLimit)
struct SignalBookTests {
    private static func seen(
        _ source: String = "encoder",
        _ event: String = "1",
        refused: Bool = false,
        at seconds: Double,
        raw: [UInt8] = []
    ) throws -> SeenSignal {
        let signal = BroadcastRequest.Signal(
            stream: Sample.stream,
            name: Cues.name(source, event),
            kind: .in,
            raw: raw
        )
        let refusal = Refusal(.notFound, "No OUT came before.")
        let info = BreakInfo(
            key: BreakKey(stream: Sample.stream, id: try BreakID("cue-1")),
            state: .live,
            start: Sample.at(0),
            duration: nil,
            advertisementCount: 1,
            preStream: false,
            exact: false,
            position: nil,
            announce: nil,
            end: nil,
            holdUntil: nil,
            published: Sample.at(0),
            firstAdvertisementTitle: "",
            revision: 2
        )
        let outcome =
            refused
            ? SignalOutcome(refusal, of: signal)
            : SignalOutcome(signal, on: info, changed: true, received: Sample.at(seconds), tolerance: .seconds(2))
        return SeenSignal(signal, outcome, about: refused ? nil : info.key.id, at: Sample.at(seconds))
    }

    @Test func `the same signal with the same result is counted, and moves to the newest`() throws {
        var book = SignalBook()
        book.note(try Self.seen(at: 1), on: Sample.stream)
        book.note(try Self.seen("encoder", "2", at: 2), on: Sample.stream)
        book.note(try Self.seen(at: 3), on: Sample.stream)
        book.note(try Self.seen(refused: true, at: 4), on: Sample.stream)
        let kept = try #require(book[Sample.stream])
        #expect(kept.signals.map { $0.event?.description } == ["2", "1", "1"])
        #expect(kept.signals.map(\.times) == [1, 2, 1])
        #expect(kept.signals[1].first == Sample.at(1) && kept.signals[1].last == Sample.at(3))
        #expect(kept.signals[2].result == .refused && kept.signals[2].code == "NOT_FOUND")
        #expect(kept.signals[2].reason == "No OUT came before.")
        let source = try #require(kept.sources[Cues.source("encoder")])
        #expect(source.counts == [.changed: 3, .refused: 1])
    }

    @Test func `refusals in a row are counted until a signal is taken`() throws {
        var book = SignalBook()
        func row() -> Int? { book[Sample.stream]?.sources[Cues.source("encoder")]?.refusedInARow }
        for second in 1...3 { book.note(try Self.seen(refused: true, at: Double(second)), on: Sample.stream) }
        #expect(row() == 3)
        #expect(book.refusedSources(atLeast: 4, since: Sample.at(0)).isEmpty)
        let refused = try #require(book.refusedSources(atLeast: 3, since: Sample.at(3)).first)
        #expect(refused.source == Cues.source("encoder") && refused.count == 3)
        #expect(refused.reason == "NOT_FOUND: No OUT came before.")
        #expect(book.refusedSources(atLeast: 3, since: Sample.at(3.001)).isEmpty, "long ago")
        book.note(try Self.seen("playlist", at: 4), on: Sample.stream)
        #expect(row() == 3, "another source's")
        book.note(try Self.seen(at: 5), on: Sample.stream)
        #expect(row() == 0 && book.refusedSources(atLeast: 1, since: Sample.at(0)).isEmpty)
    }

    @Test func `a stream keeps so many signals, and one more takes the place of the oldest`() throws {
        var limits = SignalBook.Limits()
        limits.signalsPerStreamMax = 3
        var book = SignalBook(limits)
        for event in 1...3 { book.note(try Self.seen("encoder", "\(event)", at: 1), on: Sample.stream) }
        #expect(book[Sample.stream]?.signals.map { $0.event?.description } == ["1", "2", "3"])
        book.note(try Self.seen("encoder", "4", at: 1), on: Sample.stream)
        #expect(book[Sample.stream]?.signals.map { $0.event?.description } == ["2", "3", "4"])
    }

    @Test func `there are so many streams, and one more takes the place of the one heard of longest ago`() throws {
        var limits = SignalBook.Limits()
        limits.streamsMax = 2
        var book = SignalBook(limits)
        let streams = try (1...3).map { try StreamID("s\($0)") }
        #expect(book.note(try Self.seen(at: 1), on: streams[0]) == [])
        #expect(book.note(try Self.seen(at: 2), on: streams[1]) == [])
        #expect(book.note(try Self.seen(at: 3), on: streams[0]) == [], "it is there")
        #expect(book.note(try Self.seen(at: 4), on: streams[2]) == [.signalStreamsMax])
        #expect(book.streamCount == 2 && book[streams[1]] == nil)
    }

    @Test func `a stream has so many sources, and one more takes the place of the one heard of longest ago`() throws {
        var limits = SignalBook.Limits()
        limits.sourcesPerStreamMax = 2
        var book = SignalBook(limits)
        #expect(book.note(try Self.seen("a", at: 1), on: Sample.stream) == [])
        #expect(book.note(try Self.seen("b", at: 2), on: Sample.stream) == [])
        #expect(book.note(try Self.seen("c", at: 3), on: Sample.stream) == [.signalSourcesPerStreamMax])
        #expect(book[Sample.stream]?.sources.keys.map(\.description).sorted() == ["b", "c"])
    }

    @Test func `of what a source wrote the beginning is kept`() throws {
        let most = SeenSignal.rawBytesMax
        for count in [most, most + 1] {
            let seen = try Self.seen(at: 1, raw: Array(repeating: 7, count: count))
            #expect(seen.raw.count == most && seen.rawBytes == count)
        }
    }

    private static func watched(_ reason: String, isUnusable: Bool = false, times: UInt32 = 1, at seconds: Double)
        -> SeenSignal
    {
        let cue = BroadcastRequest.WatchReport.Cue(
            isUnusable: isUnusable,
            seen: "line \(seconds)",
            reason: reason,
            times: times
        )
        return SeenSignal(cue, of: Cues.source("encoder"), at: Sample.at(seconds))
    }

    @Test func `what watchers saw is one entry for each reason, with the newest words`() throws {
        var book = SignalBook()
        book.note(Self.watched("a repeat", times: 3, at: 1), on: Sample.stream)
        book.note(Self.watched("unreadable", isUnusable: true, at: 2), on: Sample.stream)
        book.note(Self.watched("a repeat", times: 2, at: 3), on: Sample.stream)
        let kept = try #require(book[Sample.stream])
        #expect(kept.signals.map(\.result) == [.unusable, .ignored])
        #expect(kept.signals.map(\.times) == [1, 5] && kept.signals[1].text == "line 3.0")
        let source = try #require(kept.sources[Cues.source("encoder")])
        #expect(source.counts == [.ignored: 5, .unusable: 1] && source.refusedInARow == 1)
        #expect(source.lastSignal == nil && source.lastRefusal == "unreadable")
        let more = book.count(4, .ignored, of: Cues.source("encoder"), on: Sample.stream, at: Sample.at(4))
        #expect(more.isEmpty)
        #expect(book[Sample.stream]?.sources[Cues.source("encoder")]?.counts[.ignored] == 9)
    }

    @Test func `what watchers saw makes room for what the gateway decided`() throws {
        var limits = SignalBook.Limits()
        limits.signalsPerStreamMax = 2
        var book = SignalBook(limits)
        book.note(try Self.seen(at: 1), on: Sample.stream)
        book.note(Self.watched("a", at: 2), on: Sample.stream)
        book.note(Self.watched("b", at: 3), on: Sample.stream)
        #expect(book[Sample.stream]?.signals.map(\.reason) == ["", "b"])
        book.note(try Self.seen("encoder", "2", at: 4), on: Sample.stream)
        #expect(book[Sample.stream]?.signals.map { $0.event?.description } == ["1", "2"])
    }
}
