// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Dispatch
import GatewayCore
import Synchronization
import Testing

@testable import JetStreamLog

@Suite(.suiteLimit)
struct LogTailTests {
    private func message(_ sequence: UInt64, _ bytes: [UInt8] = [1], time: String = "2026-11-28T04:00:00Z")
        -> StreamMessage
    {
        StreamMessage(sequence: sequence, time: time, append: nil, bytes: bytes)
    }

    @Test
    func `records that follow are taken, and the newest one again is passed over`() throws {
        var tail = LogTail(head: 0, places: LanePlaces(LogIdentity(), of: .breaks))
        #expect(tail.nextSequence(compares: true) == 2)
        #expect(try tail.take([self.message(2), self.message(3)]) == 2)
        #expect(tail.head == 2)
        #expect(tail.nextSequence(compares: true) == 3)
        #expect(tail.nextSequence(compares: false) == 4)
        #expect(try tail.take([self.message(3), self.message(4)]) == 1)
        #expect(tail.records(after: 1, recordsMax: 9, bytesMax: 9)?.map(\.offset) == [2, 3])
        #expect(tail.records(after: 3, recordsMax: 9, bytesMax: 9) == [])
    }

    @Test
    func `another record at a known offset is a fault, by its bytes and by its time`() throws {
        for other in [self.message(2, [9]), self.message(2, time: "2026-11-28T04:00:01Z")] {
            var tail = LogTail(head: 0, places: LanePlaces(LogIdentity(), of: .breaks))
            _ = try tail.take([self.message(2)])
            #expect(throws: LogTail.Fault.self) { try tail.take([other]) }
            #expect(tail.head == 1)
        }
    }

    @Test
    func `a hole is a fault`() throws {
        var tail = LogTail(head: 5, places: LanePlaces(LogIdentity(), of: .breaks))
        #expect(throws: LogTail.Fault.self) { try tail.take([self.message(8)]) }
        #expect(throws: LogTail.Fault.self) { try tail.take([self.message(6)]) }
        #expect(throws: LogTail.Fault.self) { try tail.take([self.message(1)]) }
    }

    @Test
    func `as many records as may be are kept, and those before are not`() throws {
        var tail = LogTail(head: 0, places: LanePlaces(LogIdentity(), of: .breaks))
        let count = UInt64(JetStreamLimits.tailRecordsMax)
        _ = try tail.take((0..<count).map { self.message($0 + 2) })
        #expect(tail.floor == 0)
        #expect(tail.records(after: 0, recordsMax: 1, bytesMax: 1)?.first?.offset == 1)
        _ = try tail.take([self.message(count + 2)])
        #expect(tail.floor == 1)
        #expect(tail.records(after: 0, recordsMax: 1, bytesMax: 1) == nil)
        #expect(tail.records(after: 1, recordsMax: .max, bytesMax: .max)?.count == Int(count))
    }

    @Test
    func `as many bytes as may be are kept, and one record in every case`() throws {
        var tail = LogTail(head: 0, places: LanePlaces(LogIdentity(), of: .breaks))
        let half = [UInt8](repeating: 1, count: JetStreamLimits.tailBytesMax / 2)
        _ = try tail.take([self.message(2, half), self.message(3, half)])
        #expect(tail.floor == 0)
        _ = try tail.take([self.message(4, [1])])
        #expect(tail.floor == 1)
        #expect(tail.recordBytes == half.count + 1)
        _ = try tail.take([self.message(5, [UInt8](repeating: 1, count: JetStreamLimits.tailBytesMax + 1))])
        #expect(tail.floor == 3)
    }

    @Test
    func `the writer and the time of storing come with a record`() throws {
        let id = AppendID(origin: .max, number: 7)
        var message = self.message(2, time: "2026-11-28T04:36:07.123456789Z")
        message.append = AppendHeader.text(id)
        let record = try LogTail.record(message, at: LanePlaces(LogIdentity(), of: .breaks))
        #expect(record.mark?.id == id)
        #expect(record.mark?.at == Timestamp(microseconds: 1_795_840_567_123_456))
        message.append = "7"
        #expect(throws: LogTail.Fault.self) { try LogTail.record(message, at: LanePlaces(LogIdentity(), of: .breaks)) }
    }
}

@Suite(.suiteLimit)
struct AnswerQueueTests {
    @Test
    func `answers that many threads find are told in the order in which they were found`() {
        let answers = AnswerQueue()
        let found = Mutex(0)
        let told = Mutex<[Int]>([])
        let (threads, each) = (8, 2_000)
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            for _ in 0..<each {
                found.withLock { found in
                    let number = found
                    found += 1
                    answers.add { told.withLock { $0.append(number) } }
                }
                answers.tell()
            }
        }
        #expect(told.withLock(\.self) == Array(0..<threads * each))
    }

    @Test
    func `an answer that is found while one is told comes behind it`() {
        let answers = AnswerQueue()
        let told = Mutex<[Int]>([])
        answers.add {
            answers.add { told.withLock { $0.append(2) } }
            answers.tell()
            told.withLock { $0.append(1) }
        }
        answers.tell()
        #expect(told.withLock(\.self) == [1, 2])
    }
}

@Suite(.suiteLimit)
struct StreamGuardTests {
    private func facts(last: UInt64, created: Int64 = 1, first: UInt64 = 1, deleted: UInt64 = 0) -> StreamFacts {
        var facts = StreamFacts()
        facts.firstSequence = first
        facts.lastSequence = last
        facts.created = created
        facts.deletedCount = deleted
        return facts
    }

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }

    @Test
    func `a stream that is as long as it was, or longer, is fine`() {
        var guarding = StreamGuard(LanePlaces(LogIdentity(), of: .breaks), created: 1)
        #expect(guarding.look(at: self.facts(last: 11), seen: 10, elapsed: self.at(0)) == .fine)
        #expect(guarding.look(at: self.facts(last: 99), seen: 10, elapsed: self.at(1)) == .fine)
    }

    @Test
    func `a shorter one is doubtful, and lost when it stays so`() {
        var guarding = StreamGuard(LanePlaces(LogIdentity(), of: .breaks), created: 1, doubtfulFor: .seconds(10))
        func isDoubtful(_ verdict: StreamGuard.Verdict) -> Bool { if case .doubtful = verdict { true } else { false } }
        func isLost(_ verdict: StreamGuard.Verdict) -> Bool { if case .lost = verdict { true } else { false } }
        #expect(isDoubtful(guarding.look(at: self.facts(last: 10), seen: 10, elapsed: self.at(0))))
        #expect(guarding.look(at: self.facts(last: 11), seen: 10, elapsed: self.at(9)) == .fine)
        #expect(isDoubtful(guarding.look(at: nil, seen: 10, elapsed: self.at(20))))
        #expect(isDoubtful(guarding.look(at: self.facts(last: 10), seen: 10, elapsed: self.at(29))))
        #expect(isLost(guarding.look(at: self.facts(last: 10), seen: 10, elapsed: self.at(30))))
    }

    @Test
    func `a stream that was made anew, or of which messages were deleted, is lost at once`() {
        var guarding = StreamGuard(LanePlaces(LogIdentity(), of: .breaks), created: 1)
        for facts in [
            self.facts(last: 11, created: 2), self.facts(last: 11, first: 2), self.facts(last: 11, deleted: 1),
        ] {
            guard case .lost = guarding.look(at: facts, seen: 10, elapsed: self.at(0)) else {
                Issue.record("\(facts) is not lost")
                continue
            }
        }
    }
}

@Suite(.suiteLimit)
struct StreamTextTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.000001Z", 1),
        ("2000-02-29T23:59:59.9Z", 951_868_799_900_000),
        ("2026-11-28T04:36:07.123456789Z", 1_795_840_567_123_456), ("1969-12-31T23:59:59Z", -1_000_000),
    ])
    func `instants are read`(_ text: String, _ microseconds: Int64) {
        #expect(ServerTime.instant(text) == Timestamp(microseconds: microseconds))
    }

    @Test(arguments: [
        "", "2026-11-28T04:36:07", "2026-11-28 04:36:07Z", "2026-13-28T04:36:07Z", "2026-11-28T04:36:07.Z",
        "2026-11-28T04:36:07.1234567890Z", "2026-11-28T04:36:07+01:00", "2026-11-2xT04:36:07Z", "2026-11-28T24:36:07Z",
    ])
    func `other texts are no instants`(_ text: String) { #expect(ServerTime.instant(text) == nil) }

    @Test
    func `ids of appends come back, and nothing else is one`() {
        for id in [AppendID(origin: 1, number: 0), AppendID(origin: .max, number: .max)] {
            #expect(AppendHeader.id(AppendHeader.text(id)) == id)
        }
        for text in ["", "-", "1", "1-", "-1", "g-1", "1-1-1", "01-1", "1-01", "1-+1", "A-1"] {
            #expect(AppendHeader.id(text) == nil, "\(text)")
        }
    }

    @Test
    func `the record of an identity comes back, and nothing else is one`() {
        let identity = LogIdentity()
        let record = IdentityRecord(identity, lane: .acknowledgements(0))
        #expect(IdentityRecord(record.bytes) == record)
        #expect(record.identity == identity)
        for place in record.bytes.indices {
            var other = record.bytes
            other[place] = UInt8(ascii: "~")
            let read = IdentityRecord(other)
            #expect(read == nil || read?.bytes == other && read?.lane != record.lane)
        }
        #expect(IdentityRecord([]) == nil)
        #expect(IdentityRecord(record.bytes + [10]) == nil)
    }

    @Test
    func `a prefix is short, and of letters, digits, and two marks`() {
        #expect(LogNames(prefix: String(repeating: "a", count: SharedLogPrefix.lengthMax)) != nil)
        #expect(LogNames(prefix: String(repeating: "a", count: SharedLogPrefix.lengthMax + 1)) == nil)
        for text in ["", "a.b", "a b", "a*", ">", "ä", "a\n"] { #expect(LogNames(prefix: text) == nil, "\(text)") }
        let names = LogNames(prefix: "a-B_9")
        #expect(names?.stream(of: .acknowledgements(0)) == "a-B_9-acknowledgements-0")
        #expect(names?.subject(of: .acknowledgements(0)) == "a-B_9.log.acknowledgements.0")
    }
}

@Suite(.suiteLimit)
struct NATSCredentialsTests {
    private static let seed = "SU" + String(repeating: "A", count: 56)
    private static let publicKey = "U" + String(repeating: "7", count: 55)

    @Test
    func `a token and a key are told apart, and nothing else is either`() {
        #expect(NATSCredentials("-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------\n") == .token)
        #expect(NATSCredentials("\(Self.seed)\n\(Self.publicKey)\n") == .key(publicKey: Self.publicKey))
        for other in [
            "", Self.seed, Self.publicKey, "\(Self.publicKey)\n\(Self.seed)", "\(Self.seed)\n\(Self.publicKey)\nmore",
            "\(Self.seed)A\n\(Self.publicKey)", "\(Self.seed)\n\(Self.publicKey.dropLast())",
            "\(Self.seed)\n\(Self.publicKey.dropLast())8", "\(Self.seed)\nX\(Self.publicKey.dropFirst())",
        ] {
            #expect(NATSCredentials(other) == nil, "\(other)")
        }
    }
}
