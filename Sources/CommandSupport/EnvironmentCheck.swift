// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import GatewayDocuments

/// Finds environment variables that look meant for this program but that it does not read: most are misspelt.
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

    private let known: Set<String>
    /// Whether `known` has all variables, so that an unknown name deserves a warning even if it resembles none of them.
    private let isComplete: Bool

    /// - Parameters:
    ///   - known: the variables that the program reads.
    ///   - isComplete: whether no other program of the project reads others.
    package init(known: some Sequence<String>, isComplete: Bool) {
        self.known = Set(known)
        self.isComplete = isComplete
    }

    /// A sentence for each variable that looks meant for this program but that it does not read.
    package func warnings(for names: some Sequence<String>) -> [String] {
        names.sorted().compactMap { name in self.warning(for: name) }
    }

    private func warning(for name: String) -> String? {
        guard !self.known.contains(name), !Self.scriptVariables.contains(name), !name.hasPrefix(Self.testPrefix),
            name.utf8.count <= 256
        else { return nil }
        let upper = name.uppercased()
        let isMeant = upper.hasPrefix(Self.prefix)
        // A misspelling of the first word counts only if the rest is right.
        let lettersMax = isMeant ? Spelling.misspeltLettersMax : 2
        guard isMeant || upper.hasPrefix("C") || upper.contains("CAST") else { return nil }
        let nearest = self.known.map { (letters: Spelling.distance(upper, $0), name: $0) }.min { $0 < $1 }
        if let nearest, nearest.letters <= lettersMax {
            return "the variable \(name) is not used; is \(nearest.name) meant?"
        }
        guard isMeant, self.isComplete else { return nil }
        return "the variable \(name) is not used; 'cuecast check-config' lists all variables"
    }
}
