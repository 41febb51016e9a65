// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The versions of the rules by which the board is folded from the log.
///
/// All gateways of a log fold by the same version: a record activates it, once every gateway that is alive knows it. Code whose result
/// another version decides differently asks the board for its version.
package enum FoldRules {
    /// The version of a log that no record has activated another one in.
    package static let first: UInt32 = 1
    /// The newest version that this program knows.
    package static let newest: UInt32 = 1

    /// A version as a record or a snapshot has it.
    ///
    /// - Parameter version: as it was read.
    /// - Returns: the version.
    /// - Throws: where there is no such version.
    package static func version(_ version: UInt32) throws(WireError) -> UInt32 {
        guard version >= Self.first else {
            throw .invalid(field: "rules", rule: "versions begin with \(Self.first)")
        }
        return version
    }

    /// Makes sure that a version is known.
    ///
    /// - Parameters:
    ///   - version: of the log.
    ///   - newest: the newest one that the reader knows.
    /// - Throws: where it is newer: the caller stops rather than come to another board than the other gateways.
    package static func require(_ version: UInt32, newest: UInt32) throws(WireError) {
        guard version <= newest else {
            throw .invalid(
                field: "rules",
                rule: "this program knows the versions \(Self.first) to \(newest) of the rules, and the log goes by"
                    + " version \(version): a newer program is needed"
            )
        }
    }
}
