// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import AdFormats
internal import BreakDocuments
internal import CuecastWire

extension AdvertisementDescription {
    /// The ad that a document describes.
    ///
    /// Its banner is the companion that `AdContent.banner` picks; its trackers are all that
    /// `AdContent.trackers` lists.
    ///
    /// - Parameter content: an ad that a reader of `AdFormats` returned.
    public init(_ content: AdContent) {
        self.init(AdvertisementContent(content))
    }
}

extension AdvertisementDescription.MediaFile {
    /// The media file that a document describes.
    ///
    /// - Parameter file: one encoding of an ad.
    public init(_ file: AdMediaFile) {
        self.init(AdvertisementContent.MediaFile(file))
    }
}

extension AdvertisementDescription.Banner {
    /// The companion that a document describes, as a picture; nil where it has none.
    ///
    /// - Parameter companion: something to show beside an ad.
    public init?(_ companion: AdCompanion) {
        guard let banner = AdvertisementContent.Banner(companion) else { return nil }
        self.init(banner)
    }
}

extension AdBreak {
    /// A break with the ads of a batch, as long as they last.
    ///
    /// - Parameters:
    ///   - stream: the stream's id.
    ///   - id: the break's id.
    ///   - start: when it starts.
    ///   - batch: the result of a reader of `AdFormats`; its `AdBatch.skipped` lists the ads that are not in it.
    public init(stream: String, id: String, start: Start, batch: AdBatch) {
        self.init(
            stream: stream,
            id: id,
            start: start,
            advertisements: batch.ads.map { AdvertisementDescription($0) }
        )
        self.duration = self.advertisementsDuration
    }

    /// A break with the ads of a VAST document, as long as they last.
    ///
    /// To see which ads of the document are left out and why, read it with `VAST.read(_:options:)` and use
    /// ``init(stream:id:start:batch:)``.
    ///
    /// - Parameters:
    ///   - stream: the stream's id.
    ///   - id: the break's id.
    ///   - start: when it starts.
    ///   - document: the bytes of the document.
    ///   - options: the parts to take from it.
    /// - Throws: `AdFormatError` where the document cannot be read or has no ad that can be played.
    public init(
        stream: String,
        id: String,
        start: Start,
        vast document: some Sequence<UInt8>,
        options: VASTReadingOptions = VASTReadingOptions()
    ) throws(AdFormatError) {
        self.init(stream: stream, id: id, start: start, batch: try VAST.read(document, options: options))
    }
}
