// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A request for a batch or an acknowledgement, read in place: texts stay where they are in the frame.
///
/// These two are what a storm consists of, so they are read without making any object. `scan` says yes only where the
/// generated decoder would accept the request too and would find the same; for everything else, wrong requests among them,
/// the caller decodes in full. Whether texts are valid ids is left to the caller, who compares their bytes with ids that are.
///
/// Every field is there at most once, in the order of the numbers, as encoders write them: such a frame holds nothing
/// but what is read here, so that it may be kept as it is.
package struct ScannedRequest: Sendable {
    package enum Kind: Sendable {
        case getBatch
        case acknowledge
    }

    /// The outcome of one advertisement; its id lies in the frame.
    package struct Outcome: Sendable {
        package var advertisementID: Range<Int>
        package var details: OutcomeDetails

        package init(advertisementID: Range<Int> = 0..<0, details: OutcomeDetails) {
            self.advertisementID = advertisementID
            self.details = details
        }
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
    /// Where the delivery lies; of an acknowledgement.
    package private(set) var delivery: Range<Int> = 0..<0

    package init() {}

    /// Reads a frame.
    ///
    /// - Parameters:
    ///   - frame: the request.
    ///   - outcomes: takes what an acknowledgement says, in place of what it held; its memory serves one request after another.
    /// - Returns: whether this is a request that can be read in place; if not, what is here means nothing.
    package mutating func scan(_ frame: Span<UInt8>, outcomes: inout [Outcome]) -> Bool {
        // A frame that breaks a rule is decoded in full too: that says which rule in the sentence of the answer.
        do throws(WireError) { return try self.read(frame, &outcomes) } catch { return false }
    }

    @inline(__always)
    private mutating func read(_ frame: Span<UInt8>, _ outcomes: inout [Outcome]) throws(WireError) -> Bool {
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
                try RequestRules.check(ticketBytes: range.count)
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
        case .getBatch: return try self.scanGetBatch(frame, nested.range)
        case .acknowledge: return try self.scanAcknowledge(frame, nested.range, &outcomes)
        }
    }

    private mutating func scanGetBatch(_ frame: Span<UInt8>, _ range: Range<Int>) throws(WireError) -> Bool {
        self.kind = .getBatch
        self.delay = .zero
        var fields = FieldReader<GetBatchField>(range)
        while let field = fields.nextInOrder(in: frame) {
            switch field {
            case .bytes(.stream, let range): self.stream = range
            case .bytes(.breakID, let range): self.breakID = range
            case .varint(.delayMs, let value): self.delay = try RequestRules.delay(milliseconds: value)
            case .varint(.delayMaxMs, let value): _ = try RequestRules.delay(milliseconds: value)
            default: return false
            }
        }
        return true
    }

    private mutating func scanAcknowledge(
        _ frame: Span<UInt8>,
        _ range: Range<Int>,
        _ outcomes: inout [Outcome]
    ) throws(WireError) -> Bool {
        self.kind = .acknowledge
        self.delivery = 0..<0
        outcomes.removeAll(keepingCapacity: true)
        var fields = FieldReader<AcknowledgeField>(range)
        while let field = fields.nextInOrder(in: frame, repeated: .outcomes) {
            switch field {
            case .bytes(.stream, let range): self.stream = range
            case .bytes(.breakID, let range): self.breakID = range
            case .bytes(.delivery, let range):
                try RequestRules.check(deliveryBytes: range.count)
                self.delivery = range
            case .bytes(.outcomes, let range):
                // The count is checked before the outcome is read, so that no request makes the list longer than the limit.
                try RequestRules.check(outcomeCount: outcomes.count + 1)
                guard let outcome = try Self.scanOutcome(frame, range) else { return false }
                outcomes.append(outcome)
            default: return false
            }
        }
        try RequestRules.check(outcomeCount: outcomes.count)
        return true
    }

    private static func scanOutcome(_ frame: Span<UInt8>, _ range: Range<Int>) throws(WireError) -> Outcome? {
        var id: Range<Int> = 0..<0
        var outcome = OutcomeFields()
        var fields = FieldReader<OutcomeField>(range)
        while let field = fields.nextInOrder(in: frame) {
            switch field {
            case .bytes(.advertisementID, let range): id = range
            case .varint(.kind, let value): outcome.kind = Int(clamping: value)
            case .varint(.evidence, let value): outcome.evidence = Int(clamping: value)
            case .varint(.reason, let value): outcome.reason = Int(clamping: value)
            case .varint(.heardMs, let value): outcome.heardMilliseconds = value
            case .varint(.quartiles, let value): outcome.quartiles = value
            case .varint(.muted, let value):
                guard value <= 1 else { return nil }
                outcome.muted = value == 1
            case .varint(.vastError, let value): outcome.vastError = value
            case .varint(.occurredUs, let value):
                outcome.occurred = Timestamp(microseconds: Int64(bitPattern: value))
            case .varint(.clicked, let value):
                guard value <= 1 else { return nil }
                outcome.clicked = value == 1
            default: return nil
            }
        }
        let details = try OutcomeDetails(outcome)
        // A reason of a later version is left out of what is kept, so that this frame cannot be kept as it came.
        guard !id.isEmpty, details.reason != nil || outcome.reason == 0 else { return nil }
        return Outcome(advertisementID: id, details: details)
    }
}
