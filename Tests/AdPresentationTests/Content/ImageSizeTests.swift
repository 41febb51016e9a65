// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import TestSupport
import Testing

@_spi(Rendering) @testable import AdPresentation

@Suite(.suiteLimit)
struct ImageSizeTests {
    @Test func `every kind of image states its size`() {
        #expect(Images.encoded.count == 6)
        for (name, bytes) in Images.encoded {
            let size = ImageSize(of: bytes)
            #expect(size?.width == 1 && size?.height == 1, "\(name)")
        }
    }

    @Test func `width and height are not mixed up`() {
        for bytes in [Images.png(640, 200), Images.gif(640, 200), Images.jpeg(640, 200)] {
            let size = ImageSize(of: bytes)
            #expect(size?.width == 640)
            #expect(size?.height == 200)
        }
        var extended = Images.encoded["WebP extended"] ?? []
        extended[24...29] = [0x7F, 0x02, 0, 0xC7, 0, 0]
        #expect(ImageSize(of: extended)?.width == 640)
        #expect(ImageSize(of: extended)?.height == 200)
        var lossy = Images.encoded["WebP lossy"] ?? []
        lossy[26...29] = [0x80, 0x42, 0xC8, 0x80]
        #expect(ImageSize(of: lossy)?.width == 640, "the two bits of scaling do not count")
        #expect(ImageSize(of: lossy)?.height == 200)
        var lossless = Images.encoded["WebP lossless"] ?? []
        let bits: UInt32 = 639 | 199 << 14
        lossless[21...24] = [UInt8(bits & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits >> 16 & 0xFF), UInt8(bits >> 24)]
        #expect(ImageSize(of: lossless)?.width == 640)
        #expect(ImageSize(of: lossless)?.height == 200)
    }

    @Test func `a side of nothing or above the limit is refused`() {
        let limit = UInt32(ImageSize.pixelsPerSideMax)
        #expect(ImageSize(of: Images.png(limit, limit)) != nil)
        #expect(ImageSize(of: Images.png(limit + 1, 1)) == nil)
        #expect(ImageSize(of: Images.png(1, limit + 1)) == nil)
        #expect(ImageSize(of: Images.png(0, 1)) == nil)
        #expect(ImageSize(of: Images.gif(1, 0)) == nil)
        #expect(ImageSize(of: Images.jpeg(0, 1)) == nil)
        #expect(ImageSize(of: Images.png(.max, .max)) == nil)
    }

    @Test func `the segments of a JPEG are counted`() {
        #expect(ImageSize(of: Images.jpeg(2, 3, segments: ImageSize.jpegSegmentsMax - 1))?.height == 3)
        #expect(ImageSize(of: Images.jpeg(2, 3, segments: ImageSize.jpegSegmentsMax)) == nil)
    }

    @Test(arguments: [0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC9, 0xCF] as [UInt8])
    func `every frame of a JPEG has the size`(marker: UInt8) {
        #expect(ImageSize(of: Images.jpeg(2, 3, marker: marker))?.width == 2)
    }

    @Test(arguments: [0xC4, 0xC8, 0xCC, 0xD9, 0xDA, 0x00] as [UInt8])
    func `a marker that is no JPEG frame has no size`(marker: UInt8) {
        #expect(ImageSize(of: Images.jpeg(2, 3, marker: marker)) == nil)
    }

    @Test func `an image that is cut off within its header has no size`() {
        let whole = [
            Images.png(640, 200).prefix(24), Images.gif(640, 200).prefix(10), Images.jpeg(640, 200).dropLast(),
        ]
        for bytes in whole {
            #expect(ImageSize(of: Array(bytes)) != nil)
            for count in 0..<bytes.count { #expect(ImageSize(of: Array(bytes.prefix(count))) == nil) }
        }
    }

    @Test func `every prefix and every changed byte of an image gives an answer`() {
        for bytes in Images.encoded.values {
            for count in 0...bytes.count { check(ImageSize(of: Array(bytes.prefix(count)))) }
            for index in bytes.indices {
                for value in [0, 1, 0x7F, 0x80, 0xC0, 0xD0, 0xFE, 0xFF] as [UInt8] {
                    var changed = bytes
                    changed[index] = value
                    check(ImageSize(of: changed))
                }
            }
        }
    }

    @Test func `random bytes after every signature give an answer`() {
        var random = SeededGenerator(seed: 0x5EED)
        let heads: [[UInt8]] = [
            [], [0xFF, 0xD8], [0xFF, 0xD8, 0xFF], Array("GIF89a".utf8), Array(Images.png(1, 1).prefix(16)),
            Array("RIFFxxxxWEBPVP8 ".utf8), Array("RIFFxxxxWEBPVP8L".utf8), Array("RIFFxxxxWEBPVP8X".utf8),
        ]
        for head in heads {
            for _ in 0..<4_000 {
                let count = Int.random(in: 0...64, using: &random)
                let rest = (0..<count)
                    .map { _ in
                        Bool.random(using: &random)
                            ? UInt8.random(in: 0xC0...0xFF, using: &random) : UInt8.random(in: 0...4, using: &random)
                    }
                check(ImageSize(of: head + rest))
            }
        }
    }

    private func check(_ size: ImageSize?) {
        guard let size else { return }
        #expect((1...ImageSize.pixelsPerSideMax).contains(size.width))
        #expect((1...ImageSize.pixelsPerSideMax).contains(size.height))
    }

    @Test func `the height is scaled to the width of the container`() {
        let size = ImageSize(of: Images.png(640, 200))
        #expect(size?.height(forWidth: 320) == 100)
        #expect(size?.height(forWidth: 1_280) == 400)
        for width in [0, -1, .nan, .infinity] as [CGFloat] { #expect(size?.height(forWidth: width) == 200) }
    }
}
