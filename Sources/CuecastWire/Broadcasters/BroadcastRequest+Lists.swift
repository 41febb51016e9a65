// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

extension BroadcastRequest {
    /// Keeps a named list of advertisements, or replaces it.
    package struct PutList: Hashable, Sendable {
        package var name: AdListName
        package var advertisements: [AdvertisementContent]

        package init(name: AdListName, advertisements: [AdvertisementContent]) {
            self.name = name
            self.advertisements = advertisements
        }
    }
}

/// A list of advertisements as broadcasters and operators see it.
package struct AdListInfo: Hashable, Sendable {
    package var name: AdListName
    /// 1 when it was put, and one more with each change.
    package var revision: UInt64
    package var advertisementCount: Int
    /// How long all of them last.
    package var duration: Duration
    /// When it was changed last.
    package var changed: Timestamp
    /// The broadcaster that changed it last; empty where broadcasters are not told apart.
    package var broadcaster: String

    package init(
        name: AdListName,
        revision: UInt64,
        advertisementCount: Int,
        duration: Duration,
        changed: Timestamp,
        broadcaster: String
    ) {
        self.name = name
        self.revision = revision
        self.advertisementCount = advertisementCount
        self.duration = duration
        self.changed = changed
        self.broadcaster = broadcaster
    }
}

// MARK: - Rules

extension BroadcastRequest.PutList {
    /// Looks at all rules, and puts the advertisements in.
    ///
    /// - Parameters:
    ///   - sources: the sources of the advertisements.
    ///   - content: makes one.
    /// - Throws: the first rule that it breaks.
    mutating func check<Source>(
        _ sources: [Source],
        _ content: (Source) -> AdvertisementContent
    ) throws(WireError) {
        self.advertisements = try AdvertisementContent.list(sources, content)
    }

    var encodedByteCount: Int {
        self.advertisements.reduce(EncodedSize.text(self.name.description)) {
            $0 + EncodedSize.message($1.encodedByteCount)
        }
    }
}

// MARK: - Wire

extension BroadcastRequest.PutList {
    init(wire: Cuecast_V1_PutList) throws(WireError) {
        self.init(name: try AdListName(wire.name), advertisements: [])
        try self.check(wire.advertisements) { AdvertisementContent(wire: $0) }
    }

    var wire: Cuecast_V1_PutList {
        .with {
            $0.name = self.name.description
            $0.advertisements = self.advertisements.map(\.wire)
        }
    }
}

extension AdListName {
    var removeWire: Cuecast_V1_RemoveList { .with { $0.name = self.description } }
}

extension AdListInfo {
    init(wire: Cuecast_V1_AdListInfo) throws(WireError) {
        self.init(
            name: try AdListName(wire.name),
            revision: min(wire.revision, UInt64(Int64.max)),
            advertisementCount: Int(wire.advertisementCount),
            duration: .milliseconds(Int64(min(wire.durationMs, UInt64(UInt32.max)))),
            changed: Timestamp(microseconds: wire.changedUs),
            broadcaster: wire.broadcaster
        )
    }

    var wire: Cuecast_V1_AdListInfo {
        .with {
            $0.name = self.name.description
            $0.revision = self.revision
            $0.advertisementCount = UInt32(clamping: self.advertisementCount)
            $0.durationMs = UInt64(self.duration.inMilliseconds)
            $0.changedUs = self.changed.microseconds
            $0.broadcaster = self.broadcaster
        }
    }
}
