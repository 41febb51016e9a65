// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

extension SnapshotPortion {
    /// A change in one portion.
    static func single(
        _ offset: UInt64,
        _ parts: [String: [UInt8]],
        removed: [String] = []
    ) -> SnapshotPortion {
        SnapshotPortion(
            offset: offset,
            parts: parts.map { SnapshotPart(key: $0.key, bytes: $0.value) },
            removed: removed,
            isFirst: true,
            isLast: true
        )
    }
}

extension SnapshotStore {
    /// All parts of a lane's snapshot, read in the smallest pages unless they may have more bytes.
    func wholeSnapshot(of lane: Lane, bytesMax: Int = 1) async throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        var key: String?
        while true {
            let page = try await self.snapshotParts(of: lane, after: key, bytesMax: bytesMax)
            guard let last = page.last else { return found }
            for part in page { found[part.key] = part.bytes }
            key = last.key
        }
    }
}
