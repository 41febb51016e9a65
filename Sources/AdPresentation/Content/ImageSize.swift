// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

/// The size in pixels that an image's header states.
///
/// Every input gives an answer: what is not a PNG, JPEG, GIF or WebP, is cut off, or states a side that is 0 or above
/// ``pixelsPerSideMax`` gives `nil`. Nothing is decoded; the orientation that a photograph may carry is not looked at.
@_spi(Rendering) public struct ImageSize: Hashable, Sendable {
    /// The longest side that is taken.
    public static let pixelsPerSideMax = 16_384
    /// How many segments of a JPEG are looked at before its size.
    public static let jpegSegmentsMax = 256

    /// In pixels, 1 or more.
    public let width: Int
    /// In pixels, 1 or more.
    public let height: Int

    /// The size that the header of `bytes` states.
    public init?(of bytes: [UInt8]) {
        let reader = ByteReader(bytes)
        guard let size = reader.png ?? reader.gif ?? reader.jpeg ?? reader.webp else { return nil }
        let sides = 1...Self.pixelsPerSideMax
        guard sides.contains(size.width), sides.contains(size.height) else { return nil }
        (self.width, self.height) = size
    }

    /// How high the image is in points where it is shown so wide; its own height where that is not a width.
    public func height(forWidth width: CGFloat) -> CGFloat {
        guard width > 0, width.isFinite else { return CGFloat(self.height) }
        return width / CGFloat(self.width) * CGFloat(self.height)
    }
}

/// Reads numbers at any offset; `nil` where the bytes end before.
private struct ByteReader {
    typealias Size = (width: Int, height: Int)

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func byte(_ offset: Int) -> Int? {
        self.bytes.indices.contains(offset) ? Int(self.bytes[offset]) : nil
    }

    private func big(_ offset: Int, _ count: Int) -> Int? {
        (offset..<offset + count)
            .reduce(into: 0) { value, at in
                value = value.flatMap { old in self.byte(at).map { old << 8 | $0 } }
            }
    }

    private func little(_ offset: Int, _ count: Int) -> Int? {
        (offset..<offset + count).reversed()
            .reduce(into: 0) { value, at in
                value = value.flatMap { old in self.byte(at).map { old << 8 | $0 } }
            }
    }

    private func has(_ text: StaticString, at offset: Int) -> Bool {
        let wanted = Array("\(text)".utf8)
        return self.bytes.dropFirst(offset).starts(with: wanted)
    }

    /// PNG (W3C, third edition), 5.2 and 11.2.1: the signature, then always IHDR.
    var png: Size? {
        guard self.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), self.has("IHDR", at: 12),
            let width = self.big(16, 4), let height = self.big(20, 4)
        else { return nil }
        return (width, height)
    }

    /// GIF89a, 17 and 18: the signature, then the logical screen.
    var gif: Size? {
        guard self.has("GIF87a", at: 0) || self.has("GIF89a", at: 0), let width = self.little(6, 2),
            let height = self.little(8, 2)
        else { return nil }
        return (width, height)
    }

    /// ITU-T T.81, B.1 and B.2: segments, of which one that starts a frame (SOF) has the size.
    var jpeg: Size? {
        guard self.big(0, 2) == 0xFFD8 else { return nil }
        var offset = 2
        for _ in 0..<ImageSize.jpegSegmentsMax {
            guard self.byte(offset) == 0xFF else { return nil }
            // Any number of fill bytes may precede the marker.
            while self.byte(offset + 1) == 0xFF { offset += 1 }
            guard let marker = self.byte(offset + 1) else { return nil }
            switch marker {
            case 0x01, 0xD0...0xD7:
                offset += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let height = self.big(offset + 5, 2), let width = self.big(offset + 7, 2) else { return nil }
                return (width, height)
            case 0x00, 0xD8...0xDA:
                return nil
            default:
                guard let length = self.big(offset + 2, 2), length >= 2 else { return nil }
                offset += 2 + length
            }
        }
        return nil
    }

    /// RFC 9649, 2.4 to 2.7: a RIFF file whose first chunk is one of three.
    var webp: Size? {
        guard self.has("RIFF", at: 0), self.has("WEBP", at: 8) else { return nil }
        if self.has("VP8 ", at: 12) {
            guard self.big(23, 3) == 0x9D012A, let width = self.little(26, 2), let height = self.little(28, 2) else {
                return nil
            }
            return (width & 0x3FFF, height & 0x3FFF)
        }
        if self.has("VP8L", at: 12) {
            guard self.byte(20) == 0x2F, let bits = self.little(21, 4) else { return nil }
            return (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        }
        if self.has("VP8X", at: 12) {
            guard let width = self.little(24, 3), let height = self.little(27, 3) else { return nil }
            return (width + 1, height + 1)
        }
        return nil
    }
}
