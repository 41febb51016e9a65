// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One encoding of an ad.
public struct AdMediaFile: Hashable, Sendable {
    /// How the media comes.
    public enum Delivery: String, Hashable, Sendable {
        /// A file to download, playable while it arrives.
        case progressive
        /// A stream, such as HLS or DASH.
        case streaming
    }

    /// The identifier of the file.
    public var id: String?
    /// Where the media is.
    public var url: String
    /// The MIME type, such as `audio/mpeg`; empty where the document does not say.
    public var type: String
    /// The codec in the manner of RFC 4281, such as `mp4a.40.2`.
    public var codec: String?
    /// How the media comes.
    ///
    /// Where the document does not say, it is a stream for HLS and DASH and a file for everything else.
    public var delivery: Delivery
    /// The average bitrate, in kbit/s.
    public var bitrate: Int?
    /// The lowest bitrate of a stream, in kbit/s.
    public var bitrateMin: Int?
    /// The highest bitrate of a stream, in kbit/s.
    public var bitrateMax: Int?
    /// The native width, in pixels; 0 for audio.
    public var width: Int?
    /// The native height, in pixels; 0 for audio.
    public var height: Int?

    /// A media file.
    public init(url: String, type: String, delivery: Delivery = .progressive) {
        self.url = url
        self.type = type
        self.delivery = delivery
    }
}
