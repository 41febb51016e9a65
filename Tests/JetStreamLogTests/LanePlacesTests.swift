// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

@testable import JetStreamLog

/// Where records stand in a stream whose log was restored, once and more often.
@Suite(.suiteLimit)
struct LanePlacesTests {
    private let lane = Lane.acknowledgements(0)

    /// 30 records, then a restore to offsets above 1,000 with 5 records, one above 2,000 with none, and one above 3,000.
    private var restored: LogIdentity {
        LogIdentity(logID: LogID(high: 1, low: 2), epoch: 11)
            .continued(epoch: 12, base: 1_000, last: [self.lane: 30, .breaks: 0])
            .continued(epoch: 13, base: 2_000, last: [self.lane: 1_005, .breaks: 0])
            .continued(epoch: 14, base: 3_000, last: [self.lane: 1_005, .breaks: 2_002])
    }

    @Test
    func `in the first epoch an offset is one less than the sequence`() {
        let places = LanePlaces(LogIdentity(), of: .breaks)
        for offset in [0, 1, 2, 1_000, 1 << 40] as [UInt64] {
            #expect(places.sequence(of: offset) == offset + 1 && places.offset(of: offset + 1) == offset)
        }
        #expect(places.offset(of: 0) == 0 && places.restored == 1 && places.preceding(7) == 6)
        #expect(places.unfinished(at: 0) == nil && places.unfinished(at: 9) == nil)
    }

    @Test
    func `sequences have no holes where offsets jump`() {
        let places = LanePlaces(self.restored, of: self.lane)
        let offsets = (0...30).map { UInt64($0) } + (1_001...1_005) + (3_001...3_010)
        for (sequence, offset) in zip(1..., offsets) {
            #expect(places.offset(of: UInt64(sequence)) == offset)
            #expect(places.sequence(of: offset) == UInt64(sequence))
        }
        for (before, after) in zip(offsets, offsets.dropFirst()) { #expect(places.preceding(after) == before) }
        // What was left out is behind the record before it.
        for (offset, sequence) in [(31, 31), (1_000, 31), (1_006, 36), (2_000, 36), (2_001, 36), (3_000, 36)] {
            #expect(places.sequence(of: UInt64(offset)) == UInt64(sequence))
        }
        #expect(places.restored == 36)
    }

    @Test
    func `a lane without records before a restore, and one that began in a later epoch`() {
        let places = LanePlaces(self.restored, of: .breaks)
        let offsets = [0, 2_001, 2_002, 3_001, 3_002] as [UInt64]
        for (sequence, offset) in zip(1..., offsets) {
            #expect(places.offset(of: UInt64(sequence)) == offset)
            #expect(places.sequence(of: offset) == UInt64(sequence))
        }
        #expect(places.preceding(2_001) == 0 && places.preceding(3_001) == 2_002)
        #expect(places.sequence(of: 1_500) == 1 && places.restored == 3)
    }

    @Test
    func `a lane says how much a restore has to store`() {
        let places = LanePlaces(self.restored, of: self.lane)
        #expect(places.unfinished(at: 0)?.contains("0 of 35 records") == true)
        #expect(places.unfinished(at: 35)?.contains("34 of 35 records") == true)
        #expect(places.unfinished(at: 36) == nil && places.unfinished(at: 37) == nil)
    }

    @Test
    func `records are followed over a jump, and a hole there is a fault`() throws {
        func message(_ sequence: UInt64) -> StreamMessage {
            StreamMessage(sequence: sequence, time: "2026-11-28T04:00:00Z", append: nil, bytes: [1])
        }
        let places = LanePlaces(self.restored, of: self.lane)
        var tail = LogTail(head: 29, places: places)
        #expect(tail.nextSequence(compares: false) == 31)
        #expect(try tail.take((31...38).map { message($0) }) == 8)
        #expect(tail.head == 3_002)
        let expected = [30, 1_001, 1_002, 1_003, 1_004, 1_005, 3_001, 3_002] as [UInt64]
        #expect(tail.records(after: 29, recordsMax: 99, bytesMax: 99)?.map(\.offset) == expected)
        #expect(tail.records(after: 29, recordsMax: 99, bytesMax: 99)?.map(\.previous) == [29] + expected.dropLast())
        #expect(tail.records(after: 1_005, recordsMax: 1, bytesMax: 99)?.map(\.offset) == [3_001])
        #expect(tail.records(after: 2_500, recordsMax: 9, bytesMax: 99)?.map(\.offset) == [3_001, 3_002])
        #expect(tail.records(after: 3_002, recordsMax: 9, bytesMax: 99) == [])
        var other = LogTail(head: 1_005, places: places)
        #expect(throws: LogTail.Fault.self) { try other.take([message(38)]) }
        #expect(try other.take([message(37)]) == 1)
    }

    @Test
    func `a restore says when a record was stored first, and no gateway can`() throws {
        let places = LanePlaces(self.restored, of: self.lane)
        for (sequence, year) in [(36, "2020"), (37, "2026")] as [(UInt64, String)] {
            let message = StreamMessage(
                sequence: sequence,
                time: "2026-11-28T04:00:00Z",
                append: "a-1",
                bytes: [1],
                storedFirst: "2020-01-01T00:00:00.000001Z"
            )
            let record = try LogTail.record(message, at: places)
            #expect(record.mark.map { "\($0.at)".hasPrefix(year) } == true)
        }
    }

    @Test
    func `the record of a restored log's identity comes back, and nothing else is one`() {
        let record = IdentityRecord(self.restored, lane: self.lane)
        #expect(IdentityRecord(record.bytes) == record)
        #expect(record.identity.epochs.count == 4)
        for place in record.bytes.indices {
            var other = record.bytes
            other[place] = UInt8(ascii: "~")
            let read = IdentityRecord(other)
            #expect(read == nil || read?.bytes == other && read != record)
        }
        #expect(IdentityRecord(record.bytes + [10]) == nil)
        #expect(IdentityRecord(Array(record.bytes.dropLast(8))) == nil)
    }

    @Test
    func `a restore goes on above the backup and above what the clock allows, or not at all`() throws {
        let log = LogIdentity(logID: LogID(high: 1, low: 2), epoch: 11)
        let heads: [Lane: UInt64] = [self.lane: 30, .breaks: 7]
        let now = Timestamp(microseconds: 1_795_840_567_123_456)
        let one = try #require(log.restored(heads: heads, at: now, epoch: 12))
        #expect(one.logID == log.logID && one.epochs.count == 2 && one.current.last == heads)
        #expect(one.current.base == EventLogLimits.offsetFloor(at: now) + EventLogLimits.epochOffsetStep)
        // The same backup a moment later, and a backup of the restored log.
        let later = Timestamp(microseconds: now.microseconds + 2_000)
        #expect(try #require(log.restored(heads: heads, at: later, epoch: 13)).current.base > one.current.base)
        let next = [self.lane: one.current.base + 3, .breaks: 7]
        let two = try #require(one.restored(heads: next, at: now, epoch: 13))
        #expect(two.current.base == one.current.base + 3 + EventLogLimits.epochOffsetStep)
        // A clock that cannot be right, and offsets that are used up.
        #expect(log.restored(heads: heads, at: Timestamp(microseconds: 0)) == nil)
        #expect(log.restored(heads: heads, at: .latest) == nil)
        let last = [Lane.breaks: EventLogLimits.offsetsPerLaneMax - EventLogLimits.epochOffsetStep]
        #expect(log.restored(heads: last, at: now) == nil)
    }
}
