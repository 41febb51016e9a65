// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import BreakDocuments
internal import Foundation

/// Why the zone of a document is not taken.
package struct ZoneFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// With the field.
    package let description: String
}

extension CandidateChooser {
    /// The longest name of a zone, in bytes; the longest of the database has 32.
    private static let zoneBytesMax = 64

    /// A chooser with the clocks of the document's zone.
    ///
    /// - Parameter document: the candidates.
    /// - Throws: where this system does not know the zone.
    package init(zoned document: CandidatesDocument) throws(ZoneFault) {
        // Abbreviations such as CST mean several zones.
        guard document.timeZone.utf8.count <= Self.zoneBytesMax,
            document.timeZone.contains("/") || document.timeZone == "UTC",
            let zone = TimeZone(identifier: document.timeZone)
        else {
            throw ZoneFault(
                description:
                    "timeZone: '\(document.timeZone.prefix(Self.zoneBytesMax))' is not known; write a name such as Europe/Oslo, or UTC"
            )
        }
        self.init(document) { milliseconds in
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
            return Int64(zone.secondsFromGMT(for: date)) * 1_000
        }
    }
}
