// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The meaning of a message of an automation system, as JSON: the answer to `POST /v1/streams/{stream}/signals/{mapping}`.
package struct HeardElementDocument: GatewayDocument {
    /// The signal that followed from an element.
    package enum Signal: String, CaseIterable, Sendable {
        case out
        case `in`
        case none
    }

    package var ad: Bool
    package var signal: String
    package var `break`: BreakListDocument.Break?

    package static let documentDescription = DocumentDescription(
        name: "HeardElement",
        fields: [
            DocumentField("ad", .flag, "Whether the element that begins is an ad."),
            DocumentField(
                "signal",
                .oneOf(Signal.allCases.map(\.rawValue)),
                "The signal that followed; `none`: no ad was on air, and none is."
            ),
            .optional("break", .document(BreakListDocument.Break.self), "The break that the signal is about."),
        ]
    )

    /// - Parameters:
    ///   - isAd: whether the element is an ad.
    ///   - signal: the signal that followed.
    ///   - info: the break that it is about; `nil`: none.
    package init(isAd: Bool, _ signal: Signal, _ info: BreakInfo?) {
        self.ad = isAd
        self.signal = signal.rawValue
        self.break = info.map { BreakListDocument.Break($0) }
    }

    package static let example: JSONValue = ["ad": true, "signal": "out", "break": BreakListDocument.Break.example]
}
