// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The newest of many things, numbered from 1 without gaps: for those who read behind, and may come too late.
package struct NewestKept<Element: Sendable>: Sendable {
    /// The entries after those that a reader knows.
    package struct Portion: Sendable {
        package let elements: [Element]
        /// Whether some before them are not kept any more, or what the reader knows was never there.
        package let hasGap: Bool
        /// The newest entry that the reader knows then.
        package let newest: UInt64
    }

    /// The most that are kept.
    package let keptMax: Int
    /// The number of the newest; 0: there was none.
    package private(set) var newest: UInt64 = 0
    /// Once all places are taken the next one takes that of the oldest.
    private var kept: [Element] = []

    package init(keptMax: Int) {
        self.keptMax = Swift.max(1, keptMax)
    }

    /// Adds the next.
    ///
    /// - Parameter make: makes it with its number.
    package mutating func append(_ make: (_ number: UInt64) -> Element) {
        self.newest += 1
        let element = make(self.newest)
        if self.kept.count < self.keptMax {
            self.kept.append(element)
        } else {
            self.kept[self.place(of: self.newest)] = element
        }
    }

    /// The entries that follow.
    ///
    /// - Parameters:
    ///   - number: the newest that the reader knows.
    ///   - most: how many are given at most.
    ///   - isWanted: which of them the reader wants.
    /// - Returns: those, the oldest first.
    package func portion(after number: UInt64, most: Int, where isWanted: (Element) -> Bool = { _ in true }) -> Portion
    {
        guard number <= self.newest else { return Portion(elements: [], hasGap: true, newest: self.newest) }
        let oldest = self.newest - UInt64(self.kept.count) + 1
        var elements: [Element] = []
        var next = Swift.max(oldest, number + 1)
        while next <= self.newest, elements.count < most {
            let element = self.kept[self.place(of: next)]
            if isWanted(element) { elements.append(element) }
            next += 1
        }
        return Portion(elements: elements, hasGap: number + 1 < oldest, newest: next - 1)
    }

    private func place(of number: UInt64) -> Int { Int((number - 1) % UInt64(self.keptMax)) }
}
