// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The last notices of a stream, in order, without gaps: at most `BoardLimits.recoveryNoticesMax`.
///
/// They lie in chunks, so that a board that is being changed while another copy of it answers requests copies one chunk for
/// a new notice, not all of them. Where chunks begin follows from the sequence: equal notices lie equally.
package struct RecentNotices: Hashable, Sendable {
    private static let chunkNotices: UInt64 = 16

    private var chunks: [[Notice]] = []
    /// How many there are.
    package private(set) var count = 0

    init() {}

    init(_ notices: [Notice]) {
        for notice in notices { self.append(notice) }
    }

    package var first: Notice? { self.chunks.first?.first }
    package var last: Notice? { self.chunks.last?.last }

    /// Adds the next notice, and drops the oldest where there are too many.
    mutating func append(_ notice: Notice) {
        if notice.position.sequence % Self.chunkNotices == 0 || self.chunks.isEmpty {
            self.chunks.append([notice])
        } else {
            self.chunks[self.chunks.count - 1].append(notice)
        }
        self.count += 1
        guard self.count > BoardLimits.recoveryNoticesMax else { return }
        self.count -= 1
        if self.chunks[0].count > 1 { self.chunks[0].removeFirst() } else { self.chunks.removeFirst() }
    }

    /// The last ones, as many as asked for or as there are.
    package func suffix(_ most: Int) -> [Notice] {
        var found: [ArraySlice<Notice>] = []
        var missing = min(most, self.count)
        for chunk in self.chunks.reversed() where missing > 0 {
            found.append(chunk.suffix(missing))
            missing -= found.last?.count ?? 0
        }
        return found.reversed().flatMap { $0 }
    }
}
