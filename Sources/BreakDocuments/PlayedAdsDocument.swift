// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A file of ads that other breaks of a stream have.
package struct PlayedAdsDocument: Hashable, Sendable {
    /// The most ads of a file.
    package static let adsMax = 20_000

    package struct Ad: Hashable, Sendable {
        /// When its break starts.
        package var at: Timestamp
        package var id: String
        package var advertiser: String
        package var categories: [String]
    }

    package let ads: [Ad]

    /// Reads a file.
    ///
    /// - Parameter document: at most one byte more than `CandidatesDocument.bytesMax` of it is looked at.
    /// - Returns: its ads, which may be none.
    /// - Throws: the first thing that is wrong.
    package static func read(_ document: some Sequence<UInt8>) throws(DocumentFault) -> PlayedAdsDocument {
        let bytes = Array(document.prefix(CandidatesDocument.bytesMax + 1))
        guard bytes.count <= CandidatesDocument.bytesMax else {
            throw .tooLarge(
                line: 1,
                field: "",
                reason: "the limit candidatesFileBytesMax is \(CandidatesDocument.bytesMax)"
            )
        }
        let nodes = try JSONFields(AdsDocument.root(bytes), path: "", known: ["played"]).elements("played")
        guard nodes.count <= Self.adsMax else {
            throw .tooLarge(
                line: nodes[Self.adsMax].line,
                field: "played",
                reason: "the limit playedAdsMax is \(Self.adsMax), and this has \(nodes.count)"
            )
        }
        var ads: [Ad] = []
        for (index, node) in nodes.enumerated() {
            let path = "played[\(index)]"
            let fields = try JSONFields(node, path: path, known: ["at", "ad", "advertiser", "categories"])
            ads.append(
                Ad(
                    at: try fields.required("at", CandidatesDocument.instant(fields, "at")),
                    id: try fields.required("ad", fields.text("ad")),
                    advertiser: try fields.text("advertiser") ?? "",
                    categories: fields["categories"] == nil
                        ? []
                        : try CandidatesDocument.texts(
                            fields,
                            "categories",
                            path: path,
                            countMax: CandidatesDocument.categoriesMax
                        )
                )
            )
        }
        return PlayedAdsDocument(ads: ads)
    }
}
