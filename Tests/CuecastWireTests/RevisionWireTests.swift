// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// Revisions and postponements as bytes, of this version and of others.
@Suite(.suiteLimit)
struct RevisionWireTests {
    private static func postpone(_ change: (inout ProtoWriter) -> Void) -> [UInt8] {
        ProtoWriter {
            $0.varint(1, 77)
            $0.message(16) {
                $0.string(1, "radio1")
                $0.string(2, "b1")
                change(&$0)
            }
        }
        .bytes
    }

    @Test func `a postponement needs how much, and something by which a repeat is known`() throws {
        let good = Self.postpone {
            $0.varint(3, 1)
            $0.varint(4, 5)
        }
        let request = try BroadcastRequest(decoding: good)
        guard case .postpone(let postpone) = request.kind else { throw WireError.unsupported }
        #expect(postpone.by == .milliseconds(1))
        #expect(postpone.from == Timestamp(microseconds: 5))
        #expect(throws: WireError.invalid(field: "by_ms", rule: "it is above 0")) {
            try BroadcastRequest(decoding: Self.postpone { $0.varint(4, 5) })
        }
        let unknowable = Self.postpone { $0.varint(3, 1) }
        #expect(throws: WireError.self) { try BroadcastRequest(decoding: unknowable) }
        let expecting = ProtoWriter { $0.varint(3, 9) }.bytes
        #expect(try BroadcastRequest(decoding: unknowable + expecting).expectedRevision == 9)
    }

    @Test(arguments: [0, UInt64(Int64.max) + 1, .max])
    func `a revision is 1 or more`(revision: UInt64) {
        let expecting = ProtoWriter { $0.varint(3, revision) }.bytes
        let request = BroadcastRequest(id: 1, kind: .list(BroadcastRequest.List())).encoded()
        #expect(throws: WireError.invalid(field: "expected_revision", rule: "revisions are whole numbers from 1 on")) {
            try BroadcastRequest(decoding: request + expecting)
        }
    }

    @Test func `only what is published or put may be expected not to be there`() throws {
        var generator = SeededGenerator(for: #function)
        let absent = ProtoWriter { $0.varint(3, ExpectedRevision.absent) }.bytes
        for _ in 0..<50 {
            let request = generator.broadcastRequest()
            var plain = request
            plain.expectedRevision = nil
            if case .postpone = plain.kind { continue }
            let frame = plain.encoded() + absent
            switch request.kind {
            case .publish, .putList:
                #expect(try BroadcastRequest(decoding: frame).expectedRevision == ExpectedRevision.absent)
            case .punch, .update, .end, .cancel, .list, .postpone, .signal, .removeList, .lists, .watchReport:
                #expect(throws: WireError.self) { try BroadcastRequest(decoding: frame) }
            }
        }
        let postpone = Self.postpone { $0.varint(3, 1) }
        for revision in [ExpectedRevision.absent, ExpectedRevision.any] {
            let expecting = ProtoWriter { $0.varint(3, revision) }.bytes
            #expect(throws: WireError.self) { try BroadcastRequest(decoding: postpone + expecting) }
        }
    }

    /// A log of the version before had no condition to pass over: it refuses a record that has one.
    @Test func `an entry with a condition is of a kind that a version before does not know`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<50 {
            let entry = generator.breakEntry()
            guard entry.expectedRevision != nil else { continue }
            let record = BreakGroup(entries: [entry]).encoded()
            #expect(try BreakGroup(decoding: record).entries == [entry])
            // Field 19 of the entry and none of those that were known.
            let group = Self.fields(of: record[...])
            #expect(group.map(\.number) == [1])
            let numbers = Self.fields(of: group.first?.bytes ?? []).map(\.number)
            #expect(numbers.contains(19))
            #expect(!numbers.contains { (10...18).contains($0) })
        }
    }

    /// The fields of a message that has varints and what has a length only.
    private static func fields(of bytes: ArraySlice<UInt8>) -> [(number: UInt64, bytes: ArraySlice<UInt8>)] {
        var rest = bytes
        func varint() -> UInt64 {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while let byte = rest.popFirst() {
                value |= UInt64(byte & 0x7F) << shift
                shift += 7
                if byte < 0x80 { break }
            }
            return value
        }
        var fields: [(number: UInt64, bytes: ArraySlice<UInt8>)] = []
        while !rest.isEmpty {
            let tag = varint()
            guard tag & 7 == 2 else {
                _ = varint()
                fields.append((tag >> 3, []))
                continue
            }
            let count = Int(varint())
            fields.append((tag >> 3, rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return fields
    }
}
