// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A named list of ads as the gateway has it.
public struct AdListStatus: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// 1 when it was put, and one more with each change.
    public var revision: UInt64
    /// How many ads it has.
    public var advertisementCount: Int
    /// How long all of them last.
    public var duration: Duration
    /// When it was changed last.
    public var changed: Date
    /// The broadcaster that changed it last; nil where broadcasters are not told apart.
    public var broadcaster: String?

    init(_ info: AdListInfo) {
        self.name = info.name.description
        self.revision = info.revision
        self.advertisementCount = info.advertisementCount
        self.duration = info.duration
        self.changed = Date(info.changed)
        self.broadcaster = info.broadcaster.isEmpty ? nil : info.broadcaster
    }
}
