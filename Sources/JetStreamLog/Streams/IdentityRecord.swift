// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayCore

/// The first record of each stream: which log it is, and which lane.
///
/// It has the offset 0, and no reader gets it. A log that went through a restore says there through which epochs, and so where its offsets
/// jump (`LanePlaces`). A program that does not know such a record refuses the log.
package struct IdentityRecord: Hashable, Sendable {
    private static let head = "cuecast-log 1"
    /// Of a log with more than one epoch.
    private static let restoredHead = "cuecast-log 2"

    /// The identity of the log that begins with it.
    package let identity: LogIdentity
    package let lane: Lane

    package init(_ identity: LogIdentity, lane: Lane) {
        self.identity = identity
        self.lane = lane
    }

    package var bytes: [UInt8] {
        let isRestored = self.identity.epochs.count > 1
        var lines = [
            isRestored ? Self.restoredHead : Self.head, "log \(self.identity.logID)",
            "epoch \(String(self.identity.epoch, radix: 16))", "lane \(self.lane)",
        ]
        if isRestored { lines += self.identity.epochs.map(Self.line) }
        return Array((lines + [""]).joined(separator: "\n").utf8)
    }

    private static func line(_ epoch: LogIdentity.Epoch) -> String {
        let last = epoch.last.map { " \($0.key)=\($0.value)" }.sorted().joined()
        return "began \(String(epoch.number, radix: 16)) \(epoch.base)\(last)"
    }

    /// - Returns: `nil` where it is not exactly what `bytes` is.
    package init?(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count >= 4, let log = lines[1].split(separator: " ").last, log.count == 32,
            let high = UInt64(log.prefix(16), radix: 16), let low = UInt64(log.suffix(16), radix: 16),
            let number = lines[2].split(separator: " ").last.flatMap({ UInt64($0, radix: 16) }), number != 0,
            let lane = lines[3].split(separator: " ").last
        else { return nil }
        let logID = LogID(high: high, low: low)
        if lines.count == 4 {
            self.identity = LogIdentity(logID: logID, epoch: number)
        } else {
            let epochs = lines.dropFirst(4).compactMap { Self.epoch($0) }
            guard epochs.count == lines.count - 4, let identity = LogIdentity(logID: logID, epochs: epochs) else {
                return nil
            }
            self.identity = identity
        }
        self.lane = Lane(name: String(lane))
        guard self.bytes == bytes else { return nil }
    }

    private static func epoch(_ line: Substring) -> LogIdentity.Epoch? {
        let words = line.split(separator: " ")
        guard words.count >= 3, let number = UInt64(words[1], radix: 16), let base = UInt64(words[2]) else {
            return nil
        }
        var last: [Lane: UInt64] = [:]
        for word in words.dropFirst(3) {
            let parts = word.split(separator: "=")
            guard parts.count == 2, let offset = UInt64(parts[1]) else { return nil }
            last[Lane(name: String(parts[0]))] = offset
        }
        return LogIdentity.Epoch(number: number, base: base, last: last)
    }
}
