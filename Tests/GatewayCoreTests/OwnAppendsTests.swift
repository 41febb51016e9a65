// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// A writer knows for certain what became of its appends.
@Suite(.suiteLimit)
struct OwnAppendsTests {
    private let writer: UInt64 = 7

    private func record(_ number: UInt64, at offset: UInt64, by writer: UInt64 = 7) -> LoggedRecord {
        let mark = AppendMark(AppendID(origin: writer, number: number), at: Sample.at(0))
        return LoggedRecord(offset: offset, bytes: [], mark: mark)
    }

    private func words(_ settled: [(waiting: String, outcome: OwnAppends<String>.Outcome)]) -> [String] {
        settled.map { each in
            switch each.outcome {
            case .durable(let offset): "\(each.waiting) at \(offset)"
            case .dropped: "\(each.waiting) dropped"
            }
        }
    }

    @Test func `what was seen is durable, and a higher number that is seen first drops the lower ones`() {
        var appends = OwnAppends<String>(writer: self.writer)
        for (name, number) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] as [(String, UInt64)] {
            #expect(appends.hand(over: name, bytes: 10, at: Sample.at(0)) == number)
        }
        #expect(self.words(appends.saw(self.record(1, at: 5))) == ["a at 5"])
        #expect(self.words(appends.saw(self.record(3, at: 6))) == ["b dropped", "c at 6"])
        #expect(appends.saw(self.record(2, at: 7)).isEmpty, "it comes late, and no reader applies it")
        #expect(appends.openCount == 1 && appends.openBytes == 10)
        #expect(self.words(appends.saw(self.record(4, at: 8))) == ["d at 8"])
    }

    @Test func `records of others and of no one settle nothing`() {
        var appends = OwnAppends<String>(writer: self.writer)
        _ = appends.hand(over: "a", bytes: 1, at: Sample.at(0))
        #expect(appends.saw(self.record(9, at: 1, by: 8)).isEmpty)
        #expect(appends.saw(LoggedRecord(offset: 2, bytes: [1])).isEmpty)
        #expect(appends.openCount == 1)
    }

    @Test func `an empty record settles what is not seen for the named time`() {
        let after = Double(EventLogLimits.appendSettledAfter.components.seconds)
        var appends = OwnAppends<String>(writer: self.writer)
        #expect(!appends.needsSettling(at: Sample.at(100)), "nothing waits")
        _ = appends.hand(over: "a", bytes: 1, at: Sample.at(0))
        #expect(!appends.needsSettling(at: Sample.at(after - 0.000_001)))
        #expect(appends.needsSettling(at: Sample.at(after)))
        #expect(appends.settle(at: Sample.at(after)) == 2)
        #expect(!appends.needsSettling(at: Sample.at(2 * after - 0.000_001)), "one at a time")
        #expect(appends.needsSettling(at: Sample.at(2 * after)), "the empty record may be lost as well")
        #expect(appends.hand(over: "b", bytes: 1, at: Sample.at(after)) == 3)
        #expect(self.words(appends.saw(self.record(2, at: 1))) == ["a dropped"])
        #expect(!appends.needsSettling(at: Sample.at(2 * after - 0.000_001)))
        #expect(self.words(appends.saw(self.record(3, at: 2))) == ["b at 2"])
        #expect(!appends.needsSettling(at: Sample.at(100)))
    }

    @Test func `a refusal that is certain settles one append`() {
        var appends = OwnAppends<String>(writer: self.writer)
        _ = appends.hand(over: "a", bytes: 1, at: Sample.at(0))
        _ = appends.hand(over: "b", bytes: 1, at: Sample.at(0))
        #expect(appends.refused(1) == "a" && appends.refused(1) == nil)
        #expect(self.words(appends.saw(self.record(2, at: 1))) == ["b at 1"])
    }

    @Test func `what is open has limits`() {
        var appends = OwnAppends<Int>(writer: self.writer)
        #expect(appends.hasRoom(for: EventLogLimits.appendBytesOpenMax))
        #expect(!appends.hasRoom(for: EventLogLimits.appendBytesOpenMax + 1))
        for number in 1...EventLogLimits.appendsOpenMax {
            #expect(appends.hasRoom(for: 1))
            _ = appends.hand(over: number, bytes: 1, at: Sample.at(0))
        }
        #expect(!appends.hasRoom(for: 0))
        #expect(appends.giveUp().count == EventLogLimits.appendsOpenMax)
        #expect(appends.openBytes == 0 && appends.hasRoom(for: EventLogLimits.appendBytesOpenMax))
    }

    /// The writer and the readers of a log agree, whatever order its records come in.
    @Test func `what the writer says is what the table of every reader says`() {
        var generator = SeededGenerator(for: "own appends")
        for _ in 0..<300 {
            var appends = OwnAppends<UInt64>(writer: self.writer)
            var table = WriterTable()
            var flying: [UInt64] = []
            var outcomes: [UInt64: OwnAppends<UInt64>.Outcome] = [:]
            var effective: [UInt64: UInt64] = [:]
            var offset: UInt64 = 0
            var newest: UInt64 = 0
            func store(_ number: UInt64) {
                offset += 1
                let record = self.record(number, at: offset)
                if table.take(record.mark) { effective[number] = offset }
                for settled in appends.saw(record) { outcomes[settled.waiting] = settled.outcome }
            }
            for step in 0..<60 {
                if generator.bool() {
                    newest += 1
                    #expect(appends.hand(over: newest, bytes: 1, at: Sample.at(Double(step))) == newest)
                    flying.append(newest)
                } else if !flying.isEmpty {
                    let number = flying.remove(at: Int.random(in: 0..<flying.count, using: &generator))
                    // A tenth is lost, and a tenth comes twice.
                    let fate = generator.number(0...9)
                    if fate > 0 { store(number) }
                    if fate == 9 { store(number) }
                }
            }
            store(appends.settle(at: Sample.at(100)))
            #expect(appends.openCount == 0)
            for (number, outcome) in outcomes {
                switch outcome {
                case .durable(let place): #expect(effective[number] == place)
                case .dropped: #expect(effective[number] == nil)
                }
            }
            // What is still under way changes nothing any more.
            let before = effective
            for number in flying { store(number) }
            #expect(effective == before)
        }
    }
}
