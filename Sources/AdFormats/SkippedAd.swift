// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An ad of a document that is not in the batch, and why.
public struct SkippedAd: Hashable, Sendable {
    /// The `id` of the ad in the document, where it has one.
    public var documentID: String?
    /// The name of the ad, where it has one.
    public var title: String?
    /// Which ad of the document it is, counted from 1.
    public var position: Int
    /// The line of the document, counted from 1.
    public var line: Int
    /// Why it is not in the batch.
    public var reason: SkipReason
    /// The ``AdContent/id`` of the stand-alone ad that took its place in the pod.
    public var replacedBy: String?
    /// The URLs that tell the ad server, with ``SkipReason/vastErrorCode`` for `[ERRORCODE]`.
    public var errorURLs: [String]

    /// An ad and the reason.
    public init(documentID: String?, title: String?, position: Int, line: Int, reason: SkipReason) {
        self.documentID = documentID
        self.title = title
        self.position = position
        self.line = line
        self.reason = reason
        self.errorURLs = []
    }
}

/// Why an ad is not in the batch.
///
/// New cases may appear in a minor release.
@nonexhaustive
public enum SkipReason: Error, Hashable, Sendable {
    /// It is a wrapper: the ad itself is elsewhere, at this address, and was not fetched.
    case wrapper(adTagURI: String?)
    /// It must hold one `InLine` or one `Wrapper` (VAST 4.3 section 3.3.2) and holds these many.
    case notOneAd(inLines: Int, wrappers: Int)
    /// It is conditional: it may turn out not to be an ad when it runs (VAST 4.3 section 3.3.2).
    case conditional
    /// It has no linear creative, that is nothing that plays in the stream.
    case noLinear
    /// Its linear creative has no media file.
    case noMediaFile
    /// All its media needs a framework such as VPAID or SIMID, or is code.
    case needsFramework(String)
    /// It has media files, and none of them can be used.
    case noUsableMediaFile([LeftOut])
    /// It does not say how long it plays.
    case noDuration
    /// Its duration, on a line of the document, is neither HH:MM:SS nor a number of seconds, or is zero.
    case unusableDuration(String, line: Int)
    /// It is longer than ``VASTReadingOptions/durationMillisecondsMax``.
    case tooLong(milliseconds: Int, maximum: Int)
    /// It has more trackers than ``AdFormatLimits/trackersPerAdMax``.
    case tooManyTrackers(found: Int, maximum: Int)
    /// It could be played but was not chosen: a stand-alone ad beside a pod, or after the first that can be played.
    case notNeeded
}

extension SkipReason {
    /// The VAST error code that tells the ad server (VAST 4.3 section 2.3.6.3); nil where there is no error.
    public var vastErrorCode: Int? {
        switch self {
        case .wrapper: 300
        case .notOneAd, .noDuration, .unusableDuration: 101
        case .conditional: 408
        case .noLinear: 201
        case .noMediaFile: 401
        case .needsFramework, .noUsableMediaFile: 403
        case .tooLong: 202
        case .tooManyTrackers: 900
        case .notNeeded: nil
        }
    }
}

extension SkipReason: LocalizedError {
    /// One sentence for people.
    public var errorDescription: String? { "The ad \(self)." }
}

extension SkipReason: CustomStringConvertible {
    /// The end of a sentence that begins with the ad.
    public var description: String {
        switch self {
        case .wrapper(let uri?): "is a wrapper; the ad itself must first be fetched from \(quoted(uri))"
        case .wrapper(nil): "is a wrapper without a VASTAdTagURI"
        case .notOneAd(0, 0): "holds neither an InLine nor a Wrapper"
        case .notOneAd(let inLines, let wrappers):
            "must hold one InLine or one Wrapper, and holds InLine \(inLines) and Wrapper \(wrappers) times"
        case .conditional: "is conditional, so it may turn out to be no ad when it runs"
        case .noLinear: "has no linear creative"
        case .noMediaFile: "has no media file"
        case .needsFramework(let name): "plays only with \(quoted(name)), which runs code in the player"
        case .noUsableMediaFile(let leftOut):
            "has no media file that can be used: \(leftOut.prefix(3).map { $0.clause }.joined(separator: "; "))"
        case .noDuration: "does not say how long it plays"
        case .unusableDuration(let text, let line):
            "has on line \(line) the duration \(quoted(text)), which is neither HH:MM:SS.mmm nor seconds above zero"
        case .tooLong(let found, let maximum): "plays \(found) ms, and \(maximum) ms is the most"
        case .tooManyTrackers(let found, let maximum):
            "has \(found) trackers, and \(maximum) is the most (trackersPerAdMax)"
        case .notNeeded: "is a stand-alone ad that was not needed"
        }
    }
}

extension SkippedAd: CustomStringConvertible {
    /// One sentence for people, which names the ad.
    public var description: String {
        var name = "Ad \(self.position)"
        if let title = self.title { name += " \(quoted(title))" }
        if let id = self.documentID { name += " with the id \(quoted(id))" }
        return "\(name) on line \(self.line) \(self.reason)."
    }
}
