// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Writes the requests of listeners, byte for byte as `ListenerRequest` encodes them, into buffers that are used again.
package struct RequestWriter: Sendable {
    /// The frame that was written last.
    package private(set) var frame: [UInt8] = []
    private var body: [UInt8] = []
    private var item: [UInt8] = []

    package init() {
        self.frame.reserveCapacity(512)
        self.body.reserveCapacity(512)
        self.item.reserveCapacity(128)
    }

    /// What one listener did with one advertisement.
    package struct Outcome: Sendable {
        package var kind: CuecastWire.Outcome.Kind
        package var reason: CuecastWire.Outcome.Reason?
        package var heardMilliseconds: UInt32
        package var quartiles: UInt32
        package var vastError: UInt32
        package var occurred: Timestamp

        package init(
            kind: CuecastWire.Outcome.Kind,
            reason: CuecastWire.Outcome.Reason? = nil,
            heardMilliseconds: UInt32 = 0,
            quartiles: UInt32 = 0,
            vastError: UInt32 = 0,
            occurred: Timestamp
        ) {
            self.kind = kind
            self.reason = reason
            self.heardMilliseconds = heardMilliseconds
            self.quartiles = quartiles
            self.vastError = vastError
            self.occurred = occurred
        }
    }

    package mutating func join(
        id: UInt64,
        session: SessionID,
        ticket: [UInt8],
        stream: [UInt8],
        last: Position?,
        instance: UInt64,
        client: [UInt8]
    ) {
        self.body.removeAll(keepingCapacity: true)
        self.body.put(1, stream)
        if let last {
            self.item.removeAll(keepingCapacity: true)
            self.item.put(1, fixed: last.epoch)
            self.item.put(2, varint: last.sequence)
            self.body.putMessage(2, self.item)
        }
        self.body.put(3, fixed: instance)
        self.body.put(8, client)
        self.finish(10, id: id, session: session, ticket: ticket)
    }

    package mutating func batch(
        id: UInt64,
        session: SessionID,
        ticket: [UInt8],
        stream: [UInt8],
        breakID: [UInt8]
    ) {
        self.body.removeAll(keepingCapacity: true)
        self.body.put(1, stream)
        self.body.put(2, breakID)
        self.finish(11, id: id, session: session, ticket: ticket)
    }

    /// Begins an acknowledgement; `add` its outcomes, then `finishAcknowledgement`.
    package mutating func beginAcknowledgement(stream: [UInt8], breakID: [UInt8], delivery: Delivery) {
        self.body.removeAll(keepingCapacity: true)
        self.body.put(1, stream)
        self.body.put(2, breakID)
        if delivery.count > 0 {
            self.body.putTag(3, 2)
            self.body.putVarint(UInt64(delivery.count))
            for index in 0..<delivery.count { self.body.append(delivery.bytes[index]) }
        }
    }

    package mutating func add(_ outcome: Outcome, advertisement: [UInt8]) {
        self.item.removeAll(keepingCapacity: true)
        self.item.put(1, advertisement)
        self.item.put(2, varint: UInt64(outcome.kind.rawValue))
        self.item.put(3, varint: UInt64(CuecastWire.Outcome.Evidence.reported.rawValue))
        self.item.put(4, varint: UInt64(outcome.reason?.rawValue ?? 0))
        self.item.put(5, varint: UInt64(outcome.heardMilliseconds))
        self.item.put(6, varint: UInt64(outcome.quartiles))
        self.item.put(8, varint: UInt64(outcome.vastError))
        self.item.put(9, varint: UInt64(bitPattern: outcome.occurred.microseconds))
        self.body.putMessage(4, self.item)
    }

    package mutating func finishAcknowledgement(id: UInt64, session: SessionID, ticket: [UInt8]) {
        self.finish(12, id: id, session: session, ticket: ticket)
    }

    package mutating func leave(id: UInt64, session: SessionID, ticket: [UInt8], stream: [UInt8]) {
        self.body.removeAll(keepingCapacity: true)
        self.body.put(1, stream)
        self.finish(14, id: id, session: session, ticket: ticket)
    }

    private mutating func finish(_ field: Int, id: UInt64, session: SessionID, ticket: [UInt8]) {
        self.frame.removeAll(keepingCapacity: true)
        self.frame.put(1, varint: id)
        self.frame.putTag(2, 2)
        self.frame.putVarint(UInt64(WireLimits.sessionBytes))
        self.frame.putBigEndian(session.high)
        self.frame.putBigEndian(session.low)
        self.frame.put(3, ticket)
        self.frame.putMessage(field, self.body)
    }
}

/// The delivery token that a batch carried, to be echoed; opaque.
package struct Delivery: Sendable {
    package private(set) var bytes = InlineArray<64, UInt8>(repeating: 0)
    package private(set) var count = 0

    package init() {}

    /// Copies a token of at most `WireLimits.deliveryBytesMax` bytes, which the scanner has checked.
    package init(_ range: Range<Int>, in frame: Span<UInt8>) {
        self.count = min(range.count, self.bytes.count)
        for index in 0..<self.count { self.bytes[index] = frame[range.lowerBound + index] }
    }
}

// Protocol Buffers, "Encoding"; what has its default value is left out, as proto3 does.
extension [UInt8] {
    fileprivate mutating func putVarint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: value))
    }

    fileprivate mutating func putTag(_ field: Int, _ wireType: Int) {
        self.putVarint(UInt64(field << 3 | wireType))
    }

    fileprivate mutating func put(_ field: Int, varint value: UInt64) {
        guard value != 0 else { return }
        self.putTag(field, 0)
        self.putVarint(value)
    }

    fileprivate mutating func put(_ field: Int, fixed value: UInt64) {
        guard value != 0 else { return }
        self.putTag(field, 1)
        for shift in stride(from: 0 as UInt64, through: 56, by: 8) {
            self.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    fileprivate mutating func put(_ field: Int, _ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        self.putMessage(field, bytes)
    }

    /// A nested message is present also when it is empty.
    fileprivate mutating func putMessage(_ field: Int, _ bytes: [UInt8]) {
        self.putTag(field, 2)
        self.putVarint(UInt64(bytes.count))
        self.append(contentsOf: bytes)
    }

    fileprivate mutating func putBigEndian(_ value: UInt64) {
        for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
            self.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
