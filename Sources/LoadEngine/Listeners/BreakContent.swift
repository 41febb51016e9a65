// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A checksum of an advertisement's bytes: it finds damaged or mixed-up content, and does not protect against an attacker.
package enum ContentChecksum {
    /// Of part of some bytes, eight at a time.
    package static func of(_ range: Range<Int>, in bytes: Span<UInt8>) -> UInt64 {
        guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return 0 }
        var state = 0x9E37_79B9_7F4A_7C15 ^ UInt64(range.count)
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound {
            // Any eight bytes are a number, and they lie within the bytes by the condition above.
            let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            state = Self.folded(state ^ word)
            offset += 8
        }
        var rest: UInt64 = 1
        while offset < range.upperBound {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return Self.folded(state ^ rest)
    }

    /// Both halves of a product by an odd constant, so that every bit moves every other.
    private static func folded(_ value: UInt64) -> UInt64 {
        let product = (value ^ value >> 32).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

/// The facts about one advertisement for a listener.
package struct AdvertisementFacts: Hashable, Sendable {
    /// Its key as bytes of the wire.
    package let id: [UInt8]
    package let durationMilliseconds: UInt32
    /// Of its bytes in a batch.
    package let checksum: UInt64
}

extension AdvertisementFacts {
    /// Reads the message `Advertisement`; `nil` where it is none.
    init?(_ range: Range<Int>, in frame: Span<UInt8>) {
        var fields = FieldReader<AdvertisementField>(range)
        var id: [UInt8] = []
        var duration: UInt32 = 0
        while let field = fields.next(in: frame) {
            switch field {
            case .bytes(.id, let range): id = range.map { frame[$0] }
            case .varint(.durationMs, let value): duration = UInt32(truncatingIfNeeded: value)
            case .unreadable: return nil
            default: continue
            }
        }
        guard !id.isEmpty, id.count <= WireLimits.advertisementIDBytesMax else { return nil }
        self.init(id: id, durationMilliseconds: duration, checksum: ContentChecksum.of(range, in: frame))
    }

    /// The ads that listeners must find in the batches of a break with this content.
    package static func expected(of advertisements: [AdvertisementContent]) -> [AdvertisementFacts] {
        let bytes = EncodedAdvertisements(advertisements).bytes
        var fields = FieldReader<BatchField>(0..<bytes.count)
        var facts: [AdvertisementFacts] = []
        while case .bytes(.advertisements, let range) = fields.next(in: bytes.span) {
            if let each = AdvertisementFacts(range, in: bytes.span) { facts.append(each) }
        }
        return facts
    }
}

/// The verdict about the bytes of a batch.
package enum ContentVerdict: Hashable, Sendable {
    case right
    /// The number of advertisements is not what the break has.
    case wrongCount(expected: Int, found: Int)
    /// The advertisement with this ordinal is another one or damaged.
    case wrongAdvertisement(ordinal: Int)
    case malformed
}

/// The content of one break: as it was published, or as its first batch showed it.
package struct BreakContent: Sendable {
    /// By ordinal; `nil` where no listener has received that one yet.
    package private(set) var advertisements: [AdvertisementFacts?]
    /// Whether the first batch says how many there are.
    private var isCountOpen = false

    /// A break of ours.
    package init(published: [AdvertisementFacts]) {
        self.advertisements = published
    }

    /// A break of another broadcaster.
    ///
    /// - Parameters:
    ///   - count: how many advertisements its notice tells of, which are those of the variant `default`.
    ///   - mayBeOfVariant: whether listeners may get another variant, all of them the same one.
    package init(announced count: Int, mayBeOfVariant: Bool = false) {
        self.isCountOpen = mayBeOfVariant
        self.advertisements = Array(repeating: nil, count: min(max(count, 0), WireLimits.advertisementsPerBreakMax))
    }

    /// Compares a batch with what is known, and keeps what was not known yet.
    package mutating func verify(
        _ batch: ScannedBatch,
        _ range: Range<Int>,
        in frame: Span<UInt8>
    ) -> ContentVerdict {
        let found = batch.skipped + batch.advertisementCount
        if self.isCountOpen, batch.advertisementCount > 0, found <= WireLimits.advertisementsPerBreakMax {
            self.advertisements = Array(repeating: nil, count: found)
            self.isCountOpen = false
        }
        guard found == self.advertisements.count, batch.advertisementCount > 0 else {
            return .wrongCount(expected: self.advertisements.count, found: found)
        }
        var fields = FieldReader<BatchField>(range)
        var ordinal = batch.skipped
        while let field = fields.next(in: frame) {
            if case .unreadable = field { return .malformed }
            guard case .bytes(.advertisements, let range) = field else { continue }
            if let known = self.advertisements[ordinal] {
                guard known.checksum == ContentChecksum.of(range, in: frame) else {
                    return .wrongAdvertisement(ordinal: ordinal)
                }
            } else {
                guard let facts = AdvertisementFacts(range, in: frame) else { return .malformed }
                self.advertisements[ordinal] = facts
            }
            ordinal += 1
        }
        return .right
    }
}
