// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Finds the name that a misspelt one stands for.
package enum Spelling {
    /// The most wrong, missing or additional letters of a misspelling; a name with more is another word.
    package static let misspeltLettersMax = 3

    /// How many letters must be put in, left out, replaced or swapped with the next to make one word of the other.
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var before: [Int] = []
        var last = Array(0...right.count)
        for row in 1...left.count {
            var line = [row]
            for column in 1...right.count {
                let replaced = last[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
                var best = min(replaced, last[column] + 1, line[column - 1] + 1)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    best = min(best, before[column - 2] + 1)
                }
                line.append(best)
            }
            before = last
            last = line
        }
        return last[right.count]
    }

    /// The name that a person most likely meant.
    ///
    /// A short word may have fewer wrong letters than a long one: with half of them wrong it is another word. The beginning of a
    /// name stands for the name.
    ///
    /// - Parameters:
    ///   - word: the word that is no name; one of more than 256 bytes stands for none.
    ///   - names: the names that exist.
    /// - Returns: the nearest name; `nil`: none is near.
    package static func nearest(to word: String, among names: some Sequence<String>) -> String? {
        guard word.utf8.count <= 256 else { return nil }
        let lower = word.lowercased()
        let lettersMax = min(Self.misspeltLettersMax, max(1, lower.utf8.count / 2))
        let ranked = names.map { name in
            // Case is no difference between words, but it decides between two that are equally near.
            (letters: Self.distance(lower, name.lowercased()), exact: Self.distance(word, name), name: name)
        }
        if let near = ranked.min(by: { $0 < $1 }), near.letters <= lettersMax { return near.name }
        guard lower.utf8.count >= 3 else { return nil }
        return ranked.map(\.name).filter { $0.lowercased().hasPrefix(lower) }.min()
    }
}
