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
        number: UInt64 = 1,
        heard: Double? = 0,
        isSteady: Bool = true,
        isLast: Bool = false
    ) throws -> BroadcastRequest.WatchReport {
        var report = BroadcastRequest.WatchReport(
            stream: Sample.stream,
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
