// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A request for a batch or an acknowledgement, read in place: texts stay where they are in the frame.
///
/// These two are what a storm consists of, so they are read without making any object; the same value is used again for
/// every request. `scan` says yes only where the generated decoder would accept the request too and would find the same;
/// for everything else, wrong requests among them, the caller decodes in full. Whether texts are valid ids is left to the
/// caller, who compares their bytes with ids that are.
///
/// Every field stands there at most once, in the order of the numbers, as encoders write them: such a frame holds nothing
/// but what is read here, so that it may be kept as it is.
package struct ScannedRequest: Sendable {
    package enum Kind: Sendable {
        case getBatch
        case acknowledge
    }

    /// What happened to one advertisement; its id lies in the frame.
    package struct Outcome: Sendable {
        package var advertisementID: Range<Int> = 0..<0
        package var details = OutcomeDetails(kind: .played)
    }

    package private(set) var kind = Kind.getBatch
    package private(set) var id: UInt64 = 0
    package private(set) var session = SessionID(high: 0, low: 0)
    /// Where the ticket lies, and where its whole field does; empty where there is none.
    package private(set) var ticket: Range<Int> = 0..<0
    package private(set) var ticketField: Range<Int> = 0..<0
    /// Where the ids of the stream and of the break lie in the frame.
    package private(set) var stream: Range<Int> = 0..<0
    package private(set) var breakID: Range<Int> = 0..<0
    /// How far behind live the listener hears the stream; of a request for a batch.
    package private(set) var delay: Duration = .zero
    /// Of an acknowledgement: where the delivery lies, and what happened.
    package private(set) var delivery: Range<Int> = 0..<0
    package private(set) var outcomes: [Outcome] = []

    package init() {}

    /// Reads a frame.
    ///
    /// - Returns: whether this is a request that can be read in place; if not, what is here means nothing.
    package mutating func scan(_ frame: Span<UInt8>) -> Bool {
        guard frame.count <= WireLimits.requestFrameBytesMax else { return false }
        self.id = 0
        var hasSession = false
        // `getBatch` or `acknowledge`, and where it lies.
        var nested: (kind: Kind, range: Range<Int>)?
        self.ticket = 0..<0
        self.ticketField = 0..<0
        var start = 0
        var fields = FieldReader<RequestField>(0..<frame.count)
        while let field = fields.nextInOrder(in: frame) {
            defer { start = fields.position }
            switch field {
            case .varint(.requestID, let value): self.id = value
            case .bytes(.session, let range):
                guard let session = SessionID(frame, at: range) else { return false }
                self.session = session
                hasSession = true
            case .bytes(.ticket, let range):
                guard range.count <= WireLimits.ticketBytesMax else { return false }
                self.ticket = range
                self.ticketField = start..<range.upperBound
            case .bytes(.getBatch, let range): nested = (.getBatch, range)
            case .bytes(.acknowledge, let range):
                guard nested == nil else { return false }
                nested = (.acknowledge, range)
            default: return false
            }
        }
        guard hasSession, let nested else { return false }
        self.stream = 0..<0
        self.breakID = 0..<0
        switch nested.kind {
        case .getBatch: return self.scanGetBatch(frame, nested.range)
        case .acknowledge: return self.scanAcknowledge(frame, nested.range)
        }
    }

    private mutating func scanGetBatch(_ frame: Span<UInt8>, _ range: Range<Int>) -> Bool {
        self.kind = .getBatch
        self.delay = .zero
        var fields = FieldReader<GetBatchField>(range)
        while let field = fields.nextInOrder(in: frame) {
            switch field {
            case .bytes(.stream, let range): self.stream = range
            case .bytes(.breakID, let range): self.breakID = range
            case .varint(.delayMs, let value):
                guard value <= UInt64(WireLimits.delayMillisecondsMax) else { return false }
                self.delay = .milliseconds(Int64(value))
            case .varint(.delayMaxMs, let value):
                guard value <= UInt64(WireLimits.delayMillisecondsMax) else { return false }
            default: return false
            }
        }
        return true
    }

    private mutating func scanAcknowledge(_ frame: Span<UInt8>, _ range: Range<Int>) -> Bool {
        self.kind = .acknowledge
        self.delivery = 0..<0
        self.outcomes.removeAll(keepingCapacity: true)
        var fields = FieldReader<AcknowledgeField>(range)
        while let field = fields.nextInOrder(in: frame, repeated: .outcomes) {
            switch field {
            case .bytes(.stream, let range): self.stream = range
            case .bytes(.breakID, let range): self.breakID = range
            case .bytes(.delivery, let range):
                guard range.count <= WireLimits.deliveryBytesMax else { return false }
                self.delivery = range
            case .bytes(.outcomes, let range):
                guard self.outcomes.count < WireLimits.outcomesPerRequestMax,
                    let outcome = Self.scanOutcome(frame, range)
                else { return false }
                self.outcomes.append(outcome)
            default: return false
            }
        }
        return !self.outcomes.isEmpty
    }

    private static func scanOutcome(_ frame: Span<UInt8>, _ range: Range<Int>) -> Outcome? {
        var id: Range<Int> = 0..<0
        var (kind, evidence, reason): (UInt64, UInt64, UInt64) = (0, 0, 0)
        var details = OutcomeDetails(kind: .played)
        var fields = FieldReader<OutcomeField>(range)
        while let field = fields.nextInOrder(in: frame) {
            switch field {
            case .bytes(.advertisementID, let range): id = range
            case .varint(.kind, let value): kind = value
            case .varint(.evidence, let value): evidence = value
            case .varint(.reason, let value): reason = value
            case .varint(.heardMs, let value):
                guard value <= UInt64(WireLimits.advertisementDurationMillisecondsMax) else { return nil }
                details.heardMilliseconds = UInt32(value)
            case .varint(.quartiles, let value):
                guard value <= 4 else { return nil }
                details.quartiles = UInt8(value)
            case .varint(.muted, let value):
                guard value <= 1 else { return nil }
                details.muted = value == 1
            case .varint(.vastError, let value):
                guard value <= 999 else { return nil }
                details.vastError = UInt16(value)
            case .varint(.occurredUs, let value):
                details.occurred = Timestamp(microseconds: Int64(bitPattern: value))
            case .varint(.clicked, let value):
                guard value <= 1 else { return nil }
                details.clicked = value == 1
            default: return nil
            }
        }
        guard let knownKind = CuecastWire.Outcome.Kind(rawValue: Int(clamping: kind)),
            let knownEvidence = CuecastWire.Outcome.Evidence(rawValue: Int(clamping: evidence)), !id.isEmpty
        else { return nil }
        details.kind = knownKind
        details.evidence = knownEvidence
        if reason != 0 {
            guard let known = CuecastWire.Outcome.Reason(rawValue: Int(clamping: reason)) else { return nil }
            details.reason = known
        }
        guard (knownKind == .ignored) == (reason != 0) else { return nil }
        return Outcome(advertisementID: id, details: details)
    }
}
