// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import DequeModule
import GatewayCore

/// The end of a lane as one reader of its stream has followed it: the newest records, each the one after the record before.
///
/// A stream of a log has every sequence once, without holes, and no message in it ever changes. Where it is otherwise, records were lost:
/// the stream went back, was made anew, or someone deleted messages.
///
/// ```swift
/// var tail = LogTail(head: places.offset(of: facts.lastSequence), places: places)
/// switch tail.take(messages) { … }
/// ```
struct LogTail: Sendable {
    /// Why the messages of a stream cannot be those that follow.
    struct Fault: Error, Hashable, Sendable {
        let sentence: String
    }

    /// Tells one message from another one at the same place.
    private struct Mark: Hashable {
        let time: String
        let digest: UInt64
    }

    let places: LanePlaces
    /// The offset of the newest record that was followed.
    private(set) var head: UInt64
    /// The newest record, where it was read; `nil`: the lane was not read yet.
    private var newest: Mark?
    /// The newest records; all after `floor`.
    private var records: Deque<LoggedRecord> = []
    private(set) var recordBytes = 0
    private(set) var floor: UInt64

    /// - Parameters:
    ///   - head: readers begin behind it.
    ///   - places: of the lane.
    init(head: UInt64, places: LanePlaces) {
        self.head = head
        self.floor = head
        self.places = places
    }

    var lane: Lane { self.places.lane }

    /// The first sequence of the next question.
    ///
    /// - Parameter compares: whether the newest record is to be read again, and compared.
    /// - Returns: the sequence of the newest record, or the one behind it.
    func nextSequence(compares: Bool) -> UInt64 {
        self.places.sequence(of: self.head) + (compares && self.newest != nil ? 0 : 1)
    }

    /// Takes the messages of an answer.
    ///
    /// - Parameter messages: in order, from the newest one that is known, or from the one behind it.
    /// - Returns: how many records are new.
    /// - Throws: where these cannot follow.
    mutating func take(_ messages: some Collection<StreamMessage>) throws(Fault) -> Int {
        var count = 0
        for message in messages {
            let record = try Self.record(message, at: self.places)
            let mark = Mark(time: message.time, digest: record.digest)
            if record.offset == self.head, let newest = self.newest {
                // It was erased since, because a session in it was forgotten.
                guard mark == newest || record.isStandIn else {
                    throw Fault(sentence: "the lane \(self.lane) has another record than before at offset \(self.head)")
                }
                continue
            }
            guard record.previous == self.head else {
                throw Fault(
                    sentence: "the lane \(self.lane) has no record behind offset \(self.head): offset \(record.offset)"
                        + " comes next"
                )
            }
            self.keep(record)
            // Where the message that it stands for is not erased yet, that one is another one.
            self.newest = record.isStandIn ? nil : mark
            count += 1
        }
        return count
    }

    /// Keeps no record in memory: readers ask the servers again.
    mutating func dropRecords() {
        self.records = []
        self.recordBytes = 0
        self.floor = self.head
    }

    private mutating func keep(_ record: LoggedRecord) {
        self.head = record.offset
        self.records.append(record)
        self.recordBytes += record.bytes.count
        while self.records.count > JetStreamLimits.tailRecordsMax
            || self.recordBytes > JetStreamLimits.tailBytesMax && self.records.count > 1
        {
            let oldest = self.records.removeFirst()
            self.recordBytes -= oldest.bytes.count
            self.floor = oldest.offset
        }
    }

    /// Records after an offset.
    ///
    /// - Returns: at least one, unless there is none; `nil`: the next one is not kept any more.
    func records(after offset: UInt64, recordsMax: Int, bytesMax: Int) -> [LoggedRecord]? {
        guard offset < self.head else { return [] }
        guard offset >= self.floor else { return nil }
        return Self.portion(
            // Offsets jump where a restore began a new epoch; sequences do not.
            self.records[Int(self.places.sequence(of: offset) - self.places.sequence(of: self.floor))...],
            recordsMax: recordsMax,
            bytesMax: bytesMax
        )
    }

    /// As many records as a reader asked for, and at least one where there is one.
    static func portion(
        _ records: some Collection<LoggedRecord>,
        recordsMax: Int,
        bytesMax: Int
    ) -> [LoggedRecord] {
        var portion: [LoggedRecord] = []
        var bytes = 0
        for record in records {
            portion.append(record)
            bytes += record.bytes.count
            if portion.count >= recordsMax || bytes >= bytesMax { break }
        }
        return portion
    }

    /// The record of a message.
    static func record(_ message: StreamMessage, at places: LanePlaces) throws(Fault) -> LoggedRecord {
        let lane = places.lane
        guard message.sequence > 1 else { throw Fault(sentence: "the lane \(lane) has a record before its first one") }
        let offset = places.offset(of: message.sequence)
        var mark: AppendMark?
        if let append = message.append {
            guard let id = AppendHeader.id(append), let at = ServerTime.instant(places.storedFirst(message)) else {
                throw Fault(
                    sentence: "the lane \(lane) has a record at offset \(offset) whose writer or time cannot be read"
                )
            }
            mark = AppendMark(id, at: at)
        }
        return LoggedRecord(
            offset: offset,
            previous: places.preceding(offset),
            bytes: message.bytes,
            mark: mark,
            isStandIn: message.standIn != nil
        )
    }
}
