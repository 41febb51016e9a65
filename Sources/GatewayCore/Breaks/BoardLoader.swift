// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Builds a board from a snapshot, part by part.
package struct BoardLoader {
    /// The content of a board beside its streams.
    struct Facts {
        var retired: RetiredNames
        var lists = AdLists()
        var writers: [WriterRecord] = []
        var rules = FoldRules.first
        var retiredSequence: UInt64 = 0
        var retention: Timestamp?
        var newest: Timestamp?
    }

    private let epoch: UInt64
    private let rulesKnown: UInt32
    private var streams: [StreamID: StreamBoard] = [:]
    private var facts: Facts

    /// - Parameters:
    ///   - epoch: of the event log.
    ///   - names: hashes the names of dropped breaks; by a key of the event log.
    ///   - rulesKnown: the newest version of the fold's rules that the reader knows.
    package init(epoch: UInt64, names: SipHash, rulesKnown: UInt32 = FoldRules.newest) {
        self.epoch = epoch
        self.rulesKnown = rulesKnown
        self.facts = Facts(retired: RetiredNames(hash: names))
    }

    /// Takes a part.
    ///
    /// - Parameter part: as the snapshot has it; of a break only with its stream, or after it.
    /// - Throws: `invalid` where it contradicts the parts before, or goes by rules that are not known.
    package mutating func read(_ part: BoardRecord) throws(WireError) {
        if let rules = part.rules { try FoldRules.require(rules, newest: self.rulesKnown) }
        for each in part.streams where self.streams[each.stream] != nil {
            throw .invalid(field: "streams", rule: "the stream \(each.stream) is listed twice")
        }
        let together = Set(part.streams.map(\.stream))
        var numbers: Set<BreakNumber> = []
        for each in part.breaks {
            let key = each.publish.request.key
            let stream = self.streams[key.stream]
            guard stream != nil || together.contains(key.stream) else {
                throw .invalid(field: "breaks", rule: "\(key) is of a stream that is not there")
            }
            let isKnown = each.keys.contains { stream?.known($0.id) != nil }
            guard !isKnown, numbers.insert(each.number).inserted else {
                throw .invalid(field: "breaks", rule: "\(key) is listed twice")
            }
        }
        for each in part.adLists where self.facts.lists[each.name] != nil {
            throw .invalid(field: "ad_lists", rule: "the list \(each.name) stands there twice")
        }
        self.add(part)
    }

    /// Takes a part that agrees with the parts before.
    mutating func add(_ part: BoardRecord) {
        self.facts.retention = part.retention ?? self.facts.retention
        self.facts.newest = part.newest ?? self.facts.newest
        self.facts.retiredSequence = max(self.facts.retiredSequence, part.retiredSequence)
        for hash in part.retiredHashes { self.facts.retired.insert(hash: hash) }
        for each in part.adLists { self.facts.lists.keep(each, .put) }
        self.facts.writers += part.writers
        self.facts.rules = part.rules ?? self.facts.rules
        for each in part.streams {
            self.streams[each.stream] = StreamBoard(each, epoch: self.epoch)
        }
        for each in part.breaks {
            self.streams[each.publish.request.key.stream]?.load(each, epoch: self.epoch)
        }
    }

    /// The board after the groups up to an offset.
    package func finish(at offset: UInt64) -> Board {
        var board = Board(epoch: self.epoch, offset: offset, streams: self.streams.values, loaded: self.facts)
        board.rulesKnown = self.rulesKnown
        return board
    }
}
