// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Reports of watchers: which source is silent, and which watcher is gone.
@Suite(.suiteLimit)
struct WatcherBookTests {
    private static let interval: Duration = .seconds(30)
    private static let silentAfter: Duration = .seconds(60)

    private static func report(
        _ watcher: String = "a",
        _ source: String = "encoder",
        of stream: StreamID = Sample.stream,
        number: UInt64 = 1,
        heard: Double? = 0,
        isSteady: Bool = true,
        isLast: Bool = false
    ) throws -> BroadcastRequest.WatchReport {
        var report = BroadcastRequest.WatchReport(
            stream: stream,
            source: Cues.source(source),
            watcher: try SignalSource(watcher),
            kind: .hls,
            address: "https://encoder.example/live.m3u8",
            number: number
        )
        report.heardAge = heard.map { .seconds($0) }
        report.isSteady = isSteady
        report.isLast = isLast
        return report
    }

    private static func silent(_ book: WatcherBook, at seconds: Double) -> [WatcherBook.SilentSource] {
        book.silentSources(at: Sample.at(seconds), after: Self.silentAfter)
    }

    @discardableResult
    private static func note(
        _ report: BroadcastRequest.WatchReport,
        _ book: inout WatcherBook,
        at seconds: Double
    ) -> (isNews: Bool, isFull: Bool) {
        book.note(report, at: Sample.at(seconds), interval: Self.interval)
    }

    @Test func `a source is silent when its watcher heard nothing for so long, and not a moment before`() throws {
        var book = WatcherBook()
        Self.note(try Self.report(heard: 59.999), &book, at: 100)
        #expect(Self.silent(book, at: 100).isEmpty)
        Self.note(try Self.report(number: 2, heard: 60), &book, at: 130)
        let source = try #require(Self.silent(book, at: 130).first)
        #expect(source.silence == .seconds(60) && !source.isUnwatched)
        let place = "a at https://encoder.example/live.m3u8"
        #expect(
            source.sentence
                == "The source encoder of \(Sample.stream) has been silent since \(Sample.at(70)), as its watcher \(place) says."
        )
        // The sentence stays while nothing changes: watchers measure a little differently.
        Self.note(try Self.report(number: 3, heard: 89.95), &book, at: 160)
        #expect(Self.silent(book, at: 160).first?.sentence == source.sentence)
        // The time since its report is no silence: the next report is not due.
        Self.note(try Self.report(number: 4, heard: 1), &book, at: 190)
        #expect(Self.silent(book, at: 190 + 90).isEmpty)
    }

    @Test func `of a source that never sent anything the time since the first report counts`() throws {
        var book = WatcherBook()
        Self.note(try Self.report(heard: nil), &book, at: 0)
        Self.note(try Self.report(number: 2, heard: nil), &book, at: 59)
        #expect(Self.silent(book, at: 59).isEmpty)
        Self.note(try Self.report(number: 3, heard: nil), &book, at: 60)
        #expect(Self.silent(book, at: 60).count == 1)
    }

    @Test func `a source that may be silent makes no alarm of it, but of a watcher that is gone`() throws {
        var book = WatcherBook()
        Self.note(try Self.report(heard: 7_200, isSteady: false), &book, at: 0)
        #expect(Self.silent(book, at: 90).isEmpty)
        let gone = try #require(Self.silent(book, at: 90.001).first)
        #expect(gone.isUnwatched && gone.sentence.hasPrefix("No watcher of the source encoder of "))
    }

    @Test func `while one of two watchers hears the source there is no alarm`() throws {
        var book = WatcherBook()
        Self.note(try Self.report("a", heard: 0), &book, at: 0)
        Self.note(try Self.report("b", heard: 0), &book, at: 0)
        // b is killed; a goes on.
        Self.note(try Self.report("a", number: 2, heard: 0), &book, at: 200)
        #expect(Self.silent(book, at: 200).isEmpty)
        // a is cut off from the source, b is not.
        Self.note(try Self.report("a", number: 3, heard: 100), &book, at: 230)
        Self.note(try Self.report("b", number: 2, heard: 1), &book, at: 230)
        #expect(Self.silent(book, at: 230).isEmpty)
        // Now b is gone, and a still hears nothing.
        Self.note(try Self.report("a", number: 4, heard: 191), &book, at: 321)
        #expect(Self.silent(book, at: 321).map(\.isUnwatched) == [false])
        // Both are gone: the one that reported last is named.
        let gone = Self.silent(book, at: 500)
        #expect(gone.map(\.isUnwatched) == [true] && gone.first?.watcher.name.description == "a")
    }

    @Test func `a watcher that says goodbye makes no alarm, and one that is gone is forgotten after an hour`() throws {
        var book = WatcherBook()
        Self.note(try Self.report("a"), &book, at: 0)
        let noted1 = Self.note(try Self.report("a", number: 2, isLast: true), &book, at: 1)
        #expect(noted1.isNews)
        #expect(book.count == 0 && Self.silent(book, at: 1_000).isEmpty)
        Self.note(try Self.report("b"), &book, at: 0)
        book.forget(at: Sample.at(3_600))
        #expect(Self.silent(book, at: 3_600).count == 1)
        book.forget(at: Sample.at(3_600.001))
        #expect(book.count == 0 && Self.silent(book, at: 3_601).isEmpty)
    }

    @Test func `a source is not silent while any watcher hears it, and is where one of them should hear something`()
        throws
    {
        var book = WatcherBook()
        Self.note(try Self.report("steady", heard: 100), &book, at: 100)
        Self.note(try Self.report("lines", heard: 59.999, isSteady: false), &book, at: 100)
        #expect(Self.silent(book, at: 100).isEmpty)
        Self.note(try Self.report("lines", number: 2, heard: 60, isSteady: false), &book, at: 101)
        let source = try #require(Self.silent(book, at: 101).first)
        #expect(source.silence == .seconds(60) && source.since == Sample.at(41))
    }

    @Test func `a goodbye whose answer was lost counts once, for as long as a watcher that is gone is remembered`()
        throws
    {
        var book = WatcherBook()
        Self.note(try Self.report("a"), &book, at: 0)
        func goodbye(_ number: UInt64 = 2, at seconds: Double) throws -> Bool {
            Self.note(try Self.report("a", number: number, isLast: true), &book, at: seconds).isNews
        }
        #expect(try goodbye(at: 1))
        #expect(try !goodbye(at: 2))
        #expect(book.count == 0 && book.watchers(of: Sample.stream).isEmpty && book.ages(at: Sample.at(2)).isEmpty)
        // A report that comes after it is of a watcher that is there, and no news either.
        let late = Self.note(try Self.report("a", number: 2), &book, at: 3)
        #expect(!late.isNews && book.count == 1)
        #expect(try !goodbye(at: 4))
        #expect(book.count == 0 && Self.silent(book, at: 1_000).isEmpty)
        book.forget(at: Sample.at(3_604))
        #expect(try !goodbye(at: 4))
        book.forget(at: Sample.at(3_604.001))
        #expect(try goodbye(at: 3_604.001), "it is not remembered any more")
        // The only report of a watcher may be its goodbye.
        #expect(try goodbye(3, at: 3_605))
    }

    @Test func `watchers and goodbyes together are within the limit, and a goodbye takes no watcher's place`() throws {
        var book = WatcherBook(watchersMax: 2)
        func goodbye(_ name: String, at seconds: Double) throws -> Bool {
            Self.note(try Self.report(name, isLast: true), &book, at: seconds).isNews
        }
        for (second, name) in ["a", "b", "c"].enumerated() { _ = try goodbye(name, at: Double(second)) }
        #expect(try !goodbye("c", at: 3))
        #expect(try !goodbye("b", at: 4))
        #expect(try goodbye("a", at: 5), "two are remembered, and it was the third")
        let noted = [
            Self.note(try Self.report("d"), &book, at: 6), Self.note(try Self.report("e"), &book, at: 7),
        ]
        #expect(noted.allSatisfy { !$0.isFull } && book.count == 2)
        #expect(try goodbye("a", at: 8), "two watchers leave no place for it")
        #expect(book.watchers(of: Sample.stream).map(\.name.description) == ["d", "e"])
    }

    @Test func `the same number once more is no news, and still shows that the watcher is there`() throws {
        var book = WatcherBook()
        let noted2 = Self.note(try Self.report(number: 3), &book, at: 0)
        #expect(noted2.isNews)
        let noted3 = Self.note(try Self.report(number: 3), &book, at: 80)
        #expect(!noted3.isNews)
        let noted4 = Self.note(try Self.report(number: 2), &book, at: 81)
        #expect(!noted4.isNews)
        #expect(Self.silent(book, at: 160).isEmpty)
        let noted5 = Self.note(try Self.report(number: 4), &book, at: 161)
        #expect(noted5.isNews)
    }

    @Test func `there are so many watchers, and one more takes the place of the one heard of longest ago`() throws {
        var book = WatcherBook(watchersMax: 2)
        let noted6 = Self.note(try Self.report("a"), &book, at: 0)
        #expect(!noted6.isFull)
        let noted7 = Self.note(try Self.report("b"), &book, at: 1)
        #expect(!noted7.isFull)
        let noted8 = Self.note(try Self.report("a", number: 2), &book, at: 2)
        #expect(!noted8.isFull, "it is there")
        let noted9 = Self.note(try Self.report("c"), &book, at: 3)
        #expect(noted9.isFull)
        #expect(book.watchers(of: Sample.stream).map(\.name.description) == ["a", "c"])
    }

    @Test func `a stream with ever new watchers pushes out its own, and not those of other streams`() throws {
        var book = WatcherBook(watchersMax: 4)
        let others = [Sample.stream("one"), Sample.stream("two")]
        for stream in others { Self.note(try Self.report(of: stream), &book, at: 0) }
        for number in 0..<20 {
            let noted = Self.note(try Self.report("w\(number)"), &book, at: Double(number + 1))
            #expect(noted.isFull == (number >= 2) && book.count == min(number + 3, 4))
        }
        for stream in others { #expect(book.watchers(of: stream).count == 1) }
        #expect(book.watchers(of: Sample.stream).map(\.name.description) == ["w18", "w19"])
        // Another stream gets a place from the one with the most.
        Self.note(try Self.report(of: Sample.stream("three")), &book, at: 30)
        #expect(book.watchers(of: Sample.stream).map(\.name.description) == ["w19"])
        for stream in others { #expect(book.watchers(of: stream).count == 1) }
        // Where all have one, a stream that gets a second one gives its first.
        Self.note(try Self.report("b", of: others[1]), &book, at: 31)
        #expect(book.watchers(of: others[1]).map(\.name.description) == ["b"])
        for stream in [Sample.stream, others[0], Sample.stream("three")] {
            #expect(book.watchers(of: stream).count == 1)
        }
    }

    @Test func `the age of a source is that of its best watcher, and of a name the longest`() throws {
        var book = WatcherBook()
        Self.note(try Self.report("a", heard: 5), &book, at: 0)
        Self.note(try Self.report("b", heard: 2), &book, at: 0)
        #expect(book.ages(at: Sample.at(10)) == [Cues.source("encoder"): .seconds(2)])
        var other = try Self.report("a", heard: 9)
        other.stream = Sample.stream("other")
        Self.note(other, &book, at: 0)
        #expect(book.ages(at: Sample.at(10)) == [Cues.source("encoder"): .seconds(9)])
        // Without reports the age goes on.
        #expect(book.ages(at: Sample.at(100)) == [Cues.source("encoder"): .seconds(109)])
    }

    @Test(arguments: [(2, 1_000), (10, 5_000), (60, 30_000), (3_600, 30_000), (3, 1_500)])
    func `watchers report at least twice before a source counts as silent`(silentAfter: Int, milliseconds: Int) {
        #expect(WatcherBook.reportInterval(silentAfter: .seconds(silentAfter)) == .milliseconds(milliseconds))
    }
}
