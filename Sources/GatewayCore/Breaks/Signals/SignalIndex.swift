// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// The breaks of a stream by the signals that are about them.
struct SignalIndex: Hashable, Sendable {
    /// A break that an event is about; of the same event, the newest break comes first.
    fileprivate struct Place: Hashable, Comparable, Sendable {
        let name: SignalName
        let number: BreakNumber

        static func < (left: Self, right: Self) -> Bool {
            left.name == right.name ? left.number > right.number : left.name < right.name
        }
    }

    private var places = SortedTree<Place, BreakID>()

    /// The newest break that an event is about.
    func newest(of name: SignalName) -> BreakID? {
        var found: BreakID?
        self.places.scan(from: Place(name: name, number: BreakNumber(rawValue: .max))) { place, id in
            if place.name == name { found = id }
            return false
        }
        return found
    }

    /// Takes over what became of a break.
    ///
    /// - Parameters:
    ///   - before: as it was; `nil`: it is new.
    ///   - after: as it is; `nil`: it is kept no more.
    mutating func replace(_ before: Break?, by after: Break?) {
        let (old, new) = (before?.record.signals?.claims ?? [], after?.record.signals?.claims ?? [])
        // Most breaks have none, and most changes leave them.
        guard old.map(\.name) != new.map(\.name) else { return }
        if let before { for claim in old { self.places.removeValue(forKey: Place(claim, of: before)) } }
        if let after { for claim in new { self.places.updateValue(after.key.id, forKey: Place(claim, of: after)) } }
    }
}

extension SignalIndex.Place {
    fileprivate init(_ claim: SignalClaim, of each: Break) {
        self.init(name: claim.name, number: each.number)
    }
}
