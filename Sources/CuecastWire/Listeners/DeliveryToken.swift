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

/// A record of a delivery, which a batch carries and acknowledgements echo: which session got which advertisements of which break,
/// and when.
///
/// It lets any gateway that has the keys, also after a restart, know what was delivered without asking a store. At most
/// `WireLimits.deliveryBytesMax` bytes; opaque to clients. In order, numbers with their highest byte first: the version (1), the
/// key's id (4), the session (16), the break's number (8), the variant (4), the first advertisement (1), the time of issue in
/// microseconds since 1970 (8), and the code over all bytes before it (16).
///
/// Version 1 is not signed: the session, the break's number and the variant. The event log has it in the requests of a
/// session that was forgotten, under the names that took the session's place. A gateway takes it from no listener.
package struct DeliveryToken: Hashable, Sendable {
    package let session: SessionID
    package let breakNumber: BreakNumber
    /// Which variant of the break; 0: `default`.
    package let variant: UInt32
    /// The place in its variant's list of the first advertisement of the batch; 0 where there is no signature.
    package let first: UInt8
    /// When the batch was handed out, by the gateway's clock; the earliest instant that there is where there is no signature.
    package let issued: Timestamp
    /// `nil` where it is not signed.
    package let signature: Signature?

    private static let unsignedVersion: UInt8 = 1
    private static let signedVersion: UInt8 = 2
    /// How long every token is that is not signed.
    static let unsignedByteCount = 29
    /// How many bytes of a signed token the code is over.
    private static let codedByteCount = 42
    /// How long every signed token is.
    package static let byteCount = Self.codedByteCount + AuthenticationCode.byteCount

    /// A delivery that is not signed.
    package init(session: SessionID, breakNumber: BreakNumber, variant: UInt32 = 0) {
        self.session = session
        self.breakNumber = breakNumber
        self.variant = variant
        self.first = 0
        self.issued = Timestamp(microseconds: .min)
        self.signature = nil
    }

    /// A signed delivery.
    ///
    /// - Parameters:
    ///   - session: the session that got the batch.
    ///   - breakNumber: of which break.
    ///   - variant: which choice of advertisements.
    ///   - first: the ordinal of its first advertisement.
    ///   - issued: when, by the gateway's clock.
    ///   - key: the key that signs.
    ///   - code: makes the code of bytes with that key.
    @inline(__always)
    package init(
        session: SessionID,
        breakNumber: BreakNumber,
        variant: UInt32 = 0,
        first: UInt8,
        issued: Timestamp,
        key: KeyID,
        code: (_ bytes: [UInt8]) -> AuthenticationCode
    ) {
        self.session = session
        self.breakNumber = breakNumber
        self.variant = variant
        self.first = first
        self.issued = issued
        let bytes = Self.codedBytes(session, breakNumber, variant, first, issued, key)
        self.signature = Signature(key: key, code: code(bytes))
    }

    /// Reads what `bytes` wrote.
    package init(bytes: [UInt8]) throws(WireError) {
        guard let token = Self(bytes.span, at: bytes.indices) else {
            throw .invalid(field: "delivery", rule: "it is not what a batch carried")
        }
        self = token
    }

    /// Reads a token where it lies in a frame; `nil` where `init(bytes:)` throws.
    package init?(_ frame: Span<UInt8>, at range: Range<Int>) {
        guard let version = range.isEmpty ? nil : frame[range.lowerBound] else { return nil }
        let isSigned = version == Self.signedVersion
        guard isSigned || version == Self.unsignedVersion,
            range.count == (isSigned ? Self.byteCount : Self.unsignedByteCount)
        else { return nil }
        var numbers = BigEndianReader(range.dropFirst())
        let key = KeyID(rawValue: isSigned ? UInt32(truncatingIfNeeded: numbers.next(4, in: frame)) : 0)
        self.session = SessionID(high: numbers.next(8, in: frame), low: numbers.next(8, in: frame))
        self.breakNumber = BreakNumber(rawValue: numbers.next(8, in: frame))
        self.variant = UInt32(truncatingIfNeeded: numbers.next(4, in: frame))
        guard isSigned else {
            self.first = 0
            self.issued = Timestamp(microseconds: .min)
            self.signature = nil
            return
        }
        self.first = UInt8(truncatingIfNeeded: numbers.next(1, in: frame))
        self.issued = Timestamp(microseconds: Int64(bitPattern: numbers.next(8, in: frame)))
        self.signature = Signature(key: key, code: AuthenticationCode(&numbers, in: frame))
    }

    /// The bytes that its code covers; `nil` where it is not signed.
    @inline(__always)
    package var codedBytes: [UInt8]? {
        self.signature.map {
            Self.codedBytes(self.session, self.breakNumber, self.variant, self.first, self.issued, $0.key)
        }
    }

    @inline(__always)
    private static func codedBytes(
        _ session: SessionID,
        _ breakNumber: BreakNumber,
        _ variant: UInt32,
        _ first: UInt8,
        _ issued: Timestamp,
        _ key: KeyID
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.codedByteCount)
        bytes.append(Self.signedVersion)
        bytes.appendBigEndian(key.rawValue)
        bytes.appendBigEndian(session.high)
        bytes.appendBigEndian(session.low)
        bytes.appendBigEndian(breakNumber.rawValue)
        bytes.appendBigEndian(variant)
        bytes.append(first)
        bytes.appendBigEndian(UInt64(bitPattern: issued.microseconds))
        return bytes
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.encodedByteCount)
        self.append(to: &bytes)
        return bytes
    }

    /// How long its bytes are.
    @inline(__always)
    var encodedByteCount: Int { self.signature == nil ? Self.unsignedByteCount : Self.byteCount }

    /// Appends the token's bytes.
    @inline(__always)
    func append(to bytes: inout [UInt8]) {
        bytes.append(self.signature == nil ? Self.unsignedVersion : Self.signedVersion)
        if let signature = self.signature { bytes.appendBigEndian(signature.key.rawValue) }
        bytes.appendBigEndian(self.session.high)
        bytes.appendBigEndian(self.session.low)
        bytes.appendBigEndian(self.breakNumber.rawValue)
        bytes.appendBigEndian(self.variant)
        guard let signature = self.signature else { return }
        bytes.append(self.first)
        bytes.appendBigEndian(UInt64(bitPattern: self.issued.microseconds))
        bytes.appendBigEndian(signature.code.high)
        bytes.appendBigEndian(signature.code.low)
    }
}
