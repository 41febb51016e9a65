// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

@testable import Gateway

/// How entries about breaks are gathered into records of the log.
@Suite(.suiteLimit)
struct BreakLaneTests {
    /// An entry whose request had so many bytes.
    private func member(_ bytes: Int) throws -> BreakLane.Member {
        let key = BreakKey(stream: try StreamID("radio1"), id: try BreakID("b1"))
        let entry = BreakEntry(at: Timestamp(microseconds: 1), broadcaster: "", kind: .cancel(key))
        return BreakLane.Member(entry: entry, waiting: nil, bytes: bytes)
    }

    /// Hands the next group to the log.
    ///
    /// - Returns: its number.
    private func close(_ lane: inout BreakLane, _ number: UInt64) throws -> AppendID {
        let closed = lane.close(as: AppendID(origin: 1, number: number))
        return try #require(closed).id
    }

    /// How many entries each record has.
    private func records(of members: [BreakLane.Member]) throws -> [Int] {
        var lane = BreakLane(entriesWaitingMax: .max, entryBytesWaitingMax: .max)
        for each in members { #expect(lane.add(each) == nil) }
        var counts: [Int] = []
        while let (id, record) = lane.close(as: AppendID(origin: 1, number: UInt64(counts.count))) {
            let group = try BreakGroup(decoding: record)
            #expect(group.id == id)
            counts.append(group.entries.count)
            #expect(lane.failed(id).count == counts.last)
        }
        #expect(lane.isIdle)
        return counts
    }

    @Test func `a record holds entries up to its limit in bytes, and what is one byte more begins the next`() throws {
        // Four of them are exactly a record.
        let quarter = EventLogLimits.recordBytesMax / 4 - BreakLane.entryOverheadBytesMax
        let four = try (0..<4).map { _ in try self.member(quarter) }
        #expect(try self.records(of: four) == [4])
        #expect(try self.records(of: four + [self.member(1)]) == [4, 1])
        #expect(try self.records(of: four.dropLast() + [self.member(quarter + 1)]) == [3, 1])
    }

    @Test func `a record holds entries up to their limit`() throws {
        let members = try (0...BreakGroup.groupEntriesMax).map { _ in try self.member(100) }
        #expect(try self.records(of: members.dropLast()) == [BreakGroup.groupEntriesMax])
        #expect(try self.records(of: members) == [BreakGroup.groupEntriesMax, 1])
    }

    @Test func `entries wait up to a limit, and up to a limit in bytes`() throws {
        var lane = BreakLane(entriesWaitingMax: 2, entryBytesWaitingMax: 100)
        #expect(lane.add(try self.member(50)) == nil)
        #expect(lane.add(try self.member(51)) == .entryBytesWaitingMax)
        #expect(lane.add(try self.member(50)) == nil)
        #expect(lane.add(try self.member(0)) == .entriesWaitingMax)
    }

    @Test func `a stream is settled when all of its entries are answered, whatever became of them`() throws {
        let stream = try StreamID("radio1")
        var lane = BreakLane(entriesWaitingMax: .max, entryBytesWaitingMax: .max)
        #expect(lane.isSettled(stream))

        // The log answers first, then the board; and the other way round.
        for boardIsFirst in [false, true] {
            #expect(lane.add(try self.member(1)) == nil)
            let id = try self.close(&lane, boardIsFirst ? 1 : 2)
            #expect(!lane.isSettled(stream))
            let results = [EntryResult.refused(.logBehind)]
            if boardIsFirst {
                #expect(lane.applied(results, of: id).isEmpty)
                #expect(!lane.isSettled(stream))
                #expect(lane.appended(id).count == 1)
            } else {
                #expect(lane.appended(id).isEmpty)
                #expect(!lane.isSettled(stream))
                // Another gateway's group, or one that was written without an id, is none of ours.
                #expect(lane.applied(results, of: AppendID(origin: 2, number: id.number)).isEmpty)
                #expect(lane.applied(results, of: nil).isEmpty)
                #expect(!lane.isSettled(stream))
                #expect(lane.applied(results, of: id).count == 1)
            }
            #expect(lane.isSettled(stream))
        }

        // Two groups, of which one fails.
        #expect(lane.add(try self.member(1)) == nil)
        let failing = try self.close(&lane, 3)
        #expect(lane.add(try self.member(1)) == nil)
        #expect(lane.failed(failing).count == 1)
        #expect(!lane.isSettled(stream))
        let last = try self.close(&lane, 4)
        #expect(lane.failed(last).count == 1)
        #expect(lane.isSettled(stream))
    }
}
