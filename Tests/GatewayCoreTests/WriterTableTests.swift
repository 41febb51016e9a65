// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Which records of a log that several gateways share have an effect.
@Suite(.suiteLimit)
struct WriterTableTests {
    private func mark(_ writer: UInt64, _ number: UInt64, at seconds: Double = 0) -> AppendMark {
        AppendMark(AppendID(origin: writer, number: number), at: Sample.at(seconds))
    }

    @Test func `a number has an effect only above the highest of its writer`() {
        var table = WriterTable()
        #expect(table.take(self.mark(1, 1)) == true && !table.take(self.mark(1, 1)))
        #expect(table.take(self.mark(1, 4)) == true, "numbers may be left out")
        #expect(!table.take(self.mark(1, 3)) && !table.take(self.mark(1, 4)))
        #expect(table.take(self.mark(2, 3)) == true, "each writer has its own numbers")
        #expect(table.take(self.mark(1, 5)) == true)
        #expect(table.number(of: 1) == 5 && table.number(of: 2) == 3 && table.number(of: 3) == nil)
    }

    @Test func `a log that does not keep who appended a record has each once`() {
        var table = WriterTable()
        #expect(table.take(nil) == true && table.take(nil))
        #expect(table == WriterTable() && table.count == 0)
    }

    @Test func `a writer is forgotten when it has written nothing for the named time, and not before`() {
        let kept = Double(EventLogLimits.writerKeptFor.components.seconds)
        var table = WriterTable()
        _ = table.take(self.mark(1, 9))
        _ = table.take(self.mark(2, 1, at: kept))
        #expect(table.number(of: 1) == 9)
        #expect(table.take(self.mark(1, 9, at: kept)) == false)
        _ = table.take(self.mark(2, 2, at: kept + 0.000_001))
        #expect(table.number(of: 1) == nil && table.number(of: 2) == 2)
        // A writer that goes on after so long is a new one.
        #expect(table.take(self.mark(1, 10, at: kept + 1)) == true)
    }

    @Test func `a clock of the log that goes back ages nothing and makes nothing younger`() {
        let kept = Double(EventLogLimits.writerKeptFor.components.seconds)
        var table = WriterTable()
        _ = table.take(self.mark(1, 1, at: 100))
        _ = table.take(self.mark(2, 1, at: 0))
        #expect(table.records.map(\.at) == [Sample.at(100), Sample.at(100)])
        _ = table.take(self.mark(1, 2, at: kept + 100))
        #expect(table.number(of: 2) == 1)
    }

    @Test func `beyond the limit those that wrote nothing for longest are forgotten`() {
        let most = EventLogLimits.writersKeptMax
        var table = WriterTable()
        for writer in 1...most { _ = table.take(self.mark(UInt64(writer), 1, at: Double(writer))) }
        #expect(table.count == most)
        _ = table.take(self.mark(1, 2, at: Double(most + 1)))
        _ = table.take(self.mark(UInt64(most + 1), 1, at: Double(most + 2)))
        #expect(table.count == most)
        #expect(table.number(of: 1) == 2 && table.number(of: 2) == nil && table.number(of: 3) == 1)
    }

    /// A table that was kept and read again in the middle decides as one that was not.
    @Test func `a table that was kept goes on as it was`() {
        var generator = SeededGenerator(for: "writers that are kept")
        for _ in 0..<50 {
            var (whole, kept) = (WriterTable(), WriterTable())
            var seconds = 0.0
            for _ in 0..<300 {
                seconds += Double(generator.number(0...20_000))
                let mark = self.mark(generator.number(1...8), generator.number(1...40), at: seconds)
                #expect(whole.take(mark) == kept.take(mark))
                if generator.number(0...9) == 5 { kept = WriterTable(kept.records) }
                #expect(whole == kept)
            }
        }
    }

    @Test func `the board passes over a record that comes after a later one of its writer`() throws {
        var board = Board(epoch: Sample.epoch)
        var offset: UInt64 = 0
        func record(_ group: BreakGroup, _ number: UInt64) -> LoggedRecord {
            offset += 1
            return LoggedRecord(offset: offset, bytes: group.encoded(), mark: self.mark(7, number))
        }
        var desk = Desk()
        _ = desk.ask(.publish(Sample.publish()), at: 0)
        _ = desk.ask(.cancel(Sample.key()), at: 1)
        let (publish, cancel) = (desk.log[0], desk.log[1])
        #expect(try board.apply(record(publish, 1))?.results.map(\.word) == ["silently"])
        #expect(try board.apply(record(BreakGroup(entries: []), 3))?.results.isEmpty == true)
        #expect(try board.apply(record(cancel, 2)) == nil)
        #expect(board.offset == 3)
        #expect(board[Sample.key()]?.record.closed == nil)
        #expect(try board.apply(record(cancel, 4))?.results.count == 1)
        #expect(board[Sample.key()]?.record.closed != nil)

        // The table is in the snapshot.
        let record = try BoardRecord(decoding: board.record.encoded())
        var read = Board(epoch: Sample.epoch, record)
        #expect(read == board && read.writers.number(of: 7) == 4)
        #expect(try read.apply(LoggedRecord(offset: 5, bytes: publish.encoded(), mark: self.mark(7, 4))) == nil)
    }
}
