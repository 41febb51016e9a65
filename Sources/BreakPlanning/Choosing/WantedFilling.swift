// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
package import GatewayCore

/// How long the ads that are chosen for a break last together, as it is asked for.
package struct WantedFilling: Hashable, Sendable {
    /// The longest filling.
    package static let fillMax: Duration = .seconds(6 * 3_600)

    /// The three wishes, by the names that they have where they are said.
    package struct Names: Hashable, Sendable {
        package let most: String
        package let exactly: String
        package let least: String

        package init(most: String, exactly: String, least: String) {
            self.most = most
            self.exactly = exactly
            self.least = least
        }
    }

    /// The most that they last together; `nil`: as long as the break.
    package var most: Duration?
    /// How long they last, to the millisecond.
    package var exactly: Duration?
    /// The least that they last together.
    package var least: Duration?

    package init(most: Duration? = nil, exactly: Duration? = nil, least: Duration? = nil) {
        self.most = most
        self.exactly = exactly
        self.least = least
    }

    /// Whether nothing is said.
    package var isEmpty: Bool { self.most == nil && self.exactly == nil && self.least == nil }

    /// Why it cannot be.
    ///
    /// - Parameter names: the names of the wishes.
    /// - Returns: one sentence; `nil`: it can be.
    package func fault(_ names: Names) -> String? {
        if self.most != nil, self.exactly != nil { return "Give one of \(names.most) and \(names.exactly)." }
        if self.exactly != nil, self.least != nil {
            return "\(names.least) and \(names.exactly) contradict each other."
        }
        for (name, duration) in [
            (names.most, self.most), (names.exactly, self.exactly), (names.least, self.least),
        ] {
            guard let duration else { continue }
            guard duration > .zero, duration <= Self.fillMax else {
                return "\(name) must be more than 0s and at most 6h, which are 21600s."
            }
        }
        if let most = self.most, let least = self.least, least > most {
            return "\(names.least) is more than \(names.most)."
        }
        return nil
    }

    /// The rules of a file, and the durations of the filling.
    ///
    /// - Parameters:
    ///   - chooser: the file.
    ///   - duration: how long the break lasts at most; `nil`: it is not said.
    /// - Returns: the rules; `nil`: no duration is said.
    package func rules(_ chooser: CandidateChooser, duration: Duration?) -> ChoosingRules? {
        guard let fill = self.exactly ?? self.most ?? duration else { return nil }
        let least = self.exactly ?? self.least
        return chooser.rules(
            fillMilliseconds: Int(fill.inMilliseconds),
            minimumMilliseconds: least.map { Int($0.inMilliseconds) } ?? 0
        )
    }
}
