// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Finds variables that are meant for this program and that nobody reads: most are misspelt.
package struct EnvironmentCheck: Sendable {
    /// Variables of the commands that ask a gateway.
    package static let commandVariables = [
        "CUECAST_GATEWAY", "CUECAST_NOTICES", "CUECAST_REQUESTS", "CUECAST_BROADCAST", "CUECAST_HTTP",
        "CUECAST_KEY_FILE", "CUECAST_GATEWAY_KEY_FILE", "CUECAST_TOKEN_FILE", "CUECAST_CA_FILE", "CUECAST_DATA_DIR",
    ]

    /// Variables of the project's own scripts and tests, which their child processes see.
    private static let scriptVariables: Set<String> = [
        "CUECAST_ALSO", "CUECAST_BIN", "CUECAST_CLOCK_STEP", "CUECAST_LOAD_BIN", "CUECAST_PAGES",
        "CUECAST_RADIO_PLAYER",
        "CUECAST_SAMPLES", "CUECAST_SANITIZED_TESTS", "CUECAST_SCHEDULES", "CUECAST_SCRATCH_PATH", "CUECAST_SEED",
        "CUECAST_SUBSET", "CUECAST_SUBSET_DOCC", "CUECAST_WARNINGS",
    ]
    private static let testPrefix = "CUECAST_TEST_"
    private static let prefix = "CUECAST"
    /// So many wrong, missing or additional letters are a misspelling; more are another word.
    package static let misspeltLettersMax = 3

    private let known: Set<String>
    /// Whether all variables are known, so that one that is like none of them is worth a word too.
    private let isComplete: Bool

    /// - Parameters:
    ///   - known: what is read.
    ///   - isComplete: whether no other program of the project reads others.
    package init(known: some Sequence<String>, isComplete: Bool) {
        self.known = Set(known)
        self.isComplete = isComplete
    }

    /// A sentence for each variable that is meant for us and that nobody reads.
    package func warnings(for names: some Sequence<String>) -> [String] {
        names.sorted().compactMap { name in self.warning(for: name) }
    }

    private func warning(for name: String) -> String? {
        guard !self.known.contains(name), !Self.scriptVariables.contains(name), !name.hasPrefix(Self.testPrefix),
            name.utf8.count <= 256
        else { return nil }
        let upper = name.uppercased()
        let isMeant = upper.hasPrefix(Self.prefix)
        // A slip in the first word is one only where the rest is right.
        let lettersMax = isMeant ? Self.misspeltLettersMax : 2
        guard isMeant || upper.hasPrefix("C") || upper.contains("CAST") else { return nil }
        let nearest = self.known.map { (letters: Self.distance(upper, $0), name: $0) }.min { $0 < $1 }
        if let nearest, nearest.letters <= lettersMax {
            return "nobody reads the variable \(name); is \(nearest.name) meant?"
        }
        guard isMeant, self.isComplete else { return nil }
        return "nobody reads the variable \(name); 'cuecast check-config' lists those that there are"
    }

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
}
