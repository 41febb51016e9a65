// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// The first record of each stream: which log it is, and which lane.
///
/// It has the offset 0, and no reader gets it.
package struct IdentityRecord: Hashable, Sendable {
    private static let head = "cuecast-log 1"

    package let logID: LogID
    package let epoch: UInt64
    package let lane: Lane

    package init(_ identity: LogIdentity, lane: Lane) {
        self.logID = identity.logID
        self.epoch = identity.epoch
        self.lane = lane
    }

    /// The identity of the log that begins with it.
    package var identity: LogIdentity { LogIdentity(logID: self.logID, epoch: self.epoch) }

    package var bytes: [UInt8] {
        let lines = [
            Self.head, "log \(self.logID)", "epoch \(String(self.epoch, radix: 16))", "lane \(self.lane)", "",
        ]
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// - Returns: `nil` where it is not exactly what `bytes` is.
    package init?(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count == 4, let log = lines[1].split(separator: " ").last, log.count == 32,
            let high = UInt64(log.prefix(16), radix: 16), let low = UInt64(log.suffix(16), radix: 16),
            let epoch = lines[2].split(separator: " ").last.flatMap({ UInt64($0, radix: 16) }), epoch != 0,
            let lane = lines[3].split(separator: " ").last
        else { return nil }
        self.logID = LogID(high: high, low: low)
        self.epoch = epoch
        self.lane = Lane(name: String(lane))
        guard self.bytes == bytes else { return nil }
    }
}
