// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import BreakDocuments

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A fault in a file of ads, and its place.
public struct AdsFileError: Error, Hashable, Sendable {
    /// The line, counted from 1.
    public var line: Int
    /// The field, such as `ads[1].media[0].url`, counted from 0; empty where the file as a whole is meant.
    public var field: String
    /// The fault.
    public var reason: String

    /// A fault.
    public init(line: Int, field: String, reason: String) {
        self.line = line
        self.field = field
        self.reason = reason
    }
}

extension AdsFileError: CustomStringConvertible {
    /// One sentence for people, as in `Line 4, ads[0].duration: it is missing.`.
    public var description: String {
        DocumentFault(line: self.line, field: self.field, reason: self.reason).description
    }
}

extension AdsFileError: LocalizedError {
    /// The same sentence.
    public var errorDescription: String? { self.description }
}

/// Reads the ads of a break from a small JSON file, for broadcasters without an ad server.
///
/// ```json
/// {
///   "ads": [
///     {
///       "id": "spring-sale-30",
///       "title": "Spring sale",
///       "description": "Everything must go.",
///       "advertiser": "Example Stores",
///       "duration": "30s",
///       "skipAfter": "5s",
///       "media": [
///         { "url": "https://cdn.example/spring.mp3", "type": "audio/mpeg", "bitrate": 128 }
///       ],
///       "clickThrough": "https://example/spring",
///       "banner": {
///         "image": "https://cdn.example/spring.png", "target": "https://example/spring",
///         "width": 600, "height": 600, "text": "Spring sale", "type": "image/png"
///       },
///       "trackers": [
///         { "event": "impression", "url": "https://track.example/i?[CACHEBUSTING]" },
///         { "event": "progress", "offset": "10s", "url": "https://track.example/p" }
///       ]
///     }
///   ]
/// }
/// ```
///
/// Of an ad `id`, `duration` and `media` with at least one `url` must be there; of a banner `image`; of a tracker `event`
/// and `url`. Durations are texts such as `30s`, `1m30s` or `250ms`, or numbers of seconds. A media file may also have
/// `width`, `height`, `codec`, and `"streaming": true`. Keys that are not known are refused, because most often they are
/// misspelt.
public enum AdsFile {
    /// The longest file, in bytes.
    public static let fileBytesMax = AdsDocument.bytesMax

    /// The ads of a file, first to last.
    ///
    /// - Parameter document: the bytes of the file, in UTF-8.
    /// - Returns: At least one ad; all of them would be accepted by a gateway.
    /// - Throws: ``AdsFileError`` with the first thing that is wrong.
    public static func read(_ document: some Sequence<UInt8>) throws(AdsFileError) -> [AdvertisementDescription] {
        do throws(DocumentFault) {
            return try AdsDocument.read(document).map { AdvertisementDescription($0) }
        } catch {
            throw AdsFileError(line: error.line, field: error.field, reason: error.reason)
        }
    }

    /// The variants of a file, in the order in which they are tried.
    ///
    /// ```json
    /// { "variants": [ { "name": "cars", "if": [ { "attribute": "device", "is": "car" } ], "ads": [ … ] } ] }
    /// ```
    ///
    /// A condition has `is` or `isNot`, with one value or an array of them. The ads are written as in ``read(_:)``.
    ///
    /// - Parameter document: the bytes of the file, in UTF-8.
    /// - Returns: At least one variant.
    /// - Throws: ``AdsFileError`` with the first thing that is wrong.
    public static func readVariants(_ document: some Sequence<UInt8>) throws(AdsFileError) -> [AdVariant] {
        do throws(DocumentFault) {
            return try AdsDocument.readVariants(document).map { AdVariant($0) }
        } catch {
            throw AdsFileError(line: error.line, field: error.field, reason: error.reason)
        }
    }
}
