// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How many listeners streams have now, in the shape of the Concurrent Streams API 1.0 of IAB Tech Lab's LEAP (Live Event Ad Playbook).
///
/// The tables of the specification say `integer` where its example has strings: this follows the tables.
package struct ConcurrentStreamsDocument: Codable, Hashable, Sendable {
    /// The version of the specification.
    package static let version = "1.0.0"

    /// The object Channel of AdCOM 1.0.
    package struct Channel: Codable, Hashable, Sendable {
        package var name: String

        package init(name: String) { self.name = name }
    }

    /// The object Content of AdCOM 1.0, as far as Cuecast knows it.
    package struct Content: Codable, Hashable, Sendable {
        /// The stream.
        package var id: String
        package var title: String?
        package var channel: Channel?

        package init(id: String, title: String? = nil, channel: Channel? = nil) {
            self.id = id
            self.title = title
            self.channel = channel
        }
    }

    package struct StreamCount: Codable, Hashable, Sendable {
        /// Streams whose ads the player puts in (CSAI): those of Cuecast's players.
        package var cstreams: Int

        package init(cstreams: Int) { self.cstreams = cstreams }
    }

    package struct MediaStream: Codable, Hashable, Sendable {
        package var content: Content
        /// In milliseconds since 1970.
        package var eventstart: Int64
        /// In milliseconds since 1970.
        package var eventend: Int64
        package var streamcount: [StreamCount]

        package init(content: Content, eventstart: Int64, eventend: Int64, streamcount: [StreamCount]) {
            self.content = content
            self.eventstart = eventstart
            self.eventend = eventend
            self.streamcount = streamcount
        }
    }

    package struct StreamsData: Codable, Hashable, Sendable {
        /// The provider of the streams' data.
        package var sdp: String?
        package var mediastreams: [MediaStream]

        package init(sdp: String?, mediastreams: [MediaStream]) {
            self.sdp = sdp
            self.mediastreams = mediastreams
        }
    }

    package var version: String
    /// In milliseconds since 1970.
    package var timestamp: Int64
    package var streamsdata: [StreamsData]

    package init(timestamp: Int64, streamsdata: [StreamsData]) {
        self.version = Self.version
        self.timestamp = timestamp
        self.streamsdata = streamsdata
    }
}
