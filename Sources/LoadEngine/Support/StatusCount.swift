// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// How often each status came; index 0 is for replies that cannot be read.
struct StatusCount {
    private var counts = [Int](repeating: 0, count: 64)

    mutating func add(_ status: Int) {
        self.counts[self.counts.indices.contains(status) ? status : 0] += 1
    }

    /// The names of what is not OK, with how often it came.
    var refused: [String: Int] {
        var named: [String: Int] = [:]
        for (status, count) in self.counts.enumerated() where count > 0 && status != StatusCode.ok.rawValue {
            named[StatusCode(rawValue: status)?.name ?? (status == 0 ? "UNREADABLE" : "STATUS_\(status)")] = count
        }
        return named
    }
}
