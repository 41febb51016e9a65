// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Turns a record of acknowledgements into rows, reading it in place.
///
/// A record that cannot be read in place is decoded in full, and the decoder decides whether the record is damaged.
struct GroupReader {
    private(set) var deliveries: [AcknowledgementGroup.Delivery] = []
    private(set) var outcomes: [LedgerPosting.OutcomeRow] = []
    /// The outcomes of the request at hand: memory that one request after another uses.
    private var scanned: [ScannedRequest.Outcome] = []

    /// Reads one record.
    ///
    /// - Throws: when the record is damaged or of a later version.
    mutating func read(_ record: [UInt8]) throws(WireError) {
        if self.readInPlace(record.span) { return }
        self.deliveries = []
        self.outcomes = []
        let group = try AcknowledgementGroup(decoding: record)
        self.deliveries = group.deliveries
        for accepted in group.requests { try self.decode(accepted) }
    }

    private mutating func decode(_ accepted: AcknowledgementGroup.AcceptedRequest) throws(WireError) {
        let request = try ListenerRequest(decoding: accepted.request)
        guard case .acknowledge(let acknowledge) = request.kind,
            acknowledge.outcomes.count == accepted.ordinals.count
        else { throw .malformed(what: "a recorded acknowledgement") }
        for (outcome, ordinal) in zip(acknowledge.outcomes, accepted.ordinals) {
            self.outcomes.append(
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

    private mutating func readInPlace(_ record: Span<UInt8>) -> Bool {
        var fields = FieldReader<AcknowledgementGroupField>(0..<record.count)
        while let field = fields.next(in: record) {
            switch field {
            case .bytes(.requests, let range): guard self.readRequest(record, range) else { return false }
            case .bytes(.deliveries, let range):
                guard let delivery = Self.delivery(record, range) else { return false }
                self.deliveries.append(delivery)
            default: return false
            }
        }
        return true
    }

    private mutating func readRequest(_ record: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var request: Range<Int> = 0..<0
        var ordinals: Range<Int> = 0..<0
        var received: UInt64 = 0
        var number: UInt64 = 0
        var fields = FieldReader<AcceptedRequestField>(range)
        while let field = fields.next(in: record) {
            switch field {
            case .bytes(.request, let range): request = range
            case .varint(.receivedUs, let value): received = value
            case .varint(.breakNumber, let value): number = value
            case .bytes(.ordinals, let range):
                // A second list would follow the first.
                guard ordinals.isEmpty else { return false }
                ordinals = range
            default: return false
            }
        }
        var accepted = ScannedRequest()
        guard accepted.scan(record.extracting(request), outcomes: &self.scanned), accepted.kind == .acknowledge else {
            return false
        }
        var packed = VarintReader(ordinals)
        for outcome in self.scanned {
            guard let ordinal = packed.next(in: record), ordinal <= UInt64(UInt32.max) else { return false }
            self.outcomes.append(
                LedgerPosting.OutcomeRow(
                    breakNumber: BreakNumber(rawValue: number),
                    session: accepted.session,
                    ordinal: UInt32(ordinal),
                    outcome: outcome.details,
                    received: Timestamp(microseconds: Int64(bitPattern: received))
                )
            )
        }
        return packed.isAtEnd
    }

    private static func delivery(_ record: Span<UInt8>, _ range: Range<Int>) -> AcknowledgementGroup.Delivery? {
        var session: SessionID?
        var (number, variant, first, at): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var fields = FieldReader<DeliveryEntryField>(range)
        while let field = fields.next(in: record) {
            switch field {
            case .bytes(.session, let range): session = SessionID(record, at: range)
            case .varint(.breakNumber, let value): number = value
            case .varint(.variant, let value): variant = value
            case .varint(.first, let value): first = value
            case .varint(.atUs, let value): at = value
            default: return nil
            }
        }
        guard let session, variant <= UInt64(UInt32.max), first <= UInt64(UInt32.max) else { return nil }
        return AcknowledgementGroup.Delivery(
            session: session,
            breakNumber: BreakNumber(rawValue: number),
            variant: UInt32(variant),
            first: UInt32(first),
            at: Timestamp(microseconds: Int64(bitPattern: at))
        )
    }
}
