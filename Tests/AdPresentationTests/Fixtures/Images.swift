// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// Images: headers made by hand, and whole files of one pixel made by common encoders.
enum Images {
    static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + self.big(width)
            + self.big(height) + [8, 6, 0, 0, 0, 0, 0, 0, 0]
    }

    static func gif(_ width: UInt16, _ height: UInt16) -> [UInt8] {
        Array("GIF89a".utf8) + self.little(width) + self.little(height) + [0, 0, 0]
    }

    /// With as many segments before the frame as wanted.
    static func jpeg(_ width: UInt16, _ height: UInt16, segments: Int = 1, marker: UInt8 = 0xC0) -> [UInt8] {
        let segment: [UInt8] = [0xFF, 0xE0, 0, 4, 0xFF, 0xC0]
        return [0xFF, 0xD8] + (0..<segments).flatMap { _ in segment } + [0xFF, 0xFF, marker, 0, 17, 8]
            + self.little(height).reversed() + self.little(width).reversed() + [3]
    }

    static let encoded: [String: [UInt8]] = [
        "GIF": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
        "PNG": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "JPEG": "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP////////////////////////////////////////////////////////////"
            + "//////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=",
        "WebP lossy": "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
        "WebP lossless": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
        "WebP extended": "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEA"
            + "AQAAAP4AAA3AAP7mtQAAAA==",
    ]
    .compactMapValues { Data(base64Encoded: $0).map { Array($0) } }

    private static func big(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private static func little(_ number: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    }
}
