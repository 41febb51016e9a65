// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A reply of the gateway, read as far as a listener needs it, without an allocation.
///
/// `proto/cuecast/v1/listener.proto` numbers the fields.
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

    /// Reads one reply frame; `nil` where it is no reply.
    package init?(_ frame: Span<UInt8>) {
        guard frame.count <= WireLimits.replyFrameBytesMax else { return nil }
        var cursor = FieldCursor(0..<frame.count)
        while let field = cursor.next(in: frame) {
            switch field.number {
            case 1: self.requestID = field.value
            case 2: self.status = Int(truncatingIfNeeded: field.value)
            case 4: self.canRetry = field.value != 0
            case 5: self.retryAfter = Microseconds(UInt32(truncatingIfNeeded: field.value)) * 1_000
            case 6: self.gatewayTime = Timestamp(microseconds: Int64(bitPattern: field.value))
            case 10: self.body = .joined(field.bytes)
            case 11: self.body = .batch(field.bytes)
            case 12: self.body = .acknowledged(recorded: Self.recorded(field.bytes, in: frame))
            default: break
            }
        }
        guard !cursor.isMalformed, self.status != 0 else { return nil }
    }

    private static func recorded(_ range: Range<Int>, in frame: Span<UInt8>) -> Int {
        var cursor = FieldCursor(range)
        var recorded = 0
        while let field = cursor.next(in: frame) {
            if field.number == 1 { recorded = Int(UInt32(truncatingIfNeeded: field.value)) }
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
    package private(set) var ticket = 0..<0

    /// Reads the message `Joined`; `nil` where it is none.
    package init?(_ range: Range<Int>, in frame: Span<UInt8>) {
        var cursor = FieldCursor(range)
        while let field = cursor.next(in: frame) {
            switch field.number {
            case 1: self.kind = Int(truncatingIfNeeded: field.value)
            case 2:
                guard let head = Position(scanning: field.bytes, in: frame) else { return nil }
                self.head = head
            case 3: self.hasNotices = true
            case 4: self.instance = field.value
            case 5: self.headInterval = Microseconds(UInt32(truncatingIfNeeded: field.value)) * 1_000
            case 7: self.ticket = field.bytes
            default: break
            }
        }
        guard !cursor.isMalformed, self.ticket.count <= WireLimits.ticketBytesMax else { return nil }
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
        var cursor = FieldCursor(range)
        while let field = cursor.next(in: frame) {
            switch field.number {
            case 1: self.delivery = field.bytes
            case 2: self.start = Timestamp(microseconds: Int64(bitPattern: field.value))
            case 4: self.skipped = Int(UInt32(truncatingIfNeeded: field.value))
            case 6: self.exact = field.value != 0
            case 7: self.advertisementCount += 1
            default: break
            }
        }
        guard !cursor.isMalformed, self.delivery.count <= WireLimits.deliveryBytesMax,
            self.advertisementCount <= WireLimits.advertisementsPerBreakMax
        else { return nil }
    }
}

extension Position {
    /// Reads the message `Position`; `nil` where it is none.
    init?(scanning range: Range<Int>, in frame: Span<UInt8>) {
        var cursor = FieldCursor(range)
        var epoch: UInt64 = 0
        var sequence: UInt64 = 0
        while let field = cursor.next(in: frame) {
            if field.number == 1 { epoch = field.value }
            if field.number == 2 { sequence = field.value }
        }
        guard !cursor.isMalformed else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }
}

/// The instance in a tick of `~sync`; `nil` where the frame is none.
package func tickInstance(in frame: Span<UInt8>) -> UInt64? {
    let topic = NoticeFrame.syncTopic.count
    guard frame.count >= topic, frame.starts(with: NoticeFrame.syncTopic) else { return nil }
    var cursor = FieldCursor(topic..<frame.count)
    var instance: UInt64 = 0
    while let field = cursor.next(in: frame) {
        if field.number == 1 { instance = field.value }
    }
    return cursor.isMalformed ? nil : instance
}

extension Span<UInt8> {
    /// Whether these bytes begin with others.
    func starts(with prefix: [UInt8]) -> Bool {
        guard self.count >= prefix.count else { return false }
        for index in prefix.indices where self[index] != prefix[index] { return false }
        return true
    }
}
