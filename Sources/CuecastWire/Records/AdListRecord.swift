// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// A named list of advertisements as the board keeps it.
package struct AdListRecord: Hashable, Sendable {
    package var name: AdListName
    /// 1 when it was put, and one more with each change.
    package var revision: UInt64
    /// When it was changed last.
    package var changed: Timestamp
    /// The broadcaster that changed it last; empty where broadcasters are not told apart.
    package var broadcaster: String
    package var advertisements: [AdvertisementContent]

    package init(
        name: AdListName,
        revision: UInt64,
        changed: Timestamp,
        broadcaster: String,
        advertisements: [AdvertisementContent]
    ) {
        self.name = name
        self.revision = revision
        self.changed = changed
        self.broadcaster = broadcaster
        self.advertisements = advertisements
    }

    /// The summary that broadcasters and operators see.
    package var info: AdListInfo {
        AdListInfo(
            name: self.name,
            revision: self.revision,
            advertisementCount: self.advertisements.count,
            duration: self.advertisements.playingTime,
            changed: self.changed,
            broadcaster: self.broadcaster
        )
    }
}

extension AdListRecord {
    init(wire: Cuecast_V1_AdListRecord) throws(WireError) {
        self.init(
            name: try AdListName(wire.name),
            revision: try breakRevision(wire.revision, field: "revision"),
            changed: Timestamp(microseconds: wire.changedUs),
            broadcaster: wire.broadcaster,
            advertisements: try AdvertisementContent.list(wire: wire.advertisements)
        )
    }

    var wire: Cuecast_V1_AdListRecord {
        .with {
            $0.name = self.name.description
            $0.revision = self.revision
            $0.changedUs = self.changed.microseconds
            $0.broadcaster = self.broadcaster
            $0.advertisements = self.advertisements.map(\.wire)
        }
    }
}
