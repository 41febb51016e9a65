// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Offsets and their jumps.
@Suite(.suiteLimit)
struct LogIdentityTests {
    private let lane = Lane.acknowledgements(0)

    /// A log that lost records twice, and began a new epoch without using it in between.
    private var jumped: LogIdentity {
        LogIdentity(logID: LogID(high: 1, low: 2), epoch: 11)
            .continued(epoch: 12, base: 1_000, last: [self.lane: 30, .breaks: 7])
            .continued(epoch: 13, base: 2_000, last: [self.lane: 1_005, .breaks: 7])
            .continued(epoch: 14, base: 3_000, last: [self.lane: 1_005, .breaks: 2_001])
    }

    @Test func `a log without jumps counts one by one`() {
        let identity = LogIdentity(epoch: 5)
        #expect(identity.epoch == 5 && identity.current.base == 0)
        #expect((0...9).map { identity.following($0, in: .breaks) } == Array(1...10))
        #expect((1...10).map { identity.preceding($0, in: .breaks) } == Array(0...9))
        #expect(identity.count(after: 3, through: 10, in: .breaks) == 7)
        #expect(identity.count(after: 10, through: 3, in: .breaks) == 0)
        #expect(identity.offset(4, before: 10, in: .breaks) == 6)
        #expect(identity.offset(11, before: 10, in: .breaks) == 0)
    }

    @Test func `the records on both sides of a jump follow each other`() {
        let identity = self.jumped
        // In the lane: 1…30, 1001…1005, 3001…; in the lane of breaks: 1…7, 2001, 3001….
        for (lane, offsets) in [
            (self.lane, [29, 30, 1_001, 1_002, 1_003, 1_004, 1_005, 3_001, 3_002]),
            (Lane.breaks, [6, 7, 2_001, 3_001, 3_002]), (Lane.acknowledgements(1), [0, 3_001, 3_002]),
        ] as [(Lane, [UInt64])] {
            for (before, after) in zip(offsets, offsets.dropFirst()) {
                #expect(identity.following(before, in: lane) == after)
                #expect(identity.preceding(after, in: lane) == before)
            }
            #expect(identity.count(after: offsets[0], through: 3_002, in: lane) == UInt64(offsets.count - 1))
            for (index, offset) in offsets.reversed().enumerated() {
                #expect(identity.offset(UInt64(index), before: 3_002, in: lane) == offset)
            }
        }
        // Offsets that were given out and lost.
        #expect(identity.following(31, in: self.lane) == 1_001)
        #expect(identity.following(1_700, in: self.lane) == 3_001)
        #expect(identity.count(after: 40, through: 900, in: self.lane) == 0)
        #expect(identity.offset(100, before: 3_002, in: self.lane) == 0)
    }

    @Test func `impossible epochs of a log are refused`() {
        let id = LogID.random()
        func epoch(_ number: UInt64, base: UInt64, last: [Lane: UInt64] = [:]) -> LogIdentity.Epoch {
            LogIdentity.Epoch(number: number, base: base, last: last)
        }
        #expect(LogIdentity(logID: id, epochs: self.jumped.epochs)?.epochs == self.jumped.epochs)
        for epochs in [
            [], [epoch(0, base: 0)], [epoch(1, base: 5)], [epoch(1, base: 0), epoch(1, base: 5)],
            [epoch(1, base: 0), epoch(2, base: 9), epoch(3, base: 9)],
            [epoch(1, base: 0), epoch(2, base: 9, last: [self.lane: 10])],
            [epoch(1, base: 0), epoch(2, base: EventLogLimits.offsetsPerLaneMax)],
        ] { #expect(LogIdentity(logID: id, epochs: epochs) == nil) }
    }

    @Test func `a restore of an older backup goes on above an earlier one of a newer backup`() throws {
        let log = LogIdentity(logID: LogID(high: 1, low: 2), epoch: 11)
        let older: [Lane: UInt64] = [self.lane: 30, .breaks: 7]
        let now = Timestamp(microseconds: 1_795_840_567_123_456)
        let one = try #require(log.restored(heads: older, at: now, epoch: 12))
        let newer: [Lane: UInt64] = [self.lane: one.current.base + 40, .breaks: one.current.base + 3]
        let two = try #require(one.restored(heads: newer, at: now + .seconds(60), epoch: 13))
        let three = try #require(log.restored(heads: older, at: now + .seconds(120), epoch: 14))
        #expect(one.current.base + 40 < two.current.base && two.current.base < three.current.base)
    }

    @Test func `a restore passes what the clock does not explain by one step more`() throws {
        let log = LogIdentity(logID: LogID(high: 1, low: 2), epoch: 11)
        let now = Timestamp(microseconds: 1_795_840_567_123_456)
        let least = EventLogLimits.offsetFloor(at: now) + EventLogLimits.epochOffsetStep
        for (head, base) in [
            (0, least), (least - 1, least), (least, least + EventLogLimits.epochOffsetStep),
            (least + 1, least + 1 + EventLogLimits.epochOffsetStep),
        ] {
            #expect(log.restored(heads: [self.lane: head], at: now, epoch: 12)?.current.base == base)
        }
    }

    @Test func `the id of a log is written with all its digits`() {
        #expect(LogID(high: 0xAB, low: 1).description == "00000000000000ab0000000000000001")
        #expect(LogID.random() != LogID.random())
    }

    @Test func `numbers of breaks fit into 63 bits up to the last offset`() {
        let last = EventLogLimits.offsetsPerLaneMax - 1
        let number = BreakGroup.breakNumber(offset: last, index: BreakGroup.groupEntriesMax - 1)
        #expect(number.rawValue < 1 << 63)
    }

    @Test func `a digest tells records apart that have the same offset`() {
        let large = [UInt8](repeating: 7, count: 5_000)
        var records = [[], [0], [1], [0, 0], large, large + [7]].map { LoggedRecord(offset: 3, bytes: $0) }
        for index in [0, 511, 4_488, 4_999] {
            var other = large
            other[index] = 8
            records.append(LoggedRecord(offset: 3, bytes: other))
        }
        #expect(Set(records.map(\.digest)).count == records.count)
        #expect(LoggedRecord(offset: 4, previous: 1, bytes: large).digest == records[4].digest)
    }

    @Test func `the board crosses a jump and takes nothing that leaves a record out`() async {
        var board = Board(epoch: 1)
        _ = board.apply(BreakGroup(entries: []), offset: 1)
        _ = board.apply(BreakGroup(entries: []), offset: 1_001, after: 1)
        #expect(board.offset == 1_001)
        await #expect(processExitsWith: .failure) {
            var board = Board(epoch: 1)
            _ = board.apply(BreakGroup(entries: []), offset: 1)
            _ = board.apply(BreakGroup(entries: []), offset: 1_001, after: 2)
        }
    }
}
