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
        var nested: (number: Int, range: Range<Int>)?
        var order = FieldOrder()
        var fields = FieldReader(0..<frame.count)
        while let field = fields.next(in: frame) {
            guard order.follows(field) else { return false }
            switch field {
            case .varint(1, let value): self.id = value
            case .bytes(2, let range):
                guard let session = SessionID(frame, at: range) else { return false }
                self.session = session
                hasSession = true
            case .bytes(3, let range): guard range.count <= WireLimits.ticketBytesMax else { return false }
            case .bytes(let number, let range):
                // A second one would be merged with the first.
                guard nested == nil else { return false }
                nested = (number, range)
            default: return false
            }
        }
        guard hasSession, let nested else { return false }
        self.stream = 0..<0
        self.breakID = 0..<0
        switch nested.number {
        case 11: return self.scanGetBatch(frame, nested.range)
        case 12: return self.scanAcknowledge(frame, nested.range)
        default: return false
        }
    }

    private mutating func scanGetBatch(_ frame: Span<UInt8>, _ range: Range<Int>) -> Bool {
        self.kind = .getBatch
        self.delay = .zero
        var fields = FieldReader(range)
        while let field = fields.next(in: frame) {
            switch field {
            case .bytes(1, let range): self.stream = range
            case .bytes(2, let range): self.breakID = range
            case .varint(3, let value):
                guard value <= UInt64(WireLimits.delayMillisecondsMax) else { return false }
                self.delay = .milliseconds(Int64(value))
            case .varint(4, let value): guard value <= UInt64(WireLimits.delayMillisecondsMax) else { return false }
            default: return false
            }
        }
        return true
    }

    private mutating func scanAcknowledge(_ frame: Span<UInt8>, _ range: Range<Int>) -> Bool {
        self.kind = .acknowledge
        self.delivery = 0..<0
        self.outcomes.removeAll(keepingCapacity: true)
        var order = FieldOrder()
        var fields = FieldReader(range)
        while let field = fields.next(in: frame) {
            guard order.follows(field, repeated: 4) else { return false }
            switch field {
            case .bytes(1, let range): self.stream = range
            case .bytes(2, let range): self.breakID = range
            case .bytes(3, let range):
                guard range.count <= WireLimits.deliveryBytesMax else { return false }
                self.delivery = range
            case .bytes(4, let range):
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
        var order = FieldOrder()
        var fields = FieldReader(range)
        while let field = fields.next(in: frame) {
            guard order.follows(field) else { return nil }
            switch field {
            case .bytes(1, let range): id = range
            case .varint(2, let value): kind = value
            case .varint(3, let value): evidence = value
            case .varint(4, let value): reason = value
            case .varint(5, let value):
                guard value <= UInt64(WireLimits.advertisementDurationMillisecondsMax) else { return nil }
                details.heardMilliseconds = UInt32(value)
            case .varint(6, let value):
                guard value <= 4 else { return nil }
                details.quartiles = UInt8(value)
            case .varint(7, let value):
                guard value <= 1 else { return nil }
                details.muted = value == 1
            case .varint(8, let value):
                guard value <= 999 else { return nil }
                details.vastError = UInt16(value)
            case .varint(9, let value):
                details.occurred = Timestamp(microseconds: Int64(bitPattern: value))
            case .varint(10, let value):
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

/// The order of fields in a message that holds each of them at most once.
private struct FieldOrder {
    private var last = 0

    /// Whether a field may follow those before it; the one with the number `repeated` may come more than once.
    @inline(__always)
    mutating func follows(_ field: FieldReader.Field, repeated: Int = 0) -> Bool {
        switch field {
        case .varint(let number, _), .bytes(let number, _):
            guard number > self.last || (number == self.last && number == repeated) else { return false }
            self.last = number
            return true
        case .other: return false
        }
    }
}

/// What a listener did with an advertisement, without saying which.
package struct OutcomeDetails: Hashable, Sendable {
    package var kind: Outcome.Kind
    package var evidence: Outcome.Evidence = .reported
    /// Why it was ignored; `nil` for other kinds.
    package var reason: Outcome.Reason?
    package var heardMilliseconds: UInt32 = 0
    /// How many quartiles were passed, 0 to 4.
    package var quartiles: UInt8 = 0
    package var muted = false
    /// Whether the listener acted on the advertisement before this was concluded.
    package var clicked = false
    /// VAST 4.3 section 2.3.6.3; 0: none.
    package var vastError: UInt16 = 0
    /// When it happened, by the gateway's clock.
    package var occurred = Timestamp(microseconds: 0)

    package init(kind: Outcome.Kind) {
        self.kind = kind
    }

    package init(_ outcome: Outcome) {
        self.kind = outcome.kind
        self.evidence = outcome.evidence
        self.reason = outcome.reason
        self.heardMilliseconds = outcome.heard.inMilliseconds
        self.quartiles = UInt8(clamping: outcome.quartiles)
        self.muted = outcome.muted
        self.clicked = outcome.clicked
        self.vastError = UInt16(clamping: outcome.vastError)
        self.occurred = outcome.occurred
    }
}

extension SessionID {
    /// Reads the sixteen bytes of the wire where they lie.
    @inline(__always)
    package init?(_ frame: Span<UInt8>, at range: Range<Int>) {
        guard range.count == WireLimits.sessionBytes else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in range.lowerBound..<(range.lowerBound + 8) { high = high << 8 | UInt64(frame[index]) }
        for index in (range.lowerBound + 8)..<range.upperBound { low = low << 8 | UInt64(frame[index]) }
        self.init(high: high, low: low)
    }
}
