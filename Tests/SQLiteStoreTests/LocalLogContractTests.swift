// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import TestSupport
import Testing

/// The contract of every event log that one gateway has on its machine: its snapshots, epochs, and forgetting.
@Suite(.suiteLimit)
struct LocalLogContractTests {
    private let lane = Lane.acknowledgements(0)

    @Test(arguments: LogKind.allCases)
    func `a closed log keeps no snapshot and forgets nothing`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = try await harness.open()
        let lane = self.lane
        _ = try await log.append([1], to: lane)
        await log.close()
        await #expect(throws: EventLogError.closed) { _ = try await log.snapshotOffset(of: lane) }
        await #expect(throws: EventLogError.closed) { try await log.prune(lane, through: 1) }
        await #expect(throws: EventLogError.closed) {
            try await log.save(SnapshotPortion.single(1, [:]), of: lane)
        }
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
}
