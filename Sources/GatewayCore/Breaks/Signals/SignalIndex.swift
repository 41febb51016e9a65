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
    /// By the starts that events say which were not taken back: a break itself may start at another time.
    private var starts = SortedTree<BreakInstant, BreakID>()

    /// The breaks with an event that says a start at most so far from an instant, the earliest such start first.
    func breaks(startingAround instant: Timestamp, within distance: Duration) -> [BreakID] {
        var found: [BreakID] = []
        self.starts.scan(from: BreakInstant(at: instant - distance, number: BreakNumber(rawValue: 0))) { place, id in
            guard place.at <= instant + distance else { return false }
            found.append(id)
            return true
        }
        return found
    }

    /// The breaks that an event is about, the newest first: at most so many.
    func newest(_ most: Int, of name: SignalName) -> [BreakID] {
        var found: [BreakID] = []
        self.places.scan(from: Place(name: name, number: BreakNumber(rawValue: .max))) { place, id in
            guard place.name == name else { return false }
            found.append(id)
            return found.count < most
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
        guard old != new else { return }
        if let before {
            for claim in old {
                self.places.removeValue(forKey: Place(claim, of: before))
                if !claim.isCancelled { self.starts.removeValue(forKey: BreakInstant(claim, of: before)) }
            }
        }
        if let after {
            for claim in new {
                self.places.updateValue(after.key.id, forKey: Place(claim, of: after))
                // Several events of a break may say the same start: that is one place.
                if !claim.isCancelled { self.starts.updateValue(after.key.id, forKey: BreakInstant(claim, of: after)) }
            }
        }
    }
}

extension SignalIndex.Place {
    fileprivate init(_ claim: SignalClaim, of each: Break) {
        self.init(name: claim.name, number: each.number)
    }
}

extension BreakInstant {
    fileprivate init(_ claim: SignalClaim, of each: Break) {
        self.init(at: claim.start, number: each.number)
    }
}
