// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The ad lists that the board keeps, by name.
package struct AdLists: Hashable, Sendable {
    private var lists = SortedTree<AdListName, AdListRecord>()
    /// About what they take in memory.
    package private(set) var bytes = 0

    package init() {}

    package var count: Int { self.lists.count }

    /// In the order of their names.
    package var records: [AdListRecord] { self.lists.elements.map(\.value) }

    package subscript(name: AdListName) -> AdListRecord? { self.lists[name] }

    /// Decides about an entry about a list; nothing changes.
    ///
    /// - Parameters:
    ///   - entry: the request.
    ///   - room: how many bytes the board has left.
    /// - Returns: the result of applying it.
    func decide(_ entry: BreakEntry, room: Int) -> EntryResult {
        switch entry.kind {
        case .putList(let put): self.put(put, asked: entry, room: room)
        case .removeList(let name): self.remove(name, asked: entry)
        case .publish, .punch, .update, .end, .cancel, .postpone, .signal, .announce, .expire, .housekeeping, .rules:
            preconditionFailure("an entry about an ad list is about an ad list")
        }
    }

    private func put(_ put: BroadcastRequest.PutList, asked entry: BreakEntry, room: Int) -> EntryResult {
        let known = self[put.name]
        if let known, known.advertisements == put.advertisements, entry.expectedRevision != ExpectedRevision.absent {
            return .list(known, .nothing)
        }
        if let refusal = Self.revisionConflict(put.name, known, expected: entry.expectedRevision) {
            return .refused(refusal)
        }
        guard known != nil || self.count < WireLimits.adListsMax else {
            return .refused(
                Refusal(.limitReached, "The limit adListsMax is \(WireLimits.adListsMax) and is reached.")
            )
        }
        let record = AdListRecord(
            name: put.name,
            revision: (known?.revision ?? 0) + 1,
            changed: entry.at,
            broadcaster: entry.broadcaster,
            advertisements: put.advertisements
        )
        guard record.memoryBytes - (known?.memoryBytes ?? 0) <= max(0, room) else { return .refused(.boardFull()) }
        return .list(record, .put)
    }

    private func remove(_ name: AdListName, asked entry: BreakEntry) -> EntryResult {
        guard let known = self[name] else { return .refused(.noSuchList(name)) }
        if let refusal = Self.revisionConflict(name, known, expected: entry.expectedRevision) {
            return .refused(refusal)
        }
        return .list(known, .removed)
    }

    /// Why a request must not change a list: it expects another revision; `nil`: it does not.
    private static func revisionConflict(_ name: AdListName, _ known: AdListRecord?, expected: UInt64?) -> Refusal? {
        guard let expected else { return nil }
        guard let known else {
            guard expected != ExpectedRevision.absent else { return nil }
            let what = expected == ExpectedRevision.any ? "one is expected" : "its revision \(expected) is expected"
            return Refusal(.revisionConflict, "There is no ad list \(name), and \(what).")
        }
        guard known.revision != expected, expected != ExpectedRevision.any else { return nil }
        let what = expected == ExpectedRevision.absent ? "none is expected to be there" : "\(expected) is expected"
        return Refusal(.revisionConflict, "The ad list \(name) has revision \(known.revision), and \(what).")
    }

    /// Keeps what was decided.
    mutating func keep(_ record: AdListRecord, _ effect: AdListEffect) {
        switch effect {
        case .nothing: return
        case .put:
            let before = self.lists.updateValue(record, forKey: record.name)
            self.bytes += record.memoryBytes - (before?.memoryBytes ?? 0)
        case .removed:
            guard let before = self.lists.removeValue(forKey: record.name) else { return }
            self.bytes -= before.memoryBytes
        }
    }
}

/// The result of a change of an ad list.
package enum AdListEffect: Hashable, Sendable {
    /// It was so already.
    case nothing
    /// It is new, or has other advertisements.
    case put
    case removed
}

extension AdListRecord {
    /// About what it takes in memory.
    var memoryBytes: Int {
        self.advertisements.reduce(BoardLimits.adListBytes) { $0 + $1.memoryBytes }
    }
}

extension Refusal {
    /// No list has this name.
    package static func noSuchList(_ name: AdListName) -> Refusal {
        Refusal(.notFound, "There is no ad list \(name).")
    }
}
