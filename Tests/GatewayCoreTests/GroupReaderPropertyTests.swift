// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The ledger reads a record of acknowledgements as the generated code does, however the record was written.
@Suite(.suiteLimit)
struct GroupReaderPropertyTests {
    /// A field that no version has.
    private enum LaterField: Int, MessageField {
        case later = 1_000

        var type: MessageFieldType { .uint64 }
    }

    private func said(_ bytes: [UInt8]) -> Comment { "CUECAST_SEED=\(SeededGenerator.seed) \(bytes)" }

    @Test func `a record is read as the generated code reads it`() throws {
        var generator = SeededGenerator(for: #function)
        var rows = 0
        for _ in 0..<500 {
            let record = self.record(&generator)
            let expected = try Self.decoded(record)
            try #require(try Self.read(record) == expected, self.said(record))
            rows += expected.outcomes.count
        }
        #expect(rows > 500)
    }

    @Test func `a record that is cut is read as the generated code reads it, or is damaged for both`() {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<20 {
            let record = self.record(&generator)
            for count in 0...min(record.count, 400) {
                let cut = Array(record.prefix(count))
                #expect((try? Self.read(cut)) == (try? Self.decoded(cut)), self.said(cut))
            }
        }
    }

    @Test func `of a spoiled record the ledger reads nothing else than the generated code`() throws {
        var generator = SeededGenerator(for: #function)
        var both = 0
        for _ in 0..<2_000 {
            var record = self.record(&generator)
            guard !record.isEmpty else { continue }
            for _ in 0..<generator.number(1...3) {
                record[Int.random(in: record.indices, using: &generator)] = generator.pick([0, 1, 0x7F, 0x80, 0xFF])
            }
            // Where only the generated code gives up, it is for a name, which was checked before it was recorded.
            guard let expected = try? Self.decoded(record) else {
                _ = try? Self.read(record)
                continue
            }
            try #require(try Self.read(record) == expected, self.said(record))
            both += 1
        }
        #expect(both > 50)
    }

    private static func read(_ record: [UInt8]) throws -> LedgerPosting {
        try LedgerPosting(LoggedRecord(offset: 1, bytes: record))
    }

    /// The rows by the generated code alone.
    private static func decoded(_ record: [UInt8]) throws -> LedgerPosting {
        let group = try AcknowledgementGroup(decoding: record)
        var rows: [LedgerPosting.OutcomeRow] = []
        for accepted in group.requests {
            let request = try ListenerRequest(decoding: accepted.request)
            guard case .acknowledge(let acknowledge) = request.kind,
                acknowledge.outcomes.count == accepted.ordinals.count
            else { throw WireError.unsupported }
            for (outcome, ordinal) in zip(acknowledge.outcomes, accepted.ordinals) {
                rows.append(
                    LedgerPosting.OutcomeRow(
                        breakNumber: accepted.breakNumber,
                        session: request.session,
                        ordinal: ordinal,
                        outcome: outcome.details,
                        received: accepted.received
                    )
                )
            }
        }
        return LedgerPosting(offset: 1, deliveries: group.deliveries, outcomes: rows)
    }

    // MARK: Random records

    private func record(_ generator: inout SeededGenerator) -> [UInt8] {
        var record: [UInt8] = []
        for _ in 0..<generator.number(0...4) {
            if generator.bool() {
                record.appendMessage(AcknowledgementGroupField.requests, self.accepted(&generator))
            } else {
                record.appendMessage(AcknowledgementGroupField.deliveries, self.delivery(&generator))
            }
            self.appendLater(to: &record, &generator)
        }
        return record
    }

    /// Fields in any order, some of them again with another value before: the last one counts.
    private func accepted(_ generator: inout SeededGenerator) -> [UInt8] {
        let outcomes = generator.number(1...4)
        var pieces: [[UInt8]] = []
        func piece(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes: [UInt8] = []
            write(&bytes)
            return bytes
        }
        let request = self.request(outcomes: outcomes, &generator)
        pieces.append(piece { $0.appendMessage(AcceptedRequestField.request, request) })
        let (received, number) = (generator.next(), generator.next())
        pieces.append(piece { $0.appendField(AcceptedRequestField.receivedUs, received) })
        pieces.append(piece { $0.appendField(AcceptedRequestField.breakNumber, number) })
        let ordinals = (0..<outcomes).map { _ in UInt64(generator.number(1...UInt32.max)) }
        if generator.number(0...3) == 1 {
            pieces.append(piece { for each in ordinals { $0.appendField(AcceptedRequestField.ordinals, each) } })
        } else {
            let packed = piece { for each in ordinals { $0.appendVarint(each) } }
            pieces.append(piece { $0.appendMessage(AcceptedRequestField.ordinals, packed) })
        }
        var bytes: [UInt8] = []
        if generator.bool() { bytes.appendField(AcceptedRequestField.receivedUs, generator.next()) }
        if generator.bool() { bytes.appendMessage(AcceptedRequestField.request, generator.bool() ? [] : [0xFF]) }
        for each in generator.bool() ? pieces : pieces.shuffled(using: &generator) { bytes += each }
        self.appendLater(to: &bytes, &generator)
        return bytes
    }

    private func request(outcomes count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        var acknowledge = ListenerRequest.Acknowledge(key: Sample.key(), delivery: [1, 2, 3], outcomes: [])
        for index in 0..<count {
            let kind = generator.pick(Outcome.Kind.allCases)
            acknowledge.outcomes.append(
                Outcome(
                    advertisementID: Sample.advertisementID("ad\(index)"),
                    kind: kind,
                    reason: kind == .ignored ? generator.pick(Outcome.Reason.allCases) : nil,
                    heard: .milliseconds(generator.number(0...60_000)),
                    quartiles: generator.number(0...4),
                    occurred: Timestamp(microseconds: Int64(bitPattern: generator.next()))
                )
            )
        }
        let session = SessionID(high: generator.next(), low: generator.next())
        var frame = ListenerRequest(id: generator.next(), session: session, kind: .acknowledge(acknowledge)).encoded()
        self.appendLater(to: &frame, &generator)
        return frame
    }

    private func delivery(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        // One that another follows does not count, whatever it is.
        if generator.bool() { bytes.appendMessage(DeliveryEntryField.session, [1, 2, 3]) }
        bytes.appendMessage(DeliveryEntryField.session, SessionID(high: generator.next(), low: 7).bytes)
        bytes.appendField(DeliveryEntryField.breakNumber, generator.next())
        // Of a number with more bits than its type has the lower ones count.
        bytes.appendField(DeliveryEntryField.variant, generator.number(0...UInt64.max))
        bytes.appendField(DeliveryEntryField.first, UInt64(generator.number(0...UInt32.max)))
        bytes.appendField(DeliveryEntryField.atUs, generator.next())
        self.appendLater(to: &bytes, &generator)
        return bytes
    }

    private func appendLater(to bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard generator.number(0...9) == 1 else { return }
        bytes.appendField(LaterField.later, generator.number(1...UInt64.max))
    }
}
