// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The names of breaks that are no longer kept, as keyed hashes: they stay reserved for ever, at a few bytes each.
///
/// The key belongs to the event log: clients cannot choose names that collide. Where two names do collide, a name is refused that
/// was never used.
package struct RetiredNames: Hashable, Sendable {
    /// So many hashes lie in one chunk, which never changes once it is full.
    package static let chunkNames = 1_024
    /// About what a name takes in memory.
    private static let nameBytes = 24

    private let hash: SipHash
    /// In the order in which they were dropped.
    package private(set) var chunks: [[UInt64]] = []
    private var names = SortedTree<UInt64, Present>()

    package init(hash: SipHash) {
        self.hash = hash
    }

    package var count: Int { self.names.count }

    /// About how many bytes they take in memory.
    var bytes: Int { self.count * Self.nameBytes }

    package func contains(_ key: BreakKey) -> Bool { !self.names.isEmpty && self.names.contains(self.hash(of: key)) }

    /// The names that follow from the chunks, and the key, are not compared: two boards of one log have the same.
    package static func == (left: Self, right: Self) -> Bool { left.chunks == right.chunks }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.count) }

    mutating func insert(_ key: BreakKey) { self.insert(hash: self.hash(of: key)) }

    mutating func insert(hash: UInt64) {
        guard self.names.updateValue(Present(), forKey: hash) == nil else { return }
        if let last = self.chunks.last, last.count < Self.chunkNames {
            self.chunks[self.chunks.count - 1].append(hash)
        } else {
            self.chunks.append([hash])
        }
    }

    /// A stream's id holds no zero byte: no two names give the same bytes.
    private func hash(of key: BreakKey) -> UInt64 {
        self.hash(Array(key.stream.description.utf8) + [0] + Array(key.id.description.utf8))
    }
}
