// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a document gives no batch.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum AdFormatError: Error, Hashable, Sendable {
    /// The document is not well-formed XML. Line and column count from 1; the column counts characters.
    case malformed(fault: String, line: Int, column: Int)
    /// The document is in an encoding that is not read.
    case unsupportedEncoding(String)
    /// The document passes a limit of ``AdFormatLimits``; ``limit`` says which as a value to switch on.
    case tooLarge(limit: String, maximum: Int)
    /// The document is something else; its outermost element has this name.
    case notVAST(root: String)
    /// The document is VAST in a version that is not read.
    case unsupportedVersion(String)
    /// The document says that there is no ad (VAST 4.3 section 3.2.1). These are to be called with error code 303.
    case noAds(errorURLs: [String])
    /// The document has ads, and none of them can be played.
    case nothingPlayable([SkippedAd])
}

extension AdFormatError: LocalizedError, CustomStringConvertible {
    /// A sentence for people, or one for each ad.
    public var description: String {
        switch self {
        case .malformed(let fault, let line, let column):
            return "The document is not well-formed XML: line \(line), column \(column): \(fault)."
        case .unsupportedEncoding(let name):
            let readable = "UTF-8, UTF-16, ISO-8859-1 and Windows-1252"
            return "The document is in the encoding \(quoted(name)); \(readable) can be read."
        case .tooLarge(let limit, let maximum):
            return "The document passes the limit \(limit), which is \(maximum)."
        case .notVAST(root: "VMAP"):
            return "This is VMAP, a timetable of breaks, not VAST; publish the VAST documents that it refers to."
        case .notVAST(root: "DAAST"):
            return "This is DAAST, which became part of VAST 4.1; ask the ad server for VAST."
        case .notVAST(let root):
            return "This is not VAST: the outermost element is \(quoted(root))."
        case .unsupportedVersion(let version):
            return "This is VAST \(quoted(version)); versions 2.0 to 4.x can be read."
        case .noAds:
            return "The document has no ad."
        case .nothingPlayable(let skipped):
            let reasons = skipped.map { $0.description }.joined(separator: "\n")
            return "The document has no ad that can be played.\n\(reasons)"
        }
    }

    /// The same.
    public var errorDescription: String? { self.description }

    /// Which limit the document passes; `nil`: it is another error, or a limit that this version does not know.
    public var limit: AdFormatLimits.Name? {
        guard case .tooLarge(let limit, _) = self else { return nil }
        return AdFormatLimits.Name(rawValue: limit)
    }

    /// A format that is known, and not read.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum OtherFormat: String, Hashable, Sendable, CaseIterable {
        /// A timetable of breaks, which refers to VAST documents.
        case vmap = "VMAP"
        /// The format of audio ads before VAST 4.1.
        case daast = "DAAST"
    }

    /// Which other format the document is in; `nil`: it is another error, or a format that is not known.
    public var otherFormat: OtherFormat? {
        guard case .notVAST(let root) = self else { return nil }
        return OtherFormat(rawValue: root)
    }

    /// The VAST error code that tells the ad server (VAST 4.3 section 2.3.6.3).
    ///
    /// For ``nothingPlayable(_:)`` each ad has its own.
    public var vastErrorCode: Int? {
        switch self {
        case .malformed, .unsupportedEncoding: 100
        case .tooLarge: 900
        case .notVAST: 101
        case .unsupportedVersion: 102
        case .noAds: 303
        case .nothingPlayable: nil
        }
    }
}
