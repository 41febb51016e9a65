// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The number of a break in the event log; the same at every gateway that reads the log, never used again.
package struct BreakNumber: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The offset of the group that published it, times `groupEntriesMax`, plus its place in the group.
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package var description: String { String(self.rawValue) }
}

/// What a batch carries and acknowledgements echo: which session got which variant of which break.
///
/// It lets any gateway, also after a restart, know what was delivered without asking a store. At most
/// `WireLimits.deliveryBytesMax` bytes; opaque to clients.
package struct DeliveryToken: Hashable, Sendable {
    package let session: SessionID
    package let breakNumber: BreakNumber
    /// Which choice of advertisements; 0 is the only one so far.
    package let variant: UInt32

    private static let version: UInt8 = 1
    /// How long every token is.
    static let byteCount = 29

    package init(session: SessionID, breakNumber: BreakNumber, variant: UInt32 = 0) {
        self.session = session
        self.breakNumber = breakNumber
        self.variant = variant
    }

    /// Reads what `bytes` wrote.
    package init(bytes: [UInt8]) throws(WireError) {
        guard bytes.count == Self.byteCount, bytes[0] == Self.version else {
            throw .invalid(field: "delivery", rule: "it is not what a batch carried")
        }
        self.session = try SessionID(bytes: bytes[1..<17])
        self.breakNumber = BreakNumber(rawValue: bytes[17..<25].reduce(0) { $0 << 8 | UInt64($1) })
        self.variant = bytes[25..<29].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads a token where it lies in a frame; `nil` where `init(bytes:)` throws.
    package init?(_ frame: Span<UInt8>, at range: Range<Int>) {
        guard range.count == Self.byteCount, frame[range.lowerBound] == Self.version else { return nil }
        let start = range.lowerBound + 1
        guard let session = SessionID(frame, at: start..<(start + WireLimits.sessionBytes)) else { return nil }
        var number: UInt64 = 0
        for index in (start + 16)..<(start + 24) { number = number << 8 | UInt64(frame[index]) }
        var variant: UInt32 = 0
        for index in (start + 24)..<range.upperBound { variant = variant << 8 | UInt32(frame[index]) }
        self.init(session: session, breakNumber: BreakNumber(rawValue: number), variant: variant)
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        self.append(to: &bytes)
        return bytes
    }

    /// Appends the token's bytes.
    @inline(__always)
    func append(to bytes: inout [UInt8]) {
        bytes.append(Self.version)
        bytes.appendBigEndian(self.session.high)
        bytes.appendBigEndian(self.session.low)
        bytes.appendBigEndian(self.breakNumber.rawValue)
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: self.variant >> shift))
        }
    }
}
