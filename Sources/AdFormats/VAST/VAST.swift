// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads VAST documents, versions 2.0 to 4.3 and later 4.x alike.
///
/// ```swift
/// let batch = try VAST.read(Data(contentsOf: file))
/// for ad in batch.ads { print(ad.id, ad.title, ad.durationMilliseconds) }
/// for skipped in batch.skipped { print(skipped) }
/// ```
///
/// Reading fetches nothing and knows no time: the same bytes always give the same result.
public enum VAST {
    /// The namespace that version 4.1 and later may declare.
    static let namespace = "http://www.iab.com/VAST"

    /// The ads of a document, in the order in which they are to play.
    ///
    /// Ads with a `sequence` make a pod and play in its order; one that cannot be played is replaced by the next
    /// stand-alone ad that can. Without a pod, the first stand-alone ad that can be played is the batch, or all of them
    /// with ``VASTReadingOptions/allStandAlone`` (VAST 4.3 section 3.3.1).
    ///
    /// - Parameters:
    ///   - document: The bytes of the document, in UTF-8, UTF-16, ISO-8859-1 or Windows-1252.
    ///   - options: What to take and how much.
    /// - Returns: A batch with at least one ad.
    /// - Throws: ``AdFormatError`` where the document cannot be read or has no ad that can be played.
    public static func read(
        _ document: some Sequence<UInt8>,
        options: VASTReadingOptions = VASTReadingOptions()
    ) throws(AdFormatError) -> AdBatch {
        try Self.batch(of: try VASTDocument(document, options: options), options: options)
    }

    /// The ads of a document of which everything around them has been read.
    static func batch(of document: VASTDocument, options: VASTReadingOptions) throws(AdFormatError) -> AdBatch {
        guard !document.ads.isEmpty else { throw .noAds(errorURLs: document.errorURLs) }
        let candidates = VASTCandidate.read(document.ads, options: options)
        var batch = VASTOrder.batch(of: candidates, allStandAlone: options.allStandAlone)
        guard !batch.ads.isEmpty else { throw .nothingPlayable(batch.skipped) }
        batch.errorURLs = document.errorURLs
        batch.leftOut = document.leftOut
        batch.formatVersion = document.version
        return batch
    }
}

/// A document of which everything around its ads has been read.
struct VASTDocument {
    /// The version that it claims; nil where it claims none.
    let version: String?
    /// Its `Ad` elements; there may be none.
    let ads: [MarkupElement]
    /// The URLs to call when it gave no ad.
    let errorURLs: [String]
    /// The parts outside its ads that were left out.
    let leftOut: [LeftOut]

    /// Reads a document up to its ads.
    init(_ document: some Sequence<UInt8>, options: VASTReadingOptions) throws(AdFormatError) {
        let bytesMax = min(max(options.limits.documentBytesMax, 0), .max - 1)
        let bytes = Array(document.prefix(bytesMax + 1))
        guard bytes.count <= bytesMax else {
            throw .tooLarge(limit: AdFormatLimits.Name.documentBytesMax.rawValue, maximum: bytesMax)
        }
        try self.init(
            root: try MarkupReader.read(bytes, charset: options.charset, limits: options.limits),
            options: options
        )
    }

    /// Reads a document that stands in another one, up to its ads.
    init(root: MarkupElement, options: VASTReadingOptions) throws(AdFormatError) {
        self.version = try Self.version(of: root)
        self.ads = root.children(named: "Ad")
        guard self.ads.count <= options.limits.adsMax else {
            throw .tooLarge(limit: AdFormatLimits.Name.adsMax.rawValue, maximum: options.limits.adsMax)
        }
        var gleaner = VASTGleaner(limits: options.limits)
        self.errorURLs = gleaner.urls(of: root.children(named: "Error"))
        self.leftOut = gleaner.leftOut
    }

    /// The version that the outermost element claims, if it is one that can be read; nil if it claims none.
    private static func version(of root: MarkupElement) throws(AdFormatError) -> String? {
        // VAST 1.0 and 1.1 had another outermost element.
        guard root.name != "VideoAdServingTemplate" else { throw .unsupportedVersion("1.x") }
        guard root.name == "VAST" else { throw .notVAST(root: root.name) }
        guard let version = root.attribute("version") else { return nil }
        let numbers = version.split(separator: ".", omittingEmptySubsequences: false).map { UInt16($0) }
        guard let major = numbers.first ?? nil, (2...4).contains(major), !numbers.contains(nil) else {
            throw .unsupportedVersion(version)
        }
        return version
    }
}
