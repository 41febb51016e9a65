// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

/// The contract of every event log.
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
        await #expect(throws: EventLogError.closed) { _ = try await log.snapshotOffset(of: lane) }
        await #expect(throws: EventLogError.closed) { try await log.prune(lane, through: 1) }
        await #expect(throws: EventLogError.closed) {
            try await log.save(SnapshotPortion.single(1, [:]), of: lane)
        }
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
    func `a new epoch begins far above, and readers cross the jump`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        var log = try await harness.open()
        let lane = self.lane
        for number in 1...70 { _ = try await log.append([UInt8(number)], to: lane) }
        let identity = log.identity
        try await harness.beginEpoch()
        log = try await harness.open()
        #expect(log.identity.logID == identity.logID && log.epoch != identity.epoch)
        #expect(log.identity.epochs.first == identity.current && log.identity.epochs.count == 2)
        let base = log.identity.current.base
        #expect(base == 70 + EventLogLimits.epochOffsetStep)
        // Nothing is in the new epoch yet.
        #expect(try await log.head(of: lane) == 70)
        #expect(try await log.append([71], to: lane) == base + 1)
        #expect(try await log.append([72], to: lane) == base + 2)
        #expect(try await log.append([1], to: .breaks) == base + 1)
        for _ in 0..<2 {
            #expect(try await log.head(of: lane) == base + 2)
            let records = try await log.everything(in: lane, recordsMax: 9)
            #expect(records.map(\.bytes) == (1...72).map { [UInt8($0)] })
            #expect(records.map(\.previous) == [0] + records.dropLast().map(\.offset))
            #expect(try await log.everything(in: lane, after: 70).map(\.offset) == [base + 1, base + 2])
            // A reader that has what the log lost finds out.
            let lost = try await log.read(lane, after: 75, recordsMax: 1, bytesMax: 1)
            #expect(lost.map(\.previous) == [70])
            let first = try await log.everything(in: .breaks)
            #expect(first == [LoggedRecord(offset: base + 1, previous: 0, bytes: [1])])
            // From the file, too.
            log = try await harness.open()
        }
        try await log.save(SnapshotPortion.single(base + 1, ["a": [7]]), of: lane)
        #expect(try await log.snapshotOffset(of: lane) == base + 1)
        // Pruning goes over the jump, and not through the offsets that were left out.
        try await log.prune(lane, through: 69)
        #expect(try await log.everything(in: lane, after: 69).map(\.bytes) == [[70], [71], [72]])
        try await log.prune(lane, through: base + 1)
        log = try await harness.open()
        #expect(try await log.everything(in: lane, after: base + 1).map(\.bytes) == [[72]])
        await #expect(throws: EventLogError.pruned(lane: lane, firstKept: base + 2)) {
            try await log.read(lane, after: 70, recordsMax: 1, bytesMax: 1)
        }
        #expect(try await log.append([73], to: lane) == base + 3)
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
    func `pruned records are gone and their offsets are not used again`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        var log = try await harness.open()
        let lane = self.lane
        for number in 1...150 { _ = try await log.append([UInt8(number)], to: lane) }
        _ = try await log.append([1], to: .breaks)
        try await log.prune(lane, through: 0)
        #expect(try await log.everything(in: lane).count == 150)
        try await log.prune(lane, through: 100)
        await #expect(throws: EventLogError.pruned(lane: lane, firstKept: 101)) {
            _ = try await log.read(lane, after: 99, recordsMax: 1, bytesMax: 1)
        }
        #expect(try await log.everything(in: lane, after: 100).map(\.offset) == Array(101...150))
        try await log.prune(lane, through: 100)
        try await log.prune(lane, through: .max)
        await #expect(throws: EventLogError.pruned(lane: lane, firstKept: 151)) {
            _ = try await log.read(lane, after: 149, recordsMax: 1, bytesMax: 1)
        }
        log = try await harness.open()
        #expect(try await log.head(of: lane) == 150)
        #expect(try await log.append([151], to: lane) == 151)
        #expect(try await log.everything(in: lane, after: 150).map(\.bytes) == [[151]])
        await #expect(throws: EventLogError.pruned(lane: lane, firstKept: 151)) {
            _ = try await log.read(lane, after: 0, recordsMax: 1, bytesMax: 1)
        }
        #expect(try await log.everything(in: .breaks).count == 1)
        try await log.prune(Lane(name: "never heard of"), through: 5)
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `the newest snapshot of a lane is kept`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        var log = try await harness.open()
        #expect(try await log.snapshotOffset(of: .breaks) == nil)
        #expect(try await log.snapshotParts(of: .breaks, after: nil, bytesMax: 1).isEmpty)
        try await log.save(.single(0, [:]), of: .breaks)
        #expect(try await log.snapshotOffset(of: .breaks) == 0)
        for _ in 0..<3 { _ = try await log.append([1], to: .breaks) }
        try await log.save(.single(3, ["a": [3, 3, 3], "b": []]), of: .breaks)
        try await log.save(.single(2, ["a": [2]]), of: .breaks)
        #expect(try await log.snapshotOffset(of: .breaks) == 3)
        #expect(try await log.wholeSnapshot(of: .breaks) == ["a": [3, 3, 3], "b": []])
        try await log.save(.single(3, ["a": [4]], removed: ["b"]), of: .breaks)
        log = try await harness.open()
        #expect(try await log.wholeSnapshot(of: .breaks) == ["a": [4]])
        #expect(try await log.snapshotOffset(of: self.lane) == nil)
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `a change of a snapshot writes only what changed, and is seen all at once`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        var log = try await harness.open()
        for _ in 0..<5 { _ = try await log.append([1], to: .breaks) }
        let first: [String: [UInt8]] = ["a": [1], "b": [2], "c": [3]]
        try await log.save(.single(1, first), of: .breaks)
        let change = SnapshotPortion(
            offset: 2,
            parts: [SnapshotPart(key: "b", bytes: [20])],
            isFirst: true
        )
        try await log.save(change, of: .breaks)
        try await log.save(SnapshotPortion(offset: 2, removed: ["a"]), of: .breaks)
        #expect(try await log.wholeSnapshot(of: .breaks) == first, "not before its last portion")
        #expect(try await log.snapshotOffset(of: .breaks) == 1)
        let last = SnapshotPortion(offset: 2, parts: [SnapshotPart(key: "d", bytes: [4])], isLast: true)
        try await log.save(last, of: .breaks)
        let second: [String: [UInt8]] = ["b": [20], "c": [3], "d": [4]]
        #expect(try await log.wholeSnapshot(of: .breaks) == second)

        // One that does not come to its end has no effect, also after a restart and on the one that follows.
        let lost = SnapshotPortion(
            offset: 3,
            parts: [SnapshotPart(key: "lost", bytes: [9])],
            removed: ["b"],
            isFirst: true
        )
        try await log.save(lost, of: .breaks)
        log = try await harness.open()
        #expect(try await log.wholeSnapshot(of: .breaks) == second)
        #expect(try await log.snapshotOffset(of: .breaks) == 2)
        let next = SnapshotPortion(
            offset: 4,
            parts: [SnapshotPart(key: "a", bytes: [1, 1])],
            removed: ["c", "never there"],
            isFirst: true,
            isLast: true
        )
        try await log.save(next, of: .breaks)
        #expect(try await log.wholeSnapshot(of: .breaks) == ["a": [1, 1], "b": [20], "d": [4]])
        log = try await harness.open()
        #expect(try await log.wholeSnapshot(of: .breaks) == ["a": [1, 1], "b": [20], "d": [4]])
        await #expect(throws: EventLogError.self) {
            try await log.save(SnapshotPortion(offset: 5, isLast: true), of: .breaks)
        }
        #expect(try await log.append([1], to: .breaks) == 6)
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `changes of a snapshot come to what a plain dictionary comes to`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        var log = try await harness.open()
        var generator = SeededGenerator(for: "snapshot changes, \(kind)")
        var model: [String: [UInt8]] = [:]
        for round in 1...60 {
            let offset = try await log.append([1], to: .breaks)
            let isAnew = Int.random(in: 0...9, using: &generator) == 0
            let isLost = Int.random(in: 0...5, using: &generator) == 0
            var changed = model
            var told: Set<String> = []
            let portions = Int.random(in: 1...3, using: &generator)
            for index in 1...portions {
                var portion = SnapshotPortion(offset: offset)
                portion.isFirst = index == 1
                portion.isLast = index == portions && !isLost
                for number in 0..<Int.random(in: 0...200, using: &generator)
                where Int.random(in: 0...1, using: &generator) == 0 {
                    let key = "part/\(index)/\(number)"
                    told.insert(key)
                    if Int.random(in: 0...3, using: &generator) == 0 {
                        portion.removed.append(key)
                        changed[key] = nil
                    } else {
                        portion.parts.append(SnapshotPart(key: key, bytes: [UInt8(round)]))
                        changed[key] = [UInt8(round)]
                    }
                }
                if isAnew, index == portions {
                    // Nothing stays of what was kept before.
                    let old = model.keys.filter { !told.contains($0) }
                    portion.removed += old
                    for key in old { changed[key] = nil }
                }
                try await log.save(portion, of: .breaks)
            }
            if !isLost { model = changed }
            if Int.random(in: 0...9, using: &generator) == 0 { log = try await harness.open() }
            // In the smallest pages now and then: each costs a look at all parts.
            let bytesMax = round % 10 == 0 ? 1 : Int.random(in: 1...2_000, using: &generator)
            try #require(try await log.wholeSnapshot(of: .breaks, bytesMax: bytesMax) == model, "round \(round)")
        }
        await harness.close()
    }

    @Test(arguments: LogKind.allCases)
    func `a snapshot ahead of its lane is refused`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        _ = try await log.append([1], to: .breaks)
        try await log.save(SnapshotPortion.single(1, [:]), of: .breaks)
        for offset in [2, UInt64.max] {
            await #expect(throws: EventLogError.self) {
                try await log.save(SnapshotPortion.single(offset, [:]), of: .breaks)
            }
        }
        #expect(try await log.append([1], to: .breaks) == 2)
        await harness.close()
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
