// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The event that a tracking URL of the gateway's own reports.
package enum TrackingKind: UInt8, CaseIterable, Sendable {
    case impression = 1
    case start = 2
    case firstQuartile = 3
    case midpoint = 4
    case thirdQuartile = 5
    case complete = 6
    case skip = 7
    case error = 8
    case mute = 9
    case unmute = 10
    case pause = 11
    case resume = 12
    case click = 13

    /// Whether it says what became of the advertisement and so is an acknowledgement; the others only measure.
    package var endsAdvertisement: Bool {
        switch self {
        case .complete, .skip, .error: true
        case .impression, .start, .firstQuartile, .midpoint, .thirdQuartile, .mute, .unmute, .pause, .resume, .click:
            false
        }
    }

    /// The name of the event in VAST (4.3 section 3.14.1, and the elements of their own that some have).
    package var event: String {
        switch self {
        case .impression: "impression"
        case .start: "start"
        case .firstQuartile: "firstQuartile"
        case .midpoint: "midpoint"
        case .thirdQuartile: "thirdQuartile"
        case .complete: "complete"
        case .skip: "skip"
        case .error: "error"
        case .mute: "mute"
        case .unmute: "unmute"
        case .pause: "pause"
        case .resume: "resume"
        case .click: "clickTracking"
        }
    }
}

/// The content of a tracking URL: one event of one advertisement of one delivery, signed.
///
/// The caller of such a URL can send nothing else, so the token is both the authorization and the message. In order: the version
/// (1), the kind (1), the ordinal of the advertisement (1), the signed delivery (58), and the code over all bytes before it (16),
/// by the key of the delivery.
package struct TrackingToken: Hashable, Sendable {
    package let kind: TrackingKind
    /// The ordinal of the advertisement in its break.
    package let ordinal: UInt8
    /// Which session got which break; it is signed.
    package let delivery: DeliveryToken
    package let signature: Signature

    private static let version: UInt8 = 1
    private static let headByteCount = 3
    /// How long every token is.
    package static let byteCount = Self.headByteCount + DeliveryToken.byteCount + AuthenticationCode.byteCount

    /// A signed token; `nil` where the delivery is not signed.
    ///
    /// - Parameters:
    ///   - kind: the event that it reports.
    ///   - ordinal: of which advertisement of the break.
    ///   - delivery: by which it was handed out.
    ///   - code: makes the code of bytes with the key of the delivery.
    package init?(
        _ kind: TrackingKind,
        ordinal: UInt8,
        of delivery: DeliveryToken,
        code: (_ bytes: [UInt8]) -> AuthenticationCode
    ) {
        guard let key = delivery.signature?.key else { return nil }
        self.kind = kind
        self.ordinal = ordinal
        self.delivery = delivery
        self.signature = Signature(key: key, code: code(Self.codedBytes(kind, ordinal, delivery)))
    }

    /// Reads what `bytes` wrote; never traps, and `nil` for anything else.
    ///
    /// The caller checks separately whether a gateway signed it.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] == Self.version, let kind = TrackingKind(rawValue: bytes[1])
        else {
            return nil
        }
        let place = Self.headByteCount..<(bytes.count - AuthenticationCode.byteCount)
        guard let delivery = DeliveryToken(bytes.span, at: place), let key = delivery.signature?.key else { return nil }
        var code = BigEndianReader(place.upperBound..<bytes.count)
        self.kind = kind
        self.ordinal = bytes[2]
        self.delivery = delivery
        self.signature = Signature(key: key, code: AuthenticationCode(&code, in: bytes.span))
    }

    /// The bytes that its code covers.
    package var codedBytes: [UInt8] { Self.codedBytes(self.kind, self.ordinal, self.delivery) }

    private static func codedBytes(_ kind: TrackingKind, _ ordinal: UInt8, _ delivery: DeliveryToken) -> [UInt8] {
        [Self.version, kind.rawValue, ordinal] + delivery.bytes
    }

    package var bytes: [UInt8] {
        var bytes = self.codedBytes
        bytes.appendBigEndian(self.signature.code.high)
        bytes.appendBigEndian(self.signature.code.low)
        return bytes
    }
}
