// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Synchronization
import TestSupport
import Testing

/// The contract of every event log, wherever it is: run by each target that links this file and has its own `LogHarness`.
@Suite(.suiteLimit)
struct EventLogContractTests {
    private let lane = Lane.acknowledgements(0)

    @Test(arguments: LogKind.allCases)
    func `records come back in the order in which they were appended`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        var expected: [LoggedRecord] = []
        for number in 1...50 {
            let bytes = [UInt8](repeating: UInt8(number), count: number)
            let offset = try await log.append(bytes, to: self.lane)
            #expect(offset == UInt64(number))
            expected.append(LoggedRecord(offset: offset, bytes: bytes))
        }
        #expect(try await log.head(of: self.lane) == 50)
        #expect(try await log.everything(in: self.lane, recordsMax: 7) == expected)
        #expect(try await log.everything(in: self.lane, after: 49) == [expected[49]])
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `lanes count their offsets apart`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        #expect(try await log.head(of: .breaks) == 0)
        #expect(try await log.append([1], to: .breaks) == 1)
        #expect(try await log.append([2], to: self.lane) == 1)
        #expect(try await log.append([3], to: .breaks) == 2)
        #expect(try await log.everything(in: .breaks).map(\.bytes) == [[1], [3]])
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[2]])
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `records may be empty or large`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        var log = try await harness.open()
        let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        _ = try await log.append([], to: self.lane)
        _ = try await log.append(large, to: self.lane)
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[], large])
        log = try await harness.open()
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[], large])
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `appends under way get their offsets in the order of the calls`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        let count = 500
        let (answers, sink) = AsyncStream.makeStream(
            of: (Int, UInt64).self,
            bufferingPolicy: .bufferingOldest(count)
        )
        for number in 1...count {
            log.append([UInt8(truncatingIfNeeded: number)], to: self.lane) { result in
                sink.yield((number, (try? result.get()) ?? 0))
            }
        }
        var answered = 0
        for await (number, offset) in answers {
            #expect(offset == UInt64(number))
            answered += 1
            if answered == count { break }
        }
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `many appenders at once lose and mix up nothing`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        let lanes = [Lane.breaks, self.lane]
        let told = try await withThrowingTaskGroup(of: [(Lane, UInt64, [UInt8])].self) { group in
            for appender in 0..<8 {
                group.addTask {
                    var told: [(Lane, UInt64, [UInt8])] = []
                    for number in 0..<100 {
                        let lane = lanes[(appender + number) % 2]
                        let bytes = [UInt8(appender), UInt8(number)]
                        told.append((lane, try await log.append(bytes, to: lane), bytes))
                    }
                    return told
                }
            }
            return try await group.reduce(into: [[(Lane, UInt64, [UInt8])]]()) { $0.append($1) }
        }
        for lane in lanes {
            let records = try await log.everything(in: lane)
            #expect(records.map(\.offset) == Array(1...400))
            for appender in told {
                let own = appender.filter { $0.0 == lane }
                #expect(own.map(\.1) == own.map(\.1).sorted())
                for (_, offset, bytes) in own { #expect(records[Int(offset) - 1].bytes == bytes) }
            }
        }
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `a read returns as much as it may and at least one record`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        for _ in 0..<5 { _ = try await log.append([UInt8](repeating: 1, count: 10), to: self.lane) }
        func count(_ recordsMax: Int, _ bytesMax: Int) async throws -> Int {
            try await log.read(self.lane, after: 0, recordsMax: recordsMax, bytesMax: bytesMax).count
        }
        #expect(try await count(3, .max) == 3)
        #expect(try await count(5, .max) == 5)
        #expect(try await count(6, .max) == 5)
        #expect(try await count(0, .max) == 1)
        #expect(try await count(.max, 20) == 2)
        #expect(try await count(.max, 21) == 3)
        #expect(try await count(.max, 0) == 1)
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `a reader waits for the next record`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        _ = try await log.append([1], to: self.lane)
        let lane = self.lane
        async let first = log.read(lane, after: 1, recordsMax: 10, bytesMax: .max)
        async let elsewhere = log.read(.breaks, after: 0, recordsMax: 10, bytesMax: .max)
        _ = try await log.append([2], to: lane)
        #expect(try await first.first == LoggedRecord(offset: 2, bytes: [2]))
        _ = try await log.append([3], to: .breaks)
        #expect(try await elsewhere == [LoggedRecord(offset: 1, bytes: [3])])
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `a reader follows a writer without missing anything`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        let lane = self.lane
        let count: UInt64 = 300
        async let followed = {
            var offsets: [UInt64] = []
            while offsets.count < count {
                offsets += try await log.read(lane, after: offsets.last ?? 0, recordsMax: 5, bytesMax: .max)
                    .map(\.offset)
            }
            return offsets
        }()
        for number in 1...count { _ = try await log.append([UInt8(truncatingIfNeeded: number)], to: lane) }
        #expect(try await followed == Array(1...count))
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `cancelling ends a wait, and does not hide what is there`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        let lane = self.lane
        _ = try await log.append([1], to: lane)
        let waiting = Task { try await log.read(lane, after: 1, recordsMax: 1, bytesMax: 1) }
        waiting.cancel()
        #expect(try await waiting.value.isEmpty)
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await log.read(lane, after: 0, recordsMax: 1, bytesMax: 1)
        }
        #expect(try await cancelled.value == [LoggedRecord(offset: 1, bytes: [1])])
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `closing ends every wait and refuses what comes`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        let lane = self.lane
        _ = try await log.append([1], to: lane)
        async let waiting = log.read(lane, after: 1, recordsMax: 1, bytesMax: 1)
        async let unknownLane = log.read(.breaks, after: 0, recordsMax: 1, bytesMax: 1)
        await log.close()
        await log.close()
        #expect(try await waiting.isEmpty)
        #expect(try await unknownLane.isEmpty)
        #expect(try await log.read(lane, after: 1, recordsMax: 1, bytesMax: 1).isEmpty)
        await #expect(throws: EventLogError.closed) { _ = try await log.append([2], to: lane) }
        await #expect(throws: EventLogError.closed) { _ = try await log.head(of: lane) }
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `a repeat with the same id gets the first one's offset and adds no record`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        var log = try await harness.open()
        let (first, second) = (AppendID(origin: 7, number: 1), AppendID(origin: 7, number: 2))
        #expect(try await log.append([1], id: first, to: self.lane) == 1)
        #expect(try await log.append([2], id: second, to: self.lane) == 2)
        #expect(try await log.append([9], id: first, to: self.lane) == 1)
        // The same id is another append in another lane, and for another gateway.
        #expect(try await log.append([3], id: first, to: .breaks) == 1)
        #expect(try await log.append([4], id: AppendID(origin: 8, number: 1), to: self.lane) == 3)
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[1], [2], [4]])

        // Repeats of an append that is under way.
        let answers = Mutex<[UInt64]>([])
        for _ in 0..<100 {
            log.append([5], id: AppendID(origin: 7, number: 3), to: self.lane) { result in
                answers.withLock { $0.append((try? result.get()) ?? 0) }
            }
        }
        try await until("all are answered") { answers.withLock { $0.count } == 100 }
        #expect(answers.withLock { Set($0) } == [4])
        #expect(try await log.head(of: self.lane) == 4)

        // A log that is opened again knows no id: the gateways that gave them have gone.
        log = try await harness.open()
        #expect(try await log.append([1], id: first, to: self.lane) == 5)
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `closing finishes the appends under way`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        let answers = Mutex<[UInt64]>([])
        let (finished, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        for _ in 0..<200 {
            log.append([7], to: self.lane) { result in
                let count = answers.withLock { answers in
                    answers.append((try? result.get()) ?? 0)
                    return answers.count
                }
                if count == 200 { sink.yield() }
            }
        }
        await log.close()
        for await _ in finished { break }
        #expect(answers.withLock { $0 } == Array(1...200))
        let reopened = try await harness.open()
        #expect(try await reopened.head(of: self.lane) == 200)
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `everything is there after closing and opening`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        var log = try await harness.open()
        let epoch = log.epoch
        #expect(epoch != 0)
        for number in 1...20 { _ = try await log.append([UInt8(number)], to: self.lane) }
        _ = try await log.append([99], to: .breaks)
        log = try await harness.open()
        #expect(log.epoch == epoch)
        #expect(try await log.everything(in: self.lane).map(\.bytes) == (1...20).map { [UInt8($0)] })
        #expect(try await log.everything(in: .breaks).map(\.bytes) == [[99]])
        #expect(try await log.append([21], to: self.lane) == 21)
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `two logs have two epochs`(_ kind: LogKind) async throws {
        var one = try LogHarness(kind)
        var other = try LogHarness(kind)
        let first = try await one.open().epoch
        let second = try await other.open().epoch
        #expect(first != second)
        await one.close()
        await other.close()
    }

    @Test(arguments: LogKind.allCases)
    func `a reader ahead of its lane waits`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        _ = try await log.append([1], to: .breaks)
        async let ahead = log.read(.breaks, after: .max, recordsMax: 1, bytesMax: 1)
        _ = try await log.append([2], to: .breaks)
        await log.close()
        #expect(try await ahead.isEmpty)
        await harness.close()
    }
}

extension EventLog {
    /// Everything that is in a lane now.
    func everything(
        in lane: Lane,
        after offset: UInt64 = 0,
        recordsMax: Int = 100
    ) async throws(EventLogError) -> [LoggedRecord] {
        let head = try await self.head(of: lane)
        var records: [LoggedRecord] = []
        while (records.last?.offset ?? offset) < head {
            records += try await self.read(
                lane,
                after: records.last?.offset ?? offset,
                recordsMax: recordsMax,
                bytesMax: .max
            )
        }
        return records
    }
}
