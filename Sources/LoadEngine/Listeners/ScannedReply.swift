// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A reply of the gateway, read as far as a listener needs it, without an allocation.
package struct ScannedReply: Sendable {
    package enum Body: Sendable {
        case joined(Range<Int>)
        case batch(Range<Int>)
        case acknowledged(recorded: Int)
        /// Done, or refused.
        case none
    }

    package private(set) var requestID: UInt64 = 0
    /// The status as the wire numbers it; 1 is done.
    package private(set) var status = 0
    package private(set) var canRetry = false
    package private(set) var retryAfter: Microseconds = 0
    /// The gateway's clock when it answered.
    package private(set) var gatewayTime = Timestamp(microseconds: 0)
    package private(set) var body = Body.none

    package var isDone: Bool { self.status == StatusCode.ok.rawValue }

    /// Reads one reply frame; `nil` where it is no reply, or one that no gateway writes.
    package init?(_ frame: Span<UInt8>) {
        guard frame.count <= WireLimits.replyFrameBytesMax else { return nil }
        var fields = FieldReader<ReplyField>(0..<frame.count)
        while let field = fields.next(in: frame) {
            switch field {
            case .varint(.requestID, let value): self.requestID = value
            case .varint(.status, let value): self.status = Int(Int32(truncatingIfNeeded: value))
            case .varint(.retry, let value): self.canRetry = value != 0
            case .varint(.retryAfterMs, let value):
                self.retryAfter = Microseconds(UInt32(truncatingIfNeeded: value)) * 1_000
            case .varint(.gatewayUs, let value): self.gatewayTime = Timestamp(microseconds: Int64(bitPattern: value))
            case .bytes(.joined, let range): guard self.take(.joined(range)) else { return nil }
            case .bytes(.batch, let range): guard self.take(.batch(range)) else { return nil }
            case .bytes(.acknowledged, let range):
                guard let recorded = Self.recorded(range, in: frame), self.take(.acknowledged(recorded: recorded))
                else { return nil }
            case .unreadable: return nil
            default: continue
            }
        }
        guard self.status != 0 else { return nil }
    }

    /// Whether this is the only body: a second one is not read in place.
    private mutating func take(_ body: Body) -> Bool {
        guard case .none = self.body else { return false }
        self.body = body
        return true
    }

    private static func recorded(_ range: Range<Int>, in frame: Span<UInt8>) -> Int? {
        var fields = FieldReader<AcknowledgedField>(range)
        var recorded = 0
        while let field = fields.next(in: frame) {
            switch field {
            case .varint(.recorded, let value): recorded = Int(UInt32(truncatingIfNeeded: value))
            case .unreadable: return nil
            default: continue
            }
        }
        return recorded
    }
}

/// The answer to a join, but for its notices.
package struct ScannedJoin: Sendable {
    /// The kind as the wire numbers it.
    package private(set) var kind = 0
    package private(set) var head = Position(epoch: 0, sequence: 0)
    package private(set) var hasNotices = false
    package private(set) var instance: UInt64 = 0
    package private(set) var headInterval: Microseconds = 0
    /// How long the session counts as listening after a request.
    package private(set) var leaseMilliseconds: UInt32 = 0
    package private(set) var ticket = 0..<0
    package private(set) var pushed = false
    /// Where other gateways are reached.
    package private(set) var alternatives: [Range<Int>] = []

    /// Reads the message `Joined`; `nil` where it is none.
    package init?(_ range: Range<Int>, in frame: Span<UInt8>) {
        var fields = FieldReader<JoinedField>(range)
        var hasHead = false
        while let field = fields.next(in: frame) {
            switch field {
            case .varint(.kind, let value): self.kind = Int(Int32(truncatingIfNeeded: value))
            case .bytes(.head, let range):
                guard !hasHead, let head = Position(scanning: range, in: frame) else { return nil }
                self.head = head
                hasHead = true
            case .bytes(.notices, _): self.hasNotices = true
            case .fixed64(.instance, let value): self.instance = value
            case .varint(.headIntervalMs, let value):
                self.headInterval = Microseconds(UInt32(truncatingIfNeeded: value)) * 1_000
            case .varint(.leaseMs, let value): self.leaseMilliseconds = UInt32(truncatingIfNeeded: value)
            case .bytes(.ticket, let range): self.ticket = range
            case .varint(.pushed, let value): self.pushed = value != 0
            case .bytes(.alternatives, let range): self.alternatives.append(range)
            case .unreadable: return nil
            default: continue
            }
        }
        guard self.ticket.count <= WireLimits.ticketBytesMax else { return nil }
    }
}

/// A batch: where its parts stand in the frame.
package struct ScannedBatch: Sendable {
    package private(set) var delivery = 0..<0
    package private(set) var start: Timestamp?
    /// How many advertisements before these were left out.
    package private(set) var skipped = 0
    package private(set) var exact = false
    package private(set) var advertisementCount = 0

    /// Reads the message `Batch`; `nil` where it is none.
    package init?(_ range: Range<Int>, in frame: Span<UInt8>) {
        var fields = FieldReader<BatchField>(range)
        while let field = fields.next(in: frame) {
            switch field {
            case .bytes(.delivery, let range): self.delivery = range
            case .varint(.startUs, let value): self.start = Timestamp(microseconds: Int64(bitPattern: value))
            case .varint(.skipped, let value): self.skipped = Int(UInt32(truncatingIfNeeded: value))
            case .varint(.exact, let value): self.exact = value != 0
            case .bytes(.advertisements, _): self.advertisementCount += 1
            case .unreadable: return nil
            default: continue
            }
        }
        guard self.delivery.count <= WireLimits.deliveryBytesMax,
            self.advertisementCount <= WireLimits.advertisementsPerBreakMax
        else { return nil }
    }
}

extension Position {
    /// Reads the message `Position`; `nil` where it is none.
    init?(scanning range: Range<Int>, in frame: Span<UInt8>) {
        var fields = FieldReader<PositionField>(range)
        var epoch: UInt64 = 0
        var sequence: UInt64 = 0
        while let field = fields.next(in: frame) {
            switch field {
            case .fixed64(.epoch, let value): epoch = value
            case .varint(.sequence, let value): sequence = value
            case .unreadable: return nil
            default: continue
            }
        }
        self.init(epoch: epoch, sequence: sequence)
    }
}

/// The instance in a tick of `~sync`; `nil` where the frame is none.
package func tickInstance(in frame: Span<UInt8>) -> UInt64? {
    let topic = NoticeFrame.syncTopic.count
    guard frame.count >= topic, frame.starts(with: NoticeFrame.syncTopic) else { return nil }
    var fields = FieldReader<SyncTickField>(topic..<frame.count)
    var instance: UInt64 = 0
    while let field = fields.next(in: frame) {
        switch field {
        case .fixed64(.instance, let value): instance = value
        case .unreadable: return nil
        default: continue
        }
    }
    return instance
}

extension Span<UInt8> {
    /// Whether these bytes begin with others.
    func starts(with prefix: [UInt8]) -> Bool {
        guard self.count >= prefix.count else { return false }
        for index in prefix.indices where self[index] != prefix[index] { return false }
        return true
    }
}
